"""A step's script taken apart into commands that can be run on their own, where that cannot change what they mean.

Only plain lists of commands are taken apart: lines, `;`, and `&&` in a last line. (Elsewhere `bash -e` goes on after
`false && true`; there only installs are divided, so that one that failed is not passed over in silence.) Anything else
of the shell's grammar (loops, conditions, functions, here-documents, jobs, subshells, `eval`, ...) keeps the script
whole. Written by hand because what is read here is hostile: bashlex is under the GPL, tree-sitter-bash is C code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

LONGEST = 20_000
"""Characters of a script that is taken apart; longer ones stay whole."""

_STATE = frozenset(
    (
        *("cd", "pushd", "popd", "export", "set", "source", ".", "umask", "alias"),
        *("shopt", "unset", "readonly", "declare", "typeset", "ulimit", "hash"),
    )
)
"""Commands that change what later lines mean: repeated before each of them."""

_GRAMMAR = frozenset(
    (
        *("if", "then", "else", "elif", "fi", "for", "while", "until", "do"),
        *("done", "case", "esac", "select", "function", "time", "coproc", "{", "}"),
        *("!", "[[", "]]", "in"),
    )
)
_BOUND = frozenset(
    (
        *("eval", "exec", "exit", "return", "trap", "read", "wait", "break", "continue"),
        *("shift", "getopts", "mapfile", "readarray", "[", "test"),
    )
)
"""Builtins that reach beyond their own line, and tests, whose status steers `set -e`."""

_ASSIGN = re.compile(r"[A-Za-z_]\w*\+?=")


class _Whole(Exception):
    """The script uses more of the grammar than is taken apart."""


@dataclass(frozen=True)
class Piece:
    """One command: `text` as written, and `state`, the lines above that it needs to mean the same."""

    text: str
    state: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """What to run."""
        return "\n".join((*self.state, self.text))


def pieces(script: str, installs: Callable[[str], bool] = lambda _: False) -> list[Piece]:
    """The commands of a script in order; the script itself, alone, where it is not safely taken apart."""
    whole = [Piece(script)]
    if len(script) > LONGEST or "\0" in script:
        return whole
    try:
        lists = _lists(script)
    except _Whole:
        return whole
    found, state = list[Piece](), list[str]()
    for number, parts in enumerate(lists):
        if number < len(lists) - 1 and not all(installs(part) for part in parts[:-1]):
            return whole
        for text in parts:
            head = _head(text)
            if head in _GRAMMAR or (head in _BOUND and len(lists) + len(parts) > 2):
                return whole
            if head in _STATE or head is None:
                state.append(text)
            else:
                found.append(Piece(text, tuple(state)))
    if found and tuple(state) != found[-1].state:  # a `cd` at the end may fail, and no piece would tell
        return whole
    return found or whole


def _head(text: str) -> str | None:
    """The command's name; None where the text only sets variables."""
    for word in text.split():
        if not _ASSIGN.match(word):
            return word
        if re.search(r"[\"'$`(]", word):
            return None if re.fullmatch(r"[A-Za-z_]\w*\+?=(?:\"[^\"]*\"|'[^']*'|[^\"'\s]*)", text.strip()) else "eval"
    return None


def _lists(script: str) -> list[list[str]]:
    """Every line or `;`-part as the commands that `&&` joins; one with `||` is a single text."""
    lists, parts, start, at, alone = list[list[str]](), list[str](), 0, 0, False
    end = len(script)

    def close(stop: int, after: int, *, more: bool) -> None:
        nonlocal parts, start, alone
        text = script[start:stop].strip()
        start = after
        if not text and (more or parts):
            raise _Whole
        if text:
            parts.append(text)
        if not more and parts:
            lists.append([" && ".join(parts)] if alone else parts)
            parts, alone = [], False

    while at < end:
        char = script[at]
        if char in "'\"`$\\":
            at = _skip(script, at)
        elif char == "#" and (at == 0 or script[at - 1] in " \t\n;&|"):
            stop = script.find("\n", at)
            stop = end if stop < 0 else stop
            script = script[:at] + " " * (stop - at) + script[stop:]
        elif script.startswith("&&", at):
            close(at, at + 2, more=True)
            at = _blank(script, at + 2)
        elif script.startswith("||", at):
            alone, at = True, _blank(script, at + 2)
        elif char in "\n;":
            close(at, at + 1, more=False)
            at += 1
        elif (
            char in "()"
            or (char == "<" and script.startswith("<<", at))
            or (char == "&" and script[at - 1 : at] not in (">", "<") and script[at + 1 : at + 2] != ">")
        ):
            raise _Whole
        elif char == "|":
            at = _blank(script, at + 1)
        else:
            at += 1
    close(end, end, more=False)
    return lists


def _blank(script: str, at: int) -> int:
    """After an operator a line may end without ending the command."""
    while at < len(script) and script[at] in " \t\n":
        at += 1
    return at


def _skip(script: str, at: int) -> int:
    """The place after a quoted text, an escape or an expansion that begins at `at`."""
    char = script[at]
    if char == "\\":
        return at + 2
    if char == "'":
        return _after(script, at + 1, "'")
    if char == '"':
        return _quoted(script, at + 1)
    if char == "$" and script[at + 1 : at + 2] == "'":
        raise _Whole
    if char == "$" and script[at + 1 : at + 2] in ("(", "{"):
        return _nested(script, at + 2, ")" if script[at + 1] == "(" else "}")
    if char == "`":
        return _after(script, at + 1, "`")
    return at + 1


def _after(script: str, at: int, char: str) -> int:
    end = script.find(char, at)
    if end < 0 or (char == "`" and "\\" in script[at:end]):
        raise _Whole
    return end + 1


def _quoted(script: str, at: int) -> int:
    while at < len(script):
        if script[at] == '"':
            return at + 1
        at = _skip(script, at) if script[at] in "\\$`" else at + 1
    raise _Whole


def _nested(script: str, at: int, closer: str, depth: int = 0) -> int:
    """Inside `$( )` or `${ }`; comments, cases and here-documents in there are not read."""
    opener = {")": "(", "}": "{"}[closer]
    if depth > 20:
        raise _Whole
    while at < len(script):
        char = script[at]
        if char == closer:
            return at + 1
        if char == opener:
            at = _nested(script, at + 1, closer, depth + 1)
        elif char == "#" or script.startswith(("<<", "case "), at):
            raise _Whole
        else:
            at = _skip(script, at) if char in "'\"`$\\" else at + 1
    raise _Whole

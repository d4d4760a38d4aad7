"""Test runners that name only their failures are told to name each test: the guard compares ids, and needs them all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from posixpath import normpath

from bot.domain.findings import Check
from bot.domain.patch import Read


@dataclass(frozen=True, kw_only=True)
class Way:
    """How a runner is told: `say` is added, after the runner's name or (`last`) at the command's end.

    `enough` matches options with which it names every test already, or prints a structured report; options that match
    `drop` go. Both are held against each option alone, and with its value behind an equals sign.
    """

    say: str = ""
    last: bool = True
    enough: str = "$^"
    drop: str = "$^"


_QUIET = "-q|--quiet|--format=terse"
_NAMING = "(?:--format|-f)=(?:standard-verbose|testname|testdox|github-actions)"
WAYS: Mapping[str, Way] = {
    # jestjs.io/docs/cli
    "jest": Way(say="--verbose", enough="--verbose|--json"),
    # vitest.dev/guide/reporters; several reporters may be named
    "vitest": Way(
        say="--reporter=verbose",
        enough=r"bench|list|init|typecheck|--reporter=(?:verbose|json|junit|tap|tap-flat)",
        drop="--reporter=(?:default|basic|dot|minimal|tree|agent)",
    ),
    # mochajs.org: the last --reporter counts; spec is the default, but .mocharc may say otherwise
    "mocha": Way(say="--reporter spec", enough=r"(?:--reporter|-R)=(?:spec|json|xunit|tap|list)"),
    # nodejs.org/api/test.html: every reporter but dot names all tests
    "node --test": Way(drop="--test-reporter=dot"),
    # pkg.go.dev/cmd/go#hdr-Testing_flags: flags stand before the packages
    "go test": Way(say="-v", last=False, enough=r"--?(?:test\.)?(?:v|json)(?:=.*)?"),
    "gotestsum": Way(say="--format=standard-verbose", last=False, enough=_NAMING, drop="(?:--format|-f)=.*"),
    # doc.rust-lang.org/cargo/commands/cargo-test.html: tests are named unless it is quiet
    "cargo test": Way(drop=_QUIET),
    "cargo t": Way(drop=_QUIET),
    # nexte.st/docs/reporting
    "cargo nextest": Way(drop="--status-level=.*|--final-status-level=.*"),
    # docs.python.org/3/library/unittest.html; `discover` has to stay the first word
    "unittest": Way(say="-v", enough="-v|--verbose", drop=_QUIET),
    # docs.djangoproject.com/en/stable/ref/django-admin/#test
    "manage.py test": Way(say="-v 2", enough="(?:-v|--verbosity)=[23]", drop="(?:-v|--verbosity)=[01]"),
    "nose2": Way(say="-v", enough="-v|--verbose", drop=_QUIET),
}
"""Runner -> how. pytest tells by our plugin, and linters and type checkers name every complaint without being asked."""

_AROUND = frozenset(
    (
        *("npx", "bunx", "npm", "pnpm", "yarn", "bun", "exec", "x", "run", "cross-env", "env", "time", "c8", "nyc"),
        *("uv", "poetry", "pdm", "pipenv", "hatch", "rye", "coverage", "xvfb-run", "node", "sudo", "command"),
    )
)
"""Words that may stand before a runner's name, with their options."""

_WORD = r"""(?:'[^']*'|"(?:\\.|\$(?!\()|[^"\\`$])*"|\\.|\$\([^()'"`]*\)|\$(?!\()|(?<!\s)\#|[^\s;&|()<>'"`\\$\#])+"""
_TOKEN = re.compile(
    rf"(?P<gap>(?:[ \t]|\\\n)+|\d?>&\d|&?\d?[<>]{{1,2}}[ \t]*{_WORD})|(?P<end>[\n;&|]+)|(?P<word>{_WORD})"
)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_PYTHON = re.compile(r"python[\d.]*|pypy[\d.]*")
_MANAGERS = frozenset(("npm", "pnpm", "yarn", "bun"))
_DEPTH = 4
"""Package scripts that call each other; also what ends a circle."""


@dataclass(frozen=True, kw_only=True)
class _Word:
    text: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class _Change:
    """Text put in at places of a command, and stretches of it that go."""

    added: tuple[tuple[int, str], ...] = ()
    gone: tuple[tuple[int, int], ...] = ()


def verbose(check: Check, read: Read) -> Check:
    """The check with each plainly recognised test runner told to name every test; its exit status stays what it is.

    `read` gives the tree's files: what `npm test` runs stands in a package.json. A command that cannot surely be
    taken apart (here-documents, nested substitutions) and a runner behind an unknown wrapper stay as they are.
    """
    changes: list[_Change] = []
    folder: str | None = check.workdir
    for words in _commands(check.command):
        folder = _moved(folder, words)
        change = _change(words, folder, read, 0)
        changes += [change] if change else []
    return replace(check, command=_changed(check.command, changes))


def _moved(folder: str | None, words: list[_Word]) -> str | None:
    """Where the commands after this one run; None where nothing surely tells."""
    if words[0].text not in ("cd", "pushd", "popd") or folder is None:
        return folder
    plain = len(words) == 2 and re.fullmatch(r"[\w.][\w./-]*", words[1].text)
    return normpath(f"{folder}/{words[1].text}") if plain else None


def _commands(text: str) -> list[list[_Word]]:
    """The words of each simple command with their places; none when the text is more than simple commands."""
    commands: list[list[_Word]] = [[]]
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or (token["gap"] and "<<" in token["gap"]):
            return []
        if token["end"]:
            commands.append([])
        elif token["word"]:
            commands[-1].append(_Word(text=token["word"].strip("'\""), start=token.start(), end=token.end()))
        at = token.end()
    return [words for words in commands if words]


def _changed(text: str, changes: Sequence[_Change]) -> str:
    added = [(at, at, f" {more}") for change in changes for at, more in change.added]
    gone = [(start, end, "") for change in changes for start, end in change.gone]
    for start, end, new in sorted(added + gone, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _change(words: list[_Word], folder: str | None, read: Read, depth: int) -> _Change | None:
    script = _script(words) if folder is not None and depth < _DEPTH else None
    if script is not None and folder is not None:
        return _through(words, script, folder, read, depth)
    found = _runner(words)
    if found is None:
        return None
    way, options = WAYS[found[0]], words[found[1] + 1 :]
    texts = [word.text for word in options]
    pairs = [f"{a}={b}" for a, b in pairwise(texts)]
    if any(re.fullmatch(way.enough, text) for text in (*texts, *pairs)):
        return None
    name_end = words[found[1]].end
    added = ((words[-1].end if way.last else name_end, way.say),) if way.say else ()
    return _Change(added=added, gone=tuple(_dropped(way, options, name_end)))


def _dropped(way: Way, options: list[_Word], before: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for number, word in enumerate(options):
        value = options[number + 1] if number + 1 < len(options) else None
        start = options[number - 1].end if number else before
        if re.fullmatch(way.drop, word.text):
            found.append((start, word.end))
        elif value and re.fullmatch(way.drop, f"{word.text}={value.text}"):
            found.append((start, value.end))
    return found


def _runner(words: list[_Word]) -> tuple[str, int] | None:
    """The runner's name in WAYS and the place of its last word; None where something else might be run."""
    at = 0
    while at < len(words):
        text = words[at].text.rsplit("/", 1)[-1]
        following = words[at + 1].text if at + 1 < len(words) else ""
        if text in WAYS:
            return text, at
        if f"{text} {following}" in WAYS:
            return f"{text} {following}", at + 1
        if text == "npm" and "--" not in [word.text for word in words]:
            return None  # npm would take the option for itself
        if not (text in _AROUND or _PYTHON.fullmatch(text) or text.startswith("-") or _ASSIGNED.match(words[at].text)):
            return None
        at += 1
    return None


def _script(words: list[_Word]) -> str | None:
    """The package script that a command runs in its own folder: `npm test`, `yarn run unit`, `pnpm unit --ci`."""
    texts = [word.text for word in words if not _ASSIGNED.match(word.text)]
    head, rest = texts[0] if texts else "", [text for text in texts[1:] if text not in ("-s", "--silent")]
    if head not in _MANAGERS or any(re.match(r"-w|--workspace|-ws$|--filter|-r$|--prefix", text) for text in rest):
        return None
    if rest[:1] in (["run"], ["run-script"]):
        return rest[1] if rest[1:] else None
    if head == "npm":
        return "test" if rest[:1] in (["test"], ["t"], ["tst"]) else None
    return rest[0] if rest and head in ("yarn", "pnpm") else None


def _through(words: list[_Word], script: str, folder: str, read: Read, depth: int) -> _Change | None:
    """What is added to a package manager's command so that it reaches the runner at the end of the script's text."""
    text = _scripts(read(normpath(f"{folder}/package.json"))).get(script, "").rstrip()
    commands = _commands(text)
    if not commands:
        return _change(words, None, read, depth)  # `yarn jest` is no script but the runner
    change = _change(commands[-1], folder, read, depth + 1)
    plain = "|" not in text and not re.search(r"(?<!&)&(?!&)|(?:^|[\s;&])cd ", text)
    if not plain or change is None or change.gone or [at for at, _ in change.added] != [len(text)]:
        return None
    texts = [word.text for word in words]
    dashes = bool({"npm", "bun"} & set(texts)) and "--" not in texts
    return _Change(added=((words[-1].end, "-- " * dashes + change.added[0][1]),))


def _scripts(content: bytes | None) -> Mapping[str, str]:
    try:
        data = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        return {}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    return {k: v for k, v in scripts.items() if isinstance(v, str)} if isinstance(scripts, dict) else {}

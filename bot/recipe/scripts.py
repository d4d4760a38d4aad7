"""A step's script taken apart, where that cannot change what it does: installing wants a network, checking has none."""

from __future__ import annotations

import re
import shlex

_KEEPS = re.compile(r"(?:cd|pushd|export|source|\.|set -[a-z]+|set -o pipefail|[A-Za-z_]\w*=\S*)(?:\s|$)")
"""Lines that change the shell that later lines run in: they go before each of them."""

_WHOLE = re.compile(
    r"<<|\bset \+|(?:^|[;&|]\s*)(?:if|for|while|until|case|select|function|trap|exec|popd|then|else|fi|do|done|esac"
    r"|[{}]|\w+\s*\(\))(?:\s|$)",
    re.MULTILINE,
)
"""What makes a script one piece."""

INSTALLS = re.compile(
    r"(?:^|[;&|]\s*|\bsudo )(?:\S*python\S* -m |py -m )?(?:uv )?(?:pip3?|pipx) (?:install|sync|download)\b"
    r"|\b(?:npm (?:ci|i|install|add)|pnpm (?:i|install|add|fetch)|yarn(?: install| add|\s*$)|corepack|bun install)\b"
    r"|\b(?:uv (?:sync|venv|python|tool install)|poetry (?:install|add|self)|pdm (?:install|sync|add|self)"
    r"|pipenv (?:install|sync)|hatch env create|conda (?:install|env|create)|mamba (?:install|env|create))\b"
    r"|\b(?:apt-get|apt|apk|dnf|yum) (?:-\S+ )*(?:update|install|add)\b"
    r"|\b(?:go (?:mod|install|get)|cargo (?:install|fetch)|rustup|bundle (?:install|config)|gem install"
    r"|mvn .*dependency:|gradle .*dependencies)\b",
    re.MULTILINE,
)
"""Commands that fetch something."""


def parts(script: str) -> list[str]:
    """The commands of a script, each with the lines that set up its shell; one part where it cannot be divided safely.

    GitHub runs a script with `bash -e`: the first command that fails ends it, so `&&` and a new line are the same.
    """
    if _WHOLE.search(script):
        return [script]
    commands: list[str] = []
    for line in script.replace("\\\n", " ").splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        pieces = _anded(line.strip())
        if pieces is None:
            return [script]
        commands += pieces
    before: list[str] = []
    found: list[str] = []
    for command in commands:
        if _KEEPS.match(command):
            before.append(command)
        else:
            found.append("\n".join([*before, command]))
    return found or [script]


def last_line(part: str) -> str:
    """The command itself, without the lines that set up its shell."""
    return part.rsplit("\n", 1)[-1]


def _anded(line: str) -> list[str] | None:
    """The commands between `&&`; None where a quote is open."""
    try:
        shlex.split(line)
    except ValueError:
        return None
    pieces = re.split(r"\s+&&\s+", line)
    if len(pieces) == 1 or re.search(r"\|\||[();]", line):
        return [line]
    try:
        for piece in pieces:
            shlex.split(piece)
    except ValueError:  # the && stands inside quotes
        return [line]
    return pieces

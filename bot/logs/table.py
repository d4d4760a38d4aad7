"""The one table of output formats: a format is a file of this folder and a row here."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from bot.domain.findings import CheckKind
from bot.logs.annotations import Annotations
from bot.logs.bandit import Bandit
from bot.logs.black import Black
from bot.logs.cargo import Cargo
from bot.logs.clean import STAMP
from bot.logs.doctest import Doctest
from bot.logs.eslint import Eslint
from bot.logs.flake8 import Flake8
from bot.logs.gcc import Gcc
from bot.logs.generic import Generic
from bot.logs.go_test import GoTest
from bot.logs.go_vet import GoVet
from bot.logs.isort import Isort
from bot.logs.jest import Jest
from bot.logs.jsonout import JsonReports
from bot.logs.junit import Junit
from bot.logs.mocha import Mocha
from bot.logs.mypy import Mypy
from bot.logs.nextest import Nextest
from bot.logs.node_test import NodeTest
from bot.logs.parser import Parser
from bot.logs.prettier import Prettier
from bot.logs.pylint import Pylint
from bot.logs.pyright import Pyright
from bot.logs.pytest import Pytest
from bot.logs.ruff import Ruff
from bot.logs.ruff_format import RuffFormat
from bot.logs.rustc import Rustc
from bot.logs.rustfmt import Rustfmt
from bot.logs.tap import Tap
from bot.logs.tsc import Tsc
from bot.logs.unittest import Unittest
from bot.logs.vitest import Vitest


@dataclass(frozen=True, kw_only=True)
class Format:
    """One output format: what its findings are about, its parser, and what else the same tools can print."""

    kind: CheckKind
    parser: type[Parser]
    with_others: tuple[str, ...] = ()


_NAME = 500
"""No path or title that somebody prints before a colon is longer; keeps long lines from being read again and again."""

PARSERS: Mapping[str, Format] = {
    "pytest": Format(kind=CheckKind.TESTS, parser=Pytest, with_others=("junit",)),
    "unittest": Format(
        kind=CheckKind.TESTS,
        parser=Unittest,
        with_others=("doctest",),
    ),
    "doctest": Format(kind=CheckKind.TESTS, parser=Doctest),
    "junit": Format(kind=CheckKind.TESTS, parser=Junit),
    "vitest": Format(kind=CheckKind.TESTS, parser=Vitest, with_others=("tap", "junit")),
    "jest": Format(kind=CheckKind.TESTS, parser=Jest, with_others=("junit",)),
    "mocha": Format(kind=CheckKind.TESTS, parser=Mocha, with_others=("tap",)),
    "node-test": Format(kind=CheckKind.TESTS, parser=NodeTest, with_others=("tap",)),
    "tap": Format(kind=CheckKind.TESTS, parser=Tap),
    "eslint": Format(kind=CheckKind.LINT, parser=Eslint, with_others=("json", "annotations", "junit")),
    "prettier": Format(kind=CheckKind.LINT, parser=Prettier),
    "tsc": Format(kind=CheckKind.TYPES, parser=Tsc),
    "go": Format(kind=CheckKind.TESTS, parser=GoTest, with_others=("go-vet", "junit")),
    "nextest": Format(kind=CheckKind.TESTS, parser=Nextest),
    "cargo": Format(kind=CheckKind.TESTS, parser=Cargo, with_others=("nextest", "rustc", "junit")),
    "gcc": Format(kind=CheckKind.BUILD, parser=Gcc, with_others=("json",)),
    "go-vet": Format(kind=CheckKind.BUILD, parser=GoVet, with_others=("json", "annotations")),
    "rustc": Format(kind=CheckKind.BUILD, parser=Rustc, with_others=("json",)),
    "rustfmt": Format(kind=CheckKind.LINT, parser=Rustfmt),
    "pylint": Format(kind=CheckKind.LINT, parser=Pylint, with_others=("json",)),
    "mypy": Format(kind=CheckKind.TYPES, parser=Mypy, with_others=("json",)),
    "pyright": Format(kind=CheckKind.TYPES, parser=Pyright, with_others=("json",)),
    "black": Format(kind=CheckKind.LINT, parser=Black),
    "isort": Format(kind=CheckKind.LINT, parser=Isort),
    "bandit": Format(kind=CheckKind.LINT, parser=Bandit, with_others=("json",)),
    "ruff-format": Format(
        kind=CheckKind.LINT,
        parser=RuffFormat,
        with_others=("json",),
    ),
    "ruff": Format(
        kind=CheckKind.LINT,
        parser=Ruff,
        with_others=("json", "annotations", "junit"),
    ),
    "flake8": Format(kind=CheckKind.LINT, parser=Flake8),
    "json": Format(kind=CheckKind.LINT, parser=JsonReports),
    "annotations": Format(kind=CheckKind.LINT, parser=Annotations),
    "generic": Format(kind=CheckKind.CUSTOM, parser=Generic),
}
"""Format name -> format. The order is the order of asking: the narrower pattern first, `generic` last."""


def together(names: Collection[str] | None) -> frozenset[str]:
    """The formats to look for when a step runs tools of these formats; None: any."""
    if names is None:
        return frozenset(PARSERS)
    known = {name for name in names if name in PARSERS}
    return frozenset(known.union(*(PARSERS[name].with_others for name in known)))


class Filter:
    """Which lines some formats want to see, and which of them want a given line.

    `line` fits the lines that somebody wants. Each match of `block` begins at the newline before such a line;
    `stamped` is the same for lines behind GitHub's timestamps, where the runner's own lines are wanted as well.
    """

    def __init__(self, names: frozenset[str], more: tuple[str, ...]) -> None:
        forms = {name: form.parser for name, form in PARSERS.items() if name in names}
        self._starts = {name: parser.starts for name, parser in forms.items()}
        self._owners: dict[str, set[str]] = {}
        for name, parser in forms.items():
            for pattern in parser.patterns:
                self._owners.setdefault(_within_line(pattern), set()).add(name)
        starts = sorted({start for parser in forms.values() for start in parser.starts}, key=len, reverse=True)
        started = "|".join(map(re.escape, starts)) or r"(?!)"
        patterns = [f"(?:{pattern})" for pattern in self._owners]
        any_of = "|".join([started, *patterns, *(f"(?:{_within_line(pattern)})" for pattern in more)])
        self.line = re.compile(any_of, re.MULTILINE)
        self.block = re.compile(rf"\n(?:{any_of})", re.MULTILINE)
        self.stamped = re.compile(rf"\n(?:{STAMP})?+(?:##\[|Clea|{any_of})", re.MULTILINE)
        each = (f"(?:(?={pattern}()))?" for pattern in patterns)
        self._each = re.compile(f"(?:(?=({started})))?" + "".join(each), re.MULTILINE).match
        self._takers: dict[tuple[str | None, ...], tuple[str, ...]] = {}

    def takers(self, line: str) -> tuple[str, ...]:
        """The formats that want a line, in the order of the table."""
        found = self._each(line)
        key = found.groups() if found else ()
        if key not in self._takers:
            self._takers[key] = self._named(key)
        return self._takers[key]

    def _named(self, found: tuple[str | None, ...]) -> tuple[str, ...]:
        """`found`: the longest beginning that fits, and for each pattern "" if it fits, else None."""
        names = {name for name, starts in self._starts.items() if found[0] is not None and found[0].startswith(starts)}
        for owners, hit in zip(self._owners.values(), found[1:], strict=True):
            names |= owners if hit is not None else set()
        return tuple(name for name in PARSERS if name in names)


@lru_cache(maxsize=256)
def wanted(names: frozenset[str], more: tuple[str, ...] = ()) -> Filter:
    """The lines that one of the formats, or one of `more` patterns, fits; nobody wants any other line."""
    return Filter(names, more)


def _within_line(pattern: str) -> str:
    """The pattern, kept inside of one line and, where it looks for what follows a name, to names of a sane length."""
    pattern = re.sub(
        r"\[\^((?:\\.|[^\]\\])*)\]([+*])\+", lambda m: f"[^\\n{m[1]}]{{{int(m[2] == '+')},{_NAME}}}+", pattern
    )
    return re.sub(r"\[\^(?!\\n)", r"[^\\n", pattern)

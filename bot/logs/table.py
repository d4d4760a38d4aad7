"""The one table of output formats: a format is a file of this folder and a row here."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from bot.domain.findings import CheckKind
from bot.logs.annotations import Annotations
from bot.logs.bandit import Bandit
from bot.logs.black import Black
from bot.logs.doctest import Doctest
from bot.logs.flake8 import Flake8
from bot.logs.generic import Generic
from bot.logs.isort import Isort
from bot.logs.jsonout import JsonReports
from bot.logs.junit import Junit
from bot.logs.mypy import Mypy
from bot.logs.parser import Parser
from bot.logs.pylint import Pylint
from bot.logs.pyright import Pyright
from bot.logs.pytest import Pytest
from bot.logs.ruff import Ruff
from bot.logs.ruff_format import RuffFormat
from bot.logs.unittest import Unittest


@dataclass(frozen=True, kw_only=True)
class Format:
    """One output format.

    `trigger` is a regular expression, matched at the start of a line: only lines that some format's trigger matches
    are looked at while no format is holding. `rank` orders the formats that may claim the same line: lower asks first.
    """

    kind: CheckKind
    parser: Callable[[], Parser]
    trigger: str
    with_others: tuple[str, ...] = ()


PARSERS: Mapping[str, Format] = {
    "pytest": Format(kind=CheckKind.TESTS, parser=Pytest, trigger=Pytest.trigger, with_others=("junit",)),
    "unittest": Format(kind=CheckKind.TESTS, parser=Unittest, trigger=Unittest.trigger, with_others=("doctest",)),
    "doctest": Format(kind=CheckKind.TESTS, parser=Doctest, trigger=Doctest.trigger),
    "junit": Format(kind=CheckKind.TESTS, parser=Junit, trigger=Junit.trigger),
    "pylint": Format(kind=CheckKind.LINT, parser=Pylint, trigger=Pylint.trigger, with_others=("json",)),
    "mypy": Format(kind=CheckKind.TYPES, parser=Mypy, trigger=Mypy.trigger, with_others=("json",)),
    "pyright": Format(kind=CheckKind.TYPES, parser=Pyright, trigger=Pyright.trigger, with_others=("json",)),
    "black": Format(kind=CheckKind.LINT, parser=Black, trigger=Black.trigger),
    "isort": Format(kind=CheckKind.LINT, parser=Isort, trigger=Isort.trigger),
    "bandit": Format(kind=CheckKind.LINT, parser=Bandit, trigger=Bandit.trigger, with_others=("json",)),
    "ruff-format": Format(kind=CheckKind.LINT, parser=RuffFormat, trigger=RuffFormat.trigger, with_others=("json",)),
    "ruff": Format(
        kind=CheckKind.LINT, parser=Ruff, trigger=Ruff.trigger, with_others=("json", "annotations", "junit")
    ),
    "flake8": Format(kind=CheckKind.LINT, parser=Flake8, trigger=Flake8.trigger),
    "json": Format(kind=CheckKind.LINT, parser=JsonReports, trigger=JsonReports.trigger),
    "annotations": Format(kind=CheckKind.LINT, parser=Annotations, trigger=Annotations.trigger),
    "generic": Format(kind=CheckKind.CUSTOM, parser=Generic, trigger=Generic.trigger),
}
"""Format name -> format. The order is the order of asking: the narrower pattern first, `generic` last."""


def together(names: Collection[str] | None) -> frozenset[str]:
    """The formats to look for when a step runs tools of these formats; None: any."""
    if names is None:
        return frozenset(PARSERS)
    known = {name for name in names if name in PARSERS}
    return frozenset(known.union(*(PARSERS[name].with_others for name in known)))


@lru_cache(maxsize=256)
def prefilter(names: frozenset[str]) -> re.Pattern[str]:
    """Matches every line that one of the formats may want to see first."""
    return re.compile("|".join(f"(?:{PARSERS[name].trigger})" for name in PARSERS if name in names) or r"(?!)")

"""Small broken repositories as path -> source, and findings about them as a log reader would hand them over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.domain.findings import CheckKind, Failure, Finding, Location, Report
from bot.domain.fitness import Evaluation
from bot.domain.packet import RepairPacket, Span
from bot.packets import build, causes

SRC = {
    "src/durations/__init__.py": "from .core import parse_duration\n\n__all__ = ['parse_duration']\n",
    "src/durations/core.py": (
        "import re\n\n"
        "UNITS = {'s': 1, 'm': 60}\n\n\n"
        "def parse_duration(text):\n"
        "    return int(re.sub('[a-z]', '', text))\n\n\n"
        "def other(text):\n"
        "    return text\n"
    ),
    "tests/test_d.py": (
        "import pytest\n\n"
        "from durations import parse_duration\n\n\n"
        "def test_units():\n"
        "    assert parse_duration('5m') == 300\n\n\n"
        "@pytest.mark.parametrize('text, seconds', [('7s', 7), ('8m', 480), ('9m', 540)])\n"
        "def test_table(text, seconds):\n"
        "    result = parse_duration(text)\n"
        "    assert result == seconds\n"
    ),
}


def at(repo: Mapping[str, str], path: str, text: str) -> int:
    """The line on which a text stands."""
    return repo[path][: repo[path].index(text)].count("\n") + 1


def failing(repo: Mapping[str, str], path: str, name: str, line: str, **fields: Any) -> Failure:
    """A pytest failure that ends in the test, at the line that holds a text."""
    return Failure(tool="pytest", id=f"{path}::{name}", file=path, line=at(repo, path, line), **fields)


def frame(repo: Mapping[str, str], path: str, text: str, name: str | None = None) -> Location:
    return Location(file=path, line=at(repo, path, text), name=name)


def report(*findings: Finding, kind: CheckKind = CheckKind.TESTS, **fields: Any) -> Report:
    return Report(check=fields.pop("check", str(kind)), kind=kind, exit_code=1, findings=findings, **fields)


def evaluation(*findings: Finding, **fields: Any) -> Evaluation:
    return Evaluation(reports=(report(*findings, **fields),))


def access(repo: Mapping[str, str]) -> dict[str, Any]:
    def read(path: str) -> bytes | None:
        return repo[path].encode() if path in repo else None

    return {"read": read, "paths": frozenset(repo)}


def packet(repo: Mapping[str, str], state: Evaluation, **options: Any) -> RepairPacket:
    return build(state, iteration=1, max_iterations=5, **access(repo), **options)


def keys(repo: Mapping[str, str], state: Evaluation) -> list[str]:
    return [cause.key for cause in causes(state, **access(repo))]


def spans(told: RepairPacket) -> list[Span]:
    return [*(f.span for f in told.failures if f.span), *(d.span for d in told.diagnostics if d.span), *told.spans]


def shown(told: RepairPacket, path: str) -> str:
    """All that is shown of a file."""
    return "\n".join(span.source for span in spans(told) if span.file == path)

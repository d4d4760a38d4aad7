"""A packet of any log of the corpus keeps to its 2,000 tokens, and `make score-logs` fails where a target is missed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.corpus import scores

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("folder", sorted({log.parent.name for log in scores.CORPUS.glob("*/*.log")}))
def test_every_packet_of_the_corpus_is_within_the_budget(folder: str) -> None:
    told = {log.name: scores.size(log) for log in (scores.CORPUS / folder).glob("*.log")}
    assert {name: each for name, each in told.items() if each and each[0] > scores.LARGEST} == {}
    assert any(told.values())


def test_a_packet_with_source_is_within_the_budget_and_smaller_than_its_log() -> None:
    told = scores.size(scores.DEMO / "ci.log", scores.DEMO / "repo")
    assert told and told[0] <= scores.LARGEST and told[0] < told[1]


def counts(**changed: int) -> dict[str, dict[str, Counter[str]]]:
    n = Counter(truth=100, tp=100, fp=0, line_n=100, line=98, ass_n=100, ass=95, exp_n=100, exp=90)
    return {
        "failures": {"pytest": n | Counter() if not changed else Counter({**n, **changed})},
        "diagnostics": {"ruff": Counter(truth=3, tp=3)},
        "step": {"step": Counter(n=7, ok=7)},
    }


def test_at_the_targets_nothing_is_missed() -> None:
    lines, missed = scores.table("handed", counts())
    assert missed == []
    assert [line.split()[0] for line in lines] == ["handed", "pytest", "all", "ruff", "all", "failing"]


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"tp": 98}, "failures recall 98.0 below 99"),
        ({"fp": 2}, "failures precision 98.0 below 99"),
        ({"line": 97}, "line 97.0 below 98"),
        ({"ass": 94}, "assertion 94.0 below 95"),
        ({"exp": 89}, "exp+act 89.0 below 90"),
    ],
)
def test_below_a_target_the_tool_and_the_whole_are_named(changed: dict[str, int], what: str) -> None:
    assert scores.table("x", counts(**changed))[1] == [f"x: pytest: {what}", f"x: all failures: {what}"]


def test_a_failing_step_named_wrong_is_missed() -> None:
    wrong = {**counts(), "step": {"step": Counter(n=7, ok=6)}}
    assert scores.table("x", wrong)[1] == ["x: failing step 6 of 7, 0 broken answers"]


def test_what_contributing_names_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    steps = text[text.index("To add a log format:") : text.index("Rules that the tests enforce")]
    named = set(re.findall(r"(?:bot|tests)/[\w/]+(?:\.py)?", steps.replace("TOOL", "pytest")))
    assert {path for path in named if not (ROOT / path).exists() and "NAME" not in path} == set()
    assert "score-logs:" in (ROOT / "Makefile").read_text(encoding="utf-8")

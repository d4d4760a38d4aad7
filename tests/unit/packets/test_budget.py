"""A packet keeps to its budget, and every cut in it can be seen."""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.findings import CheckKind, Diagnostic, Failure, FailureKind, Location
from bot.domain.fitness import Evaluation
from bot.domain.packet import Hunk, Past
from bot.packets import tokens
from bot.packets.trim import cut, cut_lines, cut_pair
from tests.unit.packets.repos import SRC, evaluation, failing, packet, report, spans

TEXT = st.text(max_size=60) | st.text(max_size=12).map(lambda t: t * 400) | st.just("x" * 9000)
MAYBE = st.none() | TEXT
PLACES = st.builds(
    Location,
    file=st.sampled_from([*SRC, "gone.py", "/w/src/durations/core.py"]),
    line=st.none() | st.integers(-1, 40),
    name=MAYBE,
)
FAILURES = st.builds(
    Failure,
    tool=st.sampled_from(["pytest", "unittest", "doctest", "jest"]),
    id=st.sampled_from(["tests/test_d.py::test_units", "tests/test_d.py::test_table[8m-480]", "a.b.C.t"]) | TEXT,
    kind=st.sampled_from(FailureKind),
    file=st.sampled_from([None, *SRC]),
    line=st.none() | st.integers(-1, 40),
    crash=st.none() | PLACES,
    frames=st.lists(PLACES, max_size=3).map(tuple),
    exception=MAYBE,
    source=MAYBE,
    assertion=MAYBE,
    message=MAYBE,
    expected=MAYBE,
    actual=MAYBE,
    detail=MAYBE,
    captured=MAYBE,
    collection=st.booleans(),
)
DIAGNOSTICS = st.builds(
    Diagnostic,
    tool=TEXT,
    file=st.sampled_from([*SRC, "gone.py", ""]),
    line=st.none() | st.integers(0, 40),
    message=TEXT,
)
REPORTS = st.builds(
    lambda found, kind, blocked: report(*found, kind=kind, blocked=blocked),
    st.lists(FAILURES | DIAGNOSTICS, max_size=6),
    st.sampled_from(CheckKind),
    MAYBE,
)


@given(
    reports=st.lists(REPORTS, max_size=3).map(tuple),
    budget=st.integers(300, 4000),
    changed=st.lists(st.builds(Hunk, file=st.sampled_from([*SRC]), hunk=TEXT), max_size=3),
    history=st.lists(
        st.builds(Past, iteration=st.integers(1, 9), verdict=st.just("no_better"), diff=TEXT, reason=TEXT), max_size=3
    ),
    wider=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_never_beyond_the_budget(
    reports: tuple, budget: int, changed: list[Hunk], history: list[Past], wider: bool
) -> None:
    state = Evaluation(reports=reports)
    told = packet(SRC, state, tokens=budget, changed=changed, history=history, wider=wider)
    assert tokens(json.dumps(told.as_json(), ensure_ascii=False)) <= budget
    again = packet(SRC, state, tokens=budget, changed=changed, history=history, wider=wider)
    assert again.digest() == told.digest()
    for span in spans(told):
        assert span.source in SRC[span.file]


def test_values_are_whole_while_there_is_room() -> None:
    value = repr("x" * 900)
    told = packet(
        SRC, evaluation(failing(SRC, "tests/test_d.py", "test_units", "assert parse", expected=value, actual="'y'"))
    )
    assert told.failures[0].expected == value


def test_a_huge_value_is_cut_where_it_does_not_matter() -> None:
    expected, actual = "a" * 50_000 + "EXPECTED" + "b" * 50_000, "a" * 50_000 + "ACTUAL" + "b" * 50_000
    told = packet(
        SRC, evaluation(failing(SRC, "tests/test_d.py", "test_units", "assert parse", expected=expected, actual=actual))
    )
    (failure,) = told.failures
    assert failure.expected and "EXPECTED" in failure.expected and failure.actual and "ACTUAL" in failure.actual
    gone = sum(int(n) for n in re.findall(r"\[\.\.\. (\d+) characters cut \.\.\.\]", failure.expected))
    kept = len(re.sub(r"\[\.\.\. \d+ characters cut \.\.\.\]", "", failure.expected))
    assert gone + kept == len(expected)
    assert failure.span, "the values leave room for the source"


def test_the_newest_refusal_is_told_and_a_long_diff_is_cut_in_whole_lines() -> None:
    diff = "".join(f"+line {i}\n" for i in range(2000))
    history = [Past(iteration=i, verdict="no_better", diff=diff, reason=f"reason {i}") for i in (1, 2)]
    told = packet(SRC, evaluation(failing(SRC, "tests/test_d.py", "test_units", "assert parse")), history=history)
    assert [p.iteration for p in told.history] == [1, 2] and told.failures[0].span
    assert re.search(r"\n\[\.\.\. \d+ lines cut \.\.\.\]\n", told.history[1].diff)
    assert len(told.history[1].diff) > len(told.history[0].diff)


@given(st.text(max_size=2000), st.integers(0, 600), st.integers(0, 2500))
def test_cut_says_how_much_is_gone(text: str, limit: int, keep: int) -> None:
    short = cut(text, limit, keep)
    if short == text:
        assert len(text) <= max(limit, 120)
        return
    assert len(short) <= max(limit, 120)
    marks = re.findall(r"\[\.\.\. (\d+) characters cut \.\.\.\]", short)
    assert sum(map(int, marks)) + len(re.sub(r"\[\.\.\. \d+ characters cut \.\.\.\]", "", short)) == len(text)


def test_cut_pair_keeps_the_first_difference_in_sight() -> None:
    first, second = cut_pair("a" * 5000 + "1" + "b" * 5000, "a" * 5000 + "2" + "b" * 5000, 300)
    assert first and "a1b" in first and second and "a2b" in second
    assert cut_pair(None, "x", 10) == (None, "x")


def test_cut_lines_falls_back_to_characters_for_one_long_line() -> None:
    assert "characters cut" in cut_lines("x" * 5000, 300)
    assert cut_lines("short", 300) == "short"


def test_tokens_are_never_estimated_below_what_characters_cost() -> None:
    assert tokens("") == 0 and tokens("abc") == 1 and tokens("x" * 30) == 10 and tokens("日本") == 2

"""The reports as people read them: goldens, limits, and hostile text in every field."""

from __future__ import annotations

import string
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot import submit
from bot.domain.attempt import Attempt, Outcome, OutcomeKind, Strategy, Verdict
from bot.domain.findings import CheckKind, Diagnostic, Report
from bot.domain.packet import PacketFailure
from bot.domain.patch import Patch
from bot.domain.ports import Delivered, FailedRun
from bot.report import MARKER, facts, history_comment, job_summary, pull_request_body, terminal
from bot.report.history import LIMIT
from bot.report.pull_request import lines
from tests.fakes.github_page import COMMIT_COMMAND, MENTION, REFERENCE, render
from tests.fakes.outcomes import ALL, DIFF, RUN, attempt, ended, failure, lint_report, repaired, suite_report
from tests.unit.report.cases import FOLDER, cases
from tests.unit.report.test_neutralise import hostile

OURS = set(
    "h3 h4 p br a strong em code pre ul li blockquote table thead tbody tr th td details summary".split()  # noqa: SIM905
)


@pytest.mark.parametrize("name", cases())
def test_golden(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == cases()[name], "intended? python -m tests.unit.report.cases"


def test_no_golden_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(cases())


@pytest.mark.parametrize("name", [name for name in cases() if name.endswith(".md")])
def test_every_page_renders_as_meant(name: str) -> None:
    page = render(cases()[name])
    assert set(page.tags) <= OURS
    assert not page.stray
    assert page.active == []
    assert page.comments == ([MARKER[4:-3]] if name.startswith("history") else [])


def poisoned(text: str, run_text: str) -> tuple[Outcome, FailedRun]:
    """A run in which every field that the outside can fill holds hostile text."""
    bad = replace(failure(text), message=text, assertion=text, expected=text, file=text)
    failing = replace(suite_report(frozenset()), findings=(bad,), exit_code=1, check=text, collected=ALL | {text})
    complaint = Diagnostic(tool="ruff", file=text, line=3, code=text, message=text)
    lint = Report(check=text, kind=CheckKind.LINT, exit_code=1, findings=(complaint,), blocked=text or None)
    silent = Report(check=text, kind=CheckKind.CUSTOM, exit_code=None, truncated=True)
    told = PacketFailure(
        test=text, file=text, line=1, assertion=text, message=text, expected=text, actual=text, captured=text
    )
    turn = replace(
        attempt(),
        reason=text,
        diff=text,
        proposal=Patch(edits=(), rationale=text),
        packet=replace(attempt().packet, failures=(told,)),
        reports=(failing, lint),
    )
    outcome = replace(
        repaired(),
        attempts=(turn,),
        baseline=(failing, lint, silent),
        final=(lint, silent),
        reason=text,
        fix=text,
        rationale=text,
        held_out=text,
        flaky=frozenset({text}),
        model=text,
        runtime=text,
        diff=text,
        files={text: b"", text + "x": None},
        chain_head=text,
    )
    trigger = replace(RUN.trigger, branch=run_text, sha=run_text)
    return outcome, replace(RUN, trigger=trigger, workflow=run_text, url=f"javascript:{run_text}")


@settings(max_examples=60, deadline=None)
@given(hostile, hostile, st.sampled_from(list(OutcomeKind)))
@example("\x1b", "", OutcomeKind.REPAIRED)
def test_nothing_hostile_gets_through(text: str, run_text: str, kind: OutcomeKind) -> None:
    outcome, run = poisoned(text, run_text)
    outcome = replace(outcome, kind=kind)
    delivered = Delivered(url=f"javascript:{text}", notes=(text,))
    for shown in (pull_request_body(outcome, run), history_comment(outcome, run), job_summary(outcome, run, delivered)):
        page = render(shown)
        assert set(page.tags) <= OURS - {"a"}, page.html
        assert page.comments in ([], [MARKER[4:-3]])
        assert not page.stray
        assert page.active == []
        assert page.tags.count("details") == shown.startswith(MARKER)
    for each in terminal(outcome).split("\n"):
        assert not each.lstrip().startswith("::")
        assert "##[" not in each
        assert not {unicodedata.category(char) for char in each} & {"Cc", "Cf", "Cs"}


@settings(max_examples=60, deadline=None)
@given(hostile, hostile)
def test_nothing_hostile_reaches_title_commit_or_branch(text: str, run_text: str) -> None:
    outcome, run = poisoned(text, run_text)
    for shown in (submit.headline(outcome), submit.message(replace(outcome, chain_head="ab"), run)):
        assert not MENTION.search(shown)
        assert not REFERENCE.search(shown)
        assert not COMMIT_COMMAND.search(shown)
        assert "://" not in shown
    title, *_ = submit.message(replace(outcome, chain_head="ab"), run).split("\n")
    assert len(title) <= 72
    assert submit.message(replace(outcome, chain_head="ab"), run).endswith(
        "\n\nSelfrepair-Run: 77\nSelfrepair-Trail: ab\n"
    )
    assert set(submit.branch(outcome, run)) <= set(string.ascii_letters + string.digits + "_-/")


class TestLimit:
    def test_a_long_history_fits_and_says_that_it_was_cut(self) -> None:
        huge = [replace(attempt(n), diff=DIFF + "+ \u4f60\n" * 30_000, reason="x" * 5000) for n in range(1, 9)]
        text = history_comment(ended(OutcomeKind.IMPROVED, attempts=tuple(huge), diff="+y\n" * 90_000), RUN)
        assert len(text.encode()) <= LIMIT
        assert "more characters are in the run's artifact" in text
        assert text.count("<details>") == 8
        assert render(text).stray == []

    def test_many_turns_fit(self) -> None:
        text = history_comment(ended(OutcomeKind.EXHAUSTED, attempts=tuple(attempt(n) for n in range(1, 400))), RUN)
        assert len(text.encode()) <= LIMIT
        assert "earlier turns" in text
        assert "in the run's artifact" in text

    def test_many_findings_are_cut(self) -> None:
        body = pull_request_body(replace(repaired(), baseline=(lint_report(3), *[suite_report(ALL)] * 300)), RUN)
        assert len(body) < 20_000
        assert "and 260 more" not in body.split("### Before and after")[0]

    def test_a_long_reason_fits(self) -> None:
        text = history_comment(ended(OutcomeKind.REFUSED, "<&>" * 50_000, fix="<" * 50_000), RUN)
        assert len(text.encode()) <= LIMIT


class TestFacts:
    def test_lines_of_a_diff(self) -> None:
        assert lines(DIFF) == (2, 1)
        assert lines("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- old\n+++ new\n") == (1, 1)
        assert lines("") == (0, 0)

    @pytest.mark.parametrize(
        ("report", "words"),
        [
            (suite_report(frozenset()), "5 passed"),
            (suite_report(frozenset(), frozenset(list(ALL)[:1])), "4 passed, 1 skipped"),
            (suite_report(ALL), "5 of 5 failing"),
            (replace(suite_report(frozenset()), exit_code=3), "failed (exit 3), 5 passed"),
            (lint_report(0), "clean"),
            (lint_report(1), "1 error"),
            (replace(lint_report(1), exit_code=0), "clean"),
            (replace(lint_report(0), exit_code=2), "failed (exit 2)"),
            (replace(lint_report(0), exit_code=None), "ended without an exit status"),
            (replace(lint_report(0), exit_code=None, timed_out=True, duration_ms=30_000), "timed out after 30 s"),
            (replace(lint_report(0), exit_code=137, oom_killed=True), "out of memory"),
            (replace(suite_report(frozenset()), blocked="SyntaxError"), "stopped: `SyntaxError`"),
            (None, "not run"),
        ],
    )
    def test_the_state_of_a_check(self, report: Report | None, words: str) -> None:
        assert facts.state(report) == words

    def test_warnings_of_a_green_linter_are_counted_nowhere(self) -> None:
        warned = (replace(lint_report(3), exit_code=0),)
        assert facts.measured(warned) == ("0/0", "0", "0")
        assert facts.summary(warned) == ""
        assert submit.headline(replace(repaired(), baseline=warned)) == "fix: repair the failing checks"

    @pytest.mark.parametrize(
        ("seconds", "words"),
        [(0.04, "0.0 s"), (9.94, "9.9 s"), (48.2, "48 s"), (59.7, "1 min 0 s"), (185, "3 min 5 s")],
    )
    def test_durations(self, seconds: float, words: str) -> None:
        assert facts.duration(seconds) == words

    @pytest.mark.parametrize(
        ("dollars", "words"), [(0, "$0.00"), (0.00042, "$0.0004"), (0.27, "$0.27"), (1234.5, "$1,234.50")]
    )
    def test_money(self, dollars: float, words: str) -> None:
        assert facts.money(dollars) == words

    def test_the_summary_counts_every_kind(self) -> None:
        types = replace(lint_report(2), kind=CheckKind.TYPES, check="mypy")
        crashed = Report(check="build", kind=CheckKind.BUILD, exit_code=None, timed_out=True)
        said = facts.summary((suite_report(ALL), lint_report(1), types, crashed))
        assert said == "5 of 5 tests failing, 1 lint error, 2 type errors, 1 check stopped or failed"
        assert facts.summary((suite_report(frozenset()),)) == ""

    @pytest.mark.parametrize("kind", OutcomeKind)
    def test_every_outcome_has_a_headline(self, kind: OutcomeKind) -> None:
        assert facts.headline(Outcome(kind=kind, reason="x"))


def test_the_linters_own_fixes_are_no_turn() -> None:
    fixed = replace(attempt(0), strategy=Strategy.AUTOFIX)
    outcome = replace(repaired(), attempts=(fixed, attempt(1)))
    assert facts.headline(outcome) == "Repaired after 1 turn"
    assert "Before turn 1: accepted (the linter's own fixes)" in history_comment(outcome, RUN)
    assert "before turn 1  accepted  the linter's own fixes" in terminal(outcome)
    assert "1 turn, " in pull_request_body(outcome, RUN)


def test_verdicts_are_words() -> None:
    said = [facts.verdict(Attempt(**{**vars(attempt()), "verdict": verdict})) for verdict in Verdict]
    assert said == ["accepted", "no better", "regressed", "rejected", "faulted"]


def test_runc_is_said_everywhere() -> None:
    outcome = replace(repaired(), runtime="runc")
    assert "not gVisor" in pull_request_body(outcome, RUN)
    assert "not gVisor" in history_comment(outcome, RUN)
    assert "not gVisor" in job_summary(outcome, RUN)
    assert "NOT isolated" in terminal(outcome)

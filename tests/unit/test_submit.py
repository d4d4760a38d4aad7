"""Which effects follow from which outcome."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot import submit
from bot.domain.attempt import OutcomeKind
from bot.domain.findings import CheckKind
from bot.domain.ports import Comment, Commit, FailedRun, PullRequest
from bot.report import MARKER
from tests.fakes.outcomes import BASELINE, RUN, UNITS, ended, lint_report, repaired, suite_report

UNREPAIRED = [kind for kind in OutcomeKind if kind not in (OutcomeKind.REPAIRED, OutcomeKind.IGNORED)]


def run_on(**changes: object) -> FailedRun:
    return replace(RUN, trigger=replace(RUN.trigger, **changes))


def test_a_repair_gives_a_commit_a_stacked_pull_request_and_its_history() -> None:
    made, opened, history = submit.plan(repaired(), RUN)
    assert isinstance(made, Commit)
    assert isinstance(opened, PullRequest)
    assert isinstance(history, Comment)
    assert made.parent == RUN.trigger.sha
    assert made.files == repaired().files
    assert opened.head == made.branch
    assert opened.base == RUN.trigger.branch
    assert opened.title == "fix: repair 2 failing tests and 1 lint error"
    assert made.message.startswith(opened.title + "\n\n")
    assert opened.labels == ("selfrepair",)
    assert history.on is None
    assert history.body.startswith(MARKER)


def test_the_same_run_again_gives_the_same_plan() -> None:
    assert submit.plan(repaired(), RUN) == submit.plan(repaired(), RUN)


@pytest.mark.parametrize("kind", UNREPAIRED)
def test_without_a_repair_there_is_only_a_comment(kind: OutcomeKind) -> None:
    (comment,) = submit.plan(ended(kind), RUN)
    assert isinstance(comment, Comment)
    assert comment.on == 12


@pytest.mark.parametrize("kind", [*UNREPAIRED, OutcomeKind.IGNORED])
def test_without_a_pull_request_nothing_is_said(kind: OutcomeKind) -> None:
    assert submit.plan(ended(kind), run_on(pull_request=None)) == ()


def test_an_ignored_run_answers_only_a_person() -> None:
    assert submit.plan(ended(OutcomeKind.IGNORED), RUN) == ()
    (comment,) = submit.plan(ended(OutcomeKind.IGNORED), run_on(event="issue_comment"))
    assert isinstance(comment, Comment)


def test_nothing_is_pushed_for_a_fork() -> None:
    (comment,) = submit.plan(repaired(), run_on(fork=True))
    assert isinstance(comment, Comment)
    assert comment.on == 12
    assert "+    unit = text[-1]" in comment.body
    assert submit.plan(repaired(), run_on(fork=True, pull_request=None)) == ()


class TestBranch:
    def test_it_tells_the_failing_branch(self) -> None:
        assert submit.branch(repaired(), RUN).startswith("selfrepair/feature-durations-")

    def test_it_depends_on_what_failed_and_where_only(self) -> None:
        name = submit.branch(repaired(), RUN)
        moved = replace(BASELINE[1], findings=tuple(replace(f, line=99) for f in BASELINE[1].findings))
        assert submit.branch(replace(repaired(), baseline=(BASELINE[0], moved)), RUN) == name
        assert submit.branch(replace(repaired(), rationale="other", seconds=1.0, diff="", attempts=()), RUN) == name
        others = {
            submit.branch(repaired(), run_on(sha="f" * 40)),
            submit.branch(repaired(), run_on(branch="feature/durations2")),
            submit.branch(repaired(), run_on(branch="feature-durations")),
            submit.branch(replace(repaired(), baseline=(suite_report(UNITS),)), RUN),
        }
        assert name not in others
        assert len(others) == 4

    def test_a_flaky_test_does_not_change_it(self) -> None:
        steady = replace(repaired(), baseline=(suite_report(UNITS),))
        noisy = replace(repaired(), flaky=frozenset({"tests/test_d.py::test_unit_h"}), baseline=(BASELINE[0],))
        assert submit.branch(noisy, RUN) == submit.branch(steady, RUN)

    @settings(max_examples=40, deadline=None)
    @given(
        st.one_of(
            st.text(max_size=60), st.sampled_from(["a..b", "x.lock", "-x", "@{", "a/./b", "/", "", "..", "~^:?*["])
        )
    )
    def test_git_accepts_it_whatever_the_branch_is_called(self, name: str) -> None:
        ours = submit.branch(repaired(), run_on(branch=name))
        assert subprocess.run(["git", "check-ref-format", f"refs/heads/{ours}"]).returncode == 0
        assert len(ours) < 70


class TestTitle:
    def test_one_test_is_named(self) -> None:
        one = replace(repaired(), baseline=(suite_report(UNITS),))
        assert submit.headline(one) == "fix: repair failing test test_units"

    def test_a_long_name_is_not(self) -> None:
        long = replace(repaired(), baseline=(suite_report(frozenset({"t.py::test_" + "x" * 90})),))
        assert submit.headline(long) == "fix: repair 1 failing test"

    def test_everything_is_counted(self) -> None:
        types = replace(lint_report(2), kind=CheckKind.TYPES, check="mypy")
        every = replace(repaired(), baseline=(*BASELINE, types))
        assert submit.headline(every) == "fix: repair 2 failing tests, 1 lint error and 2 type errors"

    def test_nothing_countable(self) -> None:
        assert submit.headline(replace(repaired(), baseline=())) == "fix: repair the failing checks"


def test_a_local_run_is_marked_as_such() -> None:
    assert "\nSelfrepair-Run: local\n" in submit.message(repaired(), run_on(run_id=None))


def test_a_long_list_is_cut() -> None:
    many = replace(repaired(), baseline=(suite_report(frozenset(f"t.py::test_{n}" for n in range(40))),))
    assert "- and 30 more" in submit.message(many, RUN)

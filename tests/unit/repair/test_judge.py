from __future__ import annotations

from bot.domain.attempt import Verdict
from bot.domain.findings import CheckKind, Diagnostic, Failure, Report
from bot.domain.fitness import Evaluation, Fitness, Guard
from bot.repair.held_out import HeldOut
from bot.repair.judge import State, clean, judge


def suite(
    passed: str = "", failed: str = "", skipped: str = "", exit_code: int | None = None, blocked: str | None = None
):
    return Report(
        check="pytest",
        kind=CheckKind.TESTS,
        exit_code=int(bool(failed) or bool(blocked)) if exit_code is None else exit_code,
        findings=tuple(Failure(tool="pytest", id=name) for name in failed),
        passed=frozenset(passed),
        skipped=frozenset(skipped),
        collected=frozenset(passed + failed + skipped),
        blocked=blocked,
    )


def lint(count: int, exit_code: int | None = None):
    found = tuple(Diagnostic(tool="ruff", file="a.py", line=n, code="F401") for n in range(count))
    return Report(
        check="ruff", kind=CheckKind.LINT, exit_code=int(count > 0) if exit_code is None else exit_code, findings=found
    )


def state(*reports: Report) -> State:
    evaluation = Evaluation(reports=reports)
    return State(files={}, evaluation=evaluation, guard=Guard(skipped=evaluation.skipped).after(evaluation))


def verdict(best: State, *reports: Report, held: HeldOut | None = None, really: frozenset[str] | None = None):
    return judge(best, Evaluation(reports=reports), held or HeldOut(), lambda ids: ids if really is None else really)


def test_fewer_failing_tests_are_accepted():
    assert verdict(state(suite("a", "bc")), suite("ab", "c")).verdict is Verdict.ACCEPTED


def test_the_same_is_not_better():
    judged = verdict(state(suite("a", "bc")), suite("a", "bc"))
    assert (judged.verdict, judged.reason) == (Verdict.NO_BETTER, "the same findings remain")


def test_trading_one_failing_test_for_another_is_a_regression():
    judged = verdict(state(suite("a", "bc")), suite("bc", "a"))
    assert judged.verdict is Verdict.REGRESSED
    assert "a" in judged.reason


def test_a_test_that_vanishes_is_a_regression():
    assert verdict(state(suite("a", "b")), suite("b")).verdict is Verdict.REGRESSED


def test_a_test_that_is_skipped_now_is_a_regression():
    assert verdict(state(suite("a", "b")), suite("b", skipped="a")).verdict is Verdict.REGRESSED


def test_skipping_the_failing_test_is_not_better():
    assert verdict(state(suite("a", "b")), suite("a", skipped="b")).verdict is Verdict.NO_BETTER


def test_making_the_failing_test_vanish_is_not_better():
    assert verdict(state(suite("a", "b")), suite("a")).verdict is Verdict.NO_BETTER


def test_a_regression_that_passes_alone_does_not_count():
    judged = verdict(state(suite("a", "bcd")), suite("bc", "ad"), really=frozenset())
    assert judged.verdict is Verdict.ACCEPTED
    assert judged.fitness.regressed == 0


def test_a_regression_that_fails_again_alone_refuses_what_would_be_better():
    assert verdict(state(suite("a", "bcd")), suite("bc", "ad")).verdict is Verdict.REGRESSED


def test_regressions_are_run_again_only_where_the_answer_can_matter():
    def never(ids: frozenset[str]) -> frozenset[str]:
        raise AssertionError(f"a run was spent on {sorted(ids)}")

    def judged(best: State, report: Report, held: HeldOut):
        return judge(best, Evaluation(reports=(report,)), held, never).verdict

    assert judged(state(suite("a", "bc")), suite("b", "ac"), HeldOut()) is Verdict.REGRESSED
    held = HeldOut().extend([frozenset("bcde")])
    passed = "".join(sorted(held.told))
    hidden = "".join(sorted(held.hidden))
    assert judged(state(suite("a", "bcde")), suite(passed, "a" + hidden), held) is Verdict.REGRESSED


def test_fixing_an_import_that_hid_forty_tests_is_progress():
    hidden = suite("", "x", exit_code=2, blocked="collection error in x")
    names = "abcdefghijklmnopqrstuvw"
    assert verdict(state(hidden), suite(names[:10], names[10:])).verdict is Verdict.ACCEPTED


def test_breaking_collection_is_worse_than_any_failing_test():
    judged = verdict(state(suite("", "abc")), suite("", "x", exit_code=2, blocked="syntax error"))
    assert judged.verdict is Verdict.NO_BETTER
    assert "syntax error" in judged.reason


def test_tests_come_before_lint():
    assert verdict(state(suite("a", "b"), lint(0)), suite("ab"), lint(3)).verdict is Verdict.ACCEPTED
    assert verdict(state(suite("a", "b"), lint(3)), suite("a", "b"), lint(0)).verdict is Verdict.ACCEPTED


def test_warnings_of_a_green_linter_are_no_work():
    assert Guard().fitness(Evaluation(reports=(lint(3, exit_code=0),))).lint == 0


def test_a_red_exit_status_without_any_finding_is_blocked():
    assert Guard().fitness(Evaluation(reports=(suite("ab", exit_code=1),))).blocked == 1
    assert Guard().fitness(Evaluation(reports=(lint(0, exit_code=2),))).blocked == 1


def test_held_out_tests_that_still_fail_make_it_no_better():
    held = HeldOut().extend([frozenset("bc")])
    (told,), (hidden,) = held.told, held.hidden
    judged = verdict(state(suite("a", "bc")), suite("a" + told, hidden), held=held)
    assert (judged.verdict, judged.contradicted) == (Verdict.NO_BETTER, {hidden})


def test_ignored_tests_count_for_nothing():
    evaluation = Evaluation(reports=(suite("a", "f"),))
    assert Guard(ignored=frozenset("f")).fitness(evaluation) == Fitness(
        regressed=0, blocked=0, not_passing=0, lint=0, types=0
    )
    assert clean(evaluation, frozenset("f"))
    assert not clean(evaluation, frozenset())


def test_files_that_cannot_be_collected_are_no_tests_that_do_not_pass():
    unread = Failure(tool="pytest", id="tests/test_x.py", collection=True)
    broken = Report(check="pytest", kind=CheckKind.TESTS, exit_code=2, findings=(unread,), blocked="collection error")
    best = state(suite("a", "b"))
    assert best.guard.saw(Evaluation(reports=(broken,))).fitness(best.evaluation).not_passing == 1

"""The jobs of one run are one packet: legs are merged and counted, reruns are evidence and no failures."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

from bot.domain.findings import CheckKind, Diagnostic, Failure, JobLog, Report, Step
from bot.domain.packet import Legs, RepairPacket
from bot.packets import build, of_run, redact_packet
from bot.redact import Redactor
from tests.unit.packets.repos import SRC, access, failing

UNITS = failing(SRC, "tests/test_d.py", "test_units", "assert parse", expected="300", actual="5")
TABLE = failing(SRC, "tests/test_d.py", "test_table[8m-480]", "assert result")
LINT = Diagnostic(tool="ruff", file="src/durations/core.py", line=3, col=1, code="F401", message="unused")


def step(*findings: Failure | Diagnostic, command: str = "pytest", number: int = 3, **fields: Any) -> Step:
    code = fields.pop("exit_code", 1 if findings else 0)
    kind = fields.pop("kind", CheckKind.TESTS)
    report = Report(check=f"Run {command}", kind=kind, exit_code=code, findings=findings, **fields)
    return Step(name=f"Run {command}", number=number, command=command, exit_code=code, report=report)


def told(*jobs: JobLog, **options: Any) -> RepairPacket:
    run = of_run(jobs)
    return build(
        run.evaluation, legs=run.legs, aside=run.aside, iteration=1, max_iterations=5, **access(SRC), **options
    )


def leg(version: str, *steps: Step) -> JobLog:
    return JobLog(name=f"tests ({version})", steps=steps)


def test_one_failure_in_two_of_three_legs_is_one_and_names_them() -> None:
    packet = told(leg("3.11", step(UNITS)), leg("3.12", step(UNITS)), leg("3.13", step(passed=frozenset({UNITS.id}))))
    (failure,) = packet.failures
    assert failure.legs == Legs(failing=2, of=3, names=("tests (3.11)", "tests (3.12)"))
    assert packet.as_json()["failures"][0]["legs"] == {
        "failing": 2,
        "of": 3,
        "names": ("tests (3.11)", "tests (3.12)"),
    }
    assert packet.summary == "1 of 1 test failing" and packet.omitted == 0


def test_a_failure_of_one_leg_only_says_so() -> None:
    packet = told(leg("3.11", step(UNITS)), leg("3.12", step(UNITS, TABLE)))
    assert {f.test: f.legs.failing for f in packet.failures if f.legs} == {UNITS.id: 2, TABLE.id: 1}


def test_a_single_job_says_nothing_of_legs() -> None:
    state = told(leg("3.11", step(UNITS), step(LINT, command="ruff check", kind=CheckKind.LINT)))
    assert "legs" not in json.dumps(state.as_json())


def test_jobs_that_do_other_things_are_no_legs() -> None:
    lint = JobLog(name="lint", steps=(step(LINT, command="ruff check", kind=CheckKind.LINT),))
    packet = told(JobLog(name="tests", steps=(step(UNITS),)), lint)
    assert packet.failures[0].legs is None and packet.diagnostics[0].legs is None


def test_legs_of_one_matrix_count_whatever_their_command() -> None:
    packet = told(leg("py311", step(UNITS, command="tox -e py311")), leg("py312", step(command="tox -e py312")))
    assert packet.failures[0].legs == Legs(failing=1, of=2, names=("tests (py311)",))


def test_a_leg_that_was_cancelled_or_blocked_did_not_run_the_test() -> None:
    cancelled, stopped = step(exit_code=None), step(exit_code=2, blocked="conftest.py cannot be loaded")
    packet = told(leg("1", step(UNITS)), leg("2", cancelled), leg("3", stopped), leg("4", step()))
    assert packet.failures[0].legs == Legs(failing=1, of=2, names=("tests (1)",))


def test_a_blocked_check_of_several_legs_is_told_once_with_its_legs() -> None:
    stopped = step(exit_code=2, blocked="conftest.py cannot be loaded")
    packet = told(leg("1", stopped), leg("2", stopped), leg("3", step()))
    assert packet.blocked == ("Run pytest: conftest.py cannot be loaded (in 2 of 3 jobs: tests (1), tests (2))",)


def test_a_complaint_of_several_legs_is_one() -> None:
    lint = step(LINT, command="ruff check", kind=CheckKind.LINT)
    packet = told(leg("1", lint), leg("2", lint))
    assert [d.legs for d in packet.diagnostics] == [Legs(failing=2, of=2, names=("tests (1)", "tests (2)"))]
    assert packet.summary == "1 lint error"


def test_forty_legs_are_counted_and_only_some_named() -> None:
    packet = told(*(leg(f"{n:02}", step(UNITS)) for n in range(40)))
    legs = packet.failures[0].legs
    assert legs and (legs.failing, legs.of, legs.names[-1]) == (40, 40, "[... 34 more ...]") and len(legs.names) == 7


def test_the_order_of_jobs_changes_nothing_even_where_legs_differ_in_what_they_say() -> None:
    other = replace(UNITS, actual=None, message="in other words")
    jobs = [leg("1", step(UNITS, TABLE)), leg("2", step(other)), leg("3", step(LINT, command="ruff"), step(UNITS))]
    digests = {told(*order).digest() for order in itertools.permutations(jobs)}
    assert len(digests) == 1
    assert next(f for f in told(*jobs).failures if f.test == UNITS.id).actual == "5"


def test_two_lines_of_one_test_are_two_failures_with_legs_of_their_own() -> None:
    earlier = replace(UNITS, line=6)
    packet = told(leg("1", step(UNITS)), leg("2", step(earlier)))
    assert [(f.line, f.legs and f.legs.names) for f in packet.failures] == [(6, ("tests (2)",)), (7, ("tests (1)",))]


def test_one_title_in_two_files_is_two_failures() -> None:
    one = Failure(tool="jest", id="adds", file="a.test.js", line=3)
    packet = told(leg("1", step(one, replace(one, file="b.test.js"), command="npx jest")))
    assert [f.file for f in packet.failures] == ["a.test.js", "b.test.js"]


def test_a_failure_that_passes_when_run_again_is_evidence_and_no_failure() -> None:
    again = step(TABLE, command="pytest --lf -v", number=4, passed=frozenset({UNITS.id}))
    packet = told(leg("1", step(UNITS, TABLE), again))
    assert [f.test for f in packet.failures] == [TABLE.id]
    reason = "failed in 'Run pytest', and did not fail when that ran again"
    assert packet.as_json()["aside"] == [{"test": UNITS.id, "reason": reason}]


def test_a_rerun_that_is_green_without_naming_tests_clears_them_all() -> None:
    packet = told(leg("1", step(UNITS, TABLE), step(number=4)))
    assert packet.failures == () and len(packet.aside) == 2 and packet.priority == "none"


def test_a_rerun_that_judged_nothing_clears_nothing() -> None:
    for again in (step(exit_code=None), step(exit_code=2, blocked="no conftest"), step(exit_code=5)):
        packet = told(leg("1", step(UNITS), again))
        assert [f.test for f in packet.failures] == [UNITS.id] and packet.aside == ()


def test_another_command_or_another_environment_is_no_rerun() -> None:
    others = [
        step(command="pytest -p no:randomly", passed=frozenset({UNITS.id})),
        replace(step(passed=frozenset({UNITS.id})), env={"TZ": "UTC"}),
    ]
    for other in others:
        assert [f.test for f in told(leg("1", step(UNITS), other)).failures] == [UNITS.id]


def test_a_pass_in_another_leg_clears_nothing() -> None:
    packet = told(leg("1", step(UNITS)), leg("2", step(passed=frozenset({UNITS.id}))))
    assert [f.test for f in packet.failures] == [UNITS.id] and packet.aside == ()


def test_flaky_in_one_leg_and_failing_in_another_is_failing() -> None:
    packet = told(leg("1", step(UNITS), step()), leg("2", step(UNITS)))
    (failure,) = packet.failures
    assert failure.legs and failure.legs.names == ("tests (2)",) and packet.aside == ()


def test_what_a_green_step_reports_is_nothing_to_repair() -> None:
    warned = step(LINT, command="ruff check --exit-zero", kind=CheckKind.LINT, exit_code=0)
    packet = told(leg("1", step(UNITS, command="pytest || true", exit_code=0), warned))
    assert packet.failures == () and packet.diagnostics == ()
    assert [a.reason for a in packet.aside] == [
        "failed in 'Run pytest || true', which ended with status 0 all the same"
    ]
    assert packet.summary == "0 of 0 tests failing; 0 lint errors"


def test_legs_and_evidence_are_redacted_and_hold_to_the_budget() -> None:
    """Attack: a matrix value that is a secret, or endless."""
    jobs = [leg(f"s3cr3t-token-{n}" + "x" * 5000, step(UNITS, TABLE), step(TABLE)) for n in range(9)]
    packet = told(*jobs, tokens=600)
    assert len(json.dumps(packet.as_json(), ensure_ascii=False)) <= 600 * 3
    clean = redact_packet(told(*jobs), Redactor(["s3cr3t-token"]))
    assert "s3cr3t" not in json.dumps(clean.as_json())

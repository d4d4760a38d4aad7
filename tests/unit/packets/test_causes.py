"""Findings of one likely cause are one cause, and the most important one comes first."""

from __future__ import annotations

import random

from bot.domain.findings import CheckKind, Diagnostic, Failure, FailureKind, Location, Report
from bot.domain.fitness import Evaluation
from bot.domain.packet import Hunk
from bot.packets import causes
from tests.unit.packets.repos import SRC, access, evaluation, failing, frame, keys, packet, report


def _import_error(n: int) -> Failure:
    return Failure(
        tool="pytest",
        id=f"tests/test_{n}.py",
        kind=FailureKind.ERROR,
        file=f"tests/test_{n}.py",
        line=1,
        exception="ImportError",
        message="ImportError: cannot import name 'parse_duration' from 'durations'",
        collection=True,
    )


def _lint(file: str, line: int = 1) -> Diagnostic:
    return Diagnostic(tool="ruff", file=file, line=line, col=1, code="F401", message="unused")


def test_forty_files_failing_on_one_import_are_one_cause() -> None:
    state = evaluation(*(_import_error(n) for n in range(40)))
    assert keys(SRC, state) == ["error:ImportError:ImportError: cannot import name 'parse_duration' from 'durations'"]
    told = packet(SRC, state)
    assert told.priority == "blocked" and told.summary == "40 test files cannot be loaded; 0 of 0 tests failing"
    assert len(told.failures) == 6 and told.omitted == 34
    assert told.failures[0].hint == "parse_duration is defined in src/durations/core.py"


def test_a_crash_in_a_function_and_a_wrong_value_of_it_are_one_cause() -> None:
    crash = failing(
        SRC,
        "tests/test_d.py",
        "test_units",
        "assert parse",
        frames=(frame(SRC, "src/durations/core.py", "return int", "parse_duration"),),
        exception="ValueError",
    )
    wrong = failing(SRC, "tests/test_d.py", "test_table[8m-480]", "assert result")
    assert keys(SRC, evaluation(crash, wrong)) == ["function:src/durations/core.py:parse_duration"]


def test_a_fixture_that_fails_for_many_tests_is_one_cause() -> None:
    found = [
        Failure(
            tool="pytest",
            id=f"tests/test_d.py::test_{n}",
            kind=FailureKind.ERROR,
            file="tests/test_d.py",
            frames=(Location(file="tests/conftest.py", line=3, name="db"),),
            exception="OSError",
            message=f"OSError: no such file at 0x7f{n:04x}",
        )
        for n in range(10)
    ]
    assert keys(SRC, evaluation(*found)) == ["error:OSError:OSError: no such file at 0x"]


def test_the_same_failure_from_several_checks_counts_once() -> None:
    failure = failing(SRC, "tests/test_d.py", "test_units", "assert parse")
    state = Evaluation(reports=(report(failure, check="3.11"), report(failure, check="3.12")))
    (cause,) = causes(state, **access(SRC))
    assert len(cause.failures) == 1 and packet(SRC, state).summary == "1 of 1 test failing"


def test_rank_is_blocked_then_tests_then_lint_then_types_then_what_says_nothing() -> None:
    state = Evaluation(
        reports=(
            Report(check="script", kind=CheckKind.CUSTOM, exit_code=3),
            report(Diagnostic(tool="mypy", file="a.py", line=1, message="m"), kind=CheckKind.TYPES),
            report(_lint("a.py"), kind=CheckKind.LINT),
            report(failing(SRC, "tests/test_d.py", "test_units", "assert parse")),
            report(Diagnostic(tool="gcc", file="a.c", line=1, message="m"), kind=CheckKind.BUILD),
            Report(check="slow", kind=CheckKind.TESTS, exit_code=None, timed_out=True),
        )
    )
    assert keys(SRC, state) == [
        "build:a.c",
        "check:slow",
        "function:src/durations/core.py:parse_duration",
        "lint:a.py",
        "types:a.py",
        "check:script",
    ]
    told = packet(SRC, state)
    assert told.blocked == ("slow: timed out", "script: exited with status 3 and named nothing")
    assert told.summary == "1 of 1 test failing; 1 build error; 1 lint error; 1 type error; script failing"
    assert told.instructions.startswith("Fix ONLY the failing assertions and diagnostics above. First make")


def test_most_failures_first_then_what_was_changed() -> None:
    repo = {
        "a.py": "def f(x):\n    return x\n",
        "b.py": "def g(x):\n    return x\n",
        "test_ab.py": "from a import f\nfrom b import g\n\ndef test_f():\n    assert f(1)\n\n\n"
        "def test_g():\n    assert g(1)\n\n\ndef test_g2():\n    assert g(2)\n",
    }
    f, g, g2 = (
        failing(repo, "test_ab.py", name, text)
        for name, text in (("test_f", "assert f"), ("test_g", "assert g(1)"), ("test_g2", "assert g(2)"))
    )
    assert keys(repo, evaluation(f, g, g2)) == ["function:b.py:g", "function:a.py:f"]
    assert keys(repo, evaluation(f, g)) == ["function:a.py:f", "function:b.py:g"]
    hunk = Hunk(file="b.py", hunk="@@ -1,2 +1,2 @@\n def g(x):\n+    return x")
    assert causes(evaluation(f, g), changed=(hunk,), **access(repo))[0].key == "function:b.py:g"


def test_order_of_reports_and_findings_changes_nothing() -> None:
    found = [
        failing(SRC, "tests/test_d.py", "test_units", "assert parse", expected="300", actual="5"),
        failing(SRC, "tests/test_d.py", "test_table[8m-480]", "assert result"),
        Failure(tool="pytest", id="tests/test_e.py::test_e", file="tests/test_e.py", line=3, message="Boom"),
        *(_import_error(n) for n in range(3)),
    ]
    lint = report(_lint("src/durations/core.py"), _lint("x.py"), kind=CheckKind.LINT)
    told = packet(SRC, Evaluation(reports=(report(*found), lint)))
    for seed in range(5):
        random.Random(seed).shuffle(found)
        again = packet(SRC, Evaluation(reports=(lint, report(*found))))
        assert again.digest() == told.digest()


def test_summary_names_only_what_was_judged() -> None:
    state = Evaluation(
        reports=(
            report(
                failing(SRC, "tests/test_d.py", "test_units", "assert parse"),
                failing(SRC, "tests/test_d.py", "test_table[8m-480]", "assert result"),
                passed=frozenset({"a", "b", "c"}),
            ),
            report(_lint("a.py"), kind=CheckKind.LINT),
            Report(check="mypy", kind=CheckKind.TYPES, exit_code=0),
        )
    )
    assert packet(SRC, state).summary == "2 of 5 tests failing; 1 lint error; 0 type errors"
    assert packet(SRC, Evaluation(reports=state.reports[:1])).summary == "2 of 5 tests failing"


def test_several_causes_share_a_packet_as_the_budget_allows() -> None:
    state = Evaluation(
        reports=(
            report(failing(SRC, "tests/test_d.py", "test_units", "assert parse")),
            report(_lint("src/durations/core.py", 3), kind=CheckKind.LINT),
        )
    )
    told = packet(SRC, state)
    assert told.omitted == 0 and told.failures and told.diagnostics and told.priority == "tests"
    small = packet(SRC, state, tokens=240)
    assert small.omitted == 1 and small.failures and not small.diagnostics


def test_the_hint_of_a_person_is_passed_on() -> None:
    told = packet(SRC, evaluation(failing(SRC, "tests/test_d.py", "test_units", "assert parse")), hint="look at UNITS")
    assert told.instructions.endswith("Do not modify the tests. Hint: look at UNITS")

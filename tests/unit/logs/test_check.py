"""One run of a check in our own sandbox."""

import json

import pytest

from bot.domain.findings import Check, CheckKind, Diagnostic, Failure, FailureKind
from bot.logs import read_output

PYTEST = Check(name="tests", kind=CheckKind.TESTS, command="pytest -q", format="pytest")
RUFF = Check(name="lint", kind=CheckKind.LINT, command="ruff check .")

RED = b"""F.                                                                       [100%]
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________

    def test_a():
>       assert f(2) == 3
E       assert 2 == 3

tests/test_a.py:4: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_a - assert 2 == 3
1 failed, 1 passed in 0.02s
"""


def events(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_a_red_run_from_its_text():
    report = read_output(RED, check=PYTEST, exit_code=1)
    (failure,) = report.findings
    assert isinstance(failure, Failure)
    assert (failure.id, failure.file, failure.line) == ("tests/test_a.py::test_a", "tests/test_a.py", 4)
    assert (failure.source, failure.expected, failure.actual) == ("assert f(2) == 3", "3", "2")
    assert report.blocked is None
    assert not report.green


def test_events_take_precedence_over_the_text():
    report = read_output(
        b"FAILED tests/ghost.py::test_ghost - no\n" + RED,
        check=PYTEST,
        exit_code=1,
        events=events(
            {"event": "collected", "ids": ["tests/test_a.py::test_a", "tests/test_a.py::test_b"]},
            {"event": "test", "id": "tests/test_a.py::test_b", "when": "call", "outcome": "passed"},
            {
                "event": "test",
                "id": "tests/test_a.py::test_a",
                "when": "call",
                "outcome": "failed",
                "message": "assert 2 == 3",
                "source": "assert f(2) == 3",
                "frames": [{"file": "tests/test_a.py", "line": 4, "name": "test_a"}],
            },
            {"event": "finish", "exit": 1},
        ),
    )
    assert report.failing == {"tests/test_a.py::test_a"}
    assert report.passed == {"tests/test_a.py::test_b"}
    assert report.collected == {"tests/test_a.py::test_a", "tests/test_a.py::test_b"}
    assert report.findings[0].expected == "3"


def test_a_failing_fixture_is_an_error_and_takes_the_pass_away():
    report = read_output(
        b"",
        check=PYTEST,
        exit_code=1,
        events=events(
            {"event": "collected", "ids": ["t.py::a"]},
            {"event": "test", "id": "t.py::a", "when": "call", "outcome": "passed"},
            {"event": "test", "id": "t.py::a", "when": "teardown", "outcome": "failed", "message": "RuntimeError: x"},
            {"event": "finish", "exit": 1},
        ),
    )
    assert report.findings[0].kind is FailureKind.ERROR
    assert report.passed == frozenset()


@pytest.mark.parametrize(
    "line",
    [b"null", b"[]", b'"x"', b"{", b'{"event": 3}', b'{"event":"test","id":[]}', b'{"event":"collected","ids":7}'],
)
def test_hostile_events_are_left_out(line):
    report = read_output(RED, check=PYTEST, exit_code=1, events=line + b"\n")
    assert report.failing == {"tests/test_a.py::test_a"}


def test_events_of_a_wrong_type_count_as_absent():
    row = {
        "event": "test",
        "id": "t.py::a",
        "when": 3,
        "outcome": "failed",
        "frames": [None, {"file": 3}],
        "message": 1,
    }
    report = read_output(b"", check=PYTEST, exit_code=1, events=events(row, {"event": "finish", "exit": "1"}))
    assert report.failing == {"t.py::a"}


@pytest.mark.parametrize(
    ("arguments", "output", "reason"),
    [
        ({"exit_code": None, "timed_out": True}, b"", "timed out"),
        ({"exit_code": 137, "oom_killed": True}, b"", "out of memory"),
        ({"exit_code": 139}, b"", "crashed: exit status 139"),
        ({"exit_code": None}, b"", "the command was ended from outside"),
        (
            {"exit_code": 4},
            b"ERROR: file or directory not found: nope\n\nno tests ran in 0.00s\n",
            "ERROR: file or dir",
        ),
        ({"exit_code": 5}, b"no tests ran in 0.00s\n", "no tests ran"),
        ({"exit_code": 1}, b"", "exit status 1 with nothing found"),
        ({"exit_code": 3}, b"INTERNALERROR> Traceback (most recent call last):\n", "internal error of pytest"),
    ],
)
def test_a_run_that_did_not_judge_is_blocked(arguments, output, reason):
    report = read_output(output, check=PYTEST, **arguments)
    assert (report.blocked or "").startswith(reason)
    assert not report.green


def test_a_collection_error_blocks():
    row = {"event": "collect_error", "id": "tests/test_x.py", "longrepr": "E   ImportError: no\n"}
    report = read_output(b"", check=PYTEST, exit_code=2, events=events(row, {"event": "finish", "exit": 2}))
    assert report.blocked == "1 error during collection: ImportError: no"
    assert report.findings[0].collection


def test_a_run_that_breaks_off_is_blocked():
    report = read_output(b"", check=PYTEST, exit_code=0, events=events({"event": "collected", "ids": ["t.py::a"]}))
    assert report.blocked == "the test run broke off"


def test_lint_rows_are_findings_not_blocks():
    report = read_output(b"src/a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n", check=RUFF, exit_code=1)
    assert report.findings == (
        Diagnostic(tool="ruff", file="src/a.py", line=1, col=8, code="F401", message="`os` imported but unused"),
    )
    assert report.blocked is None


def test_a_green_lint_run_is_green():
    assert read_output(b"All checks passed!\n", check=RUFF, exit_code=0).green

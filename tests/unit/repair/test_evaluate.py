"""Checks really run, in a stand-in for the sandbox; what they say becomes reports."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from bot.domain.attempt import Fault
from bot.domain.execution import Environment, Limits, Request, Result
from bot.domain.findings import Check, CheckKind, Diagnostic, Failure
from bot.repair.evaluate import Run, evaluate, read
from tests.fakes.sandbox import LocalProcessSandbox

PYTEST = Check(
    name="pytest", kind=CheckKind.TESTS, command="python -m pytest -p no:hypothesispytest -p no:cacheprovider"
)
RUFF = Check(name="ruff", kind=CheckKind.LINT, command="ruff check --no-cache .")

TREE = {
    "pytest.ini": "[pytest]\n",
    "ruff.toml": "",
    "d.py": "import os\n\n\ndef double(x):\n    if x:\n        return x + 1\n    return 0\n",
    "test_d.py": "from d import double\n\n\ndef test_one():\n    assert double(5) == 10\n\n\ndef test_two():\n"
    "    assert double(0) == 0\n",
}
FIXED = {"d.py": b"def double(x):\n    return 2 * x\n"}


class World:
    """A tree on disk and a sandbox over it."""

    def __init__(self, root: Path, sandbox: LocalProcessSandbox) -> None:
        self.root, self.sandbox = root, sandbox

    def run(
        self, *checks: Check, tree: dict[str, str] = TREE, files: dict[str, bytes | None] | None = None, **more
    ) -> Run:  # type: ignore[no-untyped-def]
        for name, text in tree.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(dedent(text))
        name = self.sandbox.prepare(Environment(image="any", tree=str(self.root), digest="d"))
        given = {"files": files or {}, "protected": {}, "limits": Limits(timeout_s=60), **more}
        return evaluate(self.sandbox, name, checks or (PYTEST,), **given)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    sandbox = LocalProcessSandbox()
    yield World(tmp_path, sandbox)
    sandbox.close()


def blocked(run: Run) -> str:
    (report,) = run.evaluation.reports
    assert not report.green
    return report.blocked or ""


def test_reports_come_in_the_order_of_the_checks_with_their_findings(world: World) -> None:
    slow = replace(PYTEST, command=f"sleep 0.3; {PYTEST.command}")
    run = world.run(slow, RUFF)
    tests, lint = run.evaluation.reports
    assert (tests.check, lint.check) == ("pytest", "ruff")
    assert tests.passed == {"test_d.py::test_two"} and tests.failing == {"test_d.py::test_one"}
    (failure,) = tests.findings
    assert isinstance(failure, Failure) and (failure.actual, failure.expected) == ("6", "10")
    assert (failure.file, failure.line, failure.source) == ("test_d.py", 5, "assert double(5) == 10")
    (complaint,) = lint.findings
    assert isinstance(complaint, Diagnostic) and (complaint.code, complaint.file) == ("F401", "d.py")
    assert [result.exit_code for result in run.results] == [1, 1]


def test_a_patch_that_repairs_is_green(world: World) -> None:
    assert world.run(PYTEST, RUFF, files=FIXED).evaluation.green


def test_locked_files_are_put_back_over_the_patch(world: World) -> None:
    cheat = {"test_d.py": b"def test_one(): pass\ndef test_two(): pass\n"}
    run = world.run(files=cheat, protected={"test_d.py": TREE["test_d.py"].encode()})
    assert run.evaluation.failing == {"test_d.py::test_one"}


def test_only_the_wanted_ids_run_and_no_linter(world: World) -> None:
    run = world.run(RUFF, PYTEST, only=frozenset({"test_d.py::test_two"}))
    (report,) = run.evaluation.reports
    assert report.collected == report.passed == {"test_d.py::test_two"}
    assert len(run.results) == 1


def test_tests_behind_a_custom_command_are_rerun_too(world: World) -> None:
    custom = replace(PYTEST, kind=CheckKind.CUSTOM, name="make test")
    other = Check(name="build", kind=CheckKind.BUILD, command="true")
    run = world.run(other, custom, only=frozenset({"test_d.py::test_one"}))
    assert [(r.check, r.failing) for r in run.evaluation.reports] == [("make test", {"test_d.py::test_one"})]


def test_lines_of_each_test_are_traced_on_demand(world: World) -> None:
    run = world.run(trace=True)
    assert run.coverage["test_d.py::test_one"]["d.py"] == {5, 6}
    assert run.coverage["test_d.py::test_two"]["d.py"] == {5, 7}
    assert world.run().coverage == {}


def test_places_are_relative_to_the_repository_when_a_check_runs_deeper(world: World) -> None:
    run = world.run(replace(PYTEST, workdir="pkg"), tree={f"pkg/{name}": text for name, text in TREE.items()})
    (failure,) = run.evaluation.reports[0].findings
    assert isinstance(failure, Failure) and (failure.id, failure.file) == ("test_d.py::test_one", "pkg/test_d.py")


def test_status_zero_with_failing_tests_is_not_green(world: World) -> None:
    assert (
        blocked(world.run(replace(PYTEST, command=PYTEST.command + " || true")))
        == "exit status 0 although 1 test failed"
    )


def test_a_test_that_ends_the_process_is_not_green(world: World) -> None:
    tree = {"test_x.py": "import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\n"}
    assert blocked(world.run(tree=tree)) == "exit status 0 although the test run did not come to its end"


def test_status_zero_without_tests_is_not_green(world: World) -> None:
    check = replace(PYTEST, command=PYTEST.command + " || [ $? -eq 5 ]")
    assert blocked(world.run(check, tree={"d.py": ""})) == "exit status 0 although no test ran"


def test_a_red_status_with_green_tests_is_blocked_with_the_last_line(world: World) -> None:
    conftest = """\
        def pytest_sessionfinish(session): session.exitstatus = 1
        def pytest_unconfigure(): print("coverage is too low")
        """
    tree = {"conftest.py": conftest, "test_x.py": "def test_a(): pass\n"}
    assert blocked(world.run(tree=tree)) == "exit status 1 although no test failed: coverage is too low"


def test_a_check_out_of_time_is_blocked(world: World) -> None:
    run = world.run(replace(PYTEST, command="sleep 30"), limits=Limits(timeout_s=0.3))
    assert blocked(run) == "timed out"
    assert run.results[0].timed_out


@pytest.mark.parametrize("command", ["false | true", "false; true"])
def test_commands_run_as_github_runs_them(world: World, command: str) -> None:
    assert world.run(Check(name="c", kind=CheckKind.CUSTOM, command=command)).evaluation.reports[0].exit_code == 1


def test_without_bash_sh_is_used(world: World, tmp_path_factory: pytest.TempPathFactory) -> None:
    bare = tmp_path_factory.mktemp("bin")
    (bare / "sh").symlink_to(shutil.which("sh") or "")
    check = Check(name="c", kind=CheckKind.CUSTOM, command="echo here", env={"PATH": str(bare)})
    assert world.run(check).results[0].stdout == b"here\n"


def test_steps_may_write_where_github_lets_them(world: World) -> None:
    command = 'echo x >> "$GITHUB_STEP_SUMMARY"; [ "$CI" = true ]; [ "$MINE" = yes ]; cd "$GITHUB_WORKSPACE"'
    check = Check(name="c", kind=CheckKind.CUSTOM, command=command, env={"MINE": "yes"})
    assert world.run(check).evaluation.green


def test_an_output_format_that_the_command_names_stays(world: World) -> None:
    run = world.run(replace(RUFF, command=RUFF.command + " --output-format=concise"))
    assert b"d.py:1:8: F401" in run.results[0].stdout
    assert len(run.evaluation.reports[0].findings) == 1


def test_a_pythonpath_of_the_check_is_kept(world: World) -> None:
    tree = {"src/d.py": TREE["d.py"], "test_d.py": TREE["test_d.py"], "pytest.ini": "[pytest]\n"}
    through_env = world.run(replace(PYTEST, env={"PYTHONPATH": "src"}), tree=tree)
    assert through_env.evaluation.failing == {"test_d.py::test_one"}
    in_command = world.run(replace(PYTEST, command=f"PYTHONPATH='src' {PYTEST.command}"), tree=tree)
    assert in_command.evaluation.reports[0].findings == through_env.evaluation.reports[0].findings


def test_where_the_plugin_cannot_come_in_the_text_is_read(world: World) -> None:
    run = world.run(replace(PYTEST, command=f"unset PYTHONPATH; {PYTEST.command} -rA"))
    assert run.results[0].collected == {}
    assert run.evaluation.failing == {"test_d.py::test_one"} and run.evaluation.passed == {"test_d.py::test_two"}


def test_a_broken_box_is_a_fault() -> None:
    class Broken(LocalProcessSandbox):
        def run(self, request: Request) -> Result:
            raise Fault("Docker does not answer", fix="start Docker")

    sandbox = Broken()
    with pytest.raises(Fault, match="Docker does not answer"):
        evaluate(sandbox, "any", (PYTEST, RUFF), files={}, protected={}, limits=Limits())
    sandbox.close()


def test_what_ends_the_run_does_not_wait_for_the_other_checks() -> None:
    """An interrupted run used to go on for as long as its longest check; now that ends with its box."""
    going, ended = threading.Event(), threading.Event()

    class Broken(LocalProcessSandbox):
        def run(self, request: Request) -> Result:
            if "ruff" in request.entrypoint[-1]:
                going.set()
                ended.wait(60)
            assert going.wait(60)
            raise Fault("Docker does not answer", fix="start Docker")

    sandbox = Broken()
    with pytest.raises(Fault, match="Docker does not answer"):
        evaluate(sandbox, "any", (PYTEST, RUFF), files={}, protected={}, limits=Limits())
    assert going.is_set() and not ended.is_set()
    ended.set()
    sandbox.close()


def test_garbled_events_are_no_evidence_and_no_crash() -> None:
    events = b'\xff\n[]\n{"event":"lines","id":"t","lines":{"a":7}}\n{"event":1}\n{"event":"test","id":"t","outco'
    result = Result(exit_code=0, stdout=b"", stderr=b"", duration_ms=1, collected={"events.jsonl": events})
    assert not read(PYTEST, result).green

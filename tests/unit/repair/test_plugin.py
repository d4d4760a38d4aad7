"""The pytest plugin, tried by really running pytest with it on small projects."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from bot.repair import instruments

Event = dict[str, Any]


class Project:
    """A folder of test files, and pytest runs in it with the plugin beside."""

    def __init__(self, root: Path) -> None:
        self.root, self.tools = root / "work", root / "tools"
        self.root.mkdir()
        (self.root / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")

    def write(self, **files: str) -> Project:
        for name, text in files.items():
            (self.root / f"{name}.py").write_text(dedent(text))
        return self

    def run(self, *args: str, only: frozenset[str] | None = None, status: int | None = None, **env: str) -> list[Event]:
        for name, content in instruments.tools(only).items():
            (self.tools / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tools / name).write_bytes(content)
        known = {"SELFREPAIR_OUT": str(self.tools), "SELFREPAIR_ROOT": str(self.root), "PYTHONPATH": str(self.tools)}
        if only is not None:
            known["SELFREPAIR_ONLY"] = str(self.tools / "only.json")
        base = {"PATH": os.environ["PATH"], "HOME": str(self.root), "CI": "true", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *args]
        self.done = subprocess.run(command, cwd=self.root, env={**base, **known, **env}, capture_output=True, text=True)
        assert "INTERNALERROR" not in self.done.stdout + self.done.stderr
        if status is not None:
            assert self.done.returncode == status, self.done.stdout + self.done.stderr
        path = self.tools / "events.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def by_id(events: list[Event]) -> dict[str, Event]:
    return {event["id"]: event for event in events if event["event"] == "test"}


def only_test(events: list[Event]) -> Event:
    (event,) = by_id(events).values()
    return event


def test_a_run_is_told_in_order_and_whole(project: Project) -> None:
    project.write(test_a="def test_yes(): pass\ndef test_no(): assert 1 == 2\n")
    events = project.run(status=1)
    assert [event["event"] for event in events] == ["collected", "test", "test", "finish"]
    assert events[0]["ids"] == ["test_a.py::test_yes", "test_a.py::test_no"]
    assert events[-1]["exit"] == 1
    assert by_id(events)["test_a.py::test_yes"]["outcome"] == "passed"


def test_a_failed_comparison_gives_both_sides_and_the_places(project: Project) -> None:
    project.write(
        d="def double(x):\n    return x + 1\n",
        test_d="""\
            from d import double

            def check(value, wanted):
                assert double(
                    value
                ) == wanted

            def test_double():
                check(5, 10)
            """,
    )
    event = only_test(project.run(status=1))
    assert (event["actual"], event["expected"]) == ("6", "10")
    assert (event["file"], event["line"]) == ("test_d.py", 4)
    assert event["source"].startswith("assert double(") and event["source"].endswith("== wanted")
    assert event["assertion"] == "assert 6 == 10"
    assert event["exception"] == "AssertionError"
    assert event["frames"] == [
        {"file": "test_d.py", "line": 9, "name": "test_double"},
        {"file": "test_d.py", "line": 4, "name": "check"},
    ]


def test_an_assert_with_a_message_keeps_both_lines(project: Project) -> None:
    project.write(test_a="def test_it():\n    assert [1] == [2], 'they differ'\n")
    event = only_test(project.run())
    assert event["message"].startswith("AssertionError: they differ\n")
    assert event["assertion"] == "assert [1] == [2]"
    assert event["expected"] == "[2]"


def test_an_exception_in_the_code_gives_the_frames_into_it(project: Project) -> None:
    project.write(d="def f(x):\n    raise ValueError(f'bad amount: {x!r}')\n")
    project.write(test_d="from d import f\ndef test_f():\n    f('x')\n")
    event = only_test(project.run())
    assert event["message"] == event["assertion"] == "ValueError: bad amount: 'x'"
    assert (event["file"], event["line"], event["source"]) == ("test_d.py", 3, "f('x')")
    assert event["frames"][-1] == {"file": "d.py", "line": 2, "name": "f"}
    assert "expected" not in event


def test_a_comparison_caught_earlier_is_not_taken_for_the_failing_one(project: Project) -> None:
    project.write(
        test_a="""\
            import pytest

            def test_it():
                with pytest.raises(AssertionError):
                    assert 1 == 2
                raise AssertionError("other")
            """
    )
    event = only_test(project.run())
    assert "expected" not in event and event["message"] == "AssertionError: other"


def test_long_values_are_cut_visibly(project: Project) -> None:
    project.write(test_a="def test_it():\n    assert 'a' * 9000 == 'b'\n")
    event = only_test(project.run())
    assert len(event["actual"]) < 4100 and event["actual"].endswith("characters more]")


def test_hostile_reprs_do_not_reach_the_run(project: Project) -> None:
    project.write(
        test_a="""\
            class Bad:
                def __repr__(self): raise RuntimeError("no")

            class Worse(Exception):
                def __str__(self): raise RuntimeError("no")

            def test_compare(): assert Bad() == 1
            def test_raise(): raise Worse
            def test_surrogate(): assert "\\ud800" == "x"
            """
    )
    events = by_id(project.run(status=1))
    assert events["test_a.py::test_compare"]["actual"] == "<repr raised RuntimeError>"
    assert events["test_a.py::test_raise"]["message"] == "Worse: <str raised RuntimeError>"
    assert events["test_a.py::test_surrogate"]["outcome"] == "failed"


def test_tests_that_replace_open_environ_and_json_are_still_reported(project: Project) -> None:
    project.write(
        test_a="""\
            import builtins, io, json, os, os.path

            def test_it(monkeypatch):
                def boom(*args, **kwargs): raise OSError("replaced")
                monkeypatch.setattr(json, "dumps", boom)
                monkeypatch.setattr(os.path, "abspath", boom)
                monkeypatch.setattr(os.path, "exists", boom)
                for name in list(os.environ): monkeypatch.delenv(name)
                monkeypatch.setattr(builtins, "open", boom)
                assert 1 == 2
            """
    )
    event = only_test(project.run(status=1))
    assert (event["file"], event["line"], event["expected"]) == ("test_a.py", 10, "2")


def test_unittest_values_and_subtests(project: Project) -> None:
    project.write(
        test_u="""\
            import unittest

            class T(unittest.TestCase):
                def test_equal(self):
                    self.assertEqual([1, 2], [1, 3])

                def test_sub(self):
                    for n in (1, 2):
                        with self.subTest("part", n=n):
                            self.assertTrue(n == 1)
            """
    )
    events = by_id(project.run(status=1))
    equal = events["test_u.py::T::test_equal"]
    assert (equal["actual"], equal["expected"], equal["line"]) == ("[1, 2]", "[1, 3]", 5)
    failing = {name for name, event in events.items() if event["outcome"] == "failed"}
    assert "test_u.py::T::test_sub [part] (n=2)" in failing
    assert "test_u.py::T::test_sub [part] (n=1)" not in failing


def test_doctests_have_both_sides(project: Project) -> None:
    project.write(d='def f():\n    """\n    >>> f()\n    2\n    """\n    return 1\n')
    event = only_test(project.run("--doctest-modules", status=1))
    assert (event["id"], event["actual"], event["expected"]) == ("d.py::d.f", "1\n", "2\n")


def test_skips_xfails_and_phases(project: Project) -> None:
    project.write(
        test_a="""\
            import pytest

            @pytest.fixture
            def broken(): raise KeyError("fixture")

            @pytest.fixture
            def late():
                yield
                raise KeyError("late")

            @pytest.mark.skip(reason="not now")
            def test_skip(): pass
            @pytest.mark.xfail
            def test_xfail(): assert 0
            @pytest.mark.xfail(strict=True)
            def test_strict(): pass
            def test_setup(broken): pass
            def test_teardown(late): print("heard")
            def test_missing(nosuch): pass
            """
    )
    events = [e for e in project.run(status=1) if e["event"] == "test"]
    told = {(e["id"].split("::")[1], e["when"], e["outcome"], e["xfail"]) for e in events}
    assert told == {
        ("test_skip", "setup", "skipped", False),
        ("test_xfail", "call", "skipped", True),
        ("test_strict", "call", "failed", False),
        ("test_setup", "setup", "failed", False),
        ("test_teardown", "call", "passed", False),
        ("test_teardown", "teardown", "failed", False),
        ("test_missing", "setup", "failed", False),
    }
    named = by_id(events)
    assert named["test_a.py::test_skip"]["message"] == "Skipped: not now"
    assert named["test_a.py::test_teardown"]["captured"] == "heard\n"
    assert named["test_a.py::test_missing"]["line"] == 19
    assert "nosuch" in named["test_a.py::test_missing"]["message"]


def test_collection_errors_name_the_cause(project: Project) -> None:
    project.write(d="x = 1\n", test_i="from d import y\n", test_s="def broken(:\n", test_ok="def test(): pass\n")
    events = project.run(status=2)
    errors = {event["id"]: event for event in events if event["event"] == "collect_error"}
    assert errors["test_i.py"]["exception"] == "ImportError"
    assert (errors["test_i.py"]["file"], errors["test_i.py"]["line"]) == ("test_i.py", 1)
    assert errors["test_i.py"]["source"] == "from d import y"
    assert errors["test_s.py"]["exception"] == "SyntaxError"
    assert (errors["test_s.py"]["file"], errors["test_s.py"]["line"]) == ("test_s.py", 1)
    assert events[-1] == {"event": "finish", "exit": 2}


def test_first_failure_does_not_end_the_run(project: Project) -> None:
    project.write(test_a="def test_a(): assert 0\ndef test_b(): assert 0\n")
    assert len(by_id(project.run("-x", status=1))) == 2


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_xdist_workers_tell_through_the_controller(project: Project, workers: str) -> None:
    project.write(
        test_a="def test_a(): assert '\\ud800' == 2\ndef test_b(): assert 0\ndef test_c(): pass\n",
        test_broken="import nosuch\n",
    )
    events = project.run(workers, "-x", "--continue-on-collection-errors", status=1, SELFREPAIR_TRACE="1")
    assert [sorted(e["ids"]) for e in events if e["event"] == "collected"] == [
        ["test_a.py::test_a", "test_a.py::test_b", "test_a.py::test_c"]
    ]
    assert by_id(events)["test_a.py::test_a"]["expected"] == "2"
    assert len(by_id(events)) == 3
    assert {e["id"] for e in events if e["event"] == "lines"} == set(by_id(events))
    assert next(e["exception"] for e in events if e["event"] == "collect_error") == "ModuleNotFoundError"


def test_only_the_wanted_ids_run(project: Project) -> None:
    project.write(test_a="import pytest\n@pytest.mark.parametrize('x', [1, 2])\ndef test_a(x): assert x == 1\n")
    events = project.run(only=frozenset({"test_a.py::test_a[2]"}), status=1)
    assert set(by_id(events)) == {"test_a.py::test_a[2]"}
    assert events[0]["ids"] == ["test_a.py::test_a[2]"]


def test_a_pytest_run_by_a_test_stays_unobserved(project: Project) -> None:
    project.write(
        test_a="""\
            import pathlib, subprocess, sys
            pytest_plugins = "pytester"

            def test_process(tmp_path):
                (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
                assert subprocess.run([sys.executable, "-m", "pytest", str(tmp_path)]).returncode == 1

            def test_inline(pytester):
                pytester.makepyfile("def test_inner(): assert 0")
                pytester.runpytest().assert_outcomes(failed=1)
            """
    )
    events = project.run(status=0)
    assert set(by_id(events)) == {"test_a.py::test_process", "test_a.py::test_inline"}
    assert [event["event"] for event in events].count("finish") == 1


def test_lines_are_told_for_each_test_apart(project: Project) -> None:
    project.write(
        d="""\
            import json

            def f(x):
                if x:
                    json.dumps(x)
                    return 1
                return [
                    0
                    for _ in range(2)
                ]
            """,
        test_d="from d import f\ndef test_one(): f(1)\ndef test_two(): f(0)\ndef test_again(): f(1)\n",
    )
    events = project.run(status=0, SELFREPAIR_TRACE="1")
    lines = {e["id"].split("::")[1]: e["lines"] for e in events if e["event"] == "lines"}
    assert lines["test_one"]["d.py"] == lines["test_again"]["d.py"] == [4, 5, 6]
    assert set(lines["test_two"]["d.py"]) >= {4, 7} and not {5, 6} & set(lines["test_two"]["d.py"])
    assert set(lines["test_one"]) == {"d.py", "test_d.py"}


def test_without_our_environment_it_is_inert(project: Project) -> None:
    project.write(test_a="def test_a(): assert 0\n")
    assert project.run(status=1, SELFREPAIR_OUT="") == []


def test_a_command_with_its_own_pythonpath_runs_without_it(project: Project) -> None:
    project.write(test_a="def test_a(): assert 0\n")
    assert project.run(status=1, PYTHONPATH=str(project.root)) == []


def test_a_full_disk_changes_nothing(project: Project) -> None:
    project.write(test_a="def test_a(): pass\n")
    out = project.root / "out"
    out.mkdir()
    (out / "events.jsonl").symlink_to("/dev/full")
    project.run(status=0, SELFREPAIR_OUT=str(out))
    assert "1 passed" in project.done.stdout


def test_the_plugin_is_python_3_8() -> None:
    for name, content in instruments.tools(None).items():
        if name.endswith(".py"):
            ast.parse(content, feature_version=(3, 8))

"""What a patch may not touch."""

from __future__ import annotations

import pytest

from bot.domain.findings import CheckKind, Report
from bot.domain.fitness import Evaluation
from bot.repair import oracle
from bot.repair.locked import matches

NOTHING = Evaluation()


def collected(*ids: str) -> Evaluation:
    report = Report(check="t", kind=CheckKind.TESTS, exit_code=0, collected=frozenset(ids))
    return Evaluation(reports=(report,))


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_a.py",
        "test_a.py",
        "pkg/a_test.py",
        "pkg/tests/data.json",
        "conftest.py",
        "pkg/conftest.py",
        "web/__tests__/a.js",
        "web/a.spec.ts",
        ".github/workflows/ci.yml",
        "Makefile",
        "tox.ini",
        "pyproject.toml",
        "packages/a/package.json",
        "setup.cfg",
        ".flake8",
        "requirements-dev.txt",
        "uv.lock",
        "AGENTS.md",
        ".cursor/rules/a.md",
        ".gitattributes",
        ".gitignore",
        "PyProject.TOML",
        "Tests/x.py",
    ],
)
def test_locked_by_name(path: str) -> None:
    assert oracle.protected_paths(frozenset({path}), NOTHING) == {path}


@pytest.mark.parametrize(
    "path", ["d.py", "src/pkg/latest.py", "contest.py", "docs/github.md", "pkg/attest/x.py", "setup.py"]
)
def test_free_by_name(path: str) -> None:
    assert oracle.protected_paths(frozenset({path}), NOTHING) == frozenset()


def test_files_that_the_runner_collects_are_locked_wherever_they_lie() -> None:
    paths = frozenset({"pkg/checks/spec_a.py", "pkg/a.py", "spec_a.py.md"})
    baseline = collected("checks/spec_a.py::test_x", "module.Class.test")
    assert oracle.protected_paths(paths, baseline) == {"pkg/checks/spec_a.py"}


def test_scripts_of_the_checks_are_locked() -> None:
    paths = frozenset({"scripts/check.sh", "scripts/other.sh", "app.py"})
    assert oracle.protected_paths(paths, NOTHING, commands=["./scripts/check.sh app.py"]) == {"scripts/check.sh"}


def test_globs_of_the_configuration() -> None:
    paths = frozenset({"docs/spec.md", "tests/helper.py", "tests/test_a.py"})
    locked = oracle.protected_paths(paths, NOTHING, protect=["docs/**"], allow=["tests/helper.py"])
    assert locked == {"docs/spec.md", "tests/test_a.py"}


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*.py", "a/b.py", True),
        ("/*.py", "a/b.py", False),
        ("a/*.py", "a/b.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/c.py", "a/c.py", True),
        ("a/**/c.py", "a/x/y/c.py", True),
        ("a/**", "z/a/b", True),
        ("/a/**", "z/a/b", False),
        ("a?.py", "ab.py", True),
        ("a.py", "axpy", False),
    ],
)
def test_globs(glob: str, path: str, expected: bool) -> None:
    assert matches(path, [glob]) is expected


def test_locked_files_are_restored_and_links_stay() -> None:
    head = {"tests/test_a.py": b"a", "conftest.py": b"c"}
    restored = oracle.protected_files(head.get, frozenset({"tests/test_a.py", "conftest.py", "link.py"}))
    assert restored == head


PATHS = frozenset(
    {
        "d.py",
        "src/pkg/__init__.py",
        "src/pkg/a.py",
        "tests/test_d.py",
        "link",
        "caf\u00e9.py",
        "scripts/run.py",
        "pytest.py",
    }
)


def read(path: str) -> bytes | None:
    """Links have no content of their own."""
    return None if path == "link" else b""


def rule(path: str, content: bytes | None = b"x") -> str | None:
    protected = oracle.protected_paths(PATHS, NOTHING)
    broken = oracle.check({path: content}, protected=protected, paths=PATHS, read=read)
    return broken.rule if broken else None


@pytest.mark.parametrize(
    "path", ["d.py", "src/pkg/a.py", "src/pkg/new.py", "src/pkg/json.py", "helper.py", "docs/x.md", "pytest.py"]
)
def test_ordinary_changes_are_free(path: str) -> None:
    assert rule(path) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", "path"),
        ("/etc/passwd", "path"),
        ("../d.py", "path"),
        ("a/../d.py", "path"),
        ("./d.py", "path"),
        ("a//b.py", "path"),
        ("a\\b.py", "path"),
        ("C:/d.py", "path"),
        ("a\nb.py", "path"),
        ("d\u200b.py", "path"),
        (".git/hooks/pre-commit", "git"),
        ("sub/.GIT/config", "git"),
        (".git /config", "git"),
        ("GIT~1/config", "git"),
        ("src/", "path"),
        ("src", "path"),
        ("src/pkg", "path"),
        (" d.py", "git"),
        ("d\0.py", "path"),
        ("link/d.py", "symlink"),
        ("link", "symlink"),
        ("d.py/x.py", "symlink"),
        ("D.py", "collision"),
        ("cafe\u0301.py", "collision"),
        ("Src/pkg/a.py", "collision"),
        ("src/PKG/b.py", "collision"),
        ("tests/test_d.py", "protected"),
        ("conftest.py", "protected"),
        ("src/pkg/conftest.py", "protected"),
        ("test_new.py", "protected"),
        ("pytest.ini", "protected"),
        (".github/workflows/x.yml", "protected"),
        ("x.pth", "startup"),
        ("sitecustomize.py", "startup"),
        ("src/usercustomize/__init__.py", "startup"),
        ("json.py", "shadowing"),
        ("src/json/__init__.py", "shadowing"),
        ("scripts/typing.py", "shadowing"),
        ("_pytest/runner.py", None),
        ("_pytest/__init__.py", "shadowing"),
        ("unittest/__init__.py", "shadowing"),
        ("pytest_cov/plugin.py", None),
        ("pytest_cov.py", "shadowing"),
        ("src/pkg/a.cpython-313-x86_64-linux-gnu.so", "binary"),
        ("src/pkg/__pycache__/a.cpython-313.pyc", "binary"),
    ],
)
def test_rules(path: str, expected: str | None) -> None:
    assert rule(path) == expected


def test_locked_files_cannot_be_removed() -> None:
    assert rule("tests/test_d.py", None) == "protected"
    assert rule("d.py", None) is None


def test_two_new_files_that_differ_in_case_collide() -> None:
    broken = oracle.check({"New.py": b"", "new.py": b""}, protected=frozenset(), paths=frozenset(), read=read)
    assert broken and broken.rule == "collision"


def test_a_new_file_cannot_be_the_folder_of_another() -> None:
    broken = oracle.check({"a": b"", "a/b.py": b""}, protected=frozenset(), paths=frozenset(), read=read)
    assert broken and broken.reason.startswith("a/b.py: inside another new file")


def test_links_cannot_be_removed_either() -> None:
    assert rule("link", None) == "symlink"


def test_giant_patches_are_refused() -> None:
    many = {f"m{n}.py": b"" for n in range(51)}
    broken = oracle.check(many, protected=frozenset(), paths=frozenset(), read=read)
    assert broken and broken.rule == "size"
    assert oracle.check({"a.py": b"x" * 2_000_001}, protected=frozenset(), paths=frozenset(), read=read)


def test_an_allow_glob_opens_new_files_too() -> None:
    files = {"tests/helper.py": b""}
    assert oracle.check(files, protected=frozenset(), paths=frozenset(), read=read, allow=["tests/helper.py"]) is None


def test_the_reason_says_what_to_do_instead() -> None:
    broken = oracle.check({"tests/test_d.py": b""}, protected=frozenset({"tests/test_d.py"}), paths=PATHS, read=read)
    assert broken and broken.reason.endswith("change the code under test instead") and len(broken.reason) < 150

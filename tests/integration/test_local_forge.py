"""Delivery into a real local repository."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.local_forge import LocalForge
from bot.domain.attempt import Fault
from bot.domain.ports import Comment, Commit, PullRequest, Trigger
from tests.fakes.repositories import commit, fingerprint, git, repository, text

BRANCH = "selfrepair/main-0123456789"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo", {"a.py": b"1\n", "gone.py": b"x\n"})


@pytest.fixture
def forge(repo: Path, tmp_path: Path) -> LocalForge:
    return LocalForge(repo=repo, out=tmp_path / "out", logs={"test": b"log"})


def effects(repo: Path, content: bytes = b"2\n") -> tuple[Commit, PullRequest, Comment]:
    parent = text(repo, "rev-parse", "main")
    files = {"a.py": content, "gone.py": None}
    made = Commit(branch=BRANCH, parent=parent, message="fix: it\n\nSelfrepair-Run: local\n", files=files)
    opened = PullRequest(head=BRANCH, base="main", title="fix: it", body="Body\n", labels=("selfrepair",))
    return made, opened, Comment(marker="<!-- selfrepair:history -->", body="History\n")


def test_the_failed_run_holds_the_given_logs(forge: LocalForge) -> None:
    trigger = Trigger(repository="local", event="local", branch="main", sha="a" * 40)
    assert forge.failed_run(trigger).logs == {"test": b"log"}


def test_the_head_of_a_branch(forge: LocalForge, repo: Path) -> None:
    head = text(repo, "rev-parse", "HEAD")
    assert forge.head("main") == head
    assert forge.head("HEAD") == head
    assert forge.head("none") is None
    assert forge.head("--all") is None


def test_a_branch_and_two_files_and_an_untouched_work_tree(forge: LocalForge, repo: Path, tmp_path: Path) -> None:
    (repo / "a.py").write_bytes(b"uncommitted\n")
    git(repo, "add", "a.py")
    (repo / "a.py").write_bytes(b"more\n")
    kept = {name: data for name, data in fingerprint(repo).items() if "/objects/" not in name}
    delivered = forge.deliver(effects(repo))
    now = {name: data for name, data in fingerprint(repo).items() if "/objects/" not in name}
    assert set(now) - set(kept) == {str(repo / ".git" / "refs" / "heads" / BRANCH)}
    assert {name: now[name] for name in kept} == kept
    assert delivered.branch == BRANCH
    assert text(repo, "show", f"{BRANCH}:a.py") == "2"
    assert text(repo, "diff", "--name-status", "main", BRANCH) == "M\ta.py\nD\tgone.py"
    assert text(repo, "log", "-1", "--format=%an %s", BRANCH) == "selfrepair fix: it"
    assert "# fix: it\n\n`selfrepair/main" in (tmp_path / "out" / "pull-request.md").read_text()
    assert (tmp_path / "out" / "history.md").read_text() == "History\n"


def test_done_again_it_is_the_same(forge: LocalForge, repo: Path) -> None:
    first = forge.deliver(effects(repo))
    head = text(repo, "rev-parse", BRANCH)
    assert forge.deliver(effects(repo)) == first
    assert text(repo, "rev-parse", BRANCH) == head


def test_another_patch_replaces_our_own_branch(forge: LocalForge, repo: Path) -> None:
    forge.deliver(effects(repo))
    forge.deliver(effects(repo, b"3\n"))
    assert text(repo, "show", f"{BRANCH}:a.py") == "3"
    assert text(repo, "rev-list", "--count", f"main..{BRANCH}") == "1"


def test_a_branch_that_someone_worked_on_is_never_overwritten(forge: LocalForge, repo: Path) -> None:
    forge.deliver(effects(repo))
    git(repo, "checkout", "-q", BRANCH)
    theirs = commit(repo, {"a.py": b"mine\n"})
    git(repo, "checkout", "-q", "main")
    with pytest.raises(Fault, match="holds other commits"):
        forge.deliver(effects(repo, b"3\n"))
    assert text(repo, "rev-parse", BRANCH) == theirs


def test_a_branch_that_is_checked_out_is_not_moved(forge: LocalForge, repo: Path) -> None:
    forge.deliver(effects(repo))
    git(repo, "checkout", "-q", BRANCH)
    with pytest.raises(Fault, match="is checked out"):
        forge.deliver(effects(repo, b"3\n"))


def test_a_branch_that_is_locked_is_a_fault(forge: LocalForge, repo: Path) -> None:
    lock = repo / ".git" / "refs" / "heads" / f"{BRANCH}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with pytest.raises(Fault, match="cannot be written") as caught:
        forge.deliver(effects(repo))
    assert "another run" in caught.value.fix


def test_no_hook_and_no_program_of_the_repository_runs(forge: LocalForge, repo: Path, tmp_path: Path) -> None:
    trap, sprung = tmp_path / "trap", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\n")
    trap.chmod(0o755)
    for hook in ("reference-transaction", "post-commit", "pre-commit", "commit-msg"):
        (repo / ".git" / "hooks" / hook).parent.mkdir(exist_ok=True)
        (repo / ".git" / "hooks" / hook).symlink_to(trap)
    for key, value in {"gpg.program": str(trap), "commit.gpgSign": "true", "log.showSignature": "true"}.items():
        git(repo, "config", key, value)
    forge.deliver(effects(repo))
    forge.deliver(effects(repo, b"3\n"))
    assert not sprung.exists()


def test_a_marker_never_leaves_the_folder(forge: LocalForge, repo: Path, tmp_path: Path) -> None:
    forge.deliver([replace(effects(repo)[2], marker="<!-- ../../etc/x -->")])
    assert (tmp_path / "out" / "etc.md").is_file()


def test_a_folder_that_cannot_be_written_is_a_fault(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Fault, match="cannot write"):
        LocalForge(repo=repo, out=tmp_path / "file").deliver(effects(repo))

"""A repository, a GitHub that serves it, and a forge that looks at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.github_api import Patience
from bot.adapters.github_forge import GitHubForge
from tests.fakes.github import GitHubStandIn
from tests.fakes.github.delivery import TOKEN, Clock, git


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A bare repository with a script, a binary file, a symlink and a second branch."""
    work = tmp_path / "work"
    (work / "src" / "deep").mkdir(parents=True)
    (work / "src" / "deep" / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (work / "run.sh").write_text("#!/bin/sh\n")
    (work / "run.sh").chmod(0o755)
    (work / "old.txt").write_text("old\n")
    (work / "logo.bin").write_bytes(b"\x00\xff\x01")
    (work / "link").symlink_to("src")
    git(work, "init", "-q", "-b", "main")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "first")
    git(work, "branch", "feature")
    git(tmp_path, "clone", "-q", "--bare", str(work), "bare.git")
    return tmp_path / "bare.git"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(bare: Path, clock: Clock) -> Iterator[Callable[..., tuple[GitHubStandIn, GitHubForge]]]:
    """Start a stand-in and a forge that looks at it; both are closed, and the stand-in's errors raised, at the end."""
    open_: list[tuple[GitHubStandIn, GitHubForge]] = []

    def start(token: str = TOKEN, **given: Any) -> tuple[GitHubStandIn, GitHubForge]:
        stand_in = GitHubStandIn(given.pop("repo_dir", bare), TOKEN, **given).start()
        forge = GitHubForge(
            token=token,
            repository="octo/widgets",
            api_url=stand_in.api_url,
            server_url=stand_in.server_url,
            patience=Patience(sleep=clock.sleep, clock=lambda: clock.now, jitter=lambda: 0.0),
            pace=0.0,
        )
        open_.append((stand_in, forge))
        return stand_in, forge

    yield start
    for stand_in, forge in open_:
        forge.close()
        stand_in.__exit__(None, None, None)

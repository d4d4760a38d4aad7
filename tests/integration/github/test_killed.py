"""SIGKILL in the middle of a delivery."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot.adapters.github_forge import GitHubForge
from tests.fakes.github import GitHubStandIn
from tests.fakes.github.delivery import BRANCH, TOKEN, effects, git

WRITES = ("blobs", "trees", "commits", "refs", "pulls", "labels", "labels", "labels", "comments")


@pytest.mark.parametrize("write", range(1, len(WRITES) + 2))
def test_killed_after_each_write_it_converges(bare: Path, write: int) -> None:
    """Whichever write is the last before the kill, the next try ends at one branch, pull request and comment."""
    seen: list[str] = []
    with GitHubStandIn(bare, TOKEN) as stand_in:
        argv = [sys.executable, "-m", "tests.fakes.github.delivery", stand_in.api_url, stand_in.branches["main"]]
        with subprocess.Popen(argv) as child:

            def kill(number: int, method: str, path: str) -> None:
                seen.append(path.rpartition("/")[2])
                if number == write:
                    child.kill()

            stand_in.on_write(kill)
            child.wait(timeout=60)
        stand_in.on_write(None)
        assert tuple(seen) == WRITES[:write]
        assert child.returncode == (-signal.SIGKILL if write <= len(WRITES) else 0)
        _again(stand_in, bare)


def _again(stand_in: GitHubStandIn, bare: Path) -> None:
    forge = GitHubForge(token=TOKEN, repository="octo/widgets", api_url=stand_in.api_url, pace=0.0)
    done = forge.deliver(effects(stand_in.branches["main"], **{"logo.bin": b"\xff"}))
    forge.close()
    assert (done.branch, done.notes) == (BRANCH, ())
    assert [p.number for p in stand_in.pulls] == [done.pull_request]
    assert [c.issue for c in stand_in.comments] == [done.pull_request]
    assert stand_in.pulls[0].labels == ["selfrepair", "bot"]
    assert git(bare, "rev-list", "--count", f"main..{BRANCH}") == "1"

"""What the forge's tests share: a whole delivery, time that only passes when slept, and the delivery as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bot import event
from bot.adapters.github_forge import GitHubForge
from bot.domain.ports import Comment, Commit, Effect, PullRequest, Trigger
from tests.fakes.github import GitHubStandIn

TOKEN = "ghs_verySecretToken"
BRANCH = "selfrepair/main-f00d"


def git(folder: Path, *args: str) -> str:
    who = {"GIT_AUTHOR_NAME": "D", "GIT_AUTHOR_EMAIL": "d@x", "GIT_COMMITTER_NAME": "D", "GIT_COMMITTER_EMAIL": "d@x"}
    env = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, env=env).stdout.decode().strip()


class Clock:
    """Time that passes only when slept."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def trigger(stand_in: GitHubStandIn, run: int) -> Trigger:
    """What the run's own event gives."""
    env = {"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_REPOSITORY": "octo/widgets"}
    found = event.read(json.dumps(stand_in.event(run)).encode(), env)
    assert isinstance(found, Trigger)
    return found


def effects(parent: str, **files: bytes | None) -> list[Effect]:
    """A whole delivery on the commit `parent`."""
    changed = {"src/deep/calc.py": b"def add(a, b):\n    return a + b\n", **files}
    return [
        Commit(branch=BRANCH, parent=parent, message="Repair add\n\nIt subtracted.", files=changed),
        PullRequest(head=BRANCH, base="main", title="Repair add", body="All green.", labels=("selfrepair", "bot")),
        Comment(marker="selfrepair history", body="| turn | verdict |"),
    ]


def main() -> None:
    """`python -m tests.fakes.github.delivery API_URL PARENT`: deliver, in a process that a test may kill."""
    api_url, parent = sys.argv[1:]
    forge = GitHubForge(token=TOKEN, repository="octo/widgets", api_url=api_url, pace=0.0)
    forge.deliver(effects(parent, **{"logo.bin": b"\xff"}))
    forge.close()


if __name__ == "__main__":
    main()

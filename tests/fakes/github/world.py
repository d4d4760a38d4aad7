"""What exists on the stand-in besides git: runs, jobs, pull requests, comments, labels."""

from __future__ import annotations

import datetime
import fnmatch
import itertools
from dataclasses import dataclass, field

from tests.fakes.github.git_store import GitStore

BOT = "github-actions[bot]"
ALL = {
    "actions": "write",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "metadata": "read",
}


@dataclass(kw_only=True)
class Job:
    """One job; `log` None means that none was ever stored, `expired` that it is gone."""

    id: int
    run: int
    name: str
    attempt: int
    conclusion: str | None
    log: bytes | None
    expired: bool = False


@dataclass(kw_only=True)
class Run:
    """One workflow run. `head_repository` names the fork that the head lies in, if any."""

    id: int
    branch: str
    sha: str
    conclusion: str | None
    workflow: str
    event: str
    head_repository: str
    attempt: int = 1
    created: str = ""
    pull_requests: list[int] = field(default_factory=list)

    @property
    def status(self) -> str:
        return "completed" if self.conclusion else "in_progress"


@dataclass(kw_only=True)
class Pull:
    """One pull request; `state` is open or closed. A head in another repository is `owner:branch` there."""

    number: int
    title: str
    body: str | None
    head: str
    base: str
    author: str
    head_sha: str
    head_repository: str
    state: str = "open"
    merged: bool = False
    labels: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Comment:
    """One issue comment."""

    id: int
    issue: int
    author: str
    body: str


@dataclass(kw_only=True)
class World:
    """The state of one repository and of the token that looks at it."""

    git: GitStore
    repository: str
    permissions: dict[str, str]
    may_create_pull_requests: bool
    viewer: str
    page_limit: int
    log_base: str = ""
    runs: dict[int, Run] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    pulls: dict[int, Pull] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    collaborators: dict[str, str] = field(default_factory=dict)
    suites: list[tuple[str, str]] = field(default_factory=list)
    protected: list[str] = field(default_factory=list)
    ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1001))

    @property
    def owner(self) -> str:
        return self.repository.split("/")[0]

    def allows(self, permission: str) -> bool:
        """`contents:write` and the like; write includes read."""
        name, level = permission.split(":")
        held = self.permissions.get(name, "none")
        return held == "write" or held == level

    def is_protected(self, branch: str) -> bool:
        return any(fnmatch.fnmatch(branch, pattern) for pattern in self.protected)

    def now(self) -> str:
        """A time that grows with every call, so that order by creation is order of creation."""
        moment = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC) + datetime.timedelta(seconds=next(self.ids))
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

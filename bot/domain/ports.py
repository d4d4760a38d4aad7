"""The five things the story needs from the world: Protocols of at most four verbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bot.domain.attempt import Attempt, Outcome, Prompt, Reply
from bot.domain.execution import Environment, Request, Result
from bot.domain.packet import Hunk


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """What woke us, already authorised. `run_id` names the failing CI run, `sha` its head commit, `branch` its branch.

    `attempt` is which try of that run failed (None: its latest). `pull_request` is the number of the pull request
    concerned, if any; `fork` says that its head lies elsewhere.
    """

    repository: str
    event: str
    branch: str
    sha: str
    run_id: int | None = None
    pull_request: int | None = None
    actor: str = ""
    fork: bool = False
    hint: str = ""
    attempt: int | None = None


@dataclass(frozen=True, kw_only=True)
class Ignored:
    """Why we do nothing about an event: one clause that people read."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class FailedRun:
    """The failing CI run: raw job logs by job name (untrusted), and the commit that was last green, if known."""

    trigger: Trigger
    workflow: str = ""
    url: str = ""
    logs: Mapping[str, bytes] = field(default_factory=dict)
    last_green: str | None = None


@dataclass(frozen=True, kw_only=True)
class Commit:
    """Effect: `branch` exists, one commit on `parent` with `files` changed. Creating it is the lock."""

    branch: str
    parent: str
    message: str
    files: Mapping[str, bytes | None]


@dataclass(frozen=True, kw_only=True)
class PullRequest:
    """Effect: one open pull request from `head` onto `base`; an existing one is updated, never doubled."""

    head: str
    base: str
    title: str
    body: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Comment:
    """Effect: one comment carrying `marker`, on the pull request just opened or on number `on`; updated if there."""

    marker: str
    body: str
    on: int | None = None


Effect = Commit | PullRequest | Comment


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """What stands on the forge now; None where there is nothing."""

    branch: str | None = None
    pull_request: int | None = None
    url: str | None = None
    notes: tuple[str, ...] = ()


class Forge(Protocol):
    """The code host."""

    def failed_run(self, trigger: Trigger) -> FailedRun:
        """The run's failed jobs with their logs; raises Fault (expired log, bad token, ...)."""

    def head(self, branch: str) -> str | None:
        """The commit that `branch` points at now, None when the branch is gone."""

    def settings(self) -> bytes | None:
        """Content of .github/selfrepair.yml on the default branch, None when there is none."""

    def deliver(self, effects: Sequence[Effect]) -> Delivered:
        """Make every effect so, in order; done again it converges to the same state."""


class Workspace(Protocol):
    """The repository at the failing commit."""

    @property
    def head(self) -> str:
        """The commit's id."""

    def paths(self) -> frozenset[str]:
        """Tracked paths at the head commit; submodules and symlinks included."""

    def read(self, path: str) -> bytes | None:
        """Content of a regular file at the head commit; None when absent, or not a regular file."""

    def export(self, into: Path) -> str:
        """Write the head's tree with a credential-free, hook-free .git into a folder; returns a digest of it."""

    def diff(self, files: Mapping[str, bytes | None], base: Mapping[str, bytes | None] | None = None) -> str:
        """Unified diff from the head (with `base` over it) to the head with `files` over it, as git prints it."""


class History(Protocol):
    """Optional further reading of the repository's past."""

    def changed(self, since: str | None) -> tuple[Hunk, ...]:
        """Hunks between `since` (else the merge base with the default branch) and the head."""


class Sandbox(Protocol):
    """Runs commands in boxes."""

    def prepare(self, environment: Environment) -> str:
        """Build (or find) the environment image and return its name; raises Fault, or SetupFailed."""

    def run(self, request: Request) -> Result:
        """Run one request in a fresh box; a failing command returns, a broken box raises Fault."""

    def close(self) -> None:
        """Remove every box of this run."""


class Proposer(Protocol):
    """The model."""

    name: str

    def ask(self, prompt: Prompt) -> Reply:
        """One answer; raises Fault when the API is out of reach, out of credit or refuses the key."""

    def price(self, prompt: Prompt) -> float:
        """Upper bound in US dollars of what `ask(prompt)` can cost: reserved before each call."""


class Trail(Protocol):
    """The audit record."""

    def attach(self, name: str, content: bytes) -> None:
        """Store a file of the run, before the step it belongs to."""

    def record(self, attempt: Attempt) -> None:
        """Append one attempt to the hash-chained history."""

    def finish(self, outcome: Outcome) -> str:
        """Write the end; returns the head of the hash chain."""


class Progress(Protocol):
    """Where people see the run advance."""

    def say(self, stage: str, text: str) -> None:
        """One line of live progress."""

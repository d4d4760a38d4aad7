"""What is to be repaired, and with whom: the two things that every part of the loop is given."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.attempt import Budget, EditFormat, Strategy
from bot.domain.execution import Limits
from bot.domain.findings import Check
from bot.domain.packet import Hunk
from bot.domain.patch import Files, Read
from bot.domain.ports import Progress, Proposer, Sandbox, Trail
from bot.redact import Redactor


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is to be repaired, and within which bounds.

    `read` gives files of the head commit, `diff` the unified diff between two overlays of it (new, old).
    """

    environment: str
    checks: tuple[Check, ...]
    read: Read
    diff: Callable[[Files, Files | None], str]
    paths: frozenset[str]
    protected: frozenset[str]
    protect: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    changed: tuple[Hunk, ...] = ()
    hint: str = ""
    limits: Limits = Limits()
    budget: Budget = Budget()
    patience: int = 4
    candidates: int = 1
    edit_format: EditFormat = EditFormat.TOOL
    max_tokens: int = 4096


@dataclass(frozen=True, kw_only=True)
class World:
    """The collaborators of the loop. `clock` counts seconds and never goes back."""

    sandbox: Sandbox
    proposer: Proposer
    trail: Trail
    progress: Progress
    clock: Callable[[], float]
    redactor: Redactor
    second: Proposer | None = None

    def proposer_for(self, strategy: Strategy) -> Proposer:
        """The model of a rung."""
        return (self.second if strategy is Strategy.SECOND_MODEL else None) or self.proposer

    def shown(self, read: Read) -> Read:
        """The same state as a model may see it: without secrets."""
        return lambda path: None if (content := read(path)) is None else self.redactor.data(content)


def over(files: Files, read: Read) -> Read:
    """Reads a state: the overlay where it has something to say, else what lies beneath."""
    return lambda path: files[path] if path in files else read(path)


def digest(files: Files) -> str:
    """Identity of an overlay: the same change proposed in other words is the same change."""
    hashed = hashlib.sha256()
    for path, content in sorted(files.items()):
        hashed.update(repr((path, content)).encode())
    return hashed.hexdigest()

"""The unit of feedback told to the model, in the public shape of DESIGN 3 (add fields, never rename)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Span:
    """A source excerpt: 1-based inclusive line numbers; `source` without line numbers."""

    file: str
    start: int
    end: int
    source: str


@dataclass(frozen=True, kw_only=True)
class Legs:
    """In how many jobs of a run a finding was seen, `of` how many that ran its check, and which, as far as named."""

    failing: int
    of: int
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Aside:
    """A test that failed somewhere in the run and counts for nothing, and why: flaky, or nobody asked."""

    test: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PacketFailure:
    """One failing test as told to the model."""

    test: str
    file: str | None
    line: int | None
    assertion: str | None
    message: str | None
    expected: str | None
    actual: str | None
    hint: str | None = None
    span: Span | None = None
    captured: str | None = None
    legs: Legs | None = None


@dataclass(frozen=True, kw_only=True)
class PacketDiagnostic:
    """One complaint as told to the model."""

    file: str
    line: int | None
    col: int | None
    code: str | None
    message: str
    span: Span | None = None
    legs: Legs | None = None


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """A change since the workflow's last green run (else the merge base), as unified diff text."""

    file: str
    hunk: str


@dataclass(frozen=True, kw_only=True)
class Past:
    """A refused attempt, told so that it is not repeated."""

    iteration: int
    verdict: str
    diff: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class RepairPacket:
    """Findings of one likely cause with what is needed to repair it, trimmed to a token budget."""

    iteration: int
    max_iterations: int
    summary: str
    priority: str
    failures: tuple[PacketFailure, ...] = ()
    diagnostics: tuple[PacketDiagnostic, ...] = ()
    blocked: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    changed: tuple[Hunk, ...] = ()
    instructions: str = ""
    history: tuple[Past, ...] = ()
    aside: tuple[Aside, ...] = ()
    omitted: int = 0

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape; empty additions are left out."""
        budget = {"iteration": self.iteration, "max_iterations": self.max_iterations}
        return {
            "iteration": self.iteration,
            "summary": self.summary,
            "priority": self.priority,
            "failures": [_without_none(asdict(f), keep=("expected", "actual")) for f in self.failures],
            "diagnostics": [_without_none(asdict(d)) for d in self.diagnostics],
            **({"blocked": list(self.blocked)} if self.blocked else {}),
            **({"spans": [asdict(s) for s in self.spans]} if self.spans else {}),
            "changed": [asdict(h) for h in self.changed],
            "instructions": self.instructions,
            "budget": budget,
            "history": [asdict(p) for p in self.history],
            **({"aside": [asdict(a) for a in self.aside]} if self.aside else {}),
            **({"omitted": self.omitted} if self.omitted else {}),
        }

    def digest(self) -> str:
        """SHA-256 of the canonical JSON: what a recorded run is checked against."""
        text = json.dumps(self.as_json(), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


def _without_none(mapping: Mapping[str, Any], keep: tuple[str, ...] = ()) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if value is not None or key in keep}

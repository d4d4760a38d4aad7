"""One turn of the loop, what it may spend, and how a run can end."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bot.domain.execution import Limits
from bot.domain.findings import Report
from bot.domain.fitness import Fitness
from bot.domain.packet import RepairPacket
from bot.domain.patch import Proposal


class Fault(Exception):
    """The environment failed (daemon, image, network, API): says nothing about the patch, never red or green.

    `str(fault)` is one sentence that says what happened; `fix` says exactly what to do.
    """

    def __init__(self, what: str, *, fix: str) -> None:
        super().__init__(what)
        self.fix = fix


SETUP_LINES, SETUP_CHARS = 3, 500
"""How much of a failed set-up command's output its Fault repeats: the end is where installers say why."""


class SetupFailed(Fault):
    """A set-up command ended badly: no check has run. `output` is its output, not redacted, `command` its text."""

    def __init__(self, command: str, why: str, output: str) -> None:
        first = command.strip().splitlines()[0]
        said = " / ".join(line.strip() for line in output.strip().splitlines()[-SETUP_LINES:])
        super().__init__(
            f"set-up failed: `{first}`: {why}" + (f". It said: {said[-SETUP_CHARS:]}" if said else ""),
            fix="make the set-up commands work in a container of this image as a user that is not root",
        )
        self.command = command
        self.output = output


class InputError(Exception):
    """Bad usage or configuration: exit status 2. `problems` names every bad value at once."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Caps of one run: turns, wall-clock seconds in all, prompt tokens a packet, US dollars a run."""

    iterations: int = 5
    seconds: float = 1800.0
    packet_tokens: int = 2000
    dollars: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Spend:
    """What is used so far; `model_calls` counts every try, retries included."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    dollars: float = 0.0
    model_calls: int = 0
    model_seconds: float = 0.0
    sandbox_seconds: float = 0.0
    executions: int = 0

    def __add__(self, other: Spend) -> Spend:
        return self._combined(other, operator.add)

    def __sub__(self, other: Spend) -> Spend:
        return self._combined(other, operator.sub)

    def _combined(self, other: Spend, combine: Callable[[Any, Any], Any]) -> Spend:
        return Spend(**{name: combine(getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__})


class Strategy(StrEnum):
    """The rungs of the ladder, in order; a turn that is not better climbs one."""

    AUTOFIX = "the linter's own fixes"
    FOCUSED = "focused edit"
    INFILL = "suspect-span infill"
    FRESH = "fresh try"
    WIDER = "wider context"
    SECOND_MODEL = "second model"


class EditFormat(StrEnum):
    """How the model is asked to write its edits."""

    TOOL = "tool"
    BLOCKS = "search/replace blocks"
    FUNCTION = "whole function"
    HOLE = "hole only"


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What one model call is sent. `system` is the stable, cacheable prefix; `packet` is what `user` was made from.

    `correction`: the reply before could not be used, and this one says why.
    """

    system: str
    user: str
    packet: RepairPacket
    strategy: Strategy
    edit_format: EditFormat
    max_tokens: int = 4096
    attempt: int = 0
    correction: bool = False


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back, raw and untrusted. `tool_name`/`tool_input` are set when the model called one of our tools."""

    model: str
    text: str = ""
    tool_name: str | None = None
    tool_input: Mapping[str, object] = field(default_factory=dict)
    stop_reason: str = "end_turn"
    spend: Spend = Spend()


class Verdict(StrEnum):
    """How one turn was judged."""

    ACCEPTED = "accepted"
    NO_BETTER = "no_better"
    REGRESSED = "regressed"
    REJECTED = "rejected"
    FAULTED = "faulted"


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One turn, whole: what was told, what was proposed, what was measured, how it was judged and what it cost.

    `diff` is the proposal against the state it was made from, `fitness_before` the
    best state's fitness and `fitness` this one's.
    """

    iteration: int
    strategy: Strategy
    packet: RepairPacket
    proposal: Proposal | None
    diff: str
    reports: tuple[Report, ...]
    fitness_before: Fitness
    fitness: Fitness | None
    verdict: Verdict
    reason: str
    spend: Spend
    limits: Limits
    seconds: float
    candidates: int = 1


class OutcomeKind(StrEnum):
    """The closed set of ways a run can end (DESIGN 3)."""

    REPAIRED = "repaired"
    IMPROVED = "improved"
    EXHAUSTED = "exhausted"
    REFUSED = "refused"
    NOT_REPRODUCED = "not_reproduced"
    FLAKY = "flaky"
    PRE_EXISTING = "pre_existing"
    IGNORED = "ignored"
    FAULTED = "faulted"


EXIT: Mapping[OutcomeKind, int] = {
    OutcomeKind.REPAIRED: 0,
    OutcomeKind.IMPROVED: 1,
    OutcomeKind.EXHAUSTED: 1,
    OutcomeKind.REFUSED: 1,
    OutcomeKind.NOT_REPRODUCED: 1,
    OutcomeKind.FLAKY: 0,
    OutcomeKind.PRE_EXISTING: 0,
    OutcomeKind.IGNORED: 0,
    OutcomeKind.FAULTED: 3,
}
"""Exit status of the command line per outcome."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How the run ended, with everything that a report needs.

    `diff` is the best patch against the head commit ("" when nothing was better), `files` the same as an overlay.
    `baseline` and `final` are the reports before and after; `held_out` says in words what was verified on hidden tests.
    """

    kind: OutcomeKind
    reason: str
    fix: str = ""
    attempts: tuple[Attempt, ...] = ()
    baseline: tuple[Report, ...] = ()
    final: tuple[Report, ...] = ()
    diff: str = ""
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    spend: Spend = Spend()
    seconds: float = 0.0
    held_out: str = "none"
    flaky: frozenset[str] = frozenset()
    rationale: str = ""
    model: str = ""
    runtime: str = ""
    chain_head: str = ""

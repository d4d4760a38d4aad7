"""The bounded code-test-fix loop: told, proposed, tried, judged; only a strictly better state is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from bot.domain.attempt import Attempt, EditFormat, Spend, Strategy, Verdict
from bot.domain.execution import Limits
from bot.domain.findings import Check, CheckKind
from bot.domain.fitness import Evaluation, Fitness
from bot.domain.packet import Past, RepairPacket
from bot.domain.patch import Edit, Files, Hole, Patch, Proposal, Read, Refused, Rejected
from bot.packets import build, causes, redact_packet
from bot.repair import oracle
from bot.repair.asking import Asker, pretty
from bot.repair.autofix import autofix
from bot.repair.evaluate import Run, evaluate
from bot.repair.held_out import HeldOut
from bot.repair.judge import Judgement, State, clean, judge
from bot.repair.suspects import find_holes
from bot.repair.task import Task, World, over

QUIET = (CheckKind.LINT, CheckKind.TYPES)
"""Kinds of checks that a turn does not run again while they are green: the final check does, before anything counts."""

HOLES = 8
"""How many suspect spans one infill turn asks about."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One patch tried: the overlay it makes, what the checks said, and how that compares with the best state."""

    proposal: Proposal
    files: Files = field(default_factory=dict)
    diff: str = ""
    evaluation: Evaluation | None = None
    judgement: Judgement | None = None

    @property
    def rank(self) -> tuple[bool, Fitness | None, int]:
        """Order among the candidates of one turn: accepted first, then fitness; churn only breaks ties."""
        assert self.judgement is not None
        return self.judgement.verdict is not Verdict.ACCEPTED, self.judgement.fitness, len(self.diff)


class Loop:
    """State of one repair. `run` goes on until the best state is clean or nothing is left to try."""

    def __init__(self, task: Task, world: World, start: State) -> None:
        self.task, self.world, self.best = task, world, start
        self.attempts: list[Attempt] = []
        self._used = Spend()
        self.held = HeldOut()
        self.refused: Refused | None = None
        self.stopped = ""
        self._began = world.clock()
        self._flat = 0  # turns in a row that brought nothing better: also the rung of the ladder
        self._asker = Asker(task, world, start.files)
        self.restored = oracle.protected_files(task.read, task.protected)

    @property
    def spend(self) -> Spend:
        """What model and sandbox have used."""
        return self._used + self._asker.spend

    @property
    def iteration(self) -> int:
        """Turns taken so far; the linters' own fixes are turn 0."""
        return sum(attempt.iteration > 0 for attempt in self.attempts)

    def run(self) -> None:
        """Take turns until the best state is clean; else `stopped` (or `refused`) says why not."""
        if not self._must_stop():
            self._autofix()
        while not self.clean and not self._must_stop():
            self._turn()

    @property
    def clean(self) -> bool:
        """Nothing is left to repair in the best state."""
        return clean(self.best.evaluation, self.best.guard.ignored)

    def continue_with(self, found: Evaluation) -> None:
        """The final check saw what the loop had not: it becomes the next packet."""
        self.best = replace(self.best, evaluation=found, guard=self.best.guard.saw(found))

    def _autofix(self) -> None:
        """Turn 0, free: the linter's own safe fixes, judged like any other candidate."""
        task, began = self.task, self.world.clock()
        fixed = autofix(
            self.world.sandbox,
            task.environment,
            task.checks,
            evaluation=self.best.evaluation,
            files=self.best.files,
            protected=task.protected,
            read=self._read,
            limits=self._limits(),
        )
        if not fixed:
            return
        packet = self._packet(0, Strategy.AUTOFIX)
        texts = {path: content.decode("utf-8", "surrogateescape") for path, content in fixed.items()}
        proposal = Patch(edits=tuple(Edit(path=path, old=None, new=text) for path, text in texts.items()))
        chosen = self._try(proposal, {**self.best.files, **fixed})
        attempt = self._attempt(packet, Strategy.AUTOFIX, [chosen], chosen)
        self._keep(replace(attempt, spend=self.spend, seconds=self.world.clock() - began), chosen)
        self._flat = 0

    # -- one turn -------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        began, spent, number = self.world.clock(), self.spend, self.iteration + 1
        strategy = self._ladder()[self._flat]
        packet = self._packet(number, strategy)
        self.world.trail.attach(f"attempt-{number}/packet.json", pretty(packet.as_json()))
        self._say(number, f"{strategy}: {packet.summary}")
        tried = list(self._candidates(packet, strategy))
        judged = [candidate for candidate in tried if candidate.judgement]
        chosen = min(judged, key=lambda c: c.rank) if judged else (tried[-1] if tried else None)
        attempt = self._attempt(packet, strategy, tried, chosen)
        self._keep(replace(attempt, spend=self.spend - spent, seconds=self.world.clock() - began), chosen)

    def _say(self, number: int, text: str) -> None:
        stage = f"iteration {number} of {self.task.budget.iterations}" if number else "linter"
        self.world.progress.say(stage, text)

    def _packet(self, number: int, strategy: Strategy) -> RepairPacket:
        groups = causes(self.best.evaluation, read=self._read, paths=self.task.paths)
        self.held = self.held.extend(
            frozenset(f.id for f in group.failures if not f.collection) - self.best.guard.ignored for group in groups
        )
        # A small model is told one cause at a time; after a flat turn, the next one.
        narrow = self.task.edit_format is EditFormat.FUNCTION and strategy in (Strategy.FOCUSED, Strategy.INFILL)
        packet = build(
            self.best.evaluation,
            iteration=number,
            max_iterations=self.task.budget.iterations,
            read=self.world.shown(self._read),
            paths=self.task.paths,
            changed=self.task.changed,
            history=() if strategy is Strategy.FRESH else self._history(),
            hidden=self.held.hidden | self.best.guard.ignored,
            tokens=self.task.budget.packet_tokens * (2 if strategy is Strategy.WIDER else 1),
            wider=strategy is Strategy.WIDER,
            hint=self.task.hint,
            focus=self._flat if narrow else None,
        )
        return redact_packet(packet, self.world.redactor)

    def _candidates(self, packet: RepairPacket, strategy: Strategy) -> Iterator[Candidate]:
        """Propose and try, one at a time; the first strictly better one ends an infill turn early."""
        for index, hole in enumerate(self._holes(packet, strategy)):
            if self._must_stop():
                return
            proposal, files = self._asker.propose(packet, strategy, index, hole, self.best.files)
            if isinstance(proposal, Refused):
                self.refused = proposal
                return
            candidate = self._try(proposal, files)
            yield candidate
            if candidate.judgement and candidate.judgement.verdict is Verdict.ACCEPTED:
                return

    def _holes(self, packet: RepairPacket, strategy: Strategy) -> Sequence[Hole | None]:
        if strategy is not Strategy.INFILL:
            return [None] * self.task.candidates
        self.world.progress.say("infill", "looking for the lines that only failing tests execute")
        return self._suspects(packet)

    def _suspects(self, packet: RepairPacket) -> Sequence[Hole]:
        tests = [check for check in self.task.checks if check.kind is CheckKind.TESTS]
        traced = self._evaluate(tests, self.best.files, trace=True)
        told = frozenset(failure.test for failure in packet.failures)
        failing = told or self.best.evaluation.failing - self.held.hidden - self.best.guard.ignored
        return find_holes(
            traced.coverage,
            failing=failing,
            passing=self.best.evaluation.passed,
            read=self._read,
            exclude=self.task.protected,
            limit=HOLES,
            spans=[span for span in (*(f.span for f in packet.failures), *packet.spans) if span],
        )

    # -- trying ---------------------------------------------------------------------------------------------------

    def _try(self, proposal: Proposal, files: Files) -> Candidate:
        if not isinstance(proposal, Patch):
            return Candidate(proposal=proposal)
        self._asker.tried(files)
        diff = self.task.diff(files, self.best.files)
        checks = self.task.checks

        def confirm(ids: frozenset[str]) -> frozenset[str]:
            return ids - self._evaluate(checks, files, only=ids).evaluation.passed

        quiet = {r.check: r for r in self.best.evaluation.reports if r.green and r.kind in QUIET}
        said = self._evaluate([check for check in checks if check.name not in quiet], files).evaluation
        said = Evaluation(reports=(*said.reports, *quiet.values()))
        judged = judge(self.best, said, self.held, confirm)
        return Candidate(proposal=proposal, files=files, diff=diff, evaluation=said, judgement=judged)

    def _evaluate(
        self, checks: Sequence[Check], files: Files, *, only: frozenset[str] | None = None, trace: bool = False
    ) -> Run:
        began = self.world.clock()
        run = evaluate(
            self.world.sandbox,
            self.task.environment,
            checks,
            files=files,
            protected=self.restored,
            limits=self._limits(),
            only=only,
            trace=trace,
        )
        self._used += Spend(sandbox_seconds=self.world.clock() - began, executions=len(run.results))
        return run

    def _limits(self) -> Limits:
        left = self.task.budget.seconds - (self.world.clock() - self._began)
        return replace(self.task.limits, timeout_s=max(1.0, min(self.task.limits.timeout_s, left)))

    # -- after a turn ---------------------------------------------------------------------------------------------

    def _attempt(
        self, packet: RepairPacket, strategy: Strategy, tried: Sequence[Candidate], chosen: Candidate | None
    ) -> Attempt:
        verdict, reason = _verdict(chosen, self.refused, self.stopped)
        evaluation = chosen.evaluation if chosen else None
        return Attempt(
            iteration=packet.iteration,
            strategy=strategy,
            packet=packet,
            proposal=self.refused or (chosen.proposal if chosen else None),
            diff=chosen.diff if chosen else "",
            reports=evaluation.reports if evaluation else (),
            fitness_before=self.best.fitness,
            fitness=chosen.judgement.fitness if chosen and chosen.judgement else None,
            verdict=verdict,
            reason=reason,
            spend=Spend(),
            limits=self._limits(),
            seconds=0.0,
            candidates=len(tried),
        )

    def _keep(self, attempt: Attempt, chosen: Candidate | None) -> None:
        """Record the turn; move the best state if it was accepted, else climb one rung."""
        self._say(attempt.iteration, f"{attempt.verdict}: {attempt.reason}")
        self.attempts.append(attempt)
        self.world.trail.record(attempt)
        self._flat += 1
        if chosen is None or chosen.evaluation is None or chosen.judgement is None:
            return
        if attempt.verdict is Verdict.ACCEPTED:
            guard = self.best.guard.after(chosen.evaluation)
            self.best = State(files=chosen.files, evaluation=chosen.evaluation, guard=guard)
            self._flat = 0
        else:
            self.best = replace(self.best, guard=self.best.guard.saw(chosen.evaluation))
            self.held = self.held.reveal(chosen.judgement.contradicted)

    def _must_stop(self) -> bool:
        """Whether the run is over; `stopped` then says which bound was reached."""
        elapsed = self.world.clock() - self._began
        self.stopped = self.stopped or self._asker.broke
        if self.refused or self.stopped:
            return True
        if self.iteration >= self.task.budget.iterations:
            self.stopped = f"budget: {self.iteration} of {self.task.budget.iterations} iterations used"
        elif elapsed >= self.task.budget.seconds:
            self.stopped = f"budget: {elapsed:.0f} of {self.task.budget.seconds:.0f} seconds used"
        elif self._flat >= min(len(self._ladder()), self.task.patience):
            self.stopped = f"ideas: {self._flat} turns in a row brought nothing better"
        return bool(self.stopped)

    def _ladder(self) -> tuple[Strategy, ...]:
        rungs = (Strategy.FOCUSED, Strategy.INFILL, Strategy.FRESH, Strategy.WIDER)
        usable = tuple(rung for rung in rungs if rung is not Strategy.INFILL or self.best.evaluation.failing)
        return (*usable, Strategy.SECOND_MODEL) if self.world.second else usable

    @property
    def _read(self) -> Read:
        return over(self.best.files, self.task.read)

    def _history(self) -> tuple[Past, ...]:
        """Refused attempts since the best state last moved: what was tried from here, and why it was refused."""
        moved = [number for number, attempt in enumerate(self.attempts, 1) if attempt.verdict is Verdict.ACCEPTED]
        refused = self.attempts[max(moved, default=0) :]
        return tuple(Past(iteration=a.iteration, verdict=a.verdict, diff=a.diff, reason=a.reason) for a in refused)


def _verdict(chosen: Candidate | None, refused: Refused | None, stopped: str) -> tuple[Verdict, str]:
    if refused:
        return Verdict.REJECTED, f"the model says that the test contradicts the code's contract: {refused.reason}"
    if chosen is None:
        return Verdict.NO_BETTER, stopped or "nothing to try on this rung"
    if chosen.judgement:
        return chosen.judgement.verdict, chosen.judgement.reason
    assert isinstance(chosen.proposal, Rejected)
    return Verdict.REJECTED, chosen.proposal.reason

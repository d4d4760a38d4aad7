"""Strictly better or not: the one place where a candidate is compared with the best state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.attempt import Verdict
from bot.domain.findings import CheckKind, Report
from bot.domain.fitness import Evaluation, Fitness, Guard
from bot.domain.patch import Files
from bot.repair.held_out import HeldOut


@dataclass(frozen=True, kw_only=True)
class State:
    """A state of the tree: an overlay over the head commit, what the checks said of it, and the guard it sets."""

    files: Files
    evaluation: Evaluation
    guard: Guard

    @property
    def fitness(self) -> Fitness:
        """Rated with every id seen so far."""
        return self.guard.fitness(self.evaluation)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """How one candidate compares with the best state."""

    verdict: Verdict
    reason: str
    fitness: Fitness
    contradicted: frozenset[str] = frozenset()


def judge(
    best: State, candidate: Evaluation, held: HeldOut, confirm: Callable[[frozenset[str]], frozenset[str]]
) -> Judgement:
    """Compare; `confirm` runs regressed ids alone and returns those that really fail (flaky ones are none).

    It costs a run, so it is asked only about a candidate that would be accepted if they all were flaky.
    """
    guard = best.guard.saw(candidate)
    regressed, before = guard.regressed(candidate), guard.fitness(best.evaluation)
    contradicted = held.contradicted(candidate.passed)
    if regressed and not contradicted and guard.fitness(candidate, ()) < before:
        regressed = confirm(regressed)
    fitness = guard.fitness(candidate, regressed)
    if regressed:
        return Judgement(verdict=Verdict.REGRESSED, reason=_regression(regressed), fitness=fitness)
    if contradicted:
        reason = "every told test passes, but the same cause still fails in tests that were not shown"
        return Judgement(verdict=Verdict.NO_BETTER, reason=reason, fitness=fitness, contradicted=contradicted)
    if fitness < before:
        return Judgement(verdict=Verdict.ACCEPTED, reason=_progress(before, fitness), fitness=fitness)
    return Judgement(verdict=Verdict.NO_BETTER, reason=_no_progress(best, candidate, before, fitness), fitness=fitness)


def clean(evaluation: Evaluation, ignored: frozenset[str]) -> bool:
    """Every check is green, or is a test run in which only ignored (flaky, pre-existing) ids fail."""
    return all(report.green or _only_ignored(report, ignored) for report in evaluation.reports)


def _only_ignored(report: Report, ignored: frozenset[str]) -> bool:
    tests = report.kind is CheckKind.TESTS and report.blocked is None and report.exit_code is not None
    return tests and bool(report.failing) and report.failing <= ignored


def _regression(regressed: frozenset[str]) -> str:
    names = ", ".join(sorted(regressed)[:5])
    more = f" and {len(regressed) - 5} more" if len(regressed) > 5 else ""
    return f"tests that passed before now fail, vanished or are skipped: {names}{more}"


def _progress(before: Fitness, after: Fitness) -> str:
    names = {
        "blocked": "blocked checks",
        "not_passing": "tests not passing",
        "lint": "lint errors",
        "types": "type errors",
    }
    moves = [
        f"{text} {getattr(before, name)} → {getattr(after, name)}"
        for name, text in names.items()
        if getattr(before, name) != getattr(after, name)
    ]
    return "; ".join(moves)


def _no_progress(best: State, candidate: Evaluation, before: Fitness, after: Fitness) -> str:
    if after == before:
        same = candidate.keys == best.evaluation.keys
        return "the same findings remain" if same else "as many findings as before, but others"
    if after.blocked > before.blocked:
        blocked = [f"{r.check}: {r.blocked}" for r in candidate.reports if r.blocked]
        return "a check could not judge any more: " + "; ".join(blocked or ["no verdict"])
    return "worse: " + _progress(before, after)

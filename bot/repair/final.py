"""The last word: the whole suite in fresh boxes with the patch, and the proof that without it the checks are red."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.fitness import Evaluation
from bot.repair.judge import clean

REPEATS = 3
"""How often the once-failing tests must pass in a row, each time in a fresh box."""

Evaluate = Callable[[bool, frozenset[str] | None], Evaluation]
"""(with the patch?, only these ids) -> what the checks say in fresh boxes."""


@dataclass(frozen=True, kw_only=True)
class Final:
    """What the final check found; `reason` is empty when the repair holds. `vanished`: red no more without it."""

    evaluation: Evaluation
    reason: str = ""
    vanished: frozenset[str] = frozenset()


def final_check(evaluate: Evaluate, baseline: Evaluation, ignored: frozenset[str]) -> Final:
    """Check a repair from the patch alone.

    Whole suite and every other check green; the once-failing tests green `REPEATS` times more; and the head without the
    patch still red on the same keys, else it was not the patch that made the difference.
    """
    after = evaluate(True, None)
    if not clean(after, ignored):
        return Final(evaluation=after, reason="the whole suite in a fresh sandbox is not green: " + _red(after))
    once = baseline.failing - ignored
    for number in range(REPEATS if once else 0):
        again = evaluate(True, once)
        if failing := once & again.failing:
            reason = f"repeat {number + 1} of {REPEATS}: " + ", ".join(sorted(failing)[:3]) + " failed again"
            return Final(evaluation=after, reason=reason)
    control = evaluate(False, None)
    ignored_keys = {f"test:{test}" for test in ignored}
    vanished = baseline.keys - control.keys - ignored_keys
    if vanished:
        reason = "without the patch these are not red any more: " + ", ".join(sorted(vanished)[:3])
        return Final(evaluation=after, reason=reason, vanished=vanished)
    return Final(evaluation=after)


def _red(evaluation: Evaluation) -> str:
    reports = [report for report in evaluation.reports if not report.green]
    return "; ".join(f"{r.check}: {r.blocked or f'{len(r.findings)} findings'}" for r in reports)

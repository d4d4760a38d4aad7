"""The sentences of a packet that are ours."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.findings import CheckKind, Diagnostic, Failure
from bot.domain.fitness import Evaluation
from bot.packets.grouping import Cause, identity, work

_COUNTED = ((CheckKind.BUILD, "build error"), (CheckKind.LINT, "lint error"), (CheckKind.TYPES, "type error"))


def summary(evaluation: Evaluation) -> str:
    """Like "2 of 5 tests failing; 1 lint error; 0 type errors": only what some check judged."""
    kinds = {report.kind for report in evaluation.reports}
    unloaded = {
        f.file or f.id for r in evaluation.reports for f in r.findings if isinstance(f, Failure) and f.collection
    }
    parts = [_count(len(unloaded), "test file") + " cannot be loaded"] if unloaded else []
    if CheckKind.TESTS in kinds or evaluation.failing:
        ran = {f.id for r in evaluation.reports for f in r.findings if isinstance(f, Failure) and not f.collection}
        collected = evaluation.collected - (evaluation.failing - ran)
        parts += [f"{len(ran)} of {_count(len(collected), 'test')} failing"]
    for kind, word in _COUNTED:
        found = {
            identity(d) for r in evaluation.reports if r.kind is kind for d in work(r) if isinstance(d, Diagnostic)
        }
        parts += [_count(len(found), word)] if kind in kinds and (found or kind is not CheckKind.BUILD) else []
    stopped = [r.check for r in evaluation.reports if r.kind is CheckKind.CUSTOM and not r.green]
    return "; ".join(parts + [f"{check} failing" for check in stopped]) or (
        "nothing failing" if evaluation.green else "a check is failing"
    )


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def priority(causes: Sequence[Cause]) -> str:
    """What to repair first: "blocked", or the kind of the first cause."""
    if not causes:
        return "none"
    first = causes[0]
    return "blocked" if first.stops or not first.findings else str(first.kind)


def instructions(causes: Sequence[Cause], hint: str) -> str:
    """What to do and what to leave alone; a person's hint at the end."""
    failing = any(f for cause in causes for f in cause.failures)
    complaints = any(cause.diagnostics for cause in causes)
    what = [*(["failing assertions"] if failing else []), *(["diagnostics"] if complaints else [])]
    told = [
        f"Fix ONLY the {' and '.join(what) or 'blocked checks'} above.",
        *(["First make the blocked checks run again."] if what and priority(causes) == "blocked" else []),
        "Preserve the public signatures.",
        "Do not modify the tests.",
        *(["Do not suppress diagnostics."] if complaints else []),
    ]
    return " ".join(told) + (f" Hint: {hint}" if hint else "")

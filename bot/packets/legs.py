"""The jobs of one run as one state: what several legs say counts once, and what passed when run again is no failure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.domain.findings import Diagnostic, Failure, JobLog, Report, Step
from bot.domain.fitness import Evaluation
from bot.domain.packet import Aside, Legs
from bot.packets.grouping import identity, why_blocked
from bot.packets.trim import cut

SHOWN = 6
"""Legs that a packet names for one finding; the rest is counted."""

_AGAIN = re.compile(r"\s(?:--lf|--last-failed|--ff|--failed-first|--onlyFailures|--rerun-failed|-q|-v+)(?=\s|$)")
"""Options by which a rerun of the same command differs from its first try: pytest, jest, ctest."""


@dataclass(frozen=True, kw_only=True)
class Whole:
    """One run: the reports of all its jobs, beside each the name of its job, and failures that count for nothing."""

    evaluation: Evaluation
    legs: tuple[str, ...]
    aside: tuple[Aside, ...] = ()


def of_run(jobs: Sequence[JobLog]) -> Whole:
    """Put the jobs of one run together.

    What a step reports and still ends with status 0 is no finding: a retry passed, or the status was swallowed. Nor
    is a failure that the same command, run again in a later step of the same job, no longer shows.
    """
    reports: list[Report] = []
    legs: list[str] = []
    aside: dict[str, str] = {}
    for job in jobs:
        for number, step in enumerate(job.steps):
            if step.report:
                why = {
                    f.id: w
                    for f in step.report.findings
                    if isinstance(f, Failure) and (w := _why(f, step, job, number))
                }
                aside.update(why)
                reports.append(_without(step.report, why))
                legs.append(job.name)
    evaluation = Evaluation(reports=tuple(reports))
    told = tuple(Aside(test=t, reason=r) for t, r in sorted(aside.items()) if t not in evaluation.failing)
    return Whole(evaluation=evaluation, legs=tuple(legs), aside=told)


def _why(failure: Failure, step: Step, job: JobLog, number: int) -> str | None:
    """Why a failure counts for nothing; None where it counts."""
    reruns = [later for later in job.steps[number + 1 :] if later.report and _same_run(step, later)]
    if any(failure.id not in again.failing and _tells(again, failure.id) for s in reruns if (again := s.report)):
        return f"failed in {step.name!r}, and did not fail when that ran again"
    return f"failed in {step.name!r}, which ended with status 0 all the same" if step.exit_code == 0 else None


def _tells(report: Report, test: str) -> bool:
    return test in report.passed or _judged(report)


def _same_run(first: Step, later: Step) -> bool:
    return bool(first.command) and _bare(first) == _bare(later)


def _bare(step: Step) -> tuple[str, object]:
    return " ".join(_AGAIN.sub("", f"{step.command or ''} ").split()), sorted(step.env.items())


def _without(report: Report, aside: dict[str, str]) -> Report:
    """The report once its steps are seen together: green where nothing of it is left that counts."""
    kept = tuple(f for f in report.findings if not (isinstance(f, Failure) and f.id in aside))
    settled = report.exit_code == 0 or (aside and not kept and not report.blocked)
    return replace(report, findings=() if settled else kept, exit_code=0 if settled else report.exit_code)


class Seen:
    """In which legs a finding was seen; `legs` names the job of each report, and is empty where there is but one."""

    def __init__(self, evaluation: Evaluation, legs: Sequence[str]) -> None:
        self._reports = list(zip(evaluation.reports, legs, strict=True)) if len(set(legs)) > 1 else []
        self._found: dict[object, list[int]] = {}
        for number, (report, _) in enumerate(self._reports):
            keys = [*map(identity, report.findings), why_blocked(report)]
            for key in dict.fromkeys(keys):
                self._found.setdefault(key, []).append(number)

    def of(self, finding: Failure | Diagnostic) -> Legs | None:
        """The legs that show a finding, of those that ran its check to an end; None where one leg alone ran it."""
        return self._legs(self._found.get(identity(finding), []))

    def blocked(self, text: str) -> str:
        """Why a check stopped, and in which legs."""
        legs = self._legs(self._found.get(text, []))
        return f"{text} (in {legs.failing} of {legs.of} jobs: {', '.join(legs.names)})" if legs else text

    def _legs(self, numbers: list[int]) -> Legs | None:
        failing = sorted({self._reports[n][1] for n in numbers})
        of = len({*failing, *self._ran(numbers)})
        if of < 2:
            return None
        names = [cut(name, 120) for name in failing[:SHOWN]]
        more = len(failing) - SHOWN
        return Legs(failing=len(failing), of=of, names=(*names, *([f"[... {more} more ...]"] if more > 0 else [])))

    def _ran(self, numbers: list[int]) -> Iterator[str]:
        """Legs that judged the same check: a step of the same name, or else one of its kind in the same matrix."""
        shown = [self._reports[n] for n in numbers]
        alike = {(report.kind, report.check) for report, _ in shown}
        same = {leg for report, leg in self._reports if (report.kind, report.check) in alike and _judged(report)}
        if same - {leg for _, leg in shown}:
            yield from same
            return
        matrix = {(report.kind, _job(leg)) for report, leg in shown}
        yield from (leg for report, leg in self._reports if (report.kind, _job(leg)) in matrix and _judged(report))


def _judged(report: Report) -> bool:
    return report.exit_code is not None and why_blocked(report) is None


def _job(leg: str) -> str:
    """GitHub names the legs of a matrix "job (value, value)"."""
    return re.sub(r" \(.*\)$", "", leg)

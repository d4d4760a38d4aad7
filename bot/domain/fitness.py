"""When one state of the tree is better than another: ordered, strict, and over sets of test ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.findings import CheckKind, Diagnostic, Failure, Report


@dataclass(frozen=True, order=True, kw_only=True)
class Fitness:
    """Lower is better, compared field by field in this order."""

    regressed: int
    blocked: int
    not_passing: int
    lint: int
    types: int


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The reports of all checks on one state."""

    reports: tuple[Report, ...] = ()

    @property
    def green(self) -> bool:
        """Every check is green."""
        return all(report.green for report in self.reports)

    @property
    def passed(self) -> frozenset[str]:
        """Ids of tests that passed in some check and failed in none."""
        return frozenset().union(*(r.passed for r in self.reports)) - self.failing

    @property
    def failing(self) -> frozenset[str]:
        """Ids of tests that failed in some check."""
        return frozenset().union(*(r.failing for r in self.reports))

    @property
    def skipped(self) -> frozenset[str]:
        """Ids of tests that were skipped (or expected to fail, and did)."""
        return frozenset().union(*(r.skipped for r in self.reports))

    @property
    def collected(self) -> frozenset[str]:
        """Every id seen in any way."""
        return frozenset().union(*(r.collected | r.passed | r.failing | r.skipped for r in self.reports))

    @property
    def tests(self) -> frozenset[str]:
        """Every test seen; a file that could not be collected is no test."""
        unread = {f.id for r in self.reports for f in r.findings if isinstance(f, Failure) and f.collection}
        return self.collected - unread

    def complaints(self, kind: CheckKind) -> int:
        """Diagnostics of red checks of one kind: warnings of a check that exits 0 are no work."""
        return sum(
            isinstance(finding, Diagnostic)
            for report in self.reports
            if report.kind is kind and report.exit_code != 0
            for finding in report.findings
        )

    @property
    def keys(self) -> frozenset[str]:
        """Keys of all findings, and of blocked or plainly red checks."""
        found = {finding.key for report in self.reports for finding in report.findings}
        return frozenset(found | {f"check:{r.check}" for r in self.reports if not r.green and not r.findings})


@dataclass(frozen=True, kw_only=True)
class Guard:
    """What may not get worse: ids that passed in the best state, and the ids seen so far in any state of this run.

    `ignored` are flaky or pre-existing ids, which count for nothing.
    """

    passed: frozenset[str] = frozenset()
    seen: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()

    def regressed(self, evaluation: Evaluation) -> frozenset[str]:
        """Ids that passed in the best state and now fail, vanished or are skipped."""
        return self.passed - evaluation.passed - self.ignored

    def fitness(self, evaluation: Evaluation, regressed: Iterable[str] | None = None) -> Fitness:
        """Rate a state; `regressed` replaces the raw set once regressions were confirmed alone."""
        gone = self.regressed(evaluation) if regressed is None else frozenset(regressed)
        universe = (self.seen | evaluation.tests) - self.skipped - self.ignored
        return Fitness(
            regressed=len(gone),
            blocked=sum(_blocked(report, self.ignored) for report in evaluation.reports),
            not_passing=len(universe - evaluation.passed),
            lint=evaluation.complaints(CheckKind.LINT),
            types=evaluation.complaints(CheckKind.TYPES),
        )

    def after(self, evaluation: Evaluation) -> Guard:
        """The guard once `evaluation` has become the best state."""
        return Guard(
            passed=evaluation.passed, seen=self.seen | evaluation.tests, skipped=self.skipped, ignored=self.ignored
        )

    def saw(self, evaluation: Evaluation) -> Guard:
        """The guard knowing every id that `evaluation` collected; the best state stays."""
        return Guard(passed=self.passed, seen=self.seen | evaluation.tests, skipped=self.skipped, ignored=self.ignored)


def _blocked(report: Report, ignored: frozenset[str]) -> bool:
    """Stopped before judging, or red in a way that no finding of its own kind explains."""
    if report.blocked is not None or report.timed_out or report.exit_code is None:
        return True
    if report.exit_code == 0 or report.failing - ignored or (report.failing and report.kind is CheckKind.TESTS):
        return False
    return report.kind in (CheckKind.BUILD, CheckKind.CUSTOM, CheckKind.TESTS) or not report.findings

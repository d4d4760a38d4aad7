"""Findings of one likely cause belong together: forty tests failing on one import are one thing to repair."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from bot.domain.findings import CheckKind, Diagnostic, Failure, FailureKind, Report
from bot.domain.fitness import Evaluation
from bot.domain.packet import Hunk
from bot.domain.patch import Read
from bot.packets import ids
from bot.packets.suspects import Finder, touched_lines, touches
from bot.packets.tree import Tree

_IMPORTS = {"ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError", "TabError"}
_MINOR = frozenset(("warning", "info", "information", "note", "convention", "refactor"))
"""Severities that rank below an error of the same check, which is what turned it red."""

_ORDER = {CheckKind.BUILD: 0, CheckKind.TESTS: 1, CheckKind.LINT: 2, CheckKind.TYPES: 3, CheckKind.CUSTOM: 4}


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Findings with one likely cause.

    `key` is the same for the same findings whatever their order; `blocked` holds why checks stopped before judging,
    one text a check.
    """

    key: str
    kind: CheckKind
    failures: tuple[Failure, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    blocked: tuple[str, ...] = ()

    @property
    def stops(self) -> bool:
        """Nothing else can be judged before this is repaired."""
        stopped = bool(self.blocked) and bool(self.failures or self.diagnostics)
        return self.kind is CheckKind.BUILD or stopped or any(f.collection for f in self.failures)

    @property
    def findings(self) -> tuple[Failure | Diagnostic, ...]:
        """All of it."""
        return (*self.failures, *self.diagnostics)


def causes(
    evaluation: Evaluation, *, read: Read, paths: frozenset[str], changed: Sequence[Hunk] = ()
) -> tuple[Cause, ...]:
    """Group findings by likely cause and rank them by what to repair first.

    Blocked checks and collection come before tests, lint and types; then the cause that explains most, then one in
    recently `changed` lines, then file and line. A finding reported by several checks counts once.
    """
    failures = [f for report in evaluation.reports for f in report.findings if isinstance(f, Failure)]
    return group(evaluation, Finder(Tree(read, paths), failures), changed)


def group(evaluation: Evaluation, finder: Finder, changed: Sequence[Hunk] = ()) -> tuple[Cause, ...]:
    """`causes` with what is already read."""
    found: dict[str, Cause] = {}
    same: dict[object, list[tuple[Report, Failure | Diagnostic]]] = {}
    for report in evaluation.reports:
        stopped = tuple(filter(None, [why_blocked(report)]))
        if stopped and not report.findings:
            _add(found, Cause(key=f"check:{report.check}", kind=report.kind, blocked=stopped))
        for finding in work(report):
            same.setdefault(identity(finding), []).append((report, finding))
    for places in same.values():
        _add(found, _cause(places, finder))
    touched = touched_lines(changed)
    return tuple(sorted(map(_ordered, found.values()), key=lambda cause: _rank(cause, finder, touched)))


def _cause(places: list[tuple[Report, Failure | Diagnostic]], finder: Finder) -> Cause:
    """Of one finding in several reports: the form that tells most, whatever the order of the reports."""
    stopped = tuple(dict.fromkeys(filter(None, (why_blocked(report) for report, _ in places))))
    report, finding = min(places, key=lambda place: (_silence(place[1]), repr(place[1]), place[0].kind))
    if isinstance(finding, Failure):
        return Cause(key=_key(finding, finder), kind=CheckKind.TESTS, failures=(finding,), blocked=stopped)
    return Cause(key=f"{report.kind}:{finding.file}", kind=report.kind, diagnostics=(finding,), blocked=stopped)


def _silence(finding: Failure | Diagnostic) -> tuple[bool, int]:
    """How little a finding says; a pair of values says most."""
    lacking = sum(getattr(finding, field.name) is None for field in fields(finding))
    return getattr(finding, "actual", None) is None, lacking


def work(report: Report) -> tuple[Failure | Diagnostic, ...]:
    """The findings to repair: warnings of a check that is green are none (see `Evaluation.complaints`)."""
    return tuple(f for f in report.findings if isinstance(f, Failure) or report.exit_code != 0)


def identity(finding: Failure | Diagnostic) -> object:
    """What makes two findings of different checks (matrix legs, reruns) the same."""
    if isinstance(finding, Failure):
        file = None if "::" in finding.id else finding.file  # other ids than pytest's may be found in several files
        return finding.id, finding.kind, file, finding.line
    return finding.tool, finding.file, finding.line, finding.col, finding.code, finding.message


def why_blocked(report: Report) -> str | None:
    """Why a check stopped before judging, or is red without a finding; None when it judged."""
    if report.green or (report.findings and not (report.blocked or report.timed_out or report.oom_killed)):
        return None
    reason = (
        report.blocked
        or ("timed out" if report.timed_out else None)
        or ("ran out of memory" if report.oom_killed else None)
        or ("was ended from outside" if report.exit_code is None else None)
        or f"exited with status {report.exit_code} and named nothing"
    )
    return f"{report.check}: {reason}"


def _add(found: dict[str, Cause], cause: Cause) -> None:
    old = found.get(cause.key)
    if old:
        cause = Cause(
            key=old.key,
            kind=old.kind,
            failures=old.failures + cause.failures,
            diagnostics=old.diagnostics + cause.diagnostics,
            blocked=tuple(dict.fromkeys(old.blocked + cause.blocked)),
        )
    found[cause.key] = cause


def _key(failure: Failure, finder: Finder) -> str:
    """The function that broke, or the error that many tests share, or at least the test's function."""
    exception = (failure.exception or "").rpartition(".")[2]
    error = f"error:{exception}:{_plain(failure.message or failure.assertion or '')}"
    if (failure.collection or exception in _IMPORTS) and error != "error::":
        return error
    frames = finder.frames(failure)
    if frames:
        return f"function:{frames[0].key}"
    if failure.kind is FailureKind.ERROR and failure.tool != "unittest" and error != "error::":
        return error
    subjects = finder.subjects(failure)
    if subjects:
        return f"function:{subjects[0].key}"
    return f"test:{failure.file or ''}:{'.'.join(ids.parse(failure.id).names) or failure.id}"


def _plain(message: str) -> str:
    """A message without what differs from run to run."""
    return re.sub(r"0x[0-9a-fA-F]+", "0x", " ".join(message.split()))[:500]


def _ordered(cause: Cause) -> Cause:
    return Cause(
        key=cause.key,
        kind=cause.kind,
        failures=tuple(sorted(cause.failures, key=_place)),
        diagnostics=tuple(sorted(cause.diagnostics, key=lambda d: (d.severity in _MINOR, _place(d)))),
        blocked=tuple(sorted(cause.blocked)),
    )


def _place(finding: Failure | Diagnostic) -> tuple[str, int, str]:
    last = finding.id if isinstance(finding, Failure) else f"{finding.col or 0:6}{finding.code}{finding.message}"
    return finding.file or "", finding.line or 0, last


def _rank(cause: Cause, finder: Finder, touched: dict[str, set[int]]) -> tuple[object, ...]:
    order = -1 if cause.stops else 5 if not cause.findings else _ORDER[cause.kind]
    if not cause.findings and _says_why(cause):
        order = -1
    suspects = [s for f in cause.failures[:1] for s in [*finder.frames(f), *finder.subjects(f)][:3]]
    untouched = not any(touches(s, touched) for s in suspects) and not any(
        d.line in touched.get(d.file, ()) for d in cause.diagnostics
    )
    collection = any(f.collection for f in cause.failures)
    first = _place(cause.findings[0]) if cause.findings else ("", 0, "")
    minor = bool(cause.diagnostics) and all(d.severity in _MINOR for d in cause.diagnostics) and not cause.failures
    return order, not collection, minor, -len(cause.findings), untouched, first, cause.key


def _says_why(cause: Cause) -> bool:
    return any(not text.endswith("and named nothing") for text in cause.blocked)

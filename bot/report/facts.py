"""What a run measured, in the few words that every report shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.domain.attempt import Attempt, Outcome, OutcomeKind, Spend
from bot.domain.findings import CheckKind, Diagnostic, Failure, Finding, Report
from bot.domain.fitness import Evaluation
from bot.report.neutralise import code, line

NOT_MEASURED = "–"
ROWS = 40


def count(number: int, noun: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def money(dollars: float) -> str:
    """US dollars; four digits below a cent."""
    return f"${dollars:,.2f}" if dollars >= 0.01 or dollars == 0 else f"${dollars:.4f}"


def duration(seconds: float) -> str:
    """`6.4 s`, `48 s`, `3 min 5 s`."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    return f"{whole // 60} min {whole % 60} s"


def headline(outcome: Outcome) -> str:
    """How the run ended, in one short sentence."""
    after = f" after {count(turns(outcome), 'turn')}" if outcome.attempts else ""
    return {
        OutcomeKind.REPAIRED: f"Repaired{after}",
        OutcomeKind.IMPROVED: f"Not repaired{after}: better, but not green",
        OutcomeKind.EXHAUSTED: f"Not repaired{after}",
        OutcomeKind.REFUSED: f"Not repaired{after}: the test seems to contradict what the code promises",
        OutcomeKind.NOT_REPRODUCED: "Not reproduced in the sandbox",
        OutcomeKind.FLAKY: "Flaky: the failure does not come back",
        OutcomeKind.PRE_EXISTING: "The failure is older than this change",
        OutcomeKind.IGNORED: "Nothing done",
        OutcomeKind.FAULTED: "selfrepair could not run",
    }[outcome.kind]


def turns(outcome: Outcome) -> int:
    """Turns of the model; attempt 0 holds the linter's own fixes."""
    return sum(attempt.iteration > 0 for attempt in outcome.attempts)


def numbered(attempt: Attempt) -> str:
    """`turn 2`, or what came before the first."""
    return f"turn {attempt.iteration}" if attempt.iteration else "before turn 1"


def summary(reports: Iterable[Report]) -> str:
    """`2 of 5 tests failing, 1 lint error`; empty when nothing is wrong."""
    evaluation = Evaluation(reports=tuple(reports))
    failing, total = len(evaluation.failing), len(evaluation.collected)
    parts = [f"{failing} of {count(total, 'test')} failing"] if failing else []
    lint, types = evaluation.complaints(CheckKind.LINT), evaluation.complaints(CheckKind.TYPES)
    parts += [count(lint, "lint error")] if lint else []
    parts += [count(types, "type error")] if types else []
    silent = sum(not report.green and not report.findings for report in evaluation.reports)
    parts += [f"{count(silent, 'check')} stopped or failed"] if silent else []
    return ", ".join(parts)


def passing(reports: Iterable[Report]) -> tuple[int, int]:
    """Tests passing and tests seen."""
    evaluation = Evaluation(reports=tuple(reports))
    return len(evaluation.passed), len(evaluation.collected)


def state(report: Report | None) -> str:
    """What one run of a check said; a reason from the outside is in a code span."""
    if report is None:
        return "not run"
    if report.timed_out:
        return f"timed out after {duration(report.duration_ms / 1000)}"
    if report.oom_killed:
        return "out of memory"
    if report.blocked is not None:
        return f"stopped: {code(report.blocked, 120)}"
    if report.kind is CheckKind.TESTS:
        return _tests(report)
    if report.exit_code == 0:
        return "clean"
    return count(len(report.findings), "error") if report.findings else _failed(report)


def _failed(report: Report) -> str:
    return f"failed (exit {report.exit_code})" if report.exit_code is not None else "ended without an exit status"


def _tests(report: Report) -> str:
    failing = len(report.failing)
    skipped = f", {len(report.skipped)} skipped" if report.skipped else ""
    if failing:
        return f"{failing} of {len(report.collected | report.failing)} failing{skipped}"
    said = f"{len(report.passed)} passed{skipped}"
    return said if report.exit_code == 0 else f"{_failed(report)}, {said}"


def before_after(outcome: Outcome) -> Iterator[tuple[str, str, str]]:
    """Per check its name, its state on the untouched head and its state with the best patch (names are untrusted)."""
    final = {report.check: report for report in outcome.final}
    for report in outcome.baseline:
        yield report.check, state(report), state(final.get(report.check))


def evidence(outcome: Outcome) -> str:
    """The Markdown table of `before_after`, at most `ROWS` rows; empty when nothing was run."""
    rows = [f"| {code(name, 80)} | {before} | {after} |" for name, before, after in before_after(outcome)]
    rows[ROWS:] = [f"| and {len(rows) - ROWS} more | | |"] if len(rows) > ROWS else []
    return "\n".join(["| check | before | after |", "|---|---|---|", *rows]) if rows else ""


def findings(reports: Iterable[Report]) -> list[Finding]:
    """Every finding once, tests first."""
    found = {finding.key: finding for report in reports for finding in report.findings}
    return sorted(found.values(), key=lambda finding: isinstance(finding, Diagnostic))


def told(finding: Finding) -> str:
    """One finding as an item of a Markdown list: where, and the fact."""
    if isinstance(finding, Failure):
        fact = finding.assertion or finding.message or finding.exception or finding.source
        return f"{code(finding.id)}" + (f": {code(fact)}" if fact else "")
    place = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return f"{code(place)}: {code(' '.join(filter(None, (finding.code, finding.message))))}"


def listed(reports: Iterable[Report], limit: int = 8) -> str:
    """The findings as a Markdown list, cut after `limit`; checks that stopped before judging come first."""
    reports = tuple(reports)
    items = [
        f"{code(report.check, 80)} {state(report)}" for report in reports if not report.green and not report.findings
    ]
    items += [told(finding) for finding in findings(reports)]
    more = [f"and {len(items) - limit} more"] if len(items) > limit else []
    return "\n".join(f"- {item}" for item in [*items[:limit], *more])


def cost(spend: Spend) -> str:
    """`3 model calls, 5,490 tokens in, 720 out, $0.03`."""
    tokens = f"{spend.input_tokens:,} tokens in, {spend.output_tokens:,} out"
    return f"{count(spend.model_calls, 'model call')}, {tokens}, {money(spend.dollars)}"


def sandbox(outcome: Outcome) -> str:
    """What the checks ran in; without gVisor it is said so."""
    if outcome.runtime == "runc":
        return "⚠️ plain containers (`runc`), **not gVisor**"
    return f"gVisor ({code(outcome.runtime)})" if outcome.runtime else "none was started"


def after(attempt: Attempt) -> tuple[str, str, str]:
    """Tests passing, lint errors and type errors after an attempt, or that they were not measured."""
    if not attempt.reports:
        return NOT_MEASURED, NOT_MEASURED, NOT_MEASURED
    return measured(attempt.reports)


def measured(reports: Iterable[Report]) -> tuple[str, str, str]:
    """The same for any reports."""
    evaluation = Evaluation(reports=tuple(reports))
    ok, seen = len(evaluation.passed), len(evaluation.collected)
    return f"{ok}/{seen}", str(evaluation.complaints(CheckKind.LINT)), str(evaluation.complaints(CheckKind.TYPES))


def verdict(attempt: Attempt) -> str:
    """The verdict as people read it."""
    return line(attempt.verdict.replace("_", " "))

"""What the run's own page and the terminal say: the same facts, without the turns' details."""

from __future__ import annotations

import re
import textwrap

from bot.domain.attempt import Attempt, Outcome, OutcomeKind
from bot.domain.ports import Delivered, FailedRun
from bot.redact import visible
from bot.report import facts
from bot.report.history import chart, diagnosis, opening, table
from bot.report.neutralise import GAP, clip, log_safe, prose
from bot.report.pull_request import bill, held_out


def job_summary(outcome: Outcome, run: FailedRun, delivered: Delivered | None = None) -> str:
    """Markdown for GITHUB_STEP_SUMMARY (far below its megabyte)."""
    repaired = outcome.kind is OutcomeKind.REPAIRED
    parts = (
        opening(outcome, run),
        _where(delivered or Delivered()),
        f"{facts.evidence(outcome)}\n\n{held_out(outcome)}" if repaired else diagnosis(outcome, 100_000),
        table(outcome),
        chart(outcome),
        bill(outcome),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _where(delivered: Delivered) -> str:
    url = delivered.url or ""
    place = f"Pull request: {url}" if re.fullmatch(r"https?://[\w.:/%-]+", url) else ""
    return "\n\n".join(part for part in (place, *map(prose, delivered.notes)) if part)


def terminal(outcome: Outcome) -> str:
    """Plain text for a terminal or a job's log; no line of it is a control sequence or a workflow command."""
    parts = (
        f"{facts.headline(outcome)}\n{_wrapped(outcome.reason)}",
        f"What to do:\n{_wrapped(outcome.fix)}" if outcome.fix else "",
        _columns([(_plain(name, 40), _bare(a), "->", _bare(b)) for name, a, b in facts.before_after(outcome)]),
        _columns([_turn(attempt) for attempt in outcome.attempts]),
        _closing(outcome),
    )
    return log_safe("\n\n".join(part for part in parts if part)) + "\n"


def _closing(outcome: Outcome) -> str:
    said = [f"held-out tests: {_plain(outcome.held_out, 200)}"] if outcome.baseline else []
    said += [f"{facts.cost(outcome.spend)}, {facts.duration(outcome.seconds)}"] if outcome.seconds else []
    said += ["NOT isolated by gVisor: plain runc containers were used"] if outcome.runtime == "runc" else []
    said += [f"trail {_plain(outcome.chain_head, 80)}"] if outcome.chain_head else []
    return "\n".join(said)


def _turn(attempt: Attempt) -> tuple[str, ...]:
    tests, lint, types = facts.after(attempt)
    counts = f"tests {tests}, lint {lint}, types {types}" if attempt.reports else "not run"
    number = facts.numbered(attempt)
    return (
        number,
        facts.verdict(attempt),
        attempt.strategy,
        counts,
        facts.money(attempt.spend.dollars),
        _reason(attempt),
    )


def _reason(attempt: Attempt) -> str:
    return _plain(attempt.reason, 100)


def _columns(rows: list[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"  {row}".rstrip() for row in padded)


def _plain(text: str, limit: int) -> str:
    return clip(" ".join(visible(text).split()), limit)


def _bare(markdown: str) -> str:
    return markdown.replace("`", "").replace(GAP, "")


def _wrapped(text: str) -> str:
    return textwrap.fill(_plain(text, 2000), 100, initial_indent="  ", subsequent_indent="  ", break_long_words=False)

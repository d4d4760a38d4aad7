"""The iteration history: a table, a chart and every turn foldable, never longer than GitHub allows."""

from __future__ import annotations

import json

from bot.domain.attempt import Attempt, Outcome, OutcomeKind
from bot.domain.findings import Report
from bot.domain.patch import Patch
from bot.domain.ports import FailedRun
from bot.report import facts
from bot.report.neutralise import code, fence, quote, sentence
from bot.report.pull_request import bill, failed

MARKER = "<!-- selfrepair:history -->"
"""First line of the comment, by which it is found again."""

LIMIT = 65_000
"""Bytes; GitHub refuses a comment of more than 65,536 characters."""

_ROOMS = (20_000, 8_000, 3_000, 1_000, 300, 0)
_ROWS, _WIDTH = 60, 20


def history_comment(outcome: Outcome, run: FailedRun) -> str:
    """Markdown below `LIMIT` bytes. What does not fit is shortened, which is said."""
    for room in _ROOMS:
        text = _comment(outcome, run, room)
        if len(text.encode("utf-8", "replace")) <= LIMIT:
            return text
    return f"{MARKER}\n{opening(outcome, run)}\n\nThe history is too long to show; it is in the run's artifact.\n"


def _comment(outcome: Outcome, run: FailedRun, room: int) -> str:
    parts = [MARKER + "\n" + opening(outcome, run)]
    if outcome.kind is not OutcomeKind.REPAIRED:
        parts.append(diagnosis(outcome, room))
    parts += [table(outcome), chart(outcome)]
    parts += [_turn(attempt, room) for attempt in outcome.attempts[-_ROWS:]] if room else []
    if not room and outcome.attempts:
        parts.append("*The turns are too long to show; they are in the run's artifact.*")
    parts.append(bill(outcome))
    return "\n\n".join(part for part in parts if part) + "\n"


def opening(outcome: Outcome, run: FailedRun) -> str:
    """Headline, what failed, why the run ended as it did, and what to do."""
    refused = outcome.kind is OutcomeKind.REFUSED
    parts = [
        f"### {facts.headline(outcome)}",
        failed(outcome, run) if outcome.baseline else "",
        f"The model's words:\n\n{quote(outcome.reason)}" if refused else sentence(outcome.reason),
        f"**What to do:** {sentence(outcome.fix)}" if outcome.fix else "",
    ]
    return "\n\n".join(part for part in parts if part)


def diagnosis(outcome: Outcome, room: int) -> str:
    """What fails now, which tests are flaky, and the best partial patch, which is no repair."""
    failing = facts.listed(outcome.final or outcome.baseline)
    flaky = "\n".join(f"- {code(test)}" for test in sorted(outcome.flaky)[:20])
    warning = "**This is not a repair.** The best patch so far; checks are still red with it."
    shown = outcome.diff and room
    parts = (
        f"#### Flaky tests\n\n{flaky}" if flaky else "",
        f"#### What fails\n\n{failing}" if failing and outcome.kind is not OutcomeKind.FLAKY else "",
        facts.evidence(outcome) if outcome.final else "",
        f"#### Best partial patch\n\n{warning}\n\n{fence(outcome.diff, 'diff', room)}" if shown else "",
    )
    return "\n\n".join(part for part in parts if part)


def table(outcome: Outcome) -> str:
    """One row a turn, the untouched head first."""
    if not outcome.attempts:
        return ""
    head = "| turn | verdict | strategy | tests | lint | types | tokens | cost | time |"
    rows = [_row("", "start", "", facts.measured(outcome.baseline), "", "", "")]
    left_out = len(outcome.attempts) - _ROWS
    rows += [f"| … | {left_out} earlier turns | | | | | | | |"] if left_out > 0 else []
    rows += [_attempt_row(attempt) for attempt in outcome.attempts[-_ROWS:]]
    return "\n".join([head, "|--:|---|---|--:|--:|--:|--:|--:|--:|", *rows])


def _attempt_row(attempt: Attempt) -> str:
    tokens = f"{attempt.spend.input_tokens + attempt.spend.output_tokens:,}"
    spent = (tokens, facts.money(attempt.spend.dollars), facts.duration(attempt.seconds))
    return _row(str(attempt.iteration), facts.verdict(attempt), attempt.strategy, facts.after(attempt), *spent)


def _row(number: str, verdict: str, strategy: str, counts: tuple[str, str, str], *spent: str) -> str:
    return "| " + " | ".join((number, verdict, strategy, *counts, *spent)) + " |"


def chart(outcome: Outcome) -> str:
    """Tests passing after each turn, as bars."""
    states = [("start", outcome.baseline)] + [(str(a.iteration), a.reports) for a in outcome.attempts[-_ROWS:]]
    total = max(facts.passing(reports)[1] for _, reports in states)
    if not outcome.attempts or not total:
        return ""
    bars = [f"{number:>5} {_bar(reports, total)}" for number, reports in states]
    return fence("\n".join(["tests passing after each turn", *bars]))


def _bar(reports: tuple[Report, ...], total: int) -> str:
    if not reports:
        return "not run"
    passing, _ = facts.passing(reports)
    full = passing * _WIDTH // total
    return f"{'█' * full}{'░' * (_WIDTH - full)} {passing}/{total}"


def _turn(attempt: Attempt, room: int) -> str:
    title = f"{facts.numbered(attempt).capitalize()}: {facts.verdict(attempt)} ({attempt.strategy})"
    parts = [f"<details>\n<summary>{title}</summary>", sentence(attempt.reason, 1000)]
    if attempt.candidates > 1:
        parts.append(f"Best of {attempt.candidates} candidates.")
    if isinstance(attempt.proposal, Patch) and attempt.proposal.rationale.strip():
        parts.append(f"The model's words:\n\n{quote(attempt.proposal.rationale, min(room, 2000))}")
    if attempt.diff:
        parts.append(f"Patch:\n\n{fence(attempt.diff, 'diff', room)}")
    packet = json.dumps(attempt.packet.as_json(), indent=1, ensure_ascii=False)
    parts.append(f"Packet, as the model was told it:\n\n{fence(packet, 'json', room)}")
    return "\n\n".join([*parts, "</details>"])

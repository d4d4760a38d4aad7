"""The pull request's text, written for a tired reviewer: facts first, and what nobody checked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.domain.attempt import Outcome
from bot.domain.ports import FailedRun
from bot.report import facts
from bot.report.neutralise import code, prose, quote, sentence

FILES_SHOWN = 20


def pull_request_body(outcome: Outcome, run: FailedRun) -> str:
    """Markdown, far below GitHub's 65,536 characters: failure, cause, change, evidence, gaps, cost, undo."""
    reason = sentence(outcome.reason, 300)
    parts = (
        failed(outcome, run),
        f"**{reason}**" if reason else "",
        f"### What failed\n\n{facts.listed(outcome.baseline)}",
        _cause(outcome),
        f"### What was changed\n\n{_changed(outcome)}",
        f"### Before and after\n\n{facts.evidence(outcome)}\n\n{held_out(outcome)}",
        "### Not verified\n\n" + "\n".join(f"- {gap}" for gap in gaps(outcome)),
        f"### Cost and trail\n\n{bill(outcome)}",
        f"### Undo, run again\n\n{_undo(run)}",
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def failed(outcome: Outcome, run: FailedRun) -> str:
    """One sentence: what failed where, with a link to the run."""
    what = facts.summary(outcome.baseline) or "a check failed"
    where = f"{code(run.trigger.branch, 120)} at {code(run.trigger.sha[:12])}"
    return f"{_link(run)} failed on {where}: {what}."


def _link(run: FailedRun) -> str:
    name = prose(" ".join(run.workflow.split()), 80) or "CI"
    return f"[{name}]({run.url})" if re.fullmatch(r"https?://[\w.:/%?=&-]+", run.url) else name


def _cause(outcome: Outcome) -> str:
    if not outcome.rationale.strip():
        return ""
    return f"### Root cause, in the model's words\n\n{quote(outcome.rationale, 2000)}"


def _changed(outcome: Outcome) -> str:
    names = sorted(outcome.files)
    items = [f"- {code(name)}{' (removed)' if outcome.files[name] is None else ''}" for name in names[:FILES_SHOWN]]
    items += [f"- and {len(names) - FILES_SHOWN} more"] if len(names) > FILES_SHOWN else []
    added, removed = lines(outcome.diff)
    return "\n".join([*items, "", f"{facts.count(len(names), 'file')}, +{added} −{removed} lines."])


def lines(diff: str) -> tuple[int, int]:
    """Lines added and removed by a unified diff."""
    added = removed = 0
    inside = False
    for each in diff.split("\n"):
        inside = (inside or each.startswith("@@ ")) and not each.startswith("diff --git ")
        added += inside and each.startswith("+")
        removed += inside and each.startswith("-")
    return added, removed


def held_out(outcome: Outcome) -> str:
    """What was verified on tests that the model never saw."""
    if outcome.held_out in ("", "none"):
        return "Held-out tests: none. The model was told every failing assertion."
    return f"Held-out tests, never shown to the model: {prose(outcome.held_out, 300)}."


def gaps(outcome: Outcome) -> Iterator[str]:
    """What this run says nothing about."""
    yield "Anything that the checks above do not run, and what needs the network (checks run offline)."
    skipped = frozenset().union(*(report.skipped for report in outcome.final))
    if skipped:
        yield f"{facts.count(len(skipped), 'skipped test')}."
    if outcome.flaky:
        named = ", ".join(code(test) for test in sorted(outcome.flaky)[:5])
        yield f"{facts.count(len(outcome.flaky), 'flaky test')}, left out of the judgement: {named}."
    for report in outcome.final:
        if report.truncated:
            yield f"The rest of the output of {code(report.check, 80)}, which was too long to keep."


def bill(outcome: Outcome) -> str:
    """What the run cost, who did it, where it ran, and the hash by which its record can be checked."""
    turns = facts.count(facts.turns(outcome), "turn")
    items = [
        f"{turns}, {facts.cost(outcome.spend)}, {facts.duration(outcome.seconds)}.",
        f"Model: {code(outcome.model)}." if outcome.model else "",
        f"Sandbox: {facts.sandbox(outcome)}.",
        f"Trail: {code(outcome.chain_head)}." if outcome.chain_head else "",
    ]
    return "\n".join(f"- {item}" for item in items if item)


def _undo(run: FailedRun) -> str:
    branch = code(run.trigger.branch, 120)
    if run.trigger.event == "local":
        return f"Delete the branch (`git branch -D`); {branch} is untouched. Run `selfrepair local` again to try anew."
    return (
        f"Close this pull request and delete its branch; {branch} is untouched until you merge, and a merge can be "
        f"reverted with GitHub's *Revert* button. To try again, delete the branch and re-run the selfrepair job."
    )

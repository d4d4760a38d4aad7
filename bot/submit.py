"""What shall stand on the code host after a run, as data: decided here, done by a forge."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from bot.domain.attempt import Outcome, OutcomeKind
from bot.domain.findings import CheckKind, Failure
from bot.domain.fitness import Evaluation
from bot.domain.ports import Comment, Commit, Effect, FailedRun, Ignored, PullRequest, Trigger
from bot.domain.wire import canonical
from bot.event import OWN_BRANCHES
from bot.report import MARKER, facts, history_comment, pull_request_body
from bot.report.neutralise import line, prose

TRAILER = "Selfrepair-Run"
"""Trailer by which a commit is known as ours."""

REPLY = "<!-- selfrepair:reply -->"
"""Marks the one comment that answers refused commands: strangers can neither fill a page nor write over the history."""

LABELS = ("selfrepair",)
TITLE_CHARS, LISTED = 72, 10


def plan(outcome: Outcome, run: FailedRun, *, labels: tuple[str, ...] = LABELS) -> tuple[Effect, ...]:
    """The effects of a run in order: commit, stacked pull request and history; without a repair only the history.

    The history goes to the new pull request, else to the one concerned; where there is none nothing is said. Nothing
    is pushed for a fork. An ignored run is silent unless a person asked.
    """
    trigger = run.trigger
    history = Comment(marker=MARKER, body=history_comment(outcome, run))
    if outcome.kind is OutcomeKind.REPAIRED and not trigger.fork:
        name, title = branch(outcome, run), headline(outcome)
        made = Commit(branch=name, parent=trigger.sha, message=message(outcome, run), files=outcome.files)
        body = pull_request_body(outcome, run)
        return made, PullRequest(head=name, base=trigger.branch, title=title, body=body, labels=labels), history
    quiet = outcome.kind is OutcomeKind.IGNORED and trigger.event != "issue_comment"
    if trigger.pull_request is None or quiet:
        return ()
    return (Comment(marker=history.marker, body=history.body, on=trigger.pull_request),)


def reply(trigger: Trigger, ignored: Ignored) -> tuple[Effect, ...]:
    """What someone who wrote a command is told when nothing will be done; nothing where nobody wrote one."""
    if trigger.event != "issue_comment":
        return ()
    return (Comment(marker=REPLY, body=f"selfrepair did nothing: {prose(ignored.reason)}.", on=trigger.pull_request),)


def branch(outcome: Outcome, run: FailedRun) -> str:
    """`selfrepair/<failing branch>-<fingerprint>`: the same for every run on the same failure and commit.

    Valid under git-check-ref-format whatever the failing branch is called.
    """
    slug = re.sub(r"[^A-Za-z0-9_]+", "-", run.trigger.branch).strip("-")[:40].rstrip("-")
    return f"{OWN_BRANCHES}{slug or 'branch'}-{fingerprint(outcome, run)}"


def fingerprint(outcome: Outcome, run: FailedRun) -> str:
    """Ten hexadecimal digits of what failed on which commit; flaky tests, which come and go, do not count."""
    flaky = {f"test:{test}" for test in outcome.flaky}
    keys = sorted(Evaluation(reports=outcome.baseline).keys - flaky)
    return hashlib.sha256(canonical([run.trigger.branch, run.trigger.sha, keys])).hexdigest()[:10]


def headline(outcome: Outcome) -> str:
    """A conventional-commit title from measured facts, never from the model's words."""
    evaluation = Evaluation(reports=outcome.baseline)
    failing = sorted(evaluation.failing - outcome.flaky)
    lint, types = (evaluation.complaints(kind) for kind in (CheckKind.LINT, CheckKind.TYPES))
    parts = [facts.count(len(failing), "failing test")] if failing else []
    parts += [facts.count(lint, "lint error")] if lint else []
    parts += [facts.count(types, "type error")] if types else []
    if len(failing) == 1 and len(parts) == 1:
        named = f"fix: repair failing test {line(_short(failing[0]))}"
        return named if len(named) <= TITLE_CHARS else "fix: repair 1 failing test"
    return f"fix: repair {_and(parts) or 'the failing checks'}"


def message(outcome: Outcome, run: FailedRun) -> str:
    """The commit's message: title, what failed, trailers. One inert line a fact: nothing closes, mentions or skips."""
    failed = list(_failed(outcome))
    more = [f"- and {len(failed) - LISTED} more"] if len(failed) > LISTED else []
    listed = [f"- {line(each)}" for each in failed[:LISTED]]
    trailers = [f"{TRAILER}: {run.trigger.run_id or 'local'}"]
    trailers += [f"Selfrepair-Trail: {outcome.chain_head}"] if outcome.chain_head else []
    body = "\n".join([f"Failed on {line(run.trigger.sha[:12])}", *listed, *more])
    return "\n\n".join([headline(outcome), body, "\n".join(trailers)]) + "\n"


def _failed(outcome: Outcome) -> Iterator[str]:
    for report in outcome.baseline:
        if not report.green and not report.findings:
            yield report.check
    for finding in facts.findings(outcome.baseline):
        if isinstance(finding, Failure):
            yield finding.id
        else:
            yield " ".join(filter(None, (f"{finding.file}:", finding.code, finding.message)))


def _short(test: str) -> str:
    return test.rsplit("::", 1)[-1]


def _and(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))

"""The texts that goldens hold. After an intended change write them anew and read the diff:

python -m tests.unit.report.cases
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bot.domain.attempt import Outcome, OutcomeKind, Spend
from bot.domain.ports import Delivered, FailedRun
from bot.report import history_comment, job_summary, pull_request_body, terminal
from bot.submit import message
from tests.fakes.outcomes import BASELINE, BOTH, RUN, ended, repaired, suite_report

FOLDER = Path(__file__).parent / "goldens"
FAULTED = Outcome(
    kind=OutcomeKind.FAULTED,
    reason="the sandbox runtime selfrepair-run is not registered with Docker",
    fix="run `selfrepair install-gvisor` on this machine",
)
FLAKY = Outcome(
    kind=OutcomeKind.FLAKY,
    reason="failed once and passed when run again on the same commit",
    baseline=(suite_report(BOTH),),
    flaky=BOTH,
    seconds=12.0,
    runtime="selfrepair-run",
)


def cases() -> dict[str, str]:
    """File name -> text."""
    local = FailedRun(trigger=replace(RUN.trigger, event="local", pull_request=None, run_id=None), workflow="local")
    unsafe = replace(repaired(), runtime="runc", held_out="none", flaky=frozenset({"tests/test_d.py::test_zero"}))
    refused = ended(OutcomeKind.REFUSED, "The docstring says seconds; @octocat's test wants minutes.\n\nFixes #1.")
    unrepaired = ended(OutcomeKind.EXHAUSTED, diff="", files={}, final=(), spend=Spend(model_calls=2, dollars=0.0004))
    url = "https://github.com/octo/app/pull/13"
    return {
        "pull-request.md": pull_request_body(repaired(), RUN),
        "pull-request-local.md": pull_request_body(unsafe, local),
        "history-repaired.md": history_comment(repaired(), RUN),
        "history-improved.md": history_comment(ended(OutcomeKind.IMPROVED), RUN),
        "history-exhausted.md": history_comment(unrepaired, RUN),
        "history-refused.md": history_comment(refused, RUN),
        "history-flaky.md": history_comment(FLAKY, RUN),
        "history-faulted.md": history_comment(FAULTED, RUN),
        "summary-repaired.md": job_summary(repaired(), RUN, Delivered(url=url, notes=("branch protection: unknown",))),
        "summary-not-reproduced.md": job_summary(
            Outcome(
                kind=OutcomeKind.NOT_REPRODUCED, reason="every check is green in the sandbox", baseline=BASELINE[:0]
            ),
            RUN,
        ),
        "terminal-repaired.txt": terminal(repaired()),
        "terminal-improved.txt": terminal(ended(OutcomeKind.IMPROVED, runtime="runc")),
        "terminal-faulted.txt": terminal(FAULTED),
        "commit-message.txt": message(repaired(), RUN),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in cases().items():
        (FOLDER / name).write_text(text, encoding="utf-8")

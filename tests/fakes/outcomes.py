"""Made-up runs, whole, for everything that tells or stores one."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.attempt import Attempt, Outcome, OutcomeKind, Spend, Strategy, Verdict
from bot.domain.execution import Limits
from bot.domain.findings import CheckKind, Diagnostic, Failure, Report
from bot.domain.fitness import Fitness
from bot.domain.packet import PacketDiagnostic, PacketFailure, RepairPacket, Span
from bot.domain.patch import Edit, Patch, Rejected
from bot.domain.ports import FailedRun, Trigger

SHA = "1f0c6a5e9b7d4c3a2e1f0c6a5e9b7d4c3a2e1f0c"
DIFF = """\
diff --git a/d.py b/d.py
index 3d5f1c2..8a1b9d0 100644
--- a/d.py
+++ b/d.py
@@ -4,3 +4,4 @@ def parse_duration(text):
     value = int(text[:-1])
-    return value
+    unit = text[-1]
+    return value * UNITS[unit]
"""
RUN = FailedRun(
    trigger=Trigger(
        repository="octo/app", event="workflow_run", branch="feature/durations", sha=SHA, run_id=77, pull_request=12
    ),
    workflow="CI",
    url="https://github.com/octo/app/actions/runs/77",
)
ALL = frozenset(f"tests/test_d.py::test_{name}" for name in ("units", "zero", "plain", "sign", "unit_h"))


def failure(test: str = "tests/test_d.py::test_units") -> Failure:
    return Failure(
        tool="pytest",
        id=test,
        file="tests/test_d.py",
        line=17,
        source="assert parse_duration('5m') == 300",
        message="assert 5 == 300",
        expected="300",
        actual="5",
    )


def suite_report(failing: frozenset[str], skipped: frozenset[str] = frozenset()) -> Report:
    return Report(
        check="pytest",
        kind=CheckKind.TESTS,
        exit_code=1 if failing else 0,
        findings=tuple(failure(test) for test in sorted(failing)),
        passed=ALL - failing - skipped,
        skipped=skipped,
        collected=ALL,
        duration_ms=1200,
    )


def lint_report(count: int) -> Report:
    found = tuple(
        Diagnostic(tool="ruff", file="d.py", line=n + 1, col=1, code="F401", message="`os` imported but unused")
        for n in range(count)
    )
    return Report(check="ruff check", kind=CheckKind.LINT, exit_code=1 if count else 0, findings=found)


def packet(iteration: int = 1) -> RepairPacket:
    return RepairPacket(
        iteration=iteration,
        max_iterations=5,
        summary="2 of 5 tests failing; 1 lint error; 0 type errors",
        priority="tests",
        failures=(
            PacketFailure(
                test="tests/test_d.py::test_units",
                file="tests/test_d.py",
                line=17,
                assertion="assert parse_duration('5m') == 300",
                message="assert 5 == 300",
                expected="300",
                actual="5",
                span=Span(file="d.py", start=4, end=6, source="def parse_duration(text):\n    return 5\n"),
            ),
        ),
        diagnostics=(PacketDiagnostic(file="d.py", line=1, col=1, code="F401", message="`os` imported but unused"),),
        instructions="Fix ONLY the failing assertions above.",
    )


UNITS = frozenset({"tests/test_d.py::test_units"})
BOTH = UNITS | {"tests/test_d.py::test_unit_h"}
BASELINE = (suite_report(BOTH), lint_report(1))
START = Fitness(regressed=0, blocked=0, not_passing=2, lint=1, types=0)


def attempt(iteration: int = 1, verdict: Verdict = Verdict.ACCEPTED, failing: frozenset[str] = UNITS) -> Attempt:
    return Attempt(
        iteration=iteration,
        strategy=Strategy.FOCUSED,
        packet=packet(iteration),
        proposal=Patch(edits=(Edit(path="d.py", old="value", new="300"),), rationale="Units were ignored."),
        diff=DIFF,
        reports=(suite_report(failing), lint_report(0)),
        fitness_before=START,
        fitness=Fitness(regressed=0, blocked=0, not_passing=len(failing), lint=0, types=0),
        verdict=verdict,
        reason="1 test more passes" if verdict is Verdict.ACCEPTED else "the same test still fails",
        spend=Spend(
            input_tokens=1830, output_tokens=240, dollars=0.0091, model_calls=1, model_seconds=3.2, sandbox_seconds=2.5,
            executions=2,
        ),
        limits=Limits(),
        seconds=6.4,
    )  # fmt: skip


def rejected(iteration: int = 1) -> Attempt:
    return replace(
        attempt(iteration, Verdict.REJECTED),
        proposal=Rejected(reason="tests/test_d.py is protected: tests may not be changed", rule="oracle"),
        reason="tests/test_d.py is protected: tests may not be changed",
        reports=(),
        fitness=None,
    )


def repaired() -> Outcome:
    return Outcome(
        kind=OutcomeKind.REPAIRED,
        reason="every check is green with the patch, and red without it",
        attempts=(rejected(1), attempt(2), attempt(3, failing=frozenset())),
        baseline=BASELINE,
        final=(suite_report(frozenset()), lint_report(0)),
        diff=DIFF,
        files={"d.py": b"content\n", "old.py": None},
        spend=Spend(input_tokens=5490, output_tokens=720, dollars=0.0273, model_calls=3, executions=9),
        seconds=48.2,
        held_out="1 of 2 failing tests was never shown to the model, and passes",
        rationale="`parse_duration` dropped the unit.\n\nIt now looks the unit up in UNITS.",
        model="anthropic:claude-sonnet-4-5",
        runtime="selfrepair-run",
        chain_head="ab12" * 16,
    )


def ended(kind: OutcomeKind, reason: str = "the budget of 5 turns is spent", **changes: object) -> Outcome:
    """A run that ended otherwise, after two attempts."""
    spent = replace(repaired(), kind=kind, reason=reason, attempts=(rejected(1), attempt(2)), final=attempt(2).reports)
    return replace(spent, **changes)

"""A job as the JSON object of the corpus format: what `selfrepair parse LOG --json` prints."""

from __future__ import annotations

from typing import Any

from bot.domain.findings import Diagnostic, Failure, JobLog, Step


def failing_step(job: JobLog) -> Step | None:
    """The first step that ended with a non-zero status; in a log that breaks off, the last one if it has findings."""
    for step in job.steps:
        if step.failed and step.name:
            return step
    last = job.steps[-1] if job.steps else None
    if job.truncated and last and last.report and last.report.findings and last.exit_code is None:
        return last
    return None


def as_schema(job: JobLog) -> dict[str, Any]:
    """The object described in the corpus' SCHEMA.md, with everything that the reader knows."""
    failing = failing_step(job)
    findings = job.findings
    return {
        "schema": 1,
        "command": failing.command if failing else None,
        "failing_step": failing.name if failing else None,
        "failing_steps": [step.name for step in job.steps if step.failed and step.name],
        "exit_code": failing.exit_code if failing else None,
        "failures": [_failure(f) for f in findings if isinstance(f, Failure)],
        "diagnostics": [_diagnostic(f) for f in findings if isinstance(f, Diagnostic) and f.severity != "diff"],
    }


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "framework": failure.tool,
        "id": failure.id,
        "file": failure.file,
        "line": failure.line,
        "crash_file": failure.crash.file if failure.crash else None,
        "crash_line": failure.crash.line if failure.crash else None,
        "outcome": failure.kind.value,
        "assertion": failure.assertion,
        "message": failure.message,
        "expected": failure.expected,
        "actual": failure.actual,
    }


def _diagnostic(row: Diagnostic) -> dict[str, Any]:
    return {
        "tool": row.tool,
        "file": row.file,
        "line": row.line,
        "col": row.col,
        "code": row.code,
        "message": row.message,
        "severity": row.severity,
    }

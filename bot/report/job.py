"""What the logs of jobs say, for people at a terminal (`selfrepair parse LOG`)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.findings import Failure, Finding, JobLog
from bot.redact import visible

_QUIET = "no step failed, and nothing was found"


def jobs(read: Sequence[JobLog]) -> str:
    """Each job under its name; a single one without."""
    if len(read) == 1:
        lines = _lines(read[0]) or [_QUIET]
    else:
        lines = []
        for job in read:
            told = _lines(job)
            lines += [f"job {job.name}:", *(f"  {line}" for line in told)] if told else [f"job {job.name}: {_QUIET}"]
    return "".join(" ".join(visible(line).splitlines()) + "\n" for line in lines)


def _lines(job: JobLog) -> list[str]:
    """One line per failing step, and below it one per finding."""
    lines: list[str] = []
    for step in job.steps:
        found = step.report.findings if step.report else ()
        if step.failed or found:
            status = "" if step.exit_code is None else f" (exit status {step.exit_code})"
            lines.append(f"step {step.number}: {step.name}{status}")
            lines += [f"  {_told(finding)}" for finding in found]
    return lines


def _told(finding: Finding) -> str:
    if isinstance(finding, Failure):
        place = f" ({finding.file}:{finding.line})" if finding.file and finding.line else ""
        words = finding.assertion or finding.message
        return f"{finding.kind} {finding.id}{place}" + (f": {words}" if words else "")
    place = ":".join(str(part) for part in (finding.file, finding.line, finding.col) if part is not None)
    return f"{finding.tool} {place}: {finding.code or ''} {finding.message}"

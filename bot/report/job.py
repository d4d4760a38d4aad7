"""What a job's log says, for people at a terminal (`selfrepair parse LOG`)."""

from __future__ import annotations

from bot.domain.findings import Failure, Finding, JobLog
from bot.report.neutralise import visible


def job(read: JobLog) -> str:
    """One line per failing step, and below it one per finding."""
    lines: list[str] = []
    for step in read.steps:
        found = step.report.findings if step.report else ()
        if step.failed or found:
            status = "" if step.exit_code is None else f" (exit status {step.exit_code})"
            lines.append(f"step {step.number}: {step.name}{status}")
            lines += [f"  {_told(finding)}" for finding in found]
    return "".join(visible(line) + "\n" for line in lines) or "no step failed, and nothing was found\n"


def _told(finding: Finding) -> str:
    if isinstance(finding, Failure):
        place = f" ({finding.file}:{finding.line})" if finding.file else ""
        return f"{finding.kind} {finding.id}{place}: {finding.assertion or finding.message or ''}"
    place = ":".join(str(part) for part in (finding.file, finding.line, finding.col) if part is not None)
    return f"{finding.tool} {place}: {finding.code or ''} {finding.message}"

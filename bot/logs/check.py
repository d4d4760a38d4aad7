"""The output of one check that ran in our own sandbox, as a Report."""

from __future__ import annotations

from bot.domain.findings import Check, CheckKind, Failure, Finding, Report
from bot.logs.clean import blocks
from bot.logs.command import formats_of
from bot.logs.events import Events, read_events
from bot.logs.output import Output, Read
from bot.logs.table import PARSERS

_PYTEST_EXITS = {2: "interrupted", 3: "internal error of pytest", 4: "usage error", 5: "no tests ran"}
_TEST_FORMATS = frozenset(name for name, form in PARSERS.items() if form.kind is CheckKind.TESTS)


def read_output(
    output: bytes,
    *,
    check: Check,
    exit_code: int | None,
    duration_ms: int = 0,
    timed_out: bool = False,
    oom_killed: bool = False,
    truncated: bool = False,
    events: bytes | None = None,
) -> Report:
    """Read stdout and stderr of one run of `check`; any bytes are accepted.

    `check.format`, else the command, tells what to look for, else everything is looked for. `events`, written by our
    pytest plugin, take precedence over the text for what tests did. `exit_code` is None when the command did not end
    by itself. `blocked` is set when the check stopped before judging, so that silence never counts as success.
    """
    reader = Output(_formats(check), script=check.command)
    for block in blocks([output]):
        reader.feed_block(block)
    read = reader.close(exit_code)
    ran = read_events(events) if events else Events()
    findings = _findings(read, ran)
    return Report(
        check=check.name,
        kind=check.kind,
        exit_code=exit_code,
        findings=findings,
        passed=frozenset(ran.passed) if ran.seen else read.found.passed,
        skipped=frozenset(ran.skipped) if ran.seen else read.found.skipped,
        collected=_collected(read, ran, findings),
        blocked=_blocked(check, read, ran, findings, exit_code, timed_out=timed_out, oom_killed=oom_killed),
        timed_out=timed_out,
        oom_killed=oom_killed,
        truncated=truncated or read.found.dropped > 0,
        duration_ms=duration_ms,
    )


def _formats(check: Check) -> frozenset[str] | None:
    if check.format is not None and check.format in PARSERS:
        return frozenset({check.format})
    return formats_of(check.command)


def _findings(read: Read, ran: Events) -> tuple[Finding, ...]:
    """The plugin's failures instead of the text's; a crash that only the text shows stays."""
    if not ran.seen:
        return read.found.findings
    known = {failure.id for failure in ran.failures} | ran.passed
    rest = [
        finding
        for finding in read.found.findings
        if not isinstance(finding, Failure) or (finding.id not in known and ran.finished is None)
    ]
    return (*ran.failures, *rest)


def _collected(read: Read, ran: Events, findings: tuple[Finding, ...]) -> frozenset[str]:
    if ran.seen:
        return frozenset(ran.collected)
    failing = {finding.id for finding in findings if isinstance(finding, Failure) and not finding.collection}
    return read.found.collected | read.found.passed | read.found.skipped | failing


def _blocked(
    check: Check,
    read: Read,
    ran: Events,
    findings: tuple[Finding, ...],
    exit_code: int | None,
    *,
    timed_out: bool,
    oom_killed: bool,
) -> str | None:
    """Why the check stopped before judging, None when it judged; from the surest sign to the weakest."""
    if oom_killed:
        return "out of memory"
    if timed_out:
        return "timed out"
    if exit_code is None:
        return "the command was ended from outside"
    if exit_code < 0 or exit_code >= 128:
        return f"crashed: exit status {exit_code}"
    stopped = [finding for finding in findings if isinstance(finding, Failure) and finding.collection]
    if stopped:
        return (
            f"{len(stopped)} error{'s' * (len(stopped) > 1)} during collection: {stopped[0].message or stopped[0].id}"
        )
    if ran.seen and ran.finished in _PYTEST_EXITS and not ran.failures:
        return _PYTEST_EXITS[ran.finished]
    if ran.seen and ran.finished is None and check.kind is CheckKind.TESTS:
        return "the test run broke off"
    if read.found.blocked and not (exit_code == 0 and check.kind is not CheckKind.TESTS):
        return read.found.blocked
    return _silent(check, read, ran, findings, exit_code)


def _silent(check: Check, read: Read, ran: Events, findings: tuple[Finding, ...], exit_code: int) -> str | None:
    """A check that says no without a word, or a test run that says yes without a test."""
    if exit_code != 0 and not findings and check.kind is not CheckKind.CUSTOM:
        known = _PYTEST_EXITS.get(exit_code) if "pytest" in (_formats(check) or ()) else None
        return known or f"exit status {exit_code} with nothing found in the output"
    if exit_code == 0 and ran.seen and not ran.collected:
        return "no tests ran"
    return None

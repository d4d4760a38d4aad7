"""Run the checks on one state of the tree, each in a fresh box, and say what they said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from bot.domain.execution import WORK, Limits, Request, Result
from bot.domain.findings import Check, CheckKind, Report
from bot.domain.fitness import Evaluation
from bot.domain.patch import Files
from bot.domain.ports import Sandbox
from bot.logs import read_output
from bot.repair import instruments

Coverage: TypeAlias = Mapping[str, Mapping[str, frozenset[int]]]
"""Test id -> file -> lines that the test ran."""

JOBS = 2
"""Boxes that work at a time."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one evaluation gave: the reports, and beside each its raw result for the trail.

    `coverage` is filled when lines were traced and the runner is pytest.
    """

    evaluation: Evaluation
    results: tuple[Result, ...]
    coverage: Coverage = field(default_factory=dict)


def evaluate(
    sandbox: Sandbox,
    environment: str,
    checks: Sequence[Check],
    *,
    files: Files,
    protected: Files,
    limits: Limits,
    only: frozenset[str] | None = None,
    trace: bool = False,
) -> Run:
    """Run every check on the environment's tree with `files` over it and `protected` over both.

    `protected` are the head commit's own tests and configuration, so that nothing a patch did to them counts. With
    `only`, just the checks that may hold tests run, and of them those ids (where the runner is pytest; others run
    whole); checks that say nothing about any test are left out of the reports.
    `JOBS` boxes work at a time; reports keep the order of the checks. A broken box raises Fault.
    """
    chosen = [check for check in checks if only is None or check.kind not in (CheckKind.LINT, CheckKind.TYPES)]

    def one(check: Check) -> tuple[Report, Result]:
        result = sandbox.run(_request(check, environment, {**files, **protected}, limits, only, trace))
        return read(check, result), result

    pool = ThreadPoolExecutor(max_workers=JOBS)
    try:
        done = list(pool.map(one, chosen))
    finally:  # an interrupt or a Fault does not wait for the other check: its box ends with the sandbox
        pool.shutdown(wait=False, cancel_futures=True)
    if only is not None:
        done = [pair for pair in done if pair[0].collected or pair[0].findings] or done
    return Run(
        evaluation=Evaluation(reports=tuple(report for report, _ in done)),
        results=tuple(result for _, result in done),
        coverage=_coverage(result for _, result in done),
    )


def read(check: Check, result: Result) -> Report:
    """What a raw result says: read by the log readers, then held against the second witness."""
    events = result.collected.get(instruments.EVENTS)
    output = result.stdout + b"\n" + result.stderr if result.stderr else result.stdout
    report = read_output(
        output,
        check=check,
        exit_code=result.exit_code,
        duration_ms=result.duration_ms,
        timed_out=result.timed_out,
        oom_killed=result.oom_killed,
        truncated=result.truncated,
        events=events,
    )
    return witnessed(report, tuple(_events(events or b"")), output)


def witnessed(report: Report, events: Sequence[Mapping[str, object]], output: bytes) -> Report:
    """Exit status and structured report must agree; a report on which they differ is blocked, never green."""
    if report.exit_code is None or report.timed_out or report.oom_killed:
        return report
    return replace(report, blocked=_contradiction(report, events, output) or report.blocked)


def _contradiction(report: Report, events: Sequence[Mapping[str, object]], output: bytes) -> str | None:
    ended = [event for event in events if event.get("event") == "finish"]
    ran = [event for event in events if event.get("event") == "test"]
    if report.exit_code == 0 and report.failing:
        return f"exit status 0 although {len(report.failing)} test{'s' * (len(report.failing) != 1)} failed"
    if report.exit_code == 0 and events and not ended:
        return "exit status 0 although the test run did not come to its end"
    if report.exit_code == 0 and ended and not ran:
        return "exit status 0 although no test ran"
    if report.exit_code != 0 and ended and not report.findings:
        what = "no test failed" if ran else "no test ran"
        return f"exit status {report.exit_code} although {what}: {_last_line(output)}"
    return None


def _last_line(output: bytes) -> str:
    lines = [line for line in output.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "no output"


def _request(
    check: Check, environment: str, files: Files, limits: Limits, only: frozenset[str] | None, trace: bool
) -> Request:
    return Request(
        environment=environment,
        entrypoint=instruments.entrypoint(_whole(check)),
        workdir=check.workdir,
        files=files,
        tools=instruments.tools(only),
        env=instruments.environment(check, only=only is not None, trace=trace),
        collect=(instruments.EVENTS,),
        limits=limits,
    )


def _whole(check: Check) -> str:
    """The command, after what brings the environment up to the patched tree; that runs from the tree's root."""
    return "\n".join([*(f"(cd {WORK} && {command})" for command in check.before), check.command])


def _events(content: bytes) -> Iterator[dict[str, object]]:
    """The events of one run. Lines that are not objects are what a killed or hostile run left: not evidence."""
    for line in content.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            yield event


def _coverage(results: Iterable[Result]) -> Coverage:
    covered: dict[str, dict[str, frozenset[int]]] = {}
    for result in results:
        for event in _events(result.collected.get(instruments.EVENTS, b"")):
            test, lines = event.get("id"), event.get("lines")
            if event["event"] == "lines" and isinstance(test, str) and isinstance(lines, dict):
                of_test = covered.setdefault(test, {})
                for file, numbers in lines.items():
                    of_test[file] = of_test.get(file, frozenset()) | _numbers(numbers)
    return covered


def _numbers(value: object) -> frozenset[int]:
    return frozenset(n for n in value if isinstance(n, int)) if isinstance(value, list) else frozenset()

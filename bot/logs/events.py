"""What our own pytest plugin wrote while the tests ran: JSON lines, as hostile as any other output of the candidate.

One object a line, key "event": collected (ids), collect_error (id, message, longrepr), test (id, when, outcome,
duration, xfail, file, exception, message, assertion, source, expected, actual, frames, captured), finish (exit).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.domain.findings import Failure, FailureKind, Location
from bot.logs.clean import LONGEST
from bot.logs.parser import MOST
from bot.logs.paths import inside, relative, same_file
from bot.logs.trace import kind_of
from bot.logs.values import compared, rewritten

MOST_TESTS = 100_000
"""Test ids kept of one run; more than any suite that is repaired here."""


@dataclass(kw_only=True)
class Events:
    """The run as the plugin saw it. `finished` is the exit status pytest announced; None when it never came so far."""

    collected: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)
    collect_errors: int = 0
    finished: int | None = None
    seen: bool = False


def read_events(content: bytes) -> Events:
    """Read the events; lines that are none are left out, fields that are missing or of a wrong type count as absent."""
    events = Events()
    for line in content.split(b"\n"):
        if not line.strip() or len(line) > LONGEST:
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, Mapping):
            _take(events, row)
    failed = {failure.id for failure in events.failures}
    events.passed -= failed
    events.skipped -= failed | events.passed
    return events


def _take(events: Events, row: Mapping[str, Any]) -> None:
    kind, test = row.get("event"), _text(row.get("id"))
    if kind == "collected" and isinstance(row.get("ids"), list):
        ids = [i for i in row["ids"] if isinstance(i, str)]
        events.collected.update(ids[: max(0, MOST_TESTS - len(events.collected))])
    elif kind == "collect_error" and test:
        events.collect_errors += 1
        _add(events, _collect_error(test, row))
    elif kind == "test" and test:
        _test(events, test, row)
    elif kind == "finish":
        exit_code = row.get("exit")
        events.finished = exit_code if isinstance(exit_code, int) and not isinstance(exit_code, bool) else None
    else:
        return
    events.seen = True


def _test(events: Events, test: str, row: Mapping[str, Any]) -> None:
    outcome, when = row.get("outcome"), row.get("when")
    if len(events.collected) < MOST_TESTS:
        events.collected.add(test)
    if outcome == "failed":
        _add(events, _failure(test, row, FailureKind.FAILED if when == "call" else FailureKind.ERROR))
    elif outcome == "skipped":
        events.skipped.add(test)
    elif outcome == "passed" and when in ("call", None):
        events.passed.add(test)


def _add(events: Events, failure: Failure) -> None:
    if len(events.failures) < MOST:
        events.failures.append(failure)


def _collect_error(test: str, row: Mapping[str, Any]) -> Failure:
    given = dict(row)
    lines = (_text(row.get("longrepr")) or "").split("\n")
    words = [line[1:].strip() for line in lines if line.startswith("E  ")]
    given.setdefault("message", words[0] if words else None)
    failure = _failure(test, given, FailureKind.ERROR)
    return Failure(**{**_fields(failure), "collection": True})


def _fields(failure: Failure) -> dict[str, Any]:
    return {name: getattr(failure, name) for name in failure.__dataclass_fields__}


def _failure(test: str, row: Mapping[str, Any], kind: FailureKind) -> Failure:
    said = (_text(row.get("message")) or "").split("\n")
    message = said[0] or None
    rest = said[1:]
    assertion = _text(row.get("assertion")) or (rewritten(message, rest) if message else None)
    expected, actual = _text(row.get("expected")), _text(row.get("actual"))
    if expected is None and actual is None and assertion:
        expected, actual = compared(assertion)
    file = relative(_text(row.get("file")) or test.split("::", 1)[0])
    frames = _frames(row.get("frames"))
    home = [frame for frame in frames if inside(frame.file)]
    own = [frame for frame in home if same_file(frame.file, file)]
    return Failure(
        tool="pytest",
        id=test,
        kind=kind,
        file=file,
        line=own[-1].line if own else None,
        crash=frames[-1] if frames and inside(frames[-1].file) else None,
        frames=tuple(home[-12:]),
        exception=_text(row.get("exception")) or kind_of(message),
        source=_text(row.get("source")),
        assertion=assertion,
        message=message,
        expected=expected,
        actual=actual,
        detail="\n".join(rest).strip("\n")[:4000] or None,
        captured=(_text(row.get("captured")) or "")[:4000] or None,
    )


def _frames(given: object) -> list[Location]:
    rows = given if isinstance(given, list) else []
    frames = []
    for row in rows[-60:]:
        file = _text(row.get("file")) if isinstance(row, Mapping) else None
        if file is None:
            continue
        line = row.get("line")
        frames.append(
            Location(
                file=relative(file),
                line=line if isinstance(line, int) and not isinstance(line, bool) else None,
                name=_text(row.get("name")),
            )
        )
    return frames


def _text(value: object) -> str | None:
    return value[:20_000] if isinstance(value, str) else None

"""From what a Go test logged, or from the trace it died with, to one Failure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.domain.findings import Failure, FailureKind, Location
from bot.logs.go_trace import GOROUTINE, GoFrame, Goroutine, goroutines
from bot.logs.got_want import NO_PAIR, Pair, pair, speaks_of_failure
from bot.logs.paths import relative

_FIELD = re.compile(r"\s*(?P<label>Error Trace|Error|Test|Messages):\s*(?P<text>.*)$")
_DETAIL = 4000


@dataclass
class Row:
    """One call of t.Log or t.Error: `file:line: text`, and the lines indented below it."""

    file: str
    line: int
    text: str
    body: list[str] = field(default_factory=list)

    @property
    def whole(self) -> str:
        """Text and body as they were logged."""
        return "\n".join([self.text, *self.body])

    @property
    def own(self) -> bool:
        """Written by the repository's code, not by package testing itself."""
        return self.file != "testing.go"


@dataclass
class Crash:
    """What the process said when it died: the first line and the trace below it."""

    message: str
    lines: list[str] = field(default_factory=list)


def failure(
    test: str,
    rows: Sequence[Row] = (),
    *,
    crash: Crash | None = None,
    example: Sequence[str] = (),
    race: Sequence[str] = (),
    error: bool = False,
) -> Failure:
    """One failing test; `example` is the got/want text of an example, `race` the report of the race detector."""
    kind = FailureKind.ERROR if error else FailureKind.FAILED
    if crash is not None:
        return _crashed(test, crash, kind, rows)
    row = _telling(rows)
    if row is None:
        shown = "\n".join(example).strip("\n")
        expected, actual = pair(shown) if shown else NO_PAIR
        return _made(test, kind, shown or None, (expected, actual), None, [], shown)
    if any(GOROUTINE.match(line) for line in row.body[:5]):  # a panic that was caught and logged with its trace
        return _crashed(test, Crash(row.text, row.body), kind, ())
    message, values, detail = _testify(row) or (row.text, pair(row.whole), "\n".join(row.body))
    others = [f"{r.file}:{r.line}: {r.whole}" for r in rows if r is not row]
    place = Location(file=relative(row.file), line=row.line) if row.own else None
    frames = [] if row.own else [f for g in goroutines(list(race)) for f in g.frames if f.home]
    if place is None and frames:
        place = _place(next((f for f in frames if f.file.endswith("_test.go")), frames[0]))
    return _made(test, kind, message, values, place, frames, "\n".join([detail, *others]))


def _telling(rows: Sequence[Row]) -> Row | None:
    """The row that says why: one with values, else one that speaks of failure, else the last (t.Fatal ends a test)."""
    first = rows[:200]
    named = next((row for row in first if _testify(row) or pair(row.whole) != NO_PAIR), None)
    named = named or next((row for row in first if speaks_of_failure(row.text)), None)
    return named or (rows[-1] if rows else None)


def _testify(row: Row) -> tuple[str, Pair, str] | None:
    """(message, values, detail) of an assertion of testify, which logs labelled sections."""
    if row.text.strip() or not any("Error Trace:" in line for line in row.body[:3]):
        return None
    sections: dict[str, list[str]] = {}
    now: list[str] = []
    for line in row.body:
        found = _FIELD.match(line) if line[:1] == "\t" and line[1:2] not in ("\t", " ") else None
        if found:
            now = sections.setdefault(found.group("label"), [])
            now.append(found.group("text"))
        else:
            now.append(line.split("\t", 2)[-1] if line.startswith("\t ") else line.strip())
    said = [line.rstrip() for line in sections.get("Error", [])]
    if not said:
        return None
    notes = [line for line in sections.get("Messages", []) if line.strip()]
    return said[0], pair("\n".join(said)), "\n".join([*said[1:], *notes])


def _crashed(test: str, crash: Crash, kind: FailureKind, rows: Sequence[Row]) -> Failure:
    dump = goroutines(crash.lines)
    own = _which(test, dump)
    frames = [frame for frame in own.since_panic() if frame.home] if own else []
    root = test.split("/", 1)[0]
    mine = next((f for f in frames if f".{root}" in f.name), None) or next(
        (f for f in frames if f.file.endswith("_test.go")), None
    )
    place = _place(mine or frames[0]) if frames else None
    others = [f"{r.file}:{r.line}: {r.whole}" for r in rows]
    return _made(test, kind, crash.message, NO_PAIR, place, frames, "\n".join(others))


def _which(test: str, dump: list[Goroutine]) -> Goroutine | None:
    """The goroutine that died, or, where all were dumped, the one that runs this test."""
    root = test.split("/", 1)[0].split(".")[-1]
    running = [g for g in dump if g.state.startswith("running")]
    mine = [g for g in dump if g.test == root]
    if running and any(frame.home for frame in running[0].since_panic()):
        return running[0]
    mine.sort(key=lambda g: bool(g.frames) and g.frames[0].name == "testing.(*T).Run")  # waits for a subtest
    return mine[0] if mine else next((g for g in dump if any(f.home for f in g.frames)), None)


def _place(frame: GoFrame) -> Location:
    return Location(file=frame.file, line=frame.line, name=frame.name.rsplit("/", 1)[-1])


def _made(
    test: str,
    kind: FailureKind,
    message: str | None,
    values: Pair,
    place: Location | None,
    frames: Sequence[GoFrame],
    detail: str,
) -> Failure:
    head = message.split(": ", 1)[0] if message else None
    return Failure(
        tool="go",
        id=test,
        kind=kind,
        file=place.file if place else None,
        line=place.line if place else None,
        crash=_place(frames[0]) if frames else place,
        frames=tuple(_place(frame) for frame in reversed(frames[:12])),
        exception=head if head in ("panic", "fatal error") else None,
        assertion=message,
        message=message,
        expected=values[0],
        actual=values[1],
        detail=detail.strip("\n")[:_DETAIL] or None,
    )

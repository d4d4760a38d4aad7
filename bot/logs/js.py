"""What the JavaScript test runners have in common: stack frames, code frames, rows of a diff, and names of errors."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from bot.domain.findings import Failure, FailureKind, Location
from bot.logs.paths import inside, relative, same_file

MOST_LINES = 400
"""Lines kept of one failure's report."""

LONGEST = 2000
"""Characters kept of one line of a report."""

_PLACE = re.compile(r"(?P<file>.*[^:]):(?P<line>\d{1,9}):(?P<col>\d{1,9})$")
_ORIGIN = re.compile(r"(?:file:/+(?=[A-Za-z]:/)|file:/*(?=/)|webpack(?:-internal)?:///(?:\(\w+\)/)?|async )")
_FOREIGN = ("node:", "internal/", "<", "native", "evalmachine.", "ext:")
_CODE = re.compile(r" *+(?P<mark>>)? *+\d{1,6} ?\|(?: (?P<text>.*))?$")
_CARET = re.compile(r" *+\| ++\^")
_TOLD = re.compile(r"^:(\d{1,8}):\d|\((\d{1,8}):\d{1,8}\)$")
_CHAINED = re.compile(r" *+(?:Cause:|Errors contained in AggregateError:|\[cause\]: |Caused by: |\[errors\]: )")
_KIND = re.compile(
    r"(?:Uncaught )?(?P<kind>(?:[A-Za-z_$][\w$]*\.)*[\w$]*(?:Error|Exception|Failure|Violation|Warning))"
    r"(?: \[[\w ]+\])?(?::|$)"
)
_CRASH = re.compile(r"(?:Uncaught )?[\w$]*(?:Error|Exception)(?: \[\w+\])?: ")
_SOURCE = re.compile(r"(?P<file>(?:/|[A-Za-z]:[\\/]|file://).*\.\w+):(?P<line>\d{1,8})$")
_REQUIRED = re.compile(r"- (?P<file>(?:/|[A-Za-z]:[\\/]).*\.\w+)$")
_IMPORTED = re.compile(r"imported from (?P<file>\S+)$")


@dataclass(kw_only=True)
class Parts:
    """One failure's report taken apart; `frames` innermost first, `source` the line that the code frame marks."""

    words: list[str] = field(default_factory=list)
    frames: list[Location] = field(default_factory=list)
    chained: list[Location] = field(default_factory=list)
    source: str | None = None


def frame(text: str) -> Location | None:
    """Place of a line `at name (file:line:col)` or `at file:line:col`; None for anything else and for node's own."""
    text = text.strip()
    if not text.startswith("at "):
        return None
    rest, name = text[3:], None
    opened = rest.rfind(" (")
    if rest.endswith(")") and opened >= 0:
        name, rest = rest[:opened], rest[opened + 2 : -1]
    return place(rest, name)


def place(text: str, name: str | None = None) -> Location | None:
    """`file:line:col` as a Location, its file relative to the repository where that can be told."""
    while origin := _ORIGIN.match(text):
        text = text[origin.end() :]
    found = _PLACE.match(text)
    if found is None or (")" in found.group("file") and "(" not in found.group("file")):
        return None
    file = found.group("file").split("?", 1)[0]
    if not file or file.startswith(_FOREIGN):
        return None
    name = name.removeprefix("async ").strip() or None if name else None
    return Location(file=relative(file), line=int(found.group("line")), col=int(found.group("col")), name=name)


def taken_apart(lines: Iterable[str], *, arrow: str = "") -> Parts:
    """Words, frames and code frame of a report. `arrow` begins a frame's line where the runner does not write `at`."""
    parts = Parts()
    into, shown, marked = parts.frames, "", False
    for line in lines:
        if _CHAINED.match(line):
            into = parts.chained
        if row := _CODE.match(line):
            shown = row.group("text") or ""
            if row.group("mark") and parts.source is None:
                parts.source, marked = shown.strip() or None, True
        elif _CARET.match(line):
            if not marked and parts.source is None:
                parts.source = shown.strip() or None
        elif found := _arrowed(line, arrow) if arrow and line.lstrip().startswith(arrow) else frame(line):
            if len(into) < 60:
                into.append(found)
        elif into is parts.frames and not line.lstrip().startswith(("at ", arrow or "at ")):
            parts.words.append(line)
    return parts


def _arrowed(line: str, arrow: str) -> Location | None:
    """`❯ name file:line:col`: the file is the last word."""
    name, _, rest = line.strip().removeprefix(arrow).strip().rpartition(" ")
    return place(rest, name or None)


def placed(failure: Failure, parts: Parts) -> Failure:
    """Fill in where: `line` is the deepest frame in the failure's own file, `crash` the innermost in the repository."""
    frames = _rebased(parts.frames, failure.file)
    own = _own(frames, failure.file) or _own(_rebased(parts.chained, failure.file), failure.file)
    home = [spot for spot in frames if inside(spot.file)]
    return replace(
        failure,
        line=own.line if own else _told_line(failure, parts.words),
        crash=home[0] if home else None,
        frames=tuple(reversed(home[:12])),
        source=parts.source,
    )


def _told_line(failure: Failure, words: list[str]) -> int | None:
    """A file that does not parse: the place stands in the message, `file:3:17: ...` or `file: ... (3:17)`."""
    if not failure.collection or not failure.file:
        return None
    for line in words[:20]:
        if failure.file in line and (found := _TOLD.search(line.partition(failure.file)[2])):
            return int(found.group(1) or found.group(2))
    return None


def _own(frames: list[Location], file: str | None) -> Location | None:
    return next((spot for spot in frames if file and same_file(spot.file, file)), None)


def _rebased(frames: list[Location], file: str | None) -> list[Location]:
    """Frames of a package in a monorepo, or of a root directory below the repository's, moved to where `file` is."""
    if not file or any(spot.file == file for spot in frames):
        return frames
    tail = next((spot.file for spot in frames if file.endswith("/" + spot.file)), None)
    if tail is None:
        return frames
    root = file[: -len(tail)]
    return [
        spot if spot.file.startswith("/") else replace(spot, file=posixpath.normpath(root + spot.file))
        for spot in frames
    ]


def kind_of(message: str | None) -> str | None:
    """Type of the error at the head of `TypeError: text` or `AssertionError [ERR_ASSERTION]: text`; else None."""
    found = _KIND.match(message) if message else None
    return found.group("kind") if found else None


def crashing(line: str) -> bool:
    """Whether node's own report of an uncaught error can begin here: the place of bad syntax, or the error itself."""
    return bool(_CRASH.match(line) or _SOURCE.match(line))


def crashed(lines: list[str], tool: str) -> Failure | None:
    """node's report of an error while a test file was loaded: the file is the outermost one of ours that it names."""
    start = next((at for at, line in enumerate(lines) if _CRASH.match(line)), None)
    if start is None:
        return None
    parts = taken_apart(lines[start:])
    source = next((m for m in (_SOURCE.match(line) for line in lines[:start]) if m), None)
    imported = _IMPORTED.search(lines[start])
    required = [relative(m.group("file")) for m in (_REQUIRED.match(line) for line in lines) if m]
    places = [file for file in required if inside(file)] or [one.file for one in parts.frames if inside(one.file)]
    file = places[-1] if places else None
    if source and inside(relative(source.group("file"))):
        file = relative(source.group("file"))
    elif file is None and imported:
        file = relative(imported.group("file"))
    if file is None or not inside(file):
        return None
    message = lines[start].rstrip()
    failure = Failure(
        tool=tool,
        id=file,
        kind=FailureKind.ERROR,
        file=file,
        exception=kind_of(message),
        assertion=message,
        message=message,
        collection=True,
    )
    found = placed(failure, parts)
    if found.line is None and source and file == relative(source.group("file")):
        line = int(source.group("line"))
        found = replace(found, line=line, crash=Location(file=file, line=line))
    return found


def row_pair(rows: Iterable[str]) -> tuple[str | None, str | None]:
    """(the `-` row, the `+` row) of a diff that consists of these two rows; else (None, None)."""
    minus: list[str] = []
    plus: list[str] = []
    for row in rows:
        if row.startswith("-"):
            minus.append(row[1:])
        elif row.startswith("+"):
            plus.append(row[1:])
        elif row.strip():
            return None, None
    if len(minus) == len(plus) == 1:
        spaced = minus[0].startswith(" ") and plus[0].startswith(" ")
        return (minus[0][1:], plus[0][1:]) if spaced else (minus[0], plus[0])
    return None, None


def once(failures: Iterable[Failure], rows: Counter[tuple[str | None, str]], count: int | None) -> list[Failure]:
    """Several errors of one test become one failure; several tests of one title stay apart.

    Which of the two it is tell the rows that the runner printed, by (file, id), else the `count` of failed tests.
    """
    kept: list[Failure] = []
    at: dict[tuple[str | None, str], int] = {}
    reports = list(failures)
    surplus = sum(not one.collection for one in reports) - (count or 0)
    seen: Counter[tuple[str | None, str]] = Counter()
    for one in reports:
        key = (one.file, one.id)
        seen[key] += 1
        if key in at and (seen[key] > rows[key] if key in rows else surplus > 0):
            surplus -= not one.collection
            kept[at[key]] = _joined(kept[at[key]], one)
        else:
            at[key] = len(kept)
            kept.append(one)
    return kept


def _joined(first: Failure, more: Failure) -> Failure:
    texts = [text for text in (first.detail, more.message, more.detail) if text]
    return first if more.message == first.message else replace(first, detail="\n\n".join(texts)[:4000])


def detail_of(words: list[str]) -> str | None:
    """What is said after the first line: a diff, mostly."""
    return "\n".join(words).strip("\n")[:4000] or None

"""Whose traceback is whose: titles, summary lines, progress and counts of a pytest report put together."""

from __future__ import annotations

import re
from typing import TypeAlias

from bot.logs.paths import relative, same_file
from bot.logs.pytest_report import Entry, Section, Session

_PHASE = re.compile(r"ERROR (?:at|in) (?:setup|teardown) of (?:\w+ \w+ )?(.+)$|ERROR at (?:setup|teardown) of (.+)$")
_COLLECTING = re.compile(r"ERROR collecting (.+)$")
_TESTFILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_tests?|tests?)\.py$")


Row: TypeAlias = tuple[str, Section | None, Entry | None]
"""Node id, its section, its summary line."""


def split_entry(text: str) -> tuple[str, str | None]:
    """(node id, message) of what follows FAILED or ERROR in the short summary.

    An id ends at " - ", but parameters in brackets may hold that too: there it ends at the first "] - ".
    """
    bracket = text.find("[")
    dash = text.find(" - ")
    if dash >= 0 and (bracket < 0 or dash < bracket):
        return text[:dash], text[dash + 3 :]
    if bracket >= 0:
        end = text.find("] - ", bracket)
        if end >= 0:
            return text[: end + 1], text[end + 4 :]
    return text.rstrip(), None


def subject(section: Section) -> str:
    """What a section is about: its title without the words before it."""
    title = section.title
    if title.startswith("ERROR "):
        found = _COLLECTING.match(title) or _PHASE.match(title)
        if found:
            return str(found.group(found.lastindex or 1))
    return title.removeprefix("[doctest] ")


def titled(test: str) -> str:
    """The title that pytest gives the section of a node id: `Class.test_x[a::b]` for `f.py::Class::test_x[a::b]`."""
    _, colons, inner = test.partition("::")
    if not colons:
        return test
    head, bracket, tail = inner.partition("[")
    return head.replace("::", ".") + bracket + tail


def belongs(section: Section, test: str) -> bool:
    """Whether a section can be that of a node id."""
    if section.trace.crashed is not None:
        return section.trace.crashed == test
    name = subject(section)
    return name == titled(test) or name == test or test.endswith("::" + name)


def guess(section: Section, session: Session, at: int | None) -> str:
    """A node id for a section that no other line names: file from the progress line or from the traceback.

    `at` is the section's place among those of its kind.
    """
    name = subject(section)
    if section.trace.crashed is not None:
        return section.trace.crashed
    if section.title.startswith("ERROR collecting "):
        return relative(name, session.root)
    file = _file_of(section, session, at)
    if file is None or same_file(file, name):
        return name
    head, bracket, tail = name.partition("[")
    inner = name if section.title.startswith("[doctest]") else head.replace(".", "::") + bracket + tail
    return f"{file}::{inner}"


def _file_of(section: Section, session: Session, at: int | None) -> str | None:
    letter = "F" if section.kind == "failed" else "E"
    files = [file for file, seen in session.dotted if seen == letter]
    total = sum(1 for other in session.sections if other.kind == section.kind)
    complete = len(files) == total or (session.counts is None and len(files) > total)
    if at is not None and complete and files[at]:
        return relative(files[at], session.root)
    return _shown(section, session) or _beside(section, session)


def _shown(section: Section, session: Session) -> str | None:
    """The test file that a traceback leads through, else where it begins."""
    frames = [relative(frame.file, session.root) for frame in section.trace.frames]
    return next((file for file in frames if _TESTFILE.search(file)), frames[0] if frames else None)


def _beside(section: Section, session: Session) -> str | None:
    """The file of the sections before and after: a strict xfail that passes has no traceback of its own."""
    kin = [other for other in session.sections if other.kind == section.kind]
    at = next(i for i, other in enumerate(kin) if other is section)
    for other in [*reversed(kin[:at]), *kin[at + 1 :]]:
        file = _shown(other, session)
        if file is not None and _TESTFILE.search(file):
            return file
    return None


def pair(session: Session, kind: str) -> list[Row]:
    """(node id, section, summary line) of each failure (kind "failed") or error ("error"), in the report's order."""
    sections = [s for s in session.sections if s.kind == kind]
    entries = _entries(session, kind)
    free = list(range(len(sections)))
    rows: list[Row] = []
    for entry in entries:
        test, hit = _test_of(entry, sections, free)
        if hit is not None:
            free.remove(hit)
        rows.append((test, sections[hit] if hit is not None else None, entry))
    wanted = _wanted(session, kind)
    rows = _without_quotes(rows, wanted, session)
    missing = len(free) if wanted is None and not entries else max(0, (wanted or 0) - len(rows))
    for i in free[:missing]:
        rows.append((_named(sections[i], session, kind, i, rows), sections[i], None))
    return rows + _unshown(session, kind, rows, wanted)


def _entries(session: Session, kind: str) -> list[Entry]:
    word = "FAILED" if kind == "failed" else "ERROR"
    return [entry for entry in session.entries if entry.status == word]


def _test_of(entry: Entry, sections: list[Section], free: list[int]) -> tuple[str, int | None]:
    """(node id, place of its section among the free ones) of a summary line.

    Old versions do not say there which subtest it was: the next section of the same test does.
    """
    base = split_entry(entry.text)[0]
    test = f"{base} {entry.part}" if entry.part else base
    hit = next((i for i in free if belongs(sections[i], test)), None)
    if hit is None and entry.part == "":
        head = titled(base) + " "
        hit = next((i for i in free if subject(sections[i]).startswith(head)), None)
        if hit is not None:
            test = f"{base} {subject(sections[hit])[len(head) :]}"
    return test, hit


def _wanted(session: Session, kind: str) -> int | None:
    counts = session.counts or session.stray
    if counts is None:
        return None
    return counts["failed"] if kind == "failed" else counts["error"]


def _without_quotes(rows: list[Row], wanted: int | None, session: Session) -> list[Row]:
    """Drop what only looks like a summary line: one too many, without a section, after somebody's free text."""
    surplus = len(rows) - wanted if wanted is not None else 0
    if surplus <= 0:
        return rows
    words = [line.partition(": ")[2] for line in session.oneliners]
    doubts = [(_doubt(row, words), i) for i, row in enumerate(rows) if row[1] is None and row[2] is not None]
    dropped = {i for doubt, i in sorted(doubts, reverse=True)[:surplus] if doubt > 0}
    return [row for i, row in enumerate(rows) if i not in dropped]


def _doubt(row: Row, words: list[str]) -> int:
    """How likely a summary line is text that a test wrote."""
    entry = row[2]
    if entry is None:
        return 0
    message = split_entry(entry.text)[1]
    unseen = bool(words) and message is not None and not any(word.startswith(message[:60]) for word in words)
    return 4 * unseen + 2 * entry.after_text + entry.after_more


def _named(
    section: Section,
    session: Session,
    kind: str,
    at: int,
    rows: list[Row],
) -> str:
    taken = {row[0] for row in rows}
    for test, _ in session.failed_verbose:
        if test not in taken and belongs(section, test):
            return test
    return guess(section, session, at)


def _unshown(session: Session, kind: str, rows: list[Row], wanted: int | None) -> list[Row]:
    """Failures that only the verbose progress lines name (no tracebacks, no summary, or the run broke off)."""
    status = "FAILED" if kind == "failed" else "ERROR"
    taken = {row[0] for row in rows}
    names = [test for test, seen in session.failed_verbose if seen == status and test not in taken]
    room = len(names) if wanted is None else max(0, wanted - len(rows))
    return [(test, None, None) for test in names[:room]]

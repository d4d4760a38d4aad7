"""Whose traceback is whose: titles, summary lines, progress and counts of a pytest report put together."""

from __future__ import annotations

import re
from typing import TypeAlias

from bot.logs.paths import inside, relative, same_file
from bot.logs.pytest_report import Entry, Section, Session

_PHASE = re.compile(r"ERROR (?:at|in) (?:setup|teardown) of (?:\w+ \w+ )?(.+)$|ERROR at (?:setup|teardown) of (.+)$")
_COLLECTING = re.compile(r"ERROR collecting (.+)$")
_TESTFILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_tests?|tests?)\.py$")


Row: TypeAlias = tuple[str, Section | None, Entry | None]
"""Node id, its section, its summary line."""


def splits(text: str) -> list[tuple[str, str | None]]:
    """The ways to read what follows FAILED or ERROR in the short summary as (node id, message), likeliest first.

    An id ends at " - ", but parameters in brackets may hold that too: there it ends at one of the "] - ".
    """
    bracket = text.find("[")
    dash = text.find(" - ")
    if dash >= 0 and (bracket < 0 or dash < bracket):
        return [(text[:dash], text[dash + 3 :])]
    ways: list[tuple[str, str | None]] = []
    end = text.find("] - ", bracket) if bracket >= 0 else -1
    while end >= 0 and len(ways) < 8:
        ways.append((text[: end + 1], text[end + 4 :]))
        end = text.find("] - ", end + 1)
    return [*ways, (text.rstrip(), None)]


def split_entry(text: str) -> tuple[str, str | None]:
    """The likeliest of `splits`."""
    return splits(text)[0]


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
    return _name(section) in _names(test)


def _name(section: Section) -> str:
    return section.trace.crashed or subject(section)


def _names(test: str) -> tuple[str, ...]:
    """What the section of a node id may be called."""
    return (titled(test), test, test.rpartition("::")[2])


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
    shown = _shown(section, session)
    if shown is None:
        return _beside(section, session)
    holds_no_test = shown.endswith("conftest.py") or not inside(shown)
    return None if holds_no_test else shown


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
    free = _Free([s for s in session.sections if s.kind == kind])
    entries = _entries(session, kind)
    rows: list[Row] = [_row(entry, free) for entry in entries]
    wanted = _wanted(session, kind)
    rows = _without_quotes(rows, wanted, session)
    rest = free.rest()
    missing = len(rest) if wanted is None and not entries else max(0, (wanted or 0) - len(rows))
    for at, section in sorted(rest, key=lambda row: row[1].doubt)[:missing]:
        rows.append((_named(section, session, at, rows), section, None))
    return rows + _unshown(session, kind, rows, wanted)


class _Free:
    """Sections that no summary line has claimed yet, by name; those of one name in order."""

    def __init__(self, sections: list[Section]) -> None:
        self._sections = dict(enumerate(sections))
        self._named: dict[str, list[int]] = {}
        for at, section in enumerate(sections):
            self._named.setdefault(_name(section), []).append(at)

    def take(self, test: str) -> Section | None:
        """The section of a node id: the first of its name, one that shows the test's own file before others."""
        file = test.split("::", 1)[0]
        for name in _names(test):
            found = self._named.get(name)
            if found:
                at = next((i for i in found if _touches(self._sections[i], file)), found[0])
                found.remove(at)
                return self._sections.pop(at)
        return None

    def take_part(self, test: str) -> tuple[str, Section] | None:
        """The next section of a subtest of a test, with the subtest's name."""
        head = titled(test) + " "
        for name, found in self._named.items():
            if found and name.startswith(head):
                return name[len(head) :], self._sections.pop(found.pop(0))
        return None

    def rest(self) -> list[tuple[int, Section]]:
        """What nobody claimed, with its place among all."""
        return list(self._sections.items())


def _touches(section: Section, file: str) -> bool:
    return any(same_file(frame.file, file) for frame in section.trace.frames)


def _row(entry: Entry, free: _Free) -> Row:
    """A summary line with its section. Old versions do not say there which subtest it was: its section does."""
    for base, _ in splits(entry.text):
        test = f"{base} {entry.part}" if entry.part else base
        section = free.take(test)
        if section is not None:
            return test, section, entry
    base = split_entry(entry.text)[0]
    part = free.take_part(base) if entry.part == "" else None
    if part is not None:
        return f"{base} {part[0]}", part[1], entry
    return (f"{base} {entry.part}" if entry.part else base), None, entry


def _entries(session: Session, kind: str) -> list[Entry]:
    word = "FAILED" if kind == "failed" else "ERROR"
    return [entry for entry in session.entries if entry.status == word]


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


def _named(section: Section, session: Session, at: int, rows: list[Row]) -> str:
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

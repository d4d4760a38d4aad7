"""The contract between the reader of a step's output and the one file per output format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from bot.domain.findings import Diagnostic, Finding

MOST = 2000
"""Findings kept of one format in one step: the first ones. More are counted, not kept."""

MOST_IDS = 20_000
"""Test ids kept of one step (passed, skipped and collected each)."""


ROW_LIKE = r"(?!\d+:\d)(?:[A-Za-z]:[\\/])?[^:]++(?<! \d)(?<! \d\d):(?:\d|$|cell | (?:error|warning|note):| line \d)"
"""Pattern of the formats that print `path:line...` rows: shared, so that a line is scanned for its colon only once.

Clock times are none: they are in every line of many a log.
"""

PAREN_ROW = r"(?:[A-Za-z]:[\\/])?[^(:]++\((?:[^():]++[^(:]*+\()*\d++(?:,\d++)?+\):"
"""Pattern of the formats that print `path(line,col)...` rows; a directory's own name may stand in parentheses."""

PATH_LINE = (
    r"(?:(?:[A-Za-z]:)?\.{0,2}[\\/]|[^\s:/\\]++[\\/])"
    r"(?:[^\s:]*+$|[^:]*+$(?:(?<=\.\w\w)|(?<=\.\w{3})|(?<=\.\w{4})|(?<=\.\w{5})|(?<=\.\w{6})))"
    r"|[\w@. -]++(?<=[.mc][jt]s|[jt]sx|vue|son|.md|mdx|css|ess|yml|aml|tml|[a-z]rc)$"
)
"""Pattern of lines that are a path and nothing else, as some linters print it before the complaints of a file."""

COUNTED = r"\d++ (?:files? |errors?|passed|failed|skipped|xfailed|deselected)"
"""Pattern of closing lines that begin with a count."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one format found in one step's output.

    `blocked` says in words why the tool stopped before judging. `ended`: the tool's own closing line was seen, so
    what it says is complete. `dropped`: findings over the cap.
    """

    findings: tuple[Finding, ...] = ()
    passed: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    collected: frozenset[str] = frozenset()
    blocked: str | None = None
    ended: bool = False
    dropped: int = 0


class Parser(Protocol):
    """A push parser: it is fed clean lines one by one and asked at the end.

    `feed` returns True when the line belongs to this format: no other format gets to see it. While `holding` is set
    the parser is asked first, whatever the line looks like: that is how captured output stays inside a test report.

    `starts` are beginnings of lines, `patterns` regular expressions matched at a line's start: while no parser is
    holding, only lines that one of them fits are looked at. `patterns` must take linear time.
    """

    starts: ClassVar[tuple[str, ...]]
    patterns: ClassVar[tuple[str, ...]]
    holding: bool

    def feed(self, line: str) -> bool:
        """Take one line; True: it is mine."""

    def found(self, exit_code: int | None) -> Found:
        """Close; may be called once. `exit_code` is the step's, None when it is not known."""


class Rows:
    """Base of the formats that print one complaint a line."""

    starts: ClassVar[tuple[str, ...]] = ()
    patterns: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.holding = False
        self.rows: list[Diagnostic] = []
        self.dropped = 0
        self.ended = False

    def add(self, row: Diagnostic) -> bool:
        """Keep a row, up to MOST; always True, so that `feed` can return it."""
        if len(self.rows) < MOST:
            self.rows.append(row)
        else:
            self.dropped += 1
        return True

    def found(self, exit_code: int | None) -> Found:
        """The rows in the order printed."""
        return Found(findings=tuple(self.rows), ended=self.ended, dropped=self.dropped)

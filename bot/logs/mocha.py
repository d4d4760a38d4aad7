"""mocha's reports, versions 6 to 11: spec, dot, min, list and every other reporter with the same epilogue.

Layout: mocha's `lib/reporters/base.js` (`list`, `epilogue`) and `spec.js`. The epilogue is two counts and then numbered
failures, whose titles stand one below the other. A test can print the same: rows told before tell the two apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from bot.domain.findings import Failure, FailureKind
from bot.logs.js import LONGEST, MOST_LINES, Parts, crashed, crashing, detail_of, kind_of, placed, row_pair, taken_apart
from bot.logs.parser import MOST, MOST_IDS, Found
from bot.logs.paths import inside, relative

_ECHO = re.compile(r"(?:> |\$ )(?:\S+ )*?(?:\S*/)?_?(?:mocha|electron-mocha|mochapack|ts-mocha|web-test-runner)(?: |$)")
_COUNT = re.compile(r" {2,4}(?P<number>\d{1,9}) (?P<what>passing|pending|failing)(?: \(\d[\d.]*\w+\))?$")
_PASS = re.compile(r"(?P<indent>(?:  )+)[✔✓√] (?P<title>\S.*?)(?: \(\d+ms\))?$")
_PENDING = re.compile(r"(?P<indent>(?:  )+)- (?P<title>\S.*)$")
_FAIL = re.compile(r"(?P<indent>(?:  )+)(?P<number>\d{1,9})\) (?P<title>\S.*)$")
_HOOK = re.compile(r'"(?:before|after) (?:all|each)" hook')
_LISTED = re.compile(r": \d+ms$")
_NO_SUITE = re.compile(r" +(?:\d+\) |\d+ (?:passing|pending|failing)\b|at \S)")
_TAP = re.compile(r"(?:not )?ok \d|TAP version |1\.\.\d")
_OVER = re.compile(r"npm (?:ERR!|error)|[\s>]*ELIFECYCLE|error Command failed|> \S+@\S+ \S+$|-{5,}\|")
_DIFF = "      + expected - actual"
_NAMED_FILE = re.compile(r"\((/[^()]+|[A-Za-z]:[\\/][^()]+)\)$|of file (/\S+|[A-Za-z]:\\\S+)$")


@dataclass(kw_only=True)
class _Block:
    """One numbered failure of the epilogue; `named` once its last title was read."""

    titles: list[str]
    named: bool = False
    lines: list[str] = field(default_factory=list)


class Mocha:
    """Push parser; a step may run mocha several times."""

    starts: ClassVar[tuple[str, ...]] = ("> ", "$ ", " Exception during run: ", "Error: No test files found: ")
    patterns: ClassVar[tuple[str, ...]] = (r"(?:  )++(?:[✔✓√] |\d++(?:\) | passing \())",)

    def __init__(self) -> None:
        self.holding = False
        self._findings: list[Failure] = []
        self._passed: set[str] = set()
        self._skipped: set[str] = set()
        self._blocked: str | None = None
        self._ended = False
        self._dropped = 0
        self._state = "idle"
        self._begin()

    def _begin(self) -> None:
        """A run begins."""
        self._suites: dict[int, str] = {}
        self._rows: list[str] = []
        self._spec = self._hinted = False
        self._apart = True
        self._failing = 0
        self._told: list[Failure] = []
        self._block: _Block | None = None
        self._crash: list[str] = []

    def feed(self, line: str) -> bool:
        """Take one line."""
        line = line[:LONGEST]
        if self._state == "blocks":
            return self._in_blocks(line)
        if self._state == "crash":
            return self._in_crash(line)
        if self._state == "counts" and (done := self._in_counts(line)) is not None:
            return done
        return self._in_progress(line)

    def _enter(self, state: str) -> None:
        self._state = state
        self.holding = state != "idle"

    def _in_progress(self, line: str) -> bool:
        """Rows of suites and tests; outside of a run, what may begin one."""
        if _ECHO.match(line):
            self._close()
            self._hinted = True
            self._enter("progress")
            return False
        if line.startswith("Error: No test files found: "):
            self._blocked = self._blocked or "no tests ran"
            return True
        if (count := _COUNT.match(line)) and count.group("what") == "passing":
            self._enter("counts")
            self._failing = 0
            return True
        if self._row(line):
            self._enter("progress")
            return True
        if self._state == "progress" or line.startswith(" Exception"):
            return self._else(line)
        return False

    def _row(self, line: str) -> bool:
        if found := _FAIL.match(line):
            if int(found.group("number")) != len(self._rows) + 1 or len(self._rows) >= MOST:
                return False
            self._rows.append(self._named(found))
        elif found := _PASS.match(line):
            self._spec = True
            if not _LISTED.search(line) and self._rooted(found) and len(self._passed) < MOST_IDS:
                self._passed.add(self._named(found))
        else:
            return False
        self._apart = len(found.group("indent")) == 2  # a test outside of every suite
        return True

    def _else(self, line: str) -> bool:
        """A suite's title, a pending test, or a crash before the first test."""
        if (found := _PENDING.match(line)) and self._suites:
            if len(self._skipped) < MOST_IDS:
                self._skipped.add(self._named(found))
            return True
        apart, self._apart = self._apart, not line.strip()
        level, odd = divmod(len(line) - len(line.lstrip(" ")), 2)
        if level and not odd and line.strip():
            if (apart or level > 1) and level <= len(self._suites) + 1 and not _NO_SUITE.match(line):
                self._suites = {depth: title for depth, title in self._suites.items() if depth < level}
                self._suites[level] = line.strip()
            return False
        fresh = self._hinted or line.startswith(" Exception")
        text = line.removeprefix(" Exception during run: ")
        if fresh and not self._rows and not self._spec and crashing(text):
            self._crash = [text]
            self._enter("crash")
            return True
        if _OVER.match(line) or _TAP.match(line):
            self._close()
            self._enter("idle")
        return False

    def _rooted(self, row: re.Match[str]) -> bool:
        """Whether every suite around the row is known: the log, or what we saw of it, may begin in the middle."""
        level = len(row.group("indent")) // 2
        return all(depth in self._suites for depth in range(1, level))

    def _named(self, row: re.Match[str]) -> str:
        level = len(row.group("indent")) // 2
        return " > ".join([*(self._suites[d] for d in sorted(self._suites) if d < level), row.group("title").strip()])

    def _in_counts(self, line: str) -> bool | None:
        """Between the counts and the first failure; None: the epilogue is over, or it was none."""
        count = _COUNT.match(line)
        if count:
            if count.group("what") == "failing":
                self._failing = int(count.group("number"))
            return True
        if not line.strip():
            return True
        told = self._rows or self._spec
        if self._failing and told and self._failing != len(self._rows):
            self._enter("progress")  # a test printed this
            return None
        if self._failing and line.startswith("  1) "):
            self._enter("blocks")
            self._open(line)
            return True
        self._ended = True
        self._close()
        self._enter("idle")
        return None

    def _open(self, line: str) -> None:
        self._finish()
        title = line.partition(") ")[2].rstrip()
        self._block = _Block(titles=[title])

    def _in_blocks(self, line: str) -> bool:
        block = self._block
        if line.startswith(f"  {len(self._told) + 2}) ") and block is not None:
            self._open(line)
        elif block is None or self._over(block, line):
            self._ended = True
            self._close()
            self._enter("idle")
            return False
        elif block.named:
            if len(block.lines) < MOST_LINES:
                block.lines.append(line)
        else:
            self._title(block, line)
        return True

    def _title(self, block: _Block, line: str) -> None:
        """A further title is indented by five columns and two for each before it; the last ends in a colon."""
        indent = 5 + 2 * len(block.titles)
        if block.titles[-1].endswith(":") and not (line.startswith(" " * indent) and line[indent : indent + 1].strip()):
            block.titles[-1] = block.titles[-1][:-1]
            block.named = True
            block.lines.append(line)
        else:
            block.titles.append(line.strip())

    def _over(self, block: _Block, line: str) -> bool:
        """After the last failure's stack and an empty line, anything is somebody else's."""
        if _OVER.match(line):
            return True
        last = len(self._told) + 1 >= self._failing
        after = len(block.lines) > 1 and not block.lines[-1].strip()
        stack = any(row.lstrip().startswith("at ") for row in block.lines[-12:])
        return last and after and stack and bool(line.strip())

    def _finish(self) -> None:
        block, self._block = self._block, None
        if block is not None and block.named and len(self._told) < MOST:
            self._told.append(_failure(block))

    def _in_crash(self, line: str) -> bool:
        if (not line.strip() and any(row.startswith("    at ") for row in self._crash)) or _OVER.match(line):
            self._close()
            self._enter("idle")
            return not line.strip()
        if len(self._crash) < MOST_LINES:
            self._crash.append(line)
        return True

    def _close(self) -> None:
        """A run ends."""
        self._finish()
        told = self._told
        if self._hinted or told:  # where the log breaks off, the rows still name the tests
            told = [*told, *(_bare(name) for name in self._rows[len(told) :])]
        if crash := crashed(self._crash, "mocha"):
            told = [*told, crash]
        self._dropped += max(0, len(self._findings) + len(told) - MOST)
        self._findings += told[: MOST - len(self._findings)]
        self._begin()

    def found(self, exit_code: int | None) -> Found:
        """Every failing test and hook, in the order reported."""
        self._close()
        failed = {failure.id for failure in self._findings}
        return Found(
            findings=tuple(self._findings),
            passed=frozenset(self._passed) - failed,
            skipped=frozenset(self._skipped) - failed,
            blocked=self._blocked,
            ended=self._ended,
            dropped=self._dropped,
        )


def _kind(title: str) -> FailureKind:
    return FailureKind.ERROR if _HOOK.match(title) else FailureKind.FAILED


def _bare(name: str) -> Failure:
    kind = _kind(name.rsplit(" > ", 1)[-1])
    return Failure(tool="mocha", id=name, kind=kind, collection=kind is FailureKind.ERROR)


def _failure(block: _Block) -> Failure:
    split = next((at for at, line in enumerate(block.lines) if line.startswith(_DIFF)), None)
    diff: list[str] = []
    lines = block.lines
    if split is not None:
        end = next((at for at in range(split, len(lines)) if lines[at].startswith("      at ")), len(lines))
        diff = [line[6:] for line in lines[split + 1 : end]]
        lines = lines[:split] + lines[end:]
    parts = taken_apart(lines)
    words = [line.removeprefix("     ").removeprefix(" ") for line in parts.words]
    while words and not words[0].strip():
        words.pop(0)
    message = words[0].strip() if words else None
    actual, expected = row_pair(diff)
    shown = [*words[1:], *(("+ expected - actual", *diff) if diff else ())]
    file = _test_file(parts, message)
    failure = Failure(
        tool="mocha",
        id=" > ".join(block.titles),
        kind=_kind(block.titles[-1]),
        file=file,
        exception=kind_of(message),
        assertion=message,
        message=message,
        expected=expected,
        actual=actual,
        detail=detail_of(shown),
        collection=_kind(block.titles[-1]) is FailureKind.ERROR,  # a hook is no test: it never passes by name
    )
    return placed(failure, parts)


def _test_file(parts: Parts, message: str | None) -> str | None:
    """mocha names no file: it is where its `Context` was last on the stack, else the outermost place of ours."""
    frames = [spot for spot in parts.frames if inside(spot.file)]
    context = next((spot for spot in frames if spot.name and spot.name.startswith("Context.")), None)
    if context or frames:
        return (context or frames[-1]).file
    found = _NAMED_FILE.search(message) if message else None
    return relative(found.group(1) or found.group(2)) if found else None

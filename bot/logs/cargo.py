"""`cargo test`: libtest's report (pretty, terse, --nocapture, JSON lines) of one test binary after the other.

The list of names under the last `failures:` is what failed; a test's own output may hold the report of another run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

from bot.domain.findings import Failure
from bot.logs.parser import MOST, MOST_IDS, Found
from bot.logs.rust_panic import panics, read_test

_RUNNING = re.compile(r"running \d+ tests?$")
_BINARY = re.compile(r" +Running (?:unittests )?(?P<file>\S+?\.rs)? ?\(?\S*\)?$")
_DOCS = re.compile(r" +Doc-tests \S+$")
_ROW = re.compile(r"test (?P<name>.+?) \.\.\. ?(?P<word>ok|FAILED|ignored|bench:)?(?P<rest>.*)$")
_TERSE = re.compile(r"(?P<name>\S.*) --- FAILED$")
_SUFFIX = re.compile(r" - (?:should panic|compile fail|compile)$")
_BLOCK = re.compile(r"---- (?P<name>.+) (?:stdout|stderr) ----$")
_RESULT = re.compile(r"test result: (?P<word>ok|FAILED)\. \d+ passed")
_GAVE_UP = re.compile(r"error: (?:(?:doc)?test failed, to rerun|\d+ targets? failed)")
_GLUED = re.compile(r"error: test failed, to rerun pass ")
_SIGNAL = re.compile(r"  process didn't exit successfully: .*\((?P<why>(?:signal|exit (?:status|code)): [^()]*)\)$")
_NO_BUILD = re.compile(
    r"error: could not compile (?P<what>`[^`]*` \((?:lib test|test \"[^\"]*\"|bin \"[^\"]*\" test)\))"
)
_JSON = '{ "type": "'
_MOST_LINES = 3000


def plain_id(name: str) -> str:
    """The id without what libtest adds to some of them."""
    return _SUFFIX.sub("", name.strip())


class _Run:
    """One test binary."""

    def __init__(self, own: str | None) -> None:
        self.own = own
        self.names: dict[str, str] = {}
        self.blocks: dict[str, list[str]] = {}
        self.loose: list[str] = []
        self.listed: list[str] = []
        self.now: list[str] | None = None
        self.state = "rows"

    def failed(self) -> list[str]:
        rows = [name for name, word in self.names.items() if word == "FAILED"]
        return self.listed or rows or list(self.blocks)

    def complete(self) -> bool:
        """Whether the names listed are ours: a list in a test's output does not name the first test shown."""
        return self.now is None or (bool(self.listed) and (bool(self.names) or next(iter(self.blocks)) in self.listed))

    def output(self, name: str) -> list[str]:
        """What a test printed, with what was taken for another test's block: the names come only at the end."""
        lines: list[str] = []
        mine = False
        for block, part in self.blocks.items():
            mine = block == name or (mine and block not in self.listed)
            lines += part if mine else []
        return lines

    def may_fail(self, name: str) -> bool:
        """Whether a name under `failures:` is one of this run's tests."""
        return self.names.get(name, "?" if not self.names else "ok") not in ("ok", "ignored")


class Cargo:
    """Push parser over the output of test binaries and of cargo between them."""

    starts: ClassVar[tuple[str, ...]] = (
        *(
            "running ",
            "test ",
            "test result:",
            "error: test failed",
            "error: doctest failed",
            "error: could not compile",
        ),
        *("     Running ", "   Doc-tests ", "  process didn't exit", "thread '", _JSON),
    )
    patterns: ClassVar[tuple[str, ...]] = (r"error: \d+ targets? failed",)

    def __init__(self) -> None:
        self.holding = False
        self._own: str | None = None
        self._run: _Run | None = None
        self._broken: _Run | None = None
        self._failures: list[Failure] = []
        self._passed: set[str] = set()
        self._skipped: set[str] = set()
        self._blocked: list[str] = []
        self._ended = False
        self._dropped = 0

    def feed(self, line: str) -> bool:
        """Take one line."""
        if line.startswith(_JSON):
            return self._json(line)
        if self._run is None:
            return self._between(line)
        if self._run.state == "rows":
            return self._row(self._run, line)
        return self._report(self._run, line)

    def _between(self, line: str) -> bool:
        """Cargo's own lines, until a binary starts."""
        if _RUNNING.match(line):
            self._break_off(None)
            self._run, self.holding = _Run(self._own), True
            return True
        if found := _BINARY.match(line):
            self._own = found.group("file")
            return True
        if _DOCS.match(line):
            self._own = None
            return True
        if found := _SIGNAL.match(line):
            self._break_off(found.group("why"))
            return True
        if found := _NO_BUILD.match(line):
            self._stop(f"could not compile {found.group('what')}")
            return False
        return _GAVE_UP.match(line) is not None

    def _row(self, run: _Run, line: str) -> bool:
        if found := _ROW.match(line):
            if len(run.names) < MOST_IDS:
                run.names[plain_id(found.group("name"))] = found.group("word") or "?"
            if _GLUED.match(found.group("rest")):
                self._leave(run)
        elif line in ("failures:", "successes:"):
            run.state = line[:-1]
        elif _RESULT.match(line):
            self._finish(run)
        elif _GAVE_UP.match(line) or _BINARY.match(line) or _DOCS.match(line):
            self._leave(run)
            return self._between(line)
        elif found := _TERSE.match(line):
            run.names[plain_id(found.group("name"))] = "FAILED"
        elif len(run.loose) < _MOST_LINES:
            run.loose.append(line)
        return True

    def _report(self, run: _Run, line: str) -> bool:
        """The report below the rows: each failing test's output, then the list of their names."""
        if run.state == "list":
            name = line[4:] if line.startswith("    ") and line[4:5] != " " else ""
            if not line:
                return True
            if name and (run.may_fail(name) or run.now is None):
                run.listed.append(name)
                return True
            if _RESULT.match(line) and run.complete():
                self._finish(run)
                return True
            self._reopen(run)
        found = _BLOCK.match(line)
        if found and run.state == "failures" and run.may_fail(plain_id(found.group("name"))):
            run.now = run.blocks.setdefault(plain_id(found.group("name")), [])
        elif found and run.state == "successes":
            run.now = []
        elif line == "failures:" and run.state == "failures":
            run.state, run.listed = "list", []
        elif line == "failures:":
            run.state, run.now = "failures", None
        elif _RESULT.match(line) and run.state == "successes":
            self._finish(run)
        elif run.now is not None and len(run.now) < _MOST_LINES:
            run.now.append(line)
        return True

    @staticmethod
    def _reopen(run: _Run) -> None:
        """It was no list of ours but part of a test's output."""
        if run.now is not None:
            run.now += ["failures:", *(f"    {name}" for name in run.listed)]
        run.state, run.listed = "failures", []

    def _finish(self, run: _Run) -> None:
        loose = _by_thread(run.loose)
        for name in run.failed():
            lines = run.output(name) or loose.get(name) or ()
            self._add(read_test("cargo", name, lines, own=run.own))
        self._tally(run)
        self._run, self.holding, self._ended = None, False, True

    def _tally(self, run: _Run) -> None:
        for name, word in run.names.items():
            ids = self._passed if word == "ok" else self._skipped if word == "ignored" else None
            if ids is not None and len(ids) < MOST_IDS:
                ids.add(name)

    def _leave(self, run: _Run) -> None:
        """The binary ended without its report; cargo says next how."""
        self._run, self.holding, self._broken = None, False, run

    def _break_off(self, why: str | None) -> None:
        run, self._broken = self._broken, None
        if run is None:
            if why is not None and why != "exit status: 101":
                self._stop(f"the test process ended: {why}")
            return
        why = why or "the test process ended without a report"
        self._stop(f"the test process ended: {why}" if "ended" not in why else why)
        loose = _by_thread(run.loose)
        for name in dict.fromkeys([*run.failed(), *(n for n, word in run.names.items() if word == "?")]):
            died = run.names.get(name) == "?"
            self._add(read_test("cargo", name, loose.get(name, ()), own=run.own, error=died, why=why if died else None))
        for name, lines in loose.items():
            if name not in run.names and name not in run.blocks and name not in ("main", "<unnamed>", "<unknown>"):
                self._add(read_test("cargo", name, lines, own=run.own, error=True, why=why))
        self._tally(run)

    def _stop(self, reason: str) -> None:
        if len(self._blocked) < 20:
            self._blocked.append(reason)

    def _add(self, failure: Failure) -> None:
        if len(self._failures) < MOST:
            self._failures.append(failure)
        else:
            self._dropped += 1

    def _json(self, line: str) -> bool:
        """`--format json` (unstable): one event a line."""
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if not isinstance(event, Mapping):
            return False
        name, what = plain_id(str(event.get("name") or "")), event.get("event")
        if event.get("type") == "test" and name:
            if what == "failed":
                self._add(read_test("cargo", name, str(event.get("stdout") or "").split("\n"), own=self._own))
            elif what in ("ok", "ignored") and len(self._passed) + len(self._skipped) < MOST_IDS:
                (self._passed if what == "ok" else self._skipped).add(name)
        self._ended = self._ended or (event.get("type") == "suite" and what in ("ok", "failed"))
        return event.get("type") in ("test", "suite", "bench")

    def found(self, exit_code: int | None) -> Found:
        """Every failure, binary after binary."""
        if self._run is not None:
            if self._run.state == "rows":
                self._leave(self._run)
            else:
                self._finish(self._run)
        self._break_off(None)
        failed = {failure.id for failure in self._failures}
        return Found(
            findings=tuple(self._failures),
            passed=frozenset(self._passed) - failed,
            skipped=frozenset(self._skipped) - failed,
            blocked="; ".join(dict.fromkeys(self._blocked))[:1000] or None,
            ended=self._ended,
            dropped=self._dropped,
        )


def _by_thread(lines: list[str]) -> dict[str, list[str]]:
    """What uncaptured panics said, by the name of the thread, which is the test's."""
    found: dict[str, list[str]] = {}
    starts = [i for i, line in enumerate(lines) if line.startswith("thread '")]
    for at, end in pairwise([*starts, len(lines)]):
        part = lines[at:end]
        for panic in panics(part):
            found.setdefault(panic.thread, []).extend(part)
    return found

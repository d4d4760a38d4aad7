"""`go test` as text, -v and -json, and what gotestsum makes of it.

Formats: src/testing/testing.go, cmd/internal/test2json and `go doc test2json`; gotestsum's testjson/summary.go.
"""

from __future__ import annotations

import json
import re
from typing import ClassVar

from bot.domain.findings import Diagnostic, Failure
from bot.logs.go_block import MARKER, RESULT, Block
from bot.logs.go_vet import go_row
from bot.logs.parser import MOST, MOST_IDS, Found

_PACKAGE = re.compile(r"(?P<word>ok  |FAIL|\?   |---)\t(?P<package>\S+)(?:\s+(?P<rest>.*))?$")
_SUMMARY = re.compile(
    r"=== FAIL: (?P<package>\S+)(?: (?P<name>[^\s(]\S*))?(?: \(re-run \d+\))?(?: \((?:[\d.]+s|unknown)\))?$"
)
_SECTION = re.compile(r"=== (?:Failed|Skipped|Errors)$")
_DONE = re.compile(r"DONE (?:\d+ runs?, )?\d+ tests?")
_EVENT = re.compile(r'\{"(?:Time|Action|ImportPath)":"')
_NOT_BUILT = re.compile(r"\[(?:build|setup) failed\]")
_MOST_PACKAGES = 2000
_MOST_PANIC = 30
_ALONE = ("WARNING: DATA RACE", "panic: ", "fatal error: ")
"""What a test process can say before it has named a test."""
_TRACE = ("\t", " ", "goroutine ", "created by ", "exit status ", "[", "r", "runtime", "=====", "panic", "FAIL")
_CALLED = re.compile(r"[\w./~*()\[\]-]+\(.*\)$|[\w./]+$")


class GoTest:
    """Push parser; text of one package is one block, JSON events go to the block of their package."""

    starts: ClassVar[tuple[str, ...]] = (
        *("=== RUN ", "=== CONT ", "=== NAME ", "=== PAUSE ", "=== FAIL: ", "=== Failed", "=== Skipped", "=== Errors"),
        *("--- FAIL: ", "--- PASS: ", "--- SKIP: ", "WARNING: DATA RACE", "panic: ", "fatal error: "),
        *("ok  \t", "FAIL\t", "?   \t", "DONE ", '{"Time":"', '{"Action":"', '{"ImportPath":"'),
    )
    patterns: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.holding = False
        self._block = Block()
        self._begun = False
        self._ending = False
        self._dying = 0
        self._rerun = False
        self._summary: str | None = None
        self._blocks: dict[str, Block] = {}
        self._parts: dict[tuple[str, str], str] = {}
        self._failures: dict[tuple[object, ...], Failure] = {}
        self._before: dict[tuple[object, ...], Failure] = {}
        self._builds: list[Diagnostic] = []
        self._passed: set[str] = set()
        self._skipped: set[str] = set()
        self._blocked: list[str] = []
        self._ended = False
        self._dropped = 0

    def feed(self, line: str) -> bool:
        """Take one line."""
        if line[:2] == '{"' and _EVENT.match(line):
            return self._event(line)
        if found := _PACKAGE.match(line):
            return self._packaged(found)
        if line.startswith("=== ") and (found := _SUMMARY.match(line) or _SECTION.match(line)):
            return self._summarised(found)
        if _DONE.match(line):
            self._done()
            return False
        return self._text(line)

    def _text(self, line: str) -> bool:
        marked = MARKER.match(line) is not None or line.lstrip(" ").startswith("--- ")
        if self._ending and not marked and not line.startswith(("exit status ", "coverage: ", "panic: ", "testing: ")):
            self._ending = self.holding = False
            return False
        if not marked and not self._begun and not line.startswith(_ALONE):
            return False
        if not self._begun:
            self._dying = 1 if line.startswith(_ALONE) else 0
        elif self._dying and not self._still_dying(line):
            self._block, self._begun, self.holding, self._dying = Block(), False, False, 0
            return False
        self._begun = True
        self.holding = True
        self._ending = line in ("FAIL", "PASS")
        self._block.line(line)
        return True

    def _still_dying(self, line: str) -> bool:
        """Words of a process that died without a test's name; any other program's panic ends where its trace does."""
        if line.startswith("goroutine "):
            self._dying = _MOST_PANIC
        elif RESULT.match(line) or MARKER.match(line):
            self._dying = 0
            return True
        elif self._dying < _MOST_PANIC:
            self._dying += 1
            return self._dying < _MOST_PANIC
        return not line or line.startswith(_TRACE) or _CALLED.match(line) is not None

    def _packaged(self, found: re.Match[str]) -> bool:
        word, package, rest = found.group("word"), found.group("package"), found.group("rest") or ""
        self._ended = True
        if _NOT_BUILT.search(rest):
            self._stop(f"{package}: {rest.strip('[]')}")
        self._close(passed=word != "FAIL", package=package, built=not _NOT_BUILT.search(rest))
        return True

    def _summarised(self, found: re.Match[str]) -> bool:
        """A section of gotestsum's closing summary: one failing test each."""
        self._close(passed=False)
        self._rerun = self._rerun or "(re-run " in found.group()
        given = found.groupdict()
        if self._summary is None:  # it tells everything again
            self._before, self._failures = self._failures, {}
        self._summary = given.get("package") or ""
        if given.get("name"):
            self._block = Block(given["name"])
            self._block.line(f"=== RUN   {given['name']}")
            self._begun = self.holding = True
        return True

    def _done(self) -> None:
        """gotestsum's last line."""
        self._close(passed=False)
        if self._summary is not None:
            self._ended, self._summary = True, None
            shown = {one.id: one for one in self._before.values()}
            told = [one if one.message else shown.get(one.id, one) for one in self._failures.values()]
            self._failures = {(one.id, number): one for number, one in enumerate(told)}

    def _close(self, *, passed: bool, package: str | None = None, built: bool = True, whole: bool = True) -> None:
        block, begun = self._block, self._begun
        block.only_failed()
        self._block, self._begun, self.holding, self._ending = Block(), False, False, False
        if begun:
            self._take(block, passed=passed, package=package or self._summary, whole=whole)
        elif not passed and built and package:
            self._stop(f"{package}: the test process failed without a verdict")

    def _take(self, block: Block, *, passed: bool, package: str | None, whole: bool = True) -> None:
        failures, died = block.close(passed=passed, whole=whole)
        if died is not None:
            self._stop(f"{package}: {died}" if package else died)
        for ids, more in ((self._passed, block.passed), (self._skipped, block.skipped)):
            if len(ids) < MOST_IDS:
                ids |= more
        for one in failures:
            key = (one.id, one.file and one.file.rsplit("/", 1)[-1], one.line, one.message)
            if len(self._failures) < MOST:
                self._failures.setdefault(key, one)
            else:
                self._dropped += 1

    def _stop(self, reason: str) -> None:
        if len(self._blocked) < 20:
            self._blocked.append(reason)

    def _event(self, line: str) -> bool:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if not isinstance(event, dict) or not isinstance(event.get("Action"), str):
            return False
        action, package = event["Action"], str(event.get("Package") or "")
        if action == "build-output":
            self._built(str(event.get("Output") or ""))
        elif action in ("fail", "pass", "skip") and package and not event.get("Test"):
            self._finish(package, passed=action != "fail", built=not event.get("FailedBuild"))
        elif action == "output" and package:
            self._said(package, str(event.get("Test") or ""), str(event.get("Output") or ""))
        return True

    def _built(self, text: str) -> None:
        row = go_row(text.rstrip("\n"), headed="go")
        if row is not None and row not in self._builds and len(self._builds) < MOST:
            self._builds.append(row)

    def _said(self, package: str, test: str, text: str) -> None:
        """Output comes in pieces: whole lines go on."""
        if package not in self._blocks:
            if len(self._blocks) >= _MOST_PACKAGES:
                return
            self._blocks[package] = Block()
        block = self._blocks[package]
        text = self._parts.pop((package, test), "") + text
        if not text.endswith("\n"):
            if len(self._parts) < _MOST_PACKAGES:
                self._parts[(package, test)] = text[-100_000:]
            return
        if test:
            block.select(test)
        for line in text[:-1].split("\n"):
            if not _PACKAGE.match(line):
                block.line(line)
            elif _NOT_BUILT.search(line):
                self._stop(f"{package}: build failed")

    def _finish(self, package: str, *, passed: bool, built: bool) -> None:
        self._ended = True
        block = self._blocks.pop(package, None)
        if block is not None:
            self._take(block, passed=passed, package=package)
        if not built:
            self._stop(f"{package}: build failed")

    def found(self, exit_code: int | None) -> Found:
        """Failures in the order of the packages, then what did not compile."""
        self._close(passed=exit_code == 0, whole=exit_code is not None)
        for package, block in list(self._blocks.items()):
            self._take(block, passed=exit_code == 0, package=package, whole=False)
        failed = {one.id for one in self._failures.values()}
        parents = {"/".join(parts[:n]) for parts in (name.split("/") for name in failed) for n in range(1, len(parts))}
        told = [one for one in self._failures.values() if one.message or one.id not in parents]
        if self._rerun and exit_code == 0:  # every one of them passed when it was run again
            told = []
        return Found(
            findings=(*told, *self._builds),
            passed=frozenset(self._passed) - failed,
            skipped=frozenset(self._skipped) - failed,
            blocked="; ".join(dict.fromkeys(self._blocked))[:1000] or None,
            ended=self._ended,
            dropped=self._dropped,
        )

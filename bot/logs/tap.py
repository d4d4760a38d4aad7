"""TAP as JavaScript's runners write it: node --test (nested, with YAML), vitest (in braces), mocha (flat).

Layout: node's `lib/internal/test_runner/reporter/tap.js`, vitest's `reporters/tap.ts`, mocha's `reporters/tap.js`, and
https://testanything.org/tap-version-14-specification.html. A level is indented by four columns; what tests print comes
as comments from node, so a result that no `# Subtest:` announced there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from bot.domain.findings import Failure, FailureKind, Location
from bot.logs.js import LONGEST, MOST_LINES, Parts, crashed, detail_of, frame, kind_of, place, placed
from bot.logs.node_test import told
from bot.logs.parser import MOST, MOST_IDS, Found
from bot.logs.paths import inside, relative

_RESULT = re.compile(r"(?P<indent>(?:    )*)(?P<bad>not )?ok \d{1,9}(?: -)?(?: (?P<rest>.*))?$")
_SUBTEST = re.compile(r"(?P<indent>(?:    )*)# Subtest: (?P<title>.*)$")
_DIRECTIVE = re.compile(r" # (?P<word>SKIP|TODO|time=[\d.]+m?s)\b[^{]*(?P<open>\{)?$", re.IGNORECASE)
_PLAN = re.compile(r"(?:    )*1\.\.\d{1,9}(?: |$)")
_YAML = re.compile(r"(?P<indent> *)(?P<key>[A-Za-z_]\w*):(?: (?P<value>.*))?$")
_FILE = re.compile(r"(?:\S*[/\\])?\S+\.[cm]?[jt]sx?$")
_HOOK = re.compile(r'"(?:before|after) (?:all|each)" hook')
_END = re.compile(r"# (?:duration_ms \d[\d.]*|fail \d+)$")
_OVER = re.compile(r"npm (?:ERR!|error)|[\s>]*ELIFECYCLE|error Command failed|> |\$ ")
_BUFFER = 80


@dataclass(kw_only=True)
class _Result:
    """A result that failed, and what was said of it."""

    level: int
    titles: list[str]
    todo: bool = False
    lines: list[str] = field(default_factory=list)
    parent: bool = False
    closed: bool = False
    raw: list[str] = field(default_factory=list)


class Tap:
    """Push parser over one stream."""

    starts: ClassVar[tuple[str, ...]] = ("TAP version ", "# Subtest: ", "ok 1 ", "not ok 1 ", "1..")
    patterns: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.holding = False
        self._findings: list[Failure] = []
        self._passed: set[str] = set()
        self._skipped: set[str] = set()
        self._dropped = 0
        self._ended = False
        self._begin()

    def _begin(self) -> None:
        """A stream begins."""
        self._results: list[_Result] = []
        self._good: set[str] = set()
        self._left: set[str] = set()
        self._announced: dict[int, str] = {}
        self._braces: list[str] = []
        self._parents: list[_Result | None] = []
        self._style = ""
        self._open: _Result | None = None
        self._yaml: str | None = None
        self._planned = False
        self._raw: list[str] = []

    def feed(self, line: str) -> bool:
        """Take one line."""
        line = line[:LONGEST]
        if self._yaml is not None:
            return self._in_yaml(line)
        if line.startswith("TAP version "):
            self._close()
            self.holding = self._planned = True
            return True
        if announced := _SUBTEST.match(line):
            level = len(announced.group("indent")) // 4
            self._announced = {depth: name for depth, name in self._announced.items() if depth < level}
            self._announced[level] = announced.group("title")
            self._style = "node"
            self._open = None
            self.holding = True
            return True
        if result := _RESULT.match(line):
            return self._result(result)
        if _PLAN.match(line):
            self.holding = self._planned = True
            return True
        return self._between(line)

    def _between(self, line: str) -> bool:
        """What belongs to the last result, a comment, or somebody else's line."""
        text = line.strip()
        if text == "---" and self.holding:
            self._yaml = line[: len(line) - len(line.lstrip())]
            return True
        if text == "}" and self._braces:
            self._braces.pop()
            if parent := self._parents.pop():
                parent.closed = True
            return True
        if _END.match(line):
            self.holding = False
            return True
        if line.startswith("# ") and self.holding:
            if len(self._raw) > 2 * _BUFFER:
                del self._raw[:_BUFFER]
            self._raw.append(line[2:].replace("\\#", "#"))
            return True
        if not text or line[0] == " ":
            if self._open is not None and len(self._open.lines) < MOST_LINES:
                self._open.lines.append(line[2:])
            return self.holding
        self._open = None
        self.holding = self.holding and not _OVER.match(line)
        return False

    def _result(self, found: re.Match[str]) -> bool:
        level, rest = len(found.group("indent")) // 4, found.group("rest") or ""
        directive = _DIRECTIVE.search(rest)
        title = rest[: directive.start()] if directive else rest
        word = directive.group("word").lower() if directive else ""
        opens = bool(directive and directive.group("open")) or rest.endswith(" {")
        if word.startswith("time="):
            self._style = "vitest"
        if self._style == "node" and self._announced.get(level) != title:
            return False
        title = title.removesuffix(" {").replace("\\#", "#").replace("\\\\", "\\").strip()
        titles = self._path(level, title)
        self.holding = True
        self._open = None
        if found.group("bad"):
            self._failed(titles, level, todo=word == "todo", parent=opens)
        elif not opens:
            self._fine(titles, skipped=word in ("skip", "todo"))
        if opens:
            self._braces.append(title)
            self._parents.append(self._open)
        self._raw = []
        return True

    def _path(self, level: int, title: str) -> list[str]:
        if self._style == "node":
            above = [self._announced[depth] for depth in range(level) if depth in self._announced]
            return [*(name.replace("\\#", "#").replace("\\\\", "\\") for name in above), title]
        return [*self._braces[:level], title]

    def _failed(self, titles: list[str], level: int, *, todo: bool, parent: bool) -> None:
        if len(self._results) >= MOST:
            self._dropped += 1
            return
        self._open = _Result(level=level, titles=titles, todo=todo, parent=parent, raw=self._raw)
        self._results.append(self._open)

    def _fine(self, titles: list[str], *, skipped: bool) -> None:
        kept = self._left if skipped else self._good
        if len(kept) < MOST_IDS:
            kept.add(self._id(titles)[0])

    def _id(self, titles: list[str]) -> tuple[str, str | None]:
        """(id, file): vitest's first title is the file."""
        if self._style == "vitest":
            names = titles if len(titles) > 1 else titles[0].split(" > ")
            return " > ".join(names[1:]) or relative(names[0]), relative(names[0])
        return " > ".join(titles), None

    def _in_yaml(self, line: str) -> bool:
        indent = self._yaml or ""
        if line.rstrip() == indent + "...":
            self._yaml = None
        elif self._open is not None and len(self._open.lines) < MOST_LINES:
            self._open.lines.append("\0" + (line[len(indent) :] if line.startswith(indent) else line))
        if line.startswith(("not ok ", "TAP version ")):
            self._yaml = None  # the block broke off
        return True

    def _close(self) -> None:
        """A stream ends; without a version and a plan it was something printed."""
        self._ended = self._ended or self._planned
        if self._planned and len(self._passed) + len(self._skipped) < MOST_IDS:
            self._passed |= self._good
            self._skipped |= self._left
        for result in self._results if self._planned else ():
            if result.todo or self._explained(result):
                continue
            failure = self._failure(result)
            if failure and len(self._findings) < MOST:
                self._findings.append(failure)
        self._begin()

    def _explained(self, parent: _Result) -> bool:
        """A suite failed because of what stands below it; else one of its hooks did, as is known once it is over."""
        if parent.parent and not parent.closed:
            return True
        if not parent.parent and any("failureType:" in line for line in parent.lines):
            return False
        depth = len(parent.titles)
        return any(one.titles[:depth] == parent.titles and len(one.titles) > depth for one in self._results)

    def _failure(self, result: _Result) -> Failure | None:
        yaml = [line[1:] for line in result.lines if line.startswith("\0")]
        given = _read(yaml) if yaml else {}
        if _text(given, "failureType") == "subtestsFailed":
            return None
        test, file = self._id(result.titles)
        if result.parent:
            return Failure(tool="vitest", id=test, kind=FailureKind.ERROR, file=file, collection=True)
        if not yaml and self._style != "node":
            return _flat(test, result.lines)
        if self._style == "vitest":
            return _of_vitest(test, file, given)
        return _of_node(test, given, result.raw) if self._style == "node" else _of_mocha(test, given)

    def found(self, exit_code: int | None) -> Found:
        """Every failing test, in the order told."""
        self._close()
        failed = {failure.id for failure in self._findings}
        return Found(
            findings=tuple(self._findings),
            passed=frozenset(self._passed) - failed,
            skipped=frozenset(self._skipped) - failed,
            ended=self._ended,
            dropped=self._dropped,
        )


def _read(lines: list[str]) -> dict[str, str]:
    """The keys of a block, those of one nested level as `outer.inner`; lines as text. The first of a key counts,
    of `stack` the last: node prints the keys of an error within a value at the value's own level.
    """
    found: dict[str, str] = {}
    outer, key, block = "", None, 0
    for line in lines:
        match = _YAML.match(line)
        indent = len(line) - len(line.lstrip())
        if block and (indent >= block or not line.strip()) and key:
            found[key] = found[key] + "\n" + line[block:] if found[key] else line[block:]
            continue
        block = 0
        if not match or indent > 8:
            continue
        value = match.group("value") or ""
        if indent == 0:
            outer = match.group("key")
        key = outer if indent == 0 else f"{outer}.{match.group('key')}"
        base = match.group("key") if indent and outer not in ("error", "actual", "expected") else key
        key = base
        if value in ("|-", "|", ">-", ">"):
            block = indent + 2
            value = ""
            if key in found and not key.endswith("stack"):
                key = key + "'"
        elif key in found:
            continue
        found[key] = "" if block else value
    return found


def _text(given: dict[str, str], key: str) -> str | None:
    """A value without its quotes; None where it is empty or goes on over further lines as a structure."""
    value = given.get(key)
    if not value:
        return None
    if value[0] in "'\"`":
        return value[1:-1] if len(value) > 1 and value[-1] == value[0] else None
    return value


def _stack(given: dict[str, str], key: str = "stack") -> list[Location]:
    places = (
        frame(line if line.lstrip().startswith("at ") else "at " + line.strip())
        for line in given.get(key, "").split("\n")
    )
    return [spot for spot in places if spot][:60]


def _of_node(test: str, given: dict[str, str], raw: list[str]) -> Failure:
    words = (_text(given, "error") or "").split("\n")
    name, kind = _text(given, "name"), _text(given, "failureType")
    declared = place(_text(given, "location") or "")
    title = relative(test)
    whole = bool(declared and _FILE.match(test) and (title == declared.file or declared.file.endswith("/" + title)))
    message = f"{name}: {words[0]}" if name and words[0] else words[0]
    expected, actual = _text(given, "expected"), _text(given, "actual")
    paired = None not in (expected, actual) and not (_text(given, "operator") or "").startswith("not")
    parts = Parts(frames=_stack(given))
    failure = Failure(
        tool="node-test",
        id=title if whole or test.startswith("/") else test,
        kind=FailureKind.ERROR if whole or kind in ("hookFailed", "cancelledByParent") else FailureKind.FAILED,
        file=declared.file if declared else None,
        exception=kind_of(message),
        assertion=words[0] or None,
        message=message or None,
        expected=expected if paired else None,
        actual=actual if paired else None,
        detail=detail_of(words[1:]),
        collection=whole,
    )
    crash = crashed(raw, "node-test") if whole else None
    return told(placed(failure, parts), declared.line if declared and not whole else None, crash)


def _of_vitest(test: str, file: str | None, given: dict[str, str]) -> Failure:
    name, message = _text(given, "error.name"), given.get("error.message") or None
    spot = place(_text(given, "at") or "")
    message = (_text(given, "error.message") or message[1:]) if message else None  # its quotes may close lines below
    first = f"{name}: {message}" if name and message else message
    expected, actual = _text(given, "expected"), _text(given, "actual")
    failure = Failure(
        tool="vitest",
        id=test,
        kind=FailureKind.ERROR if test == file else FailureKind.FAILED,
        file=file,
        exception=kind_of(first),
        assertion=message,
        message=first,
        expected=expected if actual is not None else None,
        actual=actual if expected is not None else None,
        collection=test == file,
    )
    return placed(failure, Parts(frames=[spot] if spot else []))


def _of_mocha(test: str, given: dict[str, str]) -> Failure:
    lines = (_text(given, "stack") or _text(given, "message") or "").split("\n")
    return _flat(test, lines)


def _flat(test: str, lines: list[str]) -> Failure:
    """mocha's first version of TAP: the message, and the error with its stack."""
    words = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("at ")]
    frames = [spot for spot in (frame(line) for line in lines) if spot]
    typed = next((word for word in words if kind_of(word)), words[0] if words else None)
    context = next((spot for spot in frames if spot.name and spot.name.startswith("Context.")), None)
    home = [spot for spot in frames if inside(spot.file)]
    own = context or (home[-1] if home else None)
    hook = bool(_HOOK.search(test))
    failure = Failure(
        tool="mocha",
        id=test,
        kind=FailureKind.ERROR if hook else FailureKind.FAILED,
        file=own.file if own else None,
        exception=kind_of(typed),
        assertion=typed,
        message=typed,
        collection=hook,
    )
    return placed(failure, Parts(frames=frames))

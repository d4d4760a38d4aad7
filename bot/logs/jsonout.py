"""JSON reports, on one line or over many: each tool is known by the keys of its rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import unquote

from bot.domain.findings import Diagnostic
from bot.logs import json_native as native
from bot.logs.clean import LONGEST
from bot.logs.parser import Rows
from bot.logs.paths import relative
from bot.logs.pylint import SEVERITY

_CODED = re.compile(r"(?:\((?P<old>[\w-]+)\) |(?P<new>[A-Z]+\d+|[a-z]+-[a-z-]+): )?(?P<text>.*)", re.DOTALL)

Shape = Callable[[Any], Iterator[Diagnostic]]


class JsonReports(Rows):
    """Collects a JSON document that starts at the margin; what does not stay JSON is let go."""

    patterns: ClassVar[tuple[str, ...]] = (r"[\[{](?:$|[\"{\]}])",)

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._size = 0
        self._depth = 0
        self._quoted = False

    def feed(self, line: str) -> bool:
        """Take one line."""
        if not self.holding and line[:1] not in ("[", "{"):
            return False
        if not self.holding and line[:1] in "[{" and line[-1:] in "]}":
            return self._document(line)
        if not self.holding and line.strip() not in ("[", "{", "[{"):
            return False
        if self.holding and line.strip() and line.strip()[0] not in '"{}[],-0123456789tfn':
            return self._drop()
        return self._collect(line)

    def _collect(self, line: str) -> bool:
        self.holding = True
        self._lines.append(line)
        self._size += len(line)
        if self._size > LONGEST:
            return self._drop()
        self._depth += _depth(line)
        if self._depth <= 0:
            text = "\n".join(self._lines)
            self._drop()
            return self._document(text)
        return True

    def _drop(self) -> bool:
        self._lines, self._size, self._depth, self.holding = [], 0, 0, False
        return False

    def _document(self, text: str) -> bool:
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return False
        rows = read(document)
        for row in rows or ():
            self.add(row)
        self.ended = self.ended or rows is not None
        return rows is not None


def _depth(line: str) -> int:
    """Brackets opened minus closed outside of strings; a string never runs over a line in JSON."""
    if '"' not in line:
        return line.count("{") + line.count("[") - line.count("}") - line.count("]")
    depth, quoted, escaped = 0, False, False
    for char in line:
        if quoted:
            escaped, quoted = (char == "\\" and not escaped), not (char == '"' and not escaped)
        elif char == '"':
            quoted = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
    return depth


def read(document: object) -> list[Diagnostic] | None:
    """Rows of a document of a known shape; None when no tool is known to print it. Bad rows are left out."""
    for knows, rows in SHAPES:
        if knows(document):
            return [row for row in rows(document) if row is not None]
    return None


def _first(document: object) -> Mapping[str, Any]:
    row = document[0] if isinstance(document, list) and document else document
    return row if isinstance(row, Mapping) else {}


def _all(document: object) -> list[Mapping[str, Any]]:
    rows = document if isinstance(document, list) else [document]
    return [row for row in rows if isinstance(row, Mapping)]


def _has(*keys: str) -> Callable[[object], bool]:
    return lambda document: all(key in _first(document) for key in keys)


def _get(row: object, *keys: str) -> Any:
    for key in keys:
        row = row.get(key) if isinstance(row, Mapping) else None
    return row


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _row(
    tool: str, file: object, line: object, col: object, code: object, text: object, severity: object = "error"
) -> Diagnostic:
    message = str(text or "").strip().split("\n")[0]
    return Diagnostic(
        tool=tool,
        file=relative(str(file or "")),
        line=_int(line),
        col=_int(col),
        code=str(code) if code else None,
        message=message[:4000],
        severity=str(severity or "error"),
    )


def _ruff(document: object) -> Iterator[Diagnostic]:
    for r in _all(document):
        if r.get("code") == "unformatted":  # `ruff format --check` since it obeys RUFF_OUTPUT_FORMAT
            yield _row("ruff-format", r.get("filename"), None, None, None, r.get("message"))
            continue
        place = _get(r, "location")
        code = r.get("code") or "invalid-syntax"
        yield _row("ruff", r.get("filename"), _get(place, "row"), _get(place, "column"), code, r.get("message"))


def _pylint(document: object) -> Iterator[Diagnostic]:
    rows = _get(document, "messages") if isinstance(document, Mapping) else document
    for r in _all(rows):
        code = r.get("message-id") or r.get("messageId") or r.get("symbol")
        severity = SEVERITY.get(str(code)[:1], "error")
        yield _row("pylint", r.get("path"), r.get("line"), r.get("column"), code, r.get("message"), severity)


def _mypy(document: object) -> Iterator[Diagnostic]:
    for r in _all(document):
        if r.get("severity") != "note":
            yield _row("mypy", *map(r.get, ("file", "line", "column", "code", "message", "severity")))


def _pyright(document: object) -> Iterator[Diagnostic]:
    for r in _all(_get(document, "generalDiagnostics")):
        start = _get(r, "range", "start")
        line, col = _int(_get(start, "line")), _int(_get(start, "character"))
        yield _row(
            "pyright",
            r.get("file"),
            line + 1 if line is not None else None,
            col + 1 if col is not None else None,
            r.get("rule"),
            r.get("message"),
            r.get("severity"),
        )


def _bandit(document: object) -> Iterator[Diagnostic]:
    for r in _all(_get(document, "results")):
        severity = str(r.get("issue_severity", "error")).lower()
        yield _row(
            "bandit",
            r.get("filename"),
            r.get("line_number"),
            r.get("col_offset"),
            r.get("test_id"),
            r.get("issue_text"),
            severity,
        )


def _eslint(document: object) -> Iterator[Diagnostic]:
    """`-f json`, and the `results` of `-f json-with-metadata`."""
    results = _get(document, "results") if isinstance(document, Mapping) else document
    for r in _all(results):
        for m in _all(r.get("messages") or []):
            severity = "warning" if m.get("severity") == 1 and not m.get("fatal") else "error"
            yield _row(
                "eslint", r.get("filePath"), m.get("line"), m.get("column"), m.get("ruleId"), m.get("message"), severity
            )


def _gitlab(document: object) -> Iterator[Diagnostic]:
    for r in _all(document):
        place = _get(r, "location")
        begin = _get(place, "positions", "begin")
        line = _get(begin, "line") or _get(place, "lines", "begin")
        told = _CODED.match(str(r.get("description") or ""))
        parts = told.groupdict() if told else {}
        code = r.get("check_name") or parts.get("old") or parts.get("new")
        yield _row("codequality", _get(place, "path"), line, _get(begin, "column"), code, parts.get("text"))


def _sarif(document: object) -> Iterator[Diagnostic]:
    for run in _all(_get(document, "runs")):
        tool = str(_get(run, "tool", "driver", "name") or "sarif").lower()
        for r in _all(run.get("results")):
            place = _get(_first(r.get("locations")), "physicalLocation")
            region = _get(place, "region")
            yield _row(
                tool,
                unquote(str(_get(place, "artifactLocation", "uri") or "")),
                _get(region, "startLine"),
                _get(region, "startColumn"),
                r.get("ruleId"),
                _get(r, "message", "text"),
                r.get("level"),
            )


def _rdjson(document: object) -> Iterator[Diagnostic]:
    """The reviewdog format."""
    tool = str(_get(document, "source", "name") or "reviewdog").lower()
    for r in _all(_get(document, "diagnostics")):
        start = _get(r, "location", "range", "start")
        code = _get(r, "code", "value")
        yield _row(
            tool, _get(r, "location", "path"), _get(start, "line"), _get(start, "column"), code, r.get("message")
        )


SHAPES: tuple[tuple[Callable[[object], bool], Shape], ...] = (
    (_has("filename", "location", "message", "end_location"), _ruff),
    (_has("path", "message-id", "symbol"), _pylint),
    (lambda d: isinstance(d, Mapping) and _has("messageId", "path")(_get(d, "messages")), _pylint),
    (_has("file", "line", "message", "severity", "code"), _mypy),
    (_has("generalDiagnostics", "summary"), _pyright),
    (lambda d: _has("results", "metrics")(d) and _has("test_id", "filename")(_get(d, "results")), _bandit),
    (_has("filePath", "messages", "errorCount"), _eslint),
    (lambda d: _has("results", "metadata")(d) and _has("filePath", "messages")(_get(d, "results")), _eslint),
    (_has("description", "fingerprint", "location"), _gitlab),
    (_has("$schema", "runs", "version"), _sarif),
    (lambda d: isinstance(d, Mapping) and _has("location", "message")(_get(d, "diagnostics")), _rdjson),
    (native.is_rustc, native.rustc),
    (native.is_gcc, native.gcc),
    (native.is_staticcheck, native.staticcheck),
    (native.is_golangci, native.golangci),
    (native.is_go_vet, native.go_vet),
)
"""How a document is told and read, tried in order."""

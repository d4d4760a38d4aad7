"""JSON rows of compilers: cargo and rustc, gcc, staticcheck, golangci-lint, `go vet -json`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bot.domain.findings import Diagnostic
from bot.logs.paths import relative

_POSITION = re.compile(r"(?P<file>.+?):(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))?$")


def _map(value: object, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _rows(value: object) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _made(tool: str, file: object, line: object, col: object, code: object, text: object, level: object) -> Diagnostic:
    return Diagnostic(
        tool=tool,
        file=relative(str(file or "")),
        line=_int(line),
        col=_int(col),
        code=str(code) if code else None,
        message=str(text or "").strip().split("\n")[0][:4000],
        severity="warning" if level == "warning" else "error",
    )


def is_rustc(document: object) -> bool:
    """A line of `cargo --message-format=json`, or of `rustc --error-format=json`."""
    message = _map(document, "message") if isinstance(_map(document).get("reason"), str) else _map(document)
    return _map(document).get("reason") in ("compiler-artifact", "build-finished", "build-script-executed") or (
        {"spans", "level", "message"} <= message.keys()
    )


def rustc(document: object) -> Iterator[Diagnostic]:
    """Errors and warnings that have a place."""
    message = _map(document, "message") or _map(document)
    level = message.get("level")
    span = next((s for s in _rows(message.get("spans")) if s.get("is_primary")), None)
    if span is not None and level in ("error", "warning"):
        code = _map(message, "code").get("code")
        place = (span.get("file_name"), span.get("line_start"), span.get("column_start"))
        yield _made("rustc", *place, code, message.get("message"), level)


def is_gcc(document: object) -> bool:
    """`gcc -fdiagnostics-format=json`."""
    return all({"kind", "locations", "message"} <= row.keys() for row in _rows(document)) and bool(_rows(document))


def gcc(document: object) -> Iterator[Diagnostic]:
    """Every row but notes."""
    for row in _rows(document):
        caret = _map(next(iter(_rows(row.get("locations"))), None), "caret")
        if row.get("kind") != "note" and caret:
            col = caret.get("display-column") or caret.get("column")
            place = (caret.get("file"), caret.get("line"), col)
            yield _made("gcc", *place, row.get("option"), row.get("message"), row.get("kind"))


def is_staticcheck(document: object) -> bool:
    """`staticcheck -f json`: one object a line."""
    return {"code", "severity", "location", "message"} <= _map(document).keys() and "file" in _map(document, "location")


def staticcheck(document: object) -> Iterator[Diagnostic]:
    """The one row of a line."""
    row, place = _map(document), _map(document, "location")
    where = (place.get("file"), place.get("line"), place.get("column"))
    yield _made("staticcheck", *where, row.get("code"), row.get("message"), row.get("severity"))


def is_golangci(document: object) -> bool:
    """`golangci-lint --out-format json`, v2: `--output.json.path stdout`."""
    rows = _map(document).get("Issues")
    return isinstance(rows, list) and all("FromLinter" in row for row in _rows(rows))


def golangci(document: object) -> Iterator[Diagnostic]:
    """Issues by the linter that found them."""
    for row in _rows(_map(document).get("Issues")):
        place = _map(row, "Pos")
        where = (place.get("Filename"), place.get("Line"), place.get("Column"))
        yield _made("golangci-lint", *where, row.get("FromLinter"), row.get("Text"), row.get("Severity"))


def is_go_vet(document: object) -> bool:
    """`go vet -json`: package -> analyzer -> rows with a `posn`."""
    rows = [row for found in _map(document).values() for given in _map(found).values() for row in _rows(given)]
    return bool(rows) and all({"posn", "message"} <= row.keys() for row in rows)


def go_vet(document: object) -> Iterator[Diagnostic]:
    """Rows of every analyzer."""
    for found in _map(document).values():
        for analyzer, given in _map(found).items():
            for row in _rows(given):
                place = _POSITION.match(str(row.get("posn")))
                if place is not None:
                    where = (place["file"], int(place["line"]), int(place["col"] or 0))
                    yield _made("govet", *where, analyzer, row.get("message"), "error")

"""JUnit XML, as pytest, unittest runners and many others write it, wherever printed; Checkstyle XML of linters."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar
from xml.etree.ElementTree import ParseError, XMLParser

from bot.domain.findings import Diagnostic, Failure, FailureKind, Finding
from bot.logs.parser import MOST, MOST_IDS, Found
from bot.logs.paths import inside, relative
from bot.logs.pytest_words import told
from bot.logs.trace import Frame, Trace

_OPEN = re.compile(r"<\?xml |<testsuites?[ >]|<checkstyle[ >]")
_ESLINT = re.compile(r"line (?P<line>[0-9]{1,9}), col (?P<col>[0-9]{1,9}), (?P<level>Error|Warning) - ")


class Junit:
    """Parser fed line by line. A document that declares a type is refused: entities can blow up or read files."""

    starts: ClassVar[tuple[str, ...]] = ("<?xml ", "<testsuite", "<checkstyle")
    patterns: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.holding = False
        self._xml: XMLParser | None = None
        self._cases = _Cases()

    def feed(self, line: str) -> bool:
        """Take one line."""
        if self._xml is None:
            if not _OPEN.match(line):
                return False
            self._xml = XMLParser(target=self._cases)  # noqa: S314 - entities are refused below
            self.holding = True
        if "<!DOCTYPE" in line or "<!ENTITY" in line:
            self._stop()
            return True
        try:
            self._xml.feed(line + "\n")
        except (ParseError, ValueError):
            self._stop()
        if self._cases.done:
            self._stop()
        return True

    def _stop(self) -> None:
        self._xml = None
        self.holding = self._cases.done = False
        self._cases.depth = 0

    def found(self, exit_code: int | None) -> Found:
        """Every failing case."""
        cases = self._cases
        return Found(
            findings=tuple(cases.failures),
            passed=frozenset(cases.passed),
            skipped=frozenset(cases.skipped),
            ended=cases.ended,
            dropped=cases.dropped,
        )


class _Cases:
    """What the XML parser calls: keeps cases only, so that a document of any length takes no memory."""

    def __init__(self) -> None:
        self.failures: list[Finding] = []
        self.passed: set[str] = set()
        self.skipped: set[str] = set()
        self.dropped = 0
        self.depth = 0
        self.done = self.ended = False
        self._case: dict[str, str] | None = None
        self._bad: list[tuple[str, dict[str, str], list[str]]] = []
        self._skip = False
        self._suite = ""
        self._text: list[str] | None = None

    def start(self, tag: str, given: dict[str, str]) -> None:
        """An element begins."""
        self.depth += 1
        if tag in ("testsuite", "file"):
            self._suite = given.get("name", "")
        elif tag == "error" and self._case is None:
            self._keep(_checkstyle(self._suite, given))
        elif tag == "testcase":
            self._case, self._bad, self._skip = given, [], False
        elif self._case is not None and tag in ("failure", "error") and len(self._bad) < 20:
            self._text = []
            self._bad.append((tag, given, self._text))
        elif tag == "skipped":
            self._skip = True

    def data(self, text: str) -> None:
        """Text of an element."""
        if self._text is not None and len(self._text) < 4000:
            self._text.append(text)

    def end(self, tag: str) -> None:
        """An element ends."""
        self.depth -= 1
        self.done = self.depth == 0
        self.ended = self.ended or self.done
        self._text = None
        if tag == "testcase" and self._case is not None:
            self._judge(self._case)
            self._case = None

    def close(self) -> None:
        """The document ends."""

    def _judge(self, case: dict[str, str]) -> None:
        test = _id(case)
        if not self._bad:
            kept = self.skipped if self._skip else self.passed
            if len(kept) < MOST_IDS:
                kept.add(test)
        for tag, given, text in self._bad:
            message = given.get("message", "")
            if case.get("name", "").startswith("org.ruff"):
                self._keep(_ruff(self._suite, case, message))
            elif case.get("name", "").startswith("org.eslint."):
                self._keep(_eslint(self._suite, case, message, "".join(text)))
            else:
                self._keep(_failure(test, case, tag, message, "".join(text)))

    def _keep(self, finding: Finding) -> None:
        if len(self.failures) < MOST:
            self.failures.append(finding)
        else:
            self.dropped += 1


def _ruff(suite: str, case: dict[str, str], message: str) -> Diagnostic:
    """ruff writes its rows as failing cases: suite the file, name `org.ruff.CODE`."""
    return Diagnostic(
        tool="ruff",
        file=relative(suite),
        line=_number(case.get("line")),
        col=_number(case.get("column")),
        code=case["name"].removeprefix("org.ruff").lstrip(".") or "invalid-syntax",
        message=message.split("\n")[0],
    )


def _eslint(suite: str, case: dict[str, str], message: str, text: str) -> Diagnostic:
    """eslint's rows: suite the file, name `org.eslint.RULE`, the place in the text."""
    rule = case["name"].removeprefix("org.eslint.")
    place = _ESLINT.match(text)
    return Diagnostic(
        tool="eslint",
        file=relative(suite),
        line=int(place["line"]) if place else None,
        col=int(place["col"]) if place else None,
        code=rule if rule != "unknown" else None,
        message=message.split("\n")[0],
        severity=place["level"].lower() if place else "error",
    )


def _checkstyle(file: str, given: dict[str, str]) -> Diagnostic:
    """An `<error>` of a `<file>`; its source is the rule: `eslint.rules.semi`, `com.puppycrawl...checks.FooCheck`."""
    source = given.get("source", "")
    rule = source.removeprefix("eslint.rules.")
    return Diagnostic(
        tool="eslint" if rule != source else "checkstyle",
        file=relative(file),
        line=_number(given.get("line")),
        col=_number(given.get("column")),
        code=(rule.rpartition(".")[2] if rule.startswith("com.puppycrawl.") else rule) or None,
        message=given.get("message", "").split("\n")[0],
        severity=given.get("severity", "error"),
    )


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"[0-9]{1,8}", text) else None


def _id(case: dict[str, str]) -> str:
    """pytest's node id where the file is known (`xunit1`) or the class name spells it; else `class.name`."""
    name, owner, file = case.get("name", ""), case.get("classname", ""), case.get("file")
    if not owner:
        return f"{file}::{name}" if file else name
    if file and file.endswith(".py"):
        module = relative(file).removesuffix(".py").replace("/", ".")
        inner = owner.removeprefix(module).strip(".").split(".")
        return "::".join([relative(file), *(part for part in inner if part), name])
    parts = owner.split(".")
    at = next((i for i, part in enumerate(parts) if re.match(r"test_|.*_tests?$", part)), None)
    if at is not None and all(part.isidentifier() for part in parts):
        return "::".join(["/".join(parts[: at + 1]) + ".py", *parts[at + 1 :], name])
    return f"{owner}.{name}"


def _failure(test: str, case: dict[str, str], tag: str, message: str, text: str) -> Failure:
    trace = Trace()
    for line in text.split("\n")[:2000]:
        trace.feed(line)
    file = test.split("::", 1)[0] if "::" in test else case.get("file")
    failure = Failure(
        tool="pytest" if "::" in test else "junit",
        id=test,
        kind=FailureKind.ERROR if tag == "error" else FailureKind.FAILED,
        file=relative(file) if file else None,
    )
    said = message.split("\n")
    frames = [Frame(relative(f.file), f.line, f.name, f.source) for f in trace.frames]
    filled = told(failure, frames, trace.exception(), (said[0] or None, said[1:]))
    place = _number(case.get("line"))
    if filled.line is None and not any(inside(f.file) for f in frames) and place is not None:
        return replace(filled, line=place + 1)  # pytest counts from 0 there
    return filled

"""The output of one step or one check: lines to the formats that want them, findings of all of them together."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from bot.domain.findings import CheckKind, Diagnostic, Failure, Finding
from bot.logs.clean import SHOWN, plain, plain_block
from bot.logs.parser import MOST, MOST_IDS, Found, Parser
from bot.logs.table import PARSERS, together, wanted

_STREAM = re.compile(
    r"(?P<turbo>@?[\w.-]+(?:/[\w.-]+)*:[A-Za-z][\w.-]*(?::[\w.-]+)*): ?"  # turbo, nx: `@scope/pkg:task: `
    r"|(?P<lerna>@[\w.-]+/[\w.-]+): ?"  # lerna --stream: `@scope/pkg: `
    r"|(?P<compose>[\w.-]+-\d+) +\| ?"  # docker compose: `web-1  | `
    r"|\[(?P<yarn>@?[\w.-]+(?:/[\w.-]+)*)\]: "  # yarn workspaces foreach: `[@scope/pkg]: `
    r"|\[(?P<number>\d{1,2})\](?: |$)"  # concurrently: `[0] `
)
_LABELLED = re.compile(r"\[(?P<label>[\w@./:-]+)\](?: |$)|(?P<pnpm>[^\s:]+ [\w:.-]+)(?:: ?|(?=\$ ))")
"""npm-run-all, concurrently: `[task] `; pnpm -r: `dir task: `. First they show what they run: a line `> ` or `$ `."""

_COMMAND = re.compile(r"[>$] (?!\d+ \|)\S")
_INTRODUCED = r"(?:\[[\w@./:-]+\] |[^\s:]++ [\w:.-]+(?=\$ ))" + _COMMAND.pattern
_LEVELS = frozenset(("debug", "info", "warn", "warning", "error", "fatal", "notice", "log", "ok", "fail", "command"))
_MOST_STREAMS = 32


@dataclass(frozen=True, kw_only=True)
class Read:
    """What an output said, all formats together; `kinds` are those of the formats that said something."""

    found: Found
    kinds: tuple[CheckKind, ...]


class Output:
    """Push reader of one output. `formats` limits what is looked for; None looks for everything.

    `script` is what was run, if known: parsers get it as package managers print a command before they run it.
    """

    def __init__(
        self, formats: Collection[str] | None = None, *, nested: bool = False, script: str | None = None
    ) -> None:
        self._names = together(formats)
        self._parsers: dict[str, Parser] = {n: f.parser() for n, f in PARSERS.items() if n in self._names}
        self._holder: Parser | None = None
        self._streams: dict[str, Output] = {}
        self._mixed = not nested and formats is None
        self._wanted = wanted(self._names, (_STREAM.pattern, _INTRODUCED) if self._mixed else ())
        self._fits = self._wanted.line.match
        if script:
            self.feed("$ " + script.replace("\\\n", " ").replace("\n", "; "))

    def feed_block(self, text: str) -> None:
        """Take many lines, separated by newlines."""
        text = "\n" + plain_block(text)
        at = self.skip(text, 0, stamped=False)
        while at >= 0:
            end = text.find("\n", at + 1)
            self.feed(text[at + 1 : end] if end >= 0 else text[at + 1 :])
            at = self.skip(text, end, stamped=False) if end >= 0 else -1

    def skip(self, text: str, at: int, *, stamped: bool) -> int:
        """Place of the first newline from `at` on with a line behind it that must be fed; -1 when there is none.

        Most lines of most logs mean nothing to anybody: they are passed over without a step of Python for each.
        """
        if self._holder is not None:
            return at
        found = (self._wanted.stamped if stamped else self._wanted.block).search(text, at)
        return found.start() if found else -1

    def feed(self, line: str) -> None:
        """Take one raw line."""
        if "\x1b" in line or "[0m" in line:
            line = plain(line)
        if len(line) > SHOWN and line[0] not in "[{":
            line = line[:SHOWN]
        holder = self._holder
        if holder is not None:
            taken = holder.feed(line)
            if not holder.holding:
                self._holder = None
            if taken:
                return
        elif (
            self._mixed and (": " in line or " |" in line or "$ " in line or line[:1] == "[") and self._elsewhere(line)
        ):
            return
        if self._fits(line):
            self._offer(line, holder)

    def _offer(self, line: str, asked: Parser | None) -> None:
        for name in self._wanted.takers(line):
            parser = self._parsers[name]
            if parser is asked:
                continue
            taken = parser.feed(line)
            if parser.holding and self._holder is None:
                self._holder = parser
            if taken:
                return

    def _elsewhere(self, line: str) -> bool:
        """A line of one of several commands whose outputs are mixed, each with its own prefix."""
        found = _STREAM.match(line) or self._labelled(line)
        if found is None:
            return False
        name = next(group for group in found.groups() if group)
        if name not in self._streams:
            if len(self._streams) >= _MOST_STREAMS:
                return False
            self._streams[name] = Output(nested=True)
            if found.re is _LABELLED:
                self._wanted = wanted(self._names, (_STREAM.pattern, _LABELLED.pattern))
                self._fits = self._wanted.line.match
        self._streams[name].feed(line[found.end() :])
        return True

    def _labelled(self, line: str) -> re.Match[str] | None:
        """A prefix that could be anything: one only if a command was shown behind it before."""
        found = _LABELLED.match(line)
        if found is None or found["label"] in _LEVELS:
            return None
        known = (found["label"] or found["pnpm"]) in self._streams
        return found if known or _COMMAND.match(line, found.end()) else None

    def close(self, exit_code: int | None) -> Read:
        """What was found; `exit_code` is the command's, None when not known."""
        said = [(name, parser.found(exit_code)) for name, parser in self._parsers.items()]
        inner = [stream.close(exit_code) for stream in self._streams.values()]
        specific = [(n, f) for n, f in said if n != "generic"]
        anything = any(f.findings for _, f in specific) or any(r.found.findings for r in inner)
        ended = any(f.ended for _, f in specific)
        generic = dict(said).get("generic")
        if generic and generic.findings and not anything and not ended and exit_code != 0:
            specific.append(("generic", generic))
        return _merged(specific, inner)


def _merged(said: list[tuple[str, Found]], inner: list[Read]) -> Read:
    kinds = [PARSERS[name].kind for name, found in said if found.findings or found.ended or found.blocked]
    founds = [found for _, found in said] + [read.found for read in inner]
    findings = _once([found.findings for _, found in said]) + tuple(f for read in inner for f in read.found.findings)
    merged = Found(
        findings=findings[:MOST],
        passed=_ids(founds, "passed"),
        skipped=_ids(founds, "skipped"),
        collected=_ids(founds, "collected"),
        blocked=next((found.blocked for found in founds if found.blocked), None),
        ended=any(found.ended for found in founds),
        dropped=sum(found.dropped for found in founds) + max(0, len(findings) - MOST),
    )
    return Read(found=merged, kinds=tuple(dict.fromkeys([*kinds, *(k for read in inner for k in read.kinds)])))


def _ids(founds: list[Found], field: str) -> frozenset[str]:
    ids: set[str] = set()
    for found in founds:
        ids |= getattr(found, field)
    return frozenset(sorted(ids)[:MOST_IDS]) if len(ids) > MOST_IDS else frozenset(ids)


def _once(parts: list[tuple[Finding, ...]]) -> tuple[Finding, ...]:
    """The same complaint from two formats (a row and its annotation, a report and its XML) counts once.

    A file that a formatter names does not count again for its diff. What names no test
    or file says nothing.
    """
    kept: list[Finding] = []
    seen: set[object] = set()
    for part in parts:
        fresh = [finding for finding in part if _identity(finding) not in seen and _names(finding)]
        seen.update(_identity(finding) for finding in fresh)
        kept += fresh
    named = {f.file for f in kept if isinstance(f, Diagnostic) and f.severity != "diff" and f.line is None}
    return tuple(f for f in kept if not (isinstance(f, Diagnostic) and f.severity == "diff" and f.file in named))


def _names(finding: Finding) -> bool:
    if isinstance(finding, Failure):
        return bool(finding.id.strip())
    return bool(finding.file.strip()) or finding.tool == "tsc"  # of a bad tsconfig.json it tells the code only


def _identity(finding: Finding) -> object:
    if isinstance(finding, Diagnostic):
        return (finding.file, finding.line, finding.code, finding.message, finding.severity == "diff")
    return (finding.id, finding.kind, finding.file)

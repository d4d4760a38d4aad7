"""Where the fault probably is: lines that failing tests run and passing ones do not, cut out as holes to be filled."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bot.domain.packet import Span
from bot.domain.patch import HOLE_MARK, Hole, Read
from bot.packets.syntax import parsed

BLOCK_LINES = 8
"""Compound statements up to this length are also offered whole."""

WINDOW = 60
"""Lines shown at most before and after a hole."""


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """One line and how strongly the tests point at it, from 0 to 1."""

    file: str
    line: int
    score: float


def rank(
    coverage: Mapping[str, Mapping[str, frozenset[int]]],
    failing: frozenset[str],
    passing: frozenset[str],
    *,
    exclude: frozenset[str] = frozenset(),
) -> tuple[Suspect, ...]:
    """Order the lines that failing tests run by Ochiai's score, the strongest first.

    ef / sqrt(F * (ef + ep)), with ef and ep the failing and passing tests that run the line and F the failing ones
    traced (Abreu et al., "An Evaluation of Similarity Coefficients for Software Fault Localization", 2006).
    """
    failed = _executions(coverage, failing)
    passed = _executions(coverage, passing)
    traced = sum(test in coverage for test in failing)
    found = [
        Suspect(file=file, line=line, score=ran / math.sqrt(traced * (ran + passed[file, line])))
        for (file, line), ran in failed.items()
        if file not in exclude
    ]
    return tuple(sorted(found, key=lambda s: (-s.score, s.file, s.line)))


def _executions(
    coverage: Mapping[str, Mapping[str, frozenset[int]]], tests: frozenset[str]
) -> Counter[tuple[str, int]]:
    return Counter((file, line) for test in tests for file, lines in coverage.get(test, {}).items() for line in lines)


def find_holes(
    coverage: Mapping[str, Mapping[str, frozenset[int]]],
    *,
    failing: frozenset[str],
    passing: frozenset[str],
    read: Read,
    exclude: frozenset[str] = frozenset(),
    limit: int = 8,
    spans: Iterable[Span] = (),
) -> tuple[Hole, ...]:
    """The `limit` most suspect places as holes; without coverage, the lines of the packet's `spans` in their order."""
    ranked = rank(coverage, failing, passing, exclude=exclude) or _of_spans(spans, exclude)
    return holes(ranked, read, limit)


def _of_spans(spans: Iterable[Span], exclude: frozenset[str]) -> tuple[Suspect, ...]:
    return tuple(
        Suspect(file=span.file, line=line, score=0.0)
        for span in spans
        if span.file not in exclude
        for line in range(span.start, span.end + 1)
    )


def holes(ranked: Iterable[Suspect], read: Read, limit: int) -> tuple[Hole, ...]:
    """Cut out the statement at each suspect line: simple ones whole, of compound ones the header.

    Every fourth hole is a small compound statement as a whole, for faults that one line cannot hold. No place comes
    twice; the order follows `ranked` alone. Files that are not UTF-8 Python give no holes.
    """
    sources: dict[str, _Source | None] = {}
    lines: dict[Hole, None] = {}
    blocks: dict[Hole, None] = {}
    for suspect in ranked:
        if suspect.file not in sources:
            sources[suspect.file] = _parse(suspect.file, read(suspect.file))
        source = sources[suspect.file]
        if source:
            lines.update(dict.fromkeys(source.statement(suspect.line)))
            blocks.update(dict.fromkeys(source.block(suspect.line)))
        if len(lines) >= limit and len(blocks) >= limit:
            break
    few = min(len([b for b in blocks if b not in lines]), limit // 4)
    chosen = dict.fromkeys([*list(lines)[: limit - few], *blocks, *lines])
    return tuple(chosen)[:limit]


def _parse(file: str, content: bytes | None) -> _Source | None:
    try:
        text = (content or b"").decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    module = parsed(text)
    return None if module is None else _Source(file, text, module)


class _Source:
    """One parsed file."""

    def __init__(self, file: str, text: str, module: ast.Module) -> None:
        self.file, self.lines = file, text.split("\n")
        nodes = [node for node in ast.walk(module) if isinstance(node, ast.stmt | ast.ExceptHandler)]
        self.nodes = sorted(nodes, key=lambda node: (node.lineno, -(node.end_lineno or 0)))

    def statement(self, line: int) -> Iterator[Hole]:
        """The innermost statement around a line, or its header."""
        around = self._around(line)
        if around and not isinstance(around[-1], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node = around[-1]
            end = _header_end(node)
            if line <= end and not _docstring(node):
                yield self._hole(node.lineno, end, around)

    def block(self, line: int) -> Iterator[Hole]:
        """The innermost compound statement around a line, if it is small."""
        around = self._around(line)
        for node in reversed(around):
            if isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try):
                if _end(node) - node.lineno < BLOCK_LINES and not self._elif(node):
                    yield self._hole(node.lineno, _end(node), around)
                return

    def _around(self, line: int) -> list[ast.stmt | ast.ExceptHandler]:
        return [node for node in self.nodes if node.lineno <= line <= _end(node)]

    def _elif(self, node: ast.stmt | ast.ExceptHandler) -> bool:
        return self.lines[node.lineno - 1].lstrip().startswith("elif")

    def _hole(self, start: int, end: int, around: list[ast.stmt | ast.ExceptHandler]) -> Hole:
        first, last = 1, len(self.lines)
        for node in around:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first, last = min([node.lineno, *(d.lineno for d in node.decorator_list)]), _end(node)
        head = self.lines[max(first - 1, start - 1 - WINDOW) : start - 1]
        tail = self.lines[end : min(last, end + WINDOW)]
        cut = self.lines[start - 1 : end]
        indent = cut[0][: len(cut[0]) - len(cut[0].lstrip())]
        return Hole(
            file=self.file,
            start=start,
            end=end,
            before_source="\n".join([*head, indent + HOLE_MARK, *tail]),
            removed="\n".join(cut),
        )


def _end(node: ast.stmt | ast.ExceptHandler) -> int:
    return node.end_lineno or node.lineno


def _header_end(node: ast.stmt | ast.ExceptHandler) -> int:
    """Last line of a statement's own text: before the first statement of its body, if that is on a later line."""
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return _end(node)
    first = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else body[0].lineno
    decorated = [d.lineno for d in getattr(body[0], "decorator_list", [])]
    return max(node.lineno, min([first, *decorated]) - 1) if first > node.lineno else _end(node)


def _docstring(node: ast.stmt | ast.ExceptHandler) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)

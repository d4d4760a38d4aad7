"""Which lines of which files go with a finding, and how much of them a budget allows."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from bot.domain.findings import Diagnostic, Failure
from bot.domain.packet import Span
from bot.packets.suspects import Finder, Suspect, Test
from bot.packets.syntax import extent
from bot.packets.trim import tokens
from bot.packets.view import View

AROUND = 3
"""Lines shown before and after a function, as far as they belong to no other one."""

WHOLE_LINES = 150
"""A file up to this size is shown whole if it also fits: small models rewrite whole functions and files."""


def of_suspect(view: View, suspect: Suspect, allowance: int, *, function: bool = False) -> Iterator[Span]:
    """Ever smaller excerpts for a suspect, the best first: the file, the function, lines around the place.

    `function`: nothing larger than the function itself, for models that copy what they are shown.
    """
    ranges = [] if function or not _small(view, suspect.path, allowance) else [(1, len(view.tree.lines(suspect.path)))]
    if suspect.end > suspect.start:
        ranges += [] if function else [_with_surroundings(view, suspect)]
        ranges += [(suspect.start, suspect.end)]
    ranges += [_near(suspect, n) for n in (12, 6, 2)]
    for start, end in ranges:
        span = view.excerpt(suspect.path, start, end)
        if span and tokens(span.source) <= allowance:
            yield span


def _near(suspect: Suspect, lines: int) -> tuple[int, int]:
    """Around the line of the traceback; without one, from the function's beginning."""
    if suspect.line is None:
        return suspect.start, min(suspect.end, suspect.start + 2 * lines)
    return suspect.line - lines, suspect.line + lines


def _small(view: View, path: str, allowance: int) -> bool:
    return len(view.tree.lines(path)) <= WHOLE_LINES and tokens(view.tree.text(path) or "") <= allowance


def _with_surroundings(view: View, suspect: Suspect) -> tuple[int, int]:
    """The function with a few lines around, but none of its neighbours."""
    others = [extent(node) for _, node in view.tree.scopes(suspect.path)]
    before = max((end for _, end in others if end < suspect.start), default=0)
    after = min((start for start, _ in others if start > suspect.end), default=suspect.end + AROUND + 1)
    start, end = max(before + 1, suspect.start - AROUND, 1), min(after - 1, suspect.end + AROUND)
    blank = [not line.strip() for line in view.tree.lines(suspect.path)]
    while start < suspect.start and blank[start - 1]:
        start += 1
    while end > suspect.end and (end > len(blank) or blank[end - 1]):
        end -= 1
    return start, end


def imports(view: View, path: str) -> Span | None:
    """The imports at the head of a Python module: an edit may need one more."""
    module = view.tree.module(path)
    found = [node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)] if module else []
    return view.excerpt(path, found[0].lineno, found[-1].end_lineno or found[-1].lineno) if found else None


def constructor(view: View, suspect: Suspect) -> Span | None:
    """For a method, its class's head with `__init__`: what the object is made of."""
    owner = suspect.name.rpartition(".")[0]
    scopes = dict(view.tree.scopes(suspect.path))
    if not owner or owner not in scopes or f"{owner}.__init__" not in scopes:
        return None
    start, end = extent(scopes[f"{owner}.__init__"])
    head = scopes[owner].lineno
    return view.excerpt(suspect.path, head if end - head < 30 else start, end)


def of_test(view: View, finder: Finder, failure: Failure) -> list[Span]:
    """The test's own source, which is the contract, and the fixtures it uses; without held-out tests and cases."""
    test = finder.test(failure)
    if test is None:
        path = view.tree.resolve(failure.file)
        around = view.excerpt(path, failure.line - 6, failure.line + 3) if path and failure.line else None
        return [around] if around else []
    spans = [view.excerpt(test.path, *extent(test.function))]
    spans += [view.excerpt(f.path, *extent(f.node)) for f in finder.fixtures(test) if _unparametrised(f.node)]
    return [*filter(None, [*spans, _set_up(view, test)])]


def _unparametrised(fixture: ast.stmt) -> bool:
    """A fixture with params holds cases, of which one may be held out."""
    decorators = getattr(fixture, "decorator_list", [])
    return not any(isinstance(d, ast.Call) and any(k.arg == "params" for k in d.keywords) for d in decorators)


def _set_up(view: View, test: Test) -> Span | None:
    scopes = dict(view.tree.scopes(test.path)) if test.owner else {}
    found = [scopes[name] for hook in ("setUp", "setup_method") if (name := f"{test.owner}.{hook}") in scopes]
    return view.excerpt(test.path, *extent(found[0])) if found else None


def of_diagnostic(view: View, diagnostic: Diagnostic, allowance: int, function: bool = False) -> Iterator[Span]:
    """Ever smaller excerpts around a complaint; `function`: not the whole file, unless the complaint is about that."""
    path = view.tree.resolve(diagnostic.file)
    if path is None:
        return
    whole = (not function and _small(view, path, allowance)) or diagnostic.line is None
    line = diagnostic.line or 1
    ranges = [(1, len(view.tree.lines(path)))] if whole else []
    ranges += [(line - n, line + n) for n in (4, 2, 0)]
    yield from filter(None, (view.excerpt(path, start, end) for start, end in ranges))


def fresh(view: View, span: Span, shown: Iterable[Span]) -> list[Span]:
    """What of a span is not shown yet, in unbroken pieces."""
    taken = {n for other in shown if other.file == span.file for n in range(other.start, other.end + 1)}
    if not taken.intersection(range(span.start, span.end + 1)):
        return [span]
    pieces: list[list[int]] = []
    for line in range(span.start, span.end + 1):
        if line not in taken:
            if pieces and pieces[-1][-1] == line - 1:
                pieces[-1].append(line)
            else:
                pieces.append([line])
    spans = (view.excerpt(span.file, piece[0], piece[-1]) for piece in pieces)
    return [piece for piece in spans if piece and piece.source.strip()]

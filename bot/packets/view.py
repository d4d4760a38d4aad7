"""Source excerpts without held-out tests: the only way by which source text gets into a packet."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sequence

from bot.domain.findings import Failure
from bot.domain.packet import Hunk, Span
from bot.packets import ids
from bot.packets.syntax import Scope, extent
from bot.packets.tree import Tree, is_test

TEST_CUT = "# [held-out test cut]"
CASES_CUT = "[held-out case cut]"
ID_CUT = "[held-out test]"

_Mask = tuple[int, int, int, int, str]  # first line, byte column, last line, byte column, what stands there instead


class View:
    """What may be shown of a tree while the tests `hidden` are held out.

    `failures` are all findings of tests: a hidden id may name no file, its failure does.
    """

    def __init__(self, tree: Tree, hidden: frozenset[str], failures: Iterable[Failure] = ()) -> None:
        self.tree = tree
        self.hidden = hidden
        failed = {f.id: f for f in failures}
        self._ids: dict[str | None, list[str]] = {}
        for test in sorted(hidden):
            file = ids.file_of(test, tree, failed[test].file if test in failed else None)
            self._ids.setdefault(file, []).append(test)
        self._masked: dict[str, list[str | None]] = {}
        self._id_pattern = _pattern(hidden, {f.id for f in failed.values()} - hidden)

    def excerpt(self, path: str, start: int, end: int) -> Span | None:
        """Lines `start` to `end`, without what belongs to held-out tests; None when nothing is left to show."""
        span = self.tree.span(path, start, end)
        if span is None or not (path in self._ids or self._unplaced(path)):
            return span
        if path not in self._masked:
            self._masked[path] = self._mask(path)
        kept = [line for line in self._masked[path][span.start - 1 : span.end] if line is not None]
        if not any(line.strip() not in ("", TEST_CUT) for line in kept):
            return None
        return Span(file=path, start=span.start, end=span.end, source="\n".join(kept))

    def _unplaced(self, path: str) -> bool:
        """A held-out test of unknown file could be in any test file, or in any file that names it."""
        lost = self._ids.get(None, [])
        return bool(lost) and (is_test(path) or any(_leaf(test) in (self.tree.text(path) or "") for test in lost))

    def _mask(self, path: str) -> list[str | None]:
        lines: list[str | None] = list(self.tree.lines(path))
        module = self.tree.module(path)
        if not is_test(path) and not path.endswith(".py"):
            return _before_tests(lines, self._ids.get(path, []) + self._ids.get(None, []))
        if module is None or None in self._ids:
            return [None] * len(lines)  # nothing tells where a test of this file begins and ends
        masks = [mask for test in self._ids.get(path, ()) for mask in _masks(test, self.tree, path, module)]
        for mask in sorted(set(masks), reverse=True):
            _cut_out(lines, mask)
        return lines

    def hunks(self, changed: Sequence[Hunk]) -> tuple[Hunk, ...]:
        """Changes, source before tests; while something is held out no change of a test file is shown."""
        shown = [hunk for hunk in changed if not (self.hidden and (is_test(hunk.file) or hunk.file in self._ids))]
        return tuple(sorted(shown, key=lambda hunk: is_test(hunk.file)))

    def clean(self, text: str) -> str:
        """Free text without the ids of held-out tests."""
        return self._id_pattern.sub(ID_CUT, text) if self._id_pattern else text


def _pattern(hidden: frozenset[str], shown: set[str]) -> re.Pattern[str] | None:
    leaves = {_leaf(test) for test in hidden} - {_leaf(test) for test in shown}
    leaves -= {ids.parse(test).names[-1] for test in shown if ids.parse(test).names}
    named = {*hidden, *(leaf for leaf in leaves if len(leaf) > 4)}
    quoted = {form[1:-1] for text in named for form in (repr(text), json.dumps(text))}  # as a list of ids prints them
    texts = sorted(named | quoted, key=lambda t: (-len(t), t))
    return re.compile("|".join(rf"(?<!\w){re.escape(text)}(?!\w)" for text in texts)) if texts else None


def _leaf(test: str) -> str:
    parts = ids.parse(test)
    return (parts.names[-1] if parts.names else "") + parts.rest


def _before_tests(lines: list[str | None], hidden: list[str]) -> list[str | None]:
    """Source with tests at its end (Rust, Zig): shown up to where they begin, or to the first held-out name."""
    names = ["#[cfg(test)]", *(_leaf(test) for test in hidden)]
    first = next((i for i, line in enumerate(lines) if any(name in (line or "") for name in names)), len(lines))
    return lines[:first] + [None] * (len(lines) - first)


def _masks(test: str, tree: Tree, path: str, module: ast.Module) -> list[_Mask]:
    found = ids.definitions(test, tree, path)
    parameters = ids.parse(test).parameters
    masks = _doctest(found, module)
    for name, node in found if not masks else ():
        lists = _parametrised(name, tree, path) if parameters is not None else []
        if not lists:
            masks.append((*_lines_mask(node), TEST_CUT))
        elif len(lists) == 1 and (one := _case(lists[0], parameters or "")):
            masks.append((*_place(one), CASES_CUT))
            masks += [(*_place(k.value), CASES_CUT) for k in lists[0].keywords if k.arg == "ids"]
        else:
            masks += [(*_place(v), CASES_CUT) for call in lists for v in _values(call)]
    return masks


def _doctest(found: list[tuple[str, Scope]], module: ast.Module) -> list[_Mask]:
    """A doctest lies in the code under test: only the docstring is cut out of it."""
    nodes: list[Scope | ast.Module] = [node for _, node in found] or [module]
    strings = [
        n.body[0].value
        for n in nodes
        if n.body and isinstance(n.body[0], ast.Expr) and ">>>" in (ast.get_docstring(n) or "")
    ]
    return [(*_place(string), f'"""{ID_CUT}"""') for string in strings]


def _lines_mask(node: Scope) -> tuple[int, int, int, int]:
    start, end = extent(node)
    return start, node.col_offset, end, -1


def _place(node: ast.expr) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0


def _parametrised(name: str, tree: Tree, path: str) -> list[ast.Call]:
    """The parametrize decorators of a test and of the classes around it."""
    parts = name.split(".")
    outer = [(".".join(parts[: n + 1]), part) for n, part in enumerate(parts)]
    around = [node for full, part in outer for other, node in tree.called(path, part) if other == full]
    calls = [d for node in around for d in node.decorator_list if isinstance(d, ast.Call)]
    return [c for c in calls if getattr(c.func, "attr", getattr(c.func, "id", "")) == "parametrize"]


def _values(call: ast.Call) -> list[ast.expr]:
    """What holds the cases: argument values and ids; a bare name shows nothing."""
    given = [*call.args[1:], *(k.value for k in call.keywords if k.arg != "argnames")]
    return [value for value in given if not isinstance(value, ast.Name | ast.Attribute | ast.Constant)]


def _case(call: ast.Call, parameters: str) -> ast.expr | None:
    """The one literal case whose id is surely `parameters`, None when that cannot be told."""
    values = next((v for v in _values(call)), None)
    names = call.args[0] if call.args else None
    if not isinstance(values, ast.List | ast.Tuple) or not isinstance(names, ast.Constant):
        return None
    count = len([n for n in str(names.value).split(",") if n.strip()])
    labels = next((k.value for k in call.keywords if k.arg == "ids"), None)
    if labels is None:
        known = [_label(element, count) for element in values.elts]
    elif isinstance(labels, ast.List | ast.Tuple) and len(labels.elts) == len(values.elts):
        known = [_text(label) for label in labels.elts]
    else:
        return None
    matches = [element for element, label in zip(values.elts, known, strict=True) if label == parameters]
    return matches[0] if len(matches) == 1 and None not in known and len(set(known)) == len(known) else None


def _label(element: ast.expr, count: int) -> str | None:
    """The id that pytest gives to a case: pytest.param's own, else its literal values joined by dashes."""
    if isinstance(element, ast.Call):
        own = next((k.value for k in element.keywords if k.arg == "id"), None)
        if own is not None:
            return _text(own)
        parts = element.args
    else:
        parts = element.elts if count > 1 and isinstance(element, ast.Tuple | ast.List) else [element]
    texts = [_text(part) for part in parts]
    return None if None in texts or len(texts) != count else "-".join(t for t in texts if t is not None)


def _text(value: ast.expr) -> str | None:
    negative = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub)
    inner = value.operand if isinstance(value, ast.UnaryOp) and negative else value
    if not isinstance(inner, ast.Constant) or not isinstance(inner.value, str | int | float | bool | None):
        return None
    if isinstance(inner.value, str):
        return None if negative else inner.value.encode("unicode_escape").decode("ascii")
    return ("-" if negative else "") + str(inner.value)


def _cut_out(lines: list[str | None], mask: _Mask) -> None:
    """Put the mask's text where the region was; masks are applied from the last to the first."""
    first, column, last, end, text = mask
    before, after = (lines[first - 1] or "").encode()[:column].decode(), ""
    if end >= 0:
        after = (lines[last - 1] or "").encode()[end:].decode()
    lines[first - 1] = before + text + after
    lines[first:last] = [None] * (last - first)

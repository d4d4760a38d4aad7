"""One state of the repository as the packets read it: texts, lines and syntax trees, each read once."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import PurePosixPath

from bot.domain.packet import Span
from bot.domain.patch import Read
from bot.packets.syntax import Function, Scope, extent, inner, parsed, scopes

LARGEST = 500_000
"""Characters of the largest source file looked into: generated ones are bigger, and never the place to repair."""

_TEST_NAME = re.compile(
    r"(?i)^(?:test_.*|.*_tests?\.\w+|tests?\.\w+|conftest\.py|.*\.(?:test|spec)\.\w+|.*Tests?\.(?:java|kt|cs|swift))$"
)
_LIBRARY = re.compile(r"(?:^|/)(?:site-packages|dist-packages|node_modules|lib/python[\d.]*|rustc)/")
_TEST_FOLDERS = {"test", "tests", "__tests__", "spec", "specs", "testing", "e2e", "__snapshots__", "testdata"}


def is_test(path: str) -> bool:
    """Whether a path is where test code lives by common convention: nothing there is ever under suspicion."""
    pure = PurePosixPath(path)
    return bool(_TEST_NAME.match(pure.name)) or any(part.lower() in _TEST_FOLDERS for part in pure.parts[:-1])


class Tree:
    """Reads through `read`; remembers what it read. `paths` are the tracked paths."""

    def __init__(self, read: Read, paths: frozenset[str]) -> None:
        self._read = read
        self.paths = paths
        self._texts: dict[str, str | None] = {}
        self._modules: dict[str, ast.Module | None] = {}
        self._scopes: dict[str, tuple[tuple[str, Scope], ...]] = {}
        self._called: dict[str, dict[str, list[tuple[str, Scope]]]] = {}
        self._tops: dict[str, tuple[list[int], list[ast.stmt]]] = {}

    def text(self, path: str) -> str | None:
        """Content with LF line ends and without a BOM; None when absent, too large, binary or not UTF-8."""
        if path not in self._texts:
            self._texts[path] = _decoded(self._read(path))
        return self._texts[path]

    def lines(self, path: str) -> list[str]:
        """Lines without their ends; empty when there is no text."""
        text = self.text(path)
        return [] if not text else text.removesuffix("\n").split("\n")

    def module(self, path: str) -> ast.Module | None:
        """The syntax tree of a Python file; None when it is none, or broken."""
        if path not in self._modules:
            text = self.text(path) if path.endswith(".py") else None
            self._modules[path] = None if text is None else parsed(text)
        return self._modules[path]

    def scopes(self, path: str) -> tuple[tuple[str, Scope], ...]:
        """Every function and class of a Python file with its dotted name, outer ones first; none of a broken file."""
        if path not in self._scopes:
            module = self.module(path)
            self._scopes[path] = tuple(scopes(module)) if module else ()
        return self._scopes[path]

    def called(self, path: str, name: str) -> list[tuple[str, Scope]]:
        """Those whose own name, the last of the dotted one, is `name`."""
        if path not in self._called:
            index = self._called.setdefault(path, {})
            for dotted, node in self.scopes(path):
                index.setdefault(node.name, []).append((dotted, node))
        return self._called[path].get(name, [])

    def around(self, path: str, line: int) -> list[ast.stmt]:
        """The statements of a Python file around a line, from the outermost to the innermost."""
        if path not in self._tops:
            module = self.module(path)
            tops = sorted(inner(module), key=lambda node: extent(node)[0]) if module else []
            self._tops[path] = [extent(node)[0] for node in tops], tops
        starts, tops = self._tops[path]
        found: list[ast.stmt] = []
        below: Iterable[ast.stmt] = tops[: bisect_right(starts, line)][-1:]
        while holding := [node for node in below if extent(node)[0] <= line <= extent(node)[1]]:
            found.append(holding[-1])
            below = inner(holding[-1])
        return found

    def enclosing(self, path: str, line: int) -> tuple[str, Function] | None:
        """The innermost function around a line with its dotted name."""
        names: list[str] = []
        found: tuple[str, Function] | None = None
        for node in self.around(path, line):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.append(node.name)
                found = found if isinstance(node, ast.ClassDef) else (".".join(names), node)
        return found

    def resolve(self, shown: str | None, near: str = "") -> str | None:
        """The tracked path that a log means by `shown`: absolute, relative to the root, or to some package's folder.

        Of several that end alike the one closest to `near` is meant; none is better than a wrong one.
        """
        posix = (shown or "").replace("\\", "/")
        if not posix or _LIBRARY.search(posix):
            return None
        parts = tuple(part for part in PurePosixPath(posix).parts if part not in ("/", ".", ".."))
        absolute = posix.startswith("/") or posix[1:3] == ":/"
        for start in range(len(parts) if absolute else min(1, len(parts))):
            if "/".join(parts[start:]) in self.paths:
                return "/".join(parts[start:])
        tail = "/".join(parts)
        return closest([p for p in self._named.get(parts[-1] if parts else "", ()) if p.endswith("/" + tail)], near)

    @cached_property
    def _named(self) -> dict[str, list[str]]:
        named: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            named.setdefault(path.rsplit("/", 1)[-1], []).append(path)
        return named

    def dotted(self, module: str, near: str, level: int = 0) -> str | None:
        """The file of a dotted module name as imported in the file `near`; `level` counts leading dots.

        Source roots are not configured anywhere: any folder that is no package itself may be one ("", "src", a part of
        a monorepo), and so may the importing file's own folder.
        """
        tail = module.replace(".", "/")
        if level:
            parents = PurePosixPath(near).parents
            folder = str(parents[min(level, len(parents)) - 1])
            base = "/".join(part for part in (folder if folder != "." else "", tail) if part)
            return next((p for p in _module_files(base) if p in self.paths), None)
        found = [p for ending in _module_files(tail) for p in self._below_roots(ending, near)]
        return closest(found, near)

    def _below_roots(self, ending: str, near: str) -> Iterator[str]:
        own = near.rpartition("/")[0]
        for path in self._named.get(ending.rsplit("/", 1)[-1], ()):
            root = path[: -len(ending)].rstrip("/")
            if path == ending or (
                path.endswith("/" + ending) and (root == own or f"{root}/__init__.py" not in self.paths)
            ):
                yield path

    def span(self, path: str, start: int, end: int) -> Span | None:
        """The lines `start` to `end` (1-based, inclusive, clamped), None when there are none."""
        lines = self.lines(path)
        start, end = max(1, start), min(len(lines), end)
        if start > end:
            return None
        return Span(file=path, start=start, end=end, source="\n".join(lines[start - 1 : end]))


def closest(found: list[str], near: str) -> str | None:
    """Of several paths the one sharing most folders with `near`, then the shortest."""
    here = PurePosixPath(near).parts[:-1]

    def distance(path: str) -> tuple[int, int, str]:
        there = PurePosixPath(path).parts[:-1]
        shared = next(
            (i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), min(len(here), len(there))
        )
        return -shared, len(there), path

    return min(found, key=distance, default=None)


def _module_files(base: str) -> tuple[str, str]:
    return f"{base}.py", f"{base}/__init__.py" if base else "__init__.py"


def _decoded(data: bytes | None) -> str | None:
    if data is None or len(data) > LARGEST or b"\0" in data:
        return None
    try:
        return data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None

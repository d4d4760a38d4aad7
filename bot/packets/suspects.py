"""Where the fault of a failing test is likely to lie, best guess first, and what it is called there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.domain.findings import Failure, Location
from bot.domain.packet import Hunk
from bot.packets import ids
from bot.packets.symbols import Definition, Names, Scope
from bot.packets.syntax import Function, extent
from bot.packets.tree import Tree, is_test

_LACKING = re.compile(r"cannot import name '\w+' from (?:[a-z ]*module )?'([\w.]+)'|module '([\w.]+)' has no attribute")


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A stretch of source outside the tests: `start` to `end`, and the `line` that a traceback names, if one does."""

    path: str
    name: str
    start: int
    end: int
    line: int | None = None

    @property
    def key(self) -> str:
        """The same for every failure of this function, whatever line it fails in."""
        return f"{self.path}:{self.name}"


@dataclass(frozen=True, kw_only=True)
class Test:
    """A test's function in its file; `owner` is the dotted class around it, "" for none."""

    __test__ = False  # pytest would collect it

    path: str
    function: Function
    owner: str = ""


class Finder:
    """Finds suspects and tests in one tree; `test_files` also counts what failing tests call their file."""

    def __init__(self, tree: Tree, failures: Iterable[Failure] = ()) -> None:
        self.tree = tree
        self.names = Names(tree)
        self._subjects: dict[tuple[str, int, int | None], list[Suspect]] = {}
        files = {ids.file_of(f.id, tree, f.file) for f in failures if f.tool != "doctest"}
        self._test_files = {file for file in files if file and not _source_with_tests(file)}

    def in_test(self, path: str) -> bool:
        """Whether a path holds tests: nothing there is under suspicion."""
        return path in self._test_files or is_test(path)

    def file(self, failure: Failure) -> str | None:
        """The tracked file of the failing test."""
        return ids.file_of(failure.id, self.tree, failure.file)

    def frames(self, failure: Failure) -> list[Suspect]:
        """Functions of the traceback outside the tests, the deepest first, each once."""
        near = self.file(failure) or ""
        places = [*failure.frames, *([failure.crash] if failure.crash else [])]
        found: dict[str, Suspect] = {}
        for place in reversed(places):
            path = self.tree.resolve(place.file, near)
            if path and not self.in_test(path):
                suspect = self._frame(path, place)
                found.setdefault(suspect.key, suspect)
        return list(found.values())

    def _frame(self, path: str, place: Location) -> Suspect:
        line = place.line or 1
        around = self.tree.enclosing(path, line)
        if around:
            start, end = extent(around[1])
            return Suspect(path=path, name=around[0], start=start, end=end, line=line)
        return Suspect(path=path, name=place.name or "<module>", start=line, end=line, line=line)

    def blamed(self, failure: Failure) -> list[Suspect]:
        """The module that an error says to lack a name: no frame lies in it, and it is where the repair belongs."""
        match = _LACKING.search((failure.message or failure.assertion or "")[:2000])
        path = self.tree.dotted(match[1] or match[2], self.file(failure) or "") if match else None
        lines = len(self.tree.lines(path)) if path else 0
        if not path or not lines or self.in_test(path):
            return []
        return [Suspect(path=path, name="<module>", start=1, end=lines, line=1)]

    def test(self, failure: Failure) -> Test | None:
        """The failing test's own function: by its id, else around the failing line."""
        path = self.file(failure)
        if path is None:
            return None
        by_line = self.tree.enclosing(path, failure.line) if failure.line else None
        found = ids.function(failure.id, self.tree, path) or by_line
        return Test(path=path, function=found[1], owner=found[0].rpartition(".")[0]) if found else None

    def statement(self, failure: Failure) -> ast.stmt | None:
        """The statement of the test file at which the failure shows."""
        path = self.file(failure)
        around = self.tree.around(path, failure.line) if path and failure.line else []
        last = around[-1] if around else None
        return None if isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else last

    def subjects(self, failure: Failure) -> list[Suspect]:
        """What the test calls: in the asserting statement, in what its variables were set to, anywhere in the test."""
        test = self.test(failure)
        if test is None:
            return []
        place = test.path, test.function.lineno, failure.line
        if place not in self._subjects:
            self._subjects[place] = self._called(failure, test)
        return self._subjects[place]

    def _called(self, failure: Failure, test: Test) -> list[Suspect]:
        scope = self._scope(test)
        found: dict[str, Suspect] = {}
        for node in self._pieces(failure, test):
            for definition in self.names.mentioned(node, scope):
                whole = f"{definition.path}:{definition.name}."  # of a class whose method is suspected already
                if not self.in_test(definition.path) and not any(key.startswith(whole) for key in found):
                    start, end = extent(definition.node)
                    suspect = Suspect(path=definition.path, name=definition.name, start=start, end=end)
                    found.setdefault(suspect.key, suspect)
        return list(found.values())

    def _scope(self, test: Test) -> Scope:
        owner = self.names.lookup(test.path, test.owner.split(".")[0]) if test.owner else None
        return Scope(path=test.path, function=test.function, owner=owner if isinstance(owner, Definition) else None)

    def _pieces(self, failure: Failure, test: Test) -> Iterator[ast.AST]:
        asserting = self.statement(failure)
        if asserting is not None:
            yield asserting
            used = {n.id for n in ast.walk(asserting) if isinstance(n, ast.Name)}
            earlier = [n for n in ast.walk(test.function) if isinstance(n, ast.Assign) and n.lineno < asserting.lineno]
            for node in sorted(earlier, key=lambda n: -n.lineno):
                if used & {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}:
                    yield node
        yield from reversed(test.function.body)
        yield from (fixture.node for fixture in self.fixtures(test))

    def fixtures(self, test: Test) -> list[Definition]:
        """The fixtures that a test names as parameters."""
        found = [
            self.names.fixture(a.arg, self._scope(test))
            for a in test.function.args.args
            if a.arg not in ("self", "cls")
        ]
        return [fixture for fixture in found if fixture]

    def suspects(self, failure: Failure, changed: Sequence[Hunk] = ()) -> list[Suspect]:
        """Every suspect of a failure; those touched by recent changes first, else traceback before reading."""
        found: dict[str, Suspect] = {}
        for suspect in (*self.blamed(failure), *self.frames(failure), *self.subjects(failure)):
            found.setdefault(suspect.key, suspect)
        touched = touched_lines(changed)
        return sorted(found.values(), key=lambda s: not touches(s, touched))


def touched_lines(changed: Sequence[Hunk]) -> dict[str, set[int]]:
    """Line numbers, in the new state, that the hunks add or border on by a removal."""
    found: dict[str, set[int]] = {}
    for hunk in changed:
        line = 0
        for text in hunk.hunk.split("\n"):
            header = re.match(r"@@ -\d+(?:,\d+)? \+(\d+)", text)
            if header:
                line = int(header[1])
            elif line and text[:1] in ("+", "-"):
                found.setdefault(hunk.file, set()).add(line)
            line += bool(line) and not header and text[:1] != "-"
    return found


def touches(suspect: Suspect, touched: dict[str, set[int]]) -> bool:
    """Whether a change lies within a suspect."""
    return any(suspect.start <= line <= suspect.end for line in touched.get(suspect.path, ()))


def _source_with_tests(path: str) -> bool:
    """Languages that keep unit tests in the file under test."""
    return path.endswith((".rs", ".zig", ".d")) and not is_test(path)

"""From a test's id to the code of the test."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from bot.packets.syntax import Function, Scope
from bot.packets.tree import Tree

_NAME = re.compile(r"[^\[\s(]*")


@dataclass(frozen=True, kw_only=True)
class TestId:
    """An id taken apart: file as written (None in unittest's form), names from the outside in, the rest verbatim."""

    __test__ = False  # pytest would collect it

    file: str | None
    names: tuple[str, ...]
    rest: str

    @property
    def parameters(self) -> str | None:
        """What stands in pytest's brackets; None for a plain test or a subtest."""
        plain = self.rest.startswith("[") and self.rest.endswith("]")
        return self.rest[1:-1] if plain else None


def parse(test: str) -> TestId:
    """`a/b.py::C::t[5m-300]`, `pkg.mod.C.t (n=1)`, or any title."""
    file, colons, inner = test.partition("::")
    inner = inner if colons else test
    name = _NAME.match(inner)
    head = name[0] if name else ""
    return TestId(
        file=file if colons else None,
        names=tuple(part for part in re.split(r"::|\.", head) if part),
        rest=inner[len(head) :],
    )


def file_of(test: str, tree: Tree, shown: str | None = None) -> str | None:
    """The tracked file of a test: from the log, from the id, or from the dotted module in a unittest id."""
    known = tree.resolve(shown) or tree.resolve(parse(test).file)
    if known or "::" in test:
        return known
    names = parse(test).names
    return next((p for n in range(len(names) - 1, 0, -1) if (p := tree.dotted(".".join(names[:n]), ""))), None)


def definitions(test: str, tree: Tree, path: str) -> list[tuple[str, Scope]]:
    """Where an id's test is defined: its dotted name, or else (inherited, generated) everything of its last name."""
    names = parse(test).names
    matches = tree.called(path, names[-1]) if names else []
    exact = [pair for pair in matches if names[-len(pair[0].split(".")) :] == tuple(pair[0].split("."))]
    longest = max((pair[0].count(".") for pair in exact), default=0)
    return [pair for pair in exact if pair[0].count(".") == longest] or matches


def function(test: str, tree: Tree, path: str) -> tuple[str, Function] | None:
    """The function of a test, if the id leads to one."""
    for name, node in definitions(test, tree, path):
        if not isinstance(node, ast.ClassDef):
            return name, node
    return None

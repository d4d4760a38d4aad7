"""Which definition of the repository a name in a test means: what is under test when the traceback ends in the test."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from bot.packets.syntax import (
    Function,
    assignments,
    bound,
    is_fixture,
    is_none,
    is_self,
    local_imports,
    mentions,
    parameters,
    top,
)
from bot.packets.tree import Tree

DEPTH = 12
"""Longest chain of imports, assignments and fixtures followed; also what ends a circle."""


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A function, class or module-level assignment: `name` is dotted inside its file."""

    path: str
    name: str
    node: ast.stmt = field(compare=False)

    @property
    def callable(self) -> bool:
        """A function or method: where behaviour is."""
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef)


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A value of a class of the repository."""

    of: Definition


@dataclass(frozen=True, kw_only=True)
class Module:
    """A file of the repository, imported."""

    path: str


Meaning = Definition | Instance | Module | None


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Where an expression stands: in a file, perhaps in a function, perhaps in a class."""

    path: str
    function: Function | None = None
    owner: Definition | None = None


class Names:
    """Resolves names, attributes and calls statically; what it cannot tell is None, never a guess."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._looked: dict[tuple[str, str], Meaning] = {}
        self._results: dict[Definition, Meaning] = {}
        self._members: dict[tuple[Definition, str], Meaning] = {}

    def lookup(self, path: str, name: str, depth: int = DEPTH) -> Meaning:
        """What `name` means at the top level of a file, through imports, re-exports and star imports."""
        if (path, name) not in self._looked and depth > 0:
            self._looked[path, name] = None  # what a circle comes back to
            self._looked[path, name] = self._look(path, name, depth)
        return self._looked.get((path, name))

    def _look(self, path: str, name: str, depth: int) -> Meaning:
        module = self._tree.module(path)
        stars: list[ast.ImportFrom] = []
        fallback: Meaning = None
        for node in reversed(list(top(module))) if module else ():
            if isinstance(node, ast.Import | ast.ImportFrom):
                found = self._imported(node, path, name, depth)
                if found:
                    return found
                if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                    stars.append(node)
            elif name in bound(node):
                found = self._own(node, path, name, depth)
                if not is_none(node):
                    return found
                fallback = found  # `except ImportError: f = None` is not what f means
        sources = (self._tree.dotted(star.module or "", path, star.level) for star in stars)
        return next((m for s in sources if s and (m := self.lookup(s, name, depth - 1))), fallback)

    def _own(self, node: ast.stmt, path: str, name: str, depth: int) -> Meaning:
        """A definition; an alias or a module-level object is followed, a plain constant is its own definition."""
        value = getattr(node, "value", None)
        if isinstance(value, ast.Name | ast.Attribute | ast.Call):
            meant = self.evaluate(value, Scope(path=path), depth - 1)
            if meant is not None:
                return meant
        return Definition(path=path, name=name, node=node)

    def _imported(self, node: ast.Import | ast.ImportFrom, path: str, name: str, depth: int) -> Meaning:
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            if bound != name:
                continue
            if isinstance(node, ast.Import):
                target = self._tree.dotted(alias.name if alias.asname else bound, path)
                return Module(path=target) if target else None
            return self._member_of_module(node.module or "", alias.name, path, node.level, depth)
        return None

    def _member_of_module(self, module: str, name: str, near: str, level: int, depth: int) -> Meaning:
        target = self._tree.dotted(module, near, level)
        found = self.lookup(target, name, depth - 1) if target and target != near else None
        if found is not None:
            return found
        submodule = self._tree.dotted(f"{module}.{name}".lstrip("."), near, level)
        return Module(path=submodule) if submodule else None

    def member(self, owner: Definition, name: str, depth: int = DEPTH) -> Meaning:
        """A method or attribute of a class, its bases included."""
        if (owner, name) not in self._members and depth > 0:
            self._members[owner, name] = None
            self._members[owner, name] = self._member(owner, name, depth)
        return self._members.get((owner, name))

    def _member(self, owner: Definition, name: str, depth: int) -> Meaning:
        if not isinstance(owner.node, ast.ClassDef):
            return None
        for node in owner.node.body:
            if name in bound(node):
                return Definition(path=owner.path, name=f"{owner.name}.{name}", node=node)
        scope = Scope(path=owner.path)
        bases = (self.evaluate(base, scope, depth - 1) for base in owner.node.bases)
        inherited = (self.member(base, name, depth - 1) for base in bases if isinstance(base, Definition))
        return next((found for found in inherited if found), None) or self._attribute(owner, name, depth)

    def _attribute(self, owner: Definition, name: str, depth: int) -> Meaning:
        """What `self.name` was set to in a method (`__init__`, `setUp`, ...)."""
        for method in getattr(owner.node, "body", []):
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                for target, value in assignments(method):
                    if isinstance(target, ast.Attribute) and target.attr == name and is_self(target.value):
                        return self.evaluate(value, Scope(path=owner.path, function=method, owner=owner), depth - 1)
        return None

    def evaluate(self, node: ast.expr | None, scope: Scope, depth: int = DEPTH) -> Meaning:
        """What an expression stands for, as far as the source tells."""
        if node is None or depth <= 0:
            return None
        if isinstance(node, ast.Name):
            return self._name(node.id, scope, depth)
        if isinstance(node, ast.Attribute):
            base = self.evaluate(node.value, scope, depth - 1)
            if isinstance(base, Module):
                return self._of_module(base, node.attr, depth)
            owner = base.of if isinstance(base, Instance) else base
            return self.member(owner, node.attr, depth - 1) if owner else None
        if isinstance(node, ast.Call):
            return self._result(self.evaluate(node.func, scope, depth - 1), depth)
        if isinstance(node, ast.Await | ast.NamedExpr):
            return self.evaluate(node.value, scope, depth - 1)
        return None

    def _of_module(self, module: Module, name: str, depth: int) -> Meaning:
        found = self.lookup(module.path, name, depth - 1)
        if found is None and module.path.endswith("__init__.py"):
            submodule = self._tree.dotted(name, module.path, 1)
            return Module(path=submodule) if submodule else None
        return found

    def _result(self, called: Meaning, depth: int) -> Meaning:
        """What a call gives: an instance, or what the function says (or plainly shows) that it returns."""
        if isinstance(called, Definition) and isinstance(called.node, ast.ClassDef):
            return Instance(of=called)
        if not isinstance(called, Definition) or not called.callable:
            return None
        if called not in self._results:
            self._results[called] = None
            self._results[called] = self._value(called, depth)
        return self._results[called]

    def _value(self, called: Definition, depth: int) -> Meaning:
        assert isinstance(called.node, ast.FunctionDef | ast.AsyncFunctionDef)
        owner = self.lookup(called.path, called.name.split(".")[0]) if "." in called.name else None
        scope = Scope(path=called.path, function=called.node, owner=owner if isinstance(owner, Definition) else None)
        return self._annotated(called.node.returns, scope, depth) or self._returned(called.node, scope, depth)

    def _annotated(self, annotation: ast.expr | None, scope: Scope, depth: int) -> Meaning:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.Name(id=annotation.value, ctx=ast.Load())
        if isinstance(annotation, ast.Name) and annotation.id == "Self" and scope.owner:
            return Instance(of=scope.owner)
        named = (
            self.evaluate(annotation, scope, depth - 1) if isinstance(annotation, ast.Name | ast.Attribute) else None
        )
        return Instance(of=named) if isinstance(named, Definition) and isinstance(named.node, ast.ClassDef) else None

    def _returned(self, function: Function, scope: Scope, depth: int) -> Meaning:
        values = (n.value for n in ast.walk(function) if isinstance(n, ast.Return | ast.Yield))
        return next((m for v in values if isinstance(m := self.evaluate(v, scope, depth - 2), Instance)), None)

    def _name(self, name: str, scope: Scope, depth: int) -> Meaning:
        if scope.function is None:
            return self.lookup(scope.path, name, depth - 1)
        names = [a.arg for a in parameters(scope.function)]
        if scope.owner and names[:1] == [name] and name in ("self", "cls"):
            return Instance(of=scope.owner) if name == "self" else scope.owner
        for target, value in reversed(list(assignments(scope.function))):
            if isinstance(target, ast.Name) and target.id == name and not mentions(value, name):
                return self.evaluate(value, scope, depth - 1)
        if name in names:
            return self._parameter(name, scope, depth)
        local = (self._imported(n, scope.path, name, depth) for n in local_imports(scope.function))
        return next((found for found in local if found), None) or self.lookup(scope.path, name, depth - 1)

    def _parameter(self, name: str, scope: Scope, depth: int) -> Meaning:
        """A parameter means its annotation, else what the fixture of that name gives."""
        argument = next(a for a in parameters(scope.function) if a.arg == name)
        fixture = self.fixture(name, scope)
        return self._annotated(argument.annotation, scope, depth) or self._result(fixture, depth - 1)

    def fixture(self, name: str, scope: Scope) -> Definition | None:
        """The pytest fixture of a name: in the class, the file, or the nearest conftest.py above it."""
        if scope.owner and isinstance(own := self.member(scope.owner, name), Definition) and is_fixture(own.node):
            return own
        folders = [str(folder) for folder in PurePosixPath(scope.path).parents]
        files = [scope.path, *(f"{folder}/conftest.py".removeprefix("./") for folder in folders)]
        for path in files:
            found = self.lookup(path, name) if path in self._tree.paths else None
            if isinstance(found, Definition) and is_fixture(found.node):
                return found
        return None

    def mentioned(self, node: ast.AST, scope: Scope) -> list[Definition]:
        """Definitions that a piece of code names, outermost call first, each once; functions before the rest."""
        found: dict[Definition, None] = {}
        for part in ast.walk(node):
            if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Load):
                meant = self.evaluate(part, scope)
                if isinstance(meant, Definition):
                    found[meant] = None
        return sorted(found, key=lambda d: 0 if d.callable else 1 if isinstance(d.node, ast.ClassDef) else 2)

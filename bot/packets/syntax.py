"""Small questions to a Python syntax tree."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | ast.ClassDef


def parsed(text: str) -> ast.Module | None:
    """A syntax tree; None for what is no Python 3, and for nesting made to exhaust the parser."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def scopes(module: ast.Module) -> Iterator[tuple[str, Scope]]:
    """Every function and class with its dotted name, outer ones first."""
    waiting: list[tuple[str, ast.AST]] = [("", module)]
    while waiting:
        prefix, node = waiting.pop(0)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield prefix + child.name, child
                waiting.append((prefix + child.name + ".", child))
            elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                waiting.append((prefix, child))


def extent(node: ast.stmt) -> tuple[int, int]:
    """First and last line, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)]), node.end_lineno or node.lineno


def inner(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements directly inside a statement or module, those of its branches included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.excepthandler | ast.match_case):
            yield from inner(child)


def top(module: ast.Module) -> Iterator[ast.stmt]:
    """Statements that run on import, those inside `if`, `try` and `with` included."""
    waiting: list[ast.AST] = list(reversed(module.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            waiting.extend(
                reversed([c for c in ast.iter_child_nodes(node) if isinstance(c, ast.stmt | ast.ExceptHandler)])
            )


def is_none(node: ast.stmt) -> bool:
    value = getattr(node, "value", None)
    return isinstance(value, ast.Constant) and value.value is None


def bound(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}


def assignments(function: Function) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield node.target, node.value
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield node.optional_vars, node.context_expr
        elif isinstance(node, ast.NamedExpr):
            yield node.target, node.value


def local_imports(function: Function) -> Iterator[ast.Import | ast.ImportFrom]:
    return (node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom))


def parameters(function: Function | None) -> list[ast.arg]:
    return [] if function is None else [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def mentions(value: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value))


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def is_fixture(node: ast.stmt) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any("fixture" in (getattr(p, "id", ""), getattr(p, "attr", "")) for d in decorators for p in ast.walk(d))

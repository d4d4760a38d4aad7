"""What the repository itself says about a name, module or call that an exception complains of."""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Callable, Sequence

from bot.domain.findings import Failure
from bot.packets.syntax import Function
from bot.packets.tree import Tree, is_test

MOST_FILES = 1000
"""Source files searched for a name; a hint is not worth reading a huge repository."""


def of_error(failure: Failure, tree: Tree) -> str | None:
    """A fact about the failure's exception, None when the repository says nothing sure."""
    text = (failure.message or failure.assertion or "")[:2000]
    for pattern, facts in _ERRORS:
        match = pattern.search(text)
        if match:
            return facts(match, tree)
    return None


def _no_name(match: re.Match[str], tree: Tree) -> str | None:
    name = match[1]
    if name in sys.stdlib_module_names:
        return f"a module of the standard library is named {name}"
    where = _defined(name, tree)
    return f"{name} is defined in {_listed(where)}" if where else None


def _no_import(match: re.Match[str], tree: Tree) -> str | None:
    name, module = match[1], match[2]
    where = _defined(name, tree)
    if where:
        return f"{name} is defined in {_listed(where)}"
    path = tree.dotted(module, "")
    known = _top_names(path, tree) if path else []
    near = difflib.get_close_matches(name, known, n=1)
    return f"{path} defines no {name}; it defines {near[0]}" if near else None


def _no_module(match: re.Match[str], tree: Tree) -> str | None:
    leaf = match[1].split(".")[-1]
    found = [p for p in sorted(tree.paths) if p.endswith((f"/{leaf}.py", f"/{leaf}/__init__.py")) or p == f"{leaf}.py"]
    return f"a module named {leaf} lies at {_listed(found)}" if found else None


def _no_attribute(match: re.Match[str], tree: Tree) -> str | None:
    for path in _sources(tree):
        for _, node in tree.called(path, match[1]) if match[1] in (tree.text(path) or "") else ():
            if isinstance(node, ast.ClassDef):
                known = [n.name for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
                near = difflib.get_close_matches(match[2], known, n=1)
                return f"{match[1]} in {path} has no {match[2]}; it has {near[0]}" if near else None
    return None


def _call(match: re.Match[str], tree: Tree) -> str | None:
    """The signature that a call did not fit, if the repository has just one function of that name."""
    *owner, leaf = match[1].split(".")[-2:]
    found: list[tuple[str, Function]] = []
    for path in _sources(tree):
        for name, node in tree.called(path, leaf) if f"def {leaf}" in (tree.text(path) or "") else ():
            if not isinstance(node, ast.ClassDef) and (not owner or name.split(".")[-2:-1] == owner):
                found.append((path, node))
    if len(found) != 1:
        return None
    return f"{found[0][0]} defines {leaf}({_signature(found[0][1])})"


def _signature(function: Function) -> str:
    """Names only: a default value can be anything, nested deep enough to exhaust a printer."""
    a = function.args
    positional = [p.arg for p in (*a.posonlyargs, *a.args)]
    first_default = len(positional) - len(a.defaults)
    shown = [name + ("=..." if i >= first_default else "") for i, name in enumerate(positional)]
    shown += [f"*{a.vararg.arg}"] if a.vararg else ["*"] if a.kwonlyargs else []
    shown += [p.arg + ("" if d is None else "=...") for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    return ", ".join(shown + ([f"**{a.kwarg.arg}"] if a.kwarg else []))


_ERRORS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Tree], str | None]], ...] = (
    (re.compile(r"NameError: (?:free variable |global )?(?:name )?'(\w+)' is not defined"), _no_name),
    (re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'"), _no_import),
    (re.compile(r"No module named '([\w.]{1,200})'"), _no_module),
    (re.compile(r"'(\w+)' object has no attribute '(\w+)'"), _no_attribute),
    (
        re.compile(r"(?<![\w.])([\w.]{1,200})\(\) (?:got an unexpected keyword argument|missing \d+ required|takes )"),
        _call,
    ),
)


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(paths[:4])


def _sources(tree: Tree) -> list[str]:
    return [path for path in sorted(tree.paths) if path.endswith(".py") and not is_test(path)][:MOST_FILES]


def _defined(name: str, tree: Tree) -> list[str]:
    named = [
        p
        for p in _sources(tree)
        if re.search(rf"(?m)^(?:(?:async )?def|class) {name}\b|^{name}\b\s*[:=]", tree.text(p) or "")
    ]
    return named[:4]


def _top_names(path: str, tree: Tree) -> list[str]:
    return [name for name, _ in tree.scopes(path) if "." not in name]

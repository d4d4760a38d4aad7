"""Decides whether fenced code is a whole file or functions of one, and puts it into the draft; never guesses."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.domain.patch import Rejected
from bot.repair import functions
from bot.repair.draft import Draft
from bot.repair.formats import Code, elided
from bot.repair.functions import Definition, Snippet


def place(draft: Draft, code: Code, near: Sequence[str]) -> Rejected | None:
    """Put one fenced block into the file it names, or whole functions into the one file of `near` that has them."""
    if code.path is not None:
        return _into_file(draft, code.path, code.code)
    part = functions.snippet(code.code)
    if part is None or not part.definitions:
        return Rejected(reason=_no_python(code.code))
    return _left_out(draft, near, code.code) or _merge(draft, near, part)


def _into_file(draft: Draft, path: str, code: str) -> Rejected | None:
    text = draft.text(path)
    whole = f"{code.rstrip()}\n" if code.strip() else ""
    if text is None:
        return draft.write(path, whole)
    left_out = _left_out(draft, [path], code)
    if left_out is not None:
        return left_out
    if not path.endswith(".py"):
        if len(whole.splitlines()) * 2 < len(text.splitlines()):
            return Rejected(reason=f"{path}: that is less than half of the file; quote the lines to replace instead")
        return draft.write(path, whole)
    part = functions.snippet(code)
    if part is None:
        return Rejected(reason=_no_python(code))
    if _is_whole(text, code):
        return draft.write(path, whole)
    if not part.definitions:
        return Rejected(reason=f"{path}: the block is neither the whole file nor a function of it")
    return _merge(draft, [path], part)


def _is_whole(text: str, code: str) -> bool:
    """Every def of the file is there, and something beside defs too, if the file has that."""
    if not functions.top_level_names(text) <= functions.top_level_names(code):
        return False
    beside = functions.beside(text)
    return not beside or bool(beside & functions.beside(code))


def _merge(draft: Draft, files: Sequence[str], part: Snippet) -> Rejected | None:
    """Replace each definition of the snippet where it stands; new helpers and constants go before the first one."""
    top = [d for d in part.definitions if "." not in d.name]
    found = [(d, _home(draft, files, d)) for d in top]
    bad = next((home for _, home in found if isinstance(home, Rejected)), None)
    homes = [(d, home) for d, home in found if isinstance(home, tuple)]
    if bad is not None or not homes:
        return bad or Rejected(reason=_unknown([d.name for d in top], draft, files))
    path, name = homes[0][1]
    helpers = [d for d, home in found if home is None]
    return (
        _first(_put(draft, home, wanted, part) for wanted, home in homes)
        or _first(_constant(draft, path, name, key, text) for key, text in part.extras)
        or _first(_helper(draft, path, name, helper, part) for helper in helpers)
        or _first(_import(draft, path, i) for i in functions.missing_imports(draft.text(path) or "", part.imports))
    )


def _first(steps: Iterable[Rejected | None]) -> Rejected | None:
    """Take the steps one by one; the first that cannot be done ends it."""
    return next((step for step in steps if step is not None), None)


def _home(draft: Draft, files: Sequence[str], wanted: Definition) -> tuple[str, str] | Rejected | None:
    """(file, full name) of the one definition that `wanted` is a new version of."""
    method = _first_argument(wanted) in ("self", "cls")
    places = [
        (path, d.name)
        for path in files
        if wanted.name in (text := draft.text(path) or "")
        for d in functions.definitions(text)
        if d.name.rpartition(".")[2] == wanted.name and d.is_class == wanted.is_class
    ]
    if len(places) > 1:
        places = [(path, name) for path, name in places if ("." in name) == method] or places
    if len(places) > 1:
        where = ", ".join(f"{name} in {path}" for path, name in places[:5])
        return Rejected(reason=f"{wanted.name} stands in several places ({where}); use search/replace blocks")
    return places[0] if places else None


def _put(draft: Draft, home: tuple[str, str], wanted: Definition, part: Snippet) -> Rejected | None:
    path, name = home
    onto = _find(draft, path, name)
    if onto is None:
        return Rejected(reason=f"{name} is given twice, on its own and inside another definition; give it once")
    members = _members(draft.text(path) or "", name)
    if onto.is_class and not members <= {d.name.rpartition(".")[2] for d in _inside(part, wanted)}:
        return _first(_member(draft, path, name, d, part) for d in _inside(part, wanted))
    first, last = functions.replaced_lines(wanted, onto)
    return _lines(draft, path, first, last, _rendered(draft, path, part, wanted, onto))


def _rendered(draft: Draft, path: str, part: Snippet, wanted: Definition, onto: Definition) -> str:
    """A docstring that the model left out stays: it is the contract that later turns and people go by."""
    return functions.rendered(part, wanted, onto, functions.documentation(draft.text(path) or "", onto))


def _member(draft: Draft, path: str, owner: str, wanted: Definition, part: Snippet) -> Rejected | None:
    """One method of a class that was only partly given: replace it, or add it at the class's end."""
    known = _find(draft, path, f"{owner}.{wanted.name.rpartition('.')[2]}")
    if known is not None:
        first, last = functions.replaced_lines(wanted, known)
        return _lines(draft, path, first, last, _rendered(draft, path, part, wanted, known))
    home = _find(draft, path, owner)
    if home is None:
        return Rejected(reason=f"there is no class {owner} in {path}")
    body = functions.rendered(part, wanted, replace(home, indent=home.indent + 4))
    return _lines(draft, path, home.end + 1, home.end, f"\n{body}")


def _helper(draft: Draft, path: str, name: str, wanted: Definition, part: Snippet) -> Rejected | None:
    """A new function: a method goes into the class of the one it came with, others before it."""
    owner = name.rpartition(".")[0]
    if owner and _first_argument(wanted) in ("self", "cls"):
        return _member(draft, path, owner, wanted, part)
    outer = _find(draft, path, name.partition(".")[0])
    body = functions.rendered(part, wanted, replace(outer, indent=0)) if outer else ""
    return _before(draft, path, name, f"{body}\n\n\n")


def _constant(draft: Draft, path: str, name: str, key: str, text: str) -> Rejected | None:
    now = functions.constants(draft.text(path) or "").get(key)
    if now is None:
        return _before(draft, path, name, f"{text}\n\n\n")
    return None if now == text else draft.replace(path, now, text)


def _before(draft: Draft, path: str, name: str, text: str) -> Rejected | None:
    outer = _find(draft, path, name.partition(".")[0])
    at = outer.start if outer else 1
    return _lines(draft, path, at, at - 1, text.removesuffix("\n"))


def _import(draft: Draft, path: str, line: str) -> Rejected | None:
    at = functions.import_line(draft.text(path) or "")
    return _lines(draft, path, at + 1, at, line if at else f"{line}\n\n")


def _lines(draft: Draft, path: str, first: int, last: int, new: str) -> Rejected | None:
    """Replace lines `first` to `last` (1-based; none when `last` is before `first`) by the lines of `new`."""
    lines = (draft.text(path) or "").split("\n")
    if "\n".join(lines[first - 1 : last]) == new and last >= first:
        return None
    start = sum(len(line) + 1 for line in lines[: first - 1])
    end = sum(len(line) + 1 for line in lines[:last])
    if last == len(lines):
        return draft.splice(path, start, end - 1, new)
    return draft.splice(path, start, end, f"{new}\n")


def _find(draft: Draft, path: str, name: str) -> Definition | None:
    named = [d for d in functions.definitions(draft.text(path) or "") if d.name == name]
    return named[-1] if named else None


def _members(text: str, owner: str) -> frozenset[str]:
    return frozenset(d.name.rpartition(".")[2] for d in functions.definitions(text) if _child(d.name, owner))


def _inside(part: Snippet, owner: Definition) -> tuple[Definition, ...]:
    return tuple(d for d in part.definitions if _child(d.name, owner.name))


def _child(name: str, owner: str) -> bool:
    return name.rpartition(".")[0] == owner


def _first_argument(wanted: Definition) -> str | None:
    node = wanted.node
    if node is None or isinstance(node, ast.ClassDef):
        return None
    return next((a.arg for a in [*node.args.posonlyargs, *node.args.args]), None)


def _left_out(draft: Draft, files: Iterable[str], code: str) -> Rejected | None:
    line = elided(code)
    if line is None or any(line in (draft.text(path) or "") for path in files):
        return None
    return Rejected(reason=f"the line {line[:100]!r} stands for code left out; write that code in full")


def _no_python(code: str) -> str:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError) as error:
        return f"the code in the reply is not valid Python: {error}"
    return "the code in the reply is no function or class, and no file is named; name the file, or give the function"


def _unknown(names: Sequence[str], draft: Draft, files: Sequence[str]) -> str:
    there = [d.name for path in files[:5] for d in functions.definitions(draft.text(path) or "")]
    return f"there is no {', '.join(names)} in {', '.join(files[:5])}; the functions there are: {', '.join(there[:20])}"

"""Finds where a function that a model wrote whole belongs in a Python file, and puts it there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.packets.syntax import parsed

Def = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_HEAD = re.compile(r"(?P<indent>[ \t]*)(?P<kind>def|async +def|class) +(?P<name>\w+)")


@dataclass(frozen=True, kw_only=True)
class Definition:
    """One def or class: `name` with the names around it ("A.m", "f.inner"), lines 1-based and inclusive.

    `start` is its first decorator's line, `head` the line of `def` or `class`, `indent` its column; `node` is None
    where the file does not parse and the definition was told by its indentation.
    """

    name: str
    start: int
    head: int
    end: int
    indent: int
    is_class: bool
    node: Def | None = None


@dataclass(frozen=True, kw_only=True)
class Snippet:
    """What a fenced block holds: definitions with their text, imports, other statements to keep (`extras`)."""

    lines: tuple[str, ...]
    definitions: tuple[Definition, ...]
    imports: tuple[str, ...]
    extras: tuple[tuple[str, str], ...]


def definitions(source: str) -> tuple[Definition, ...]:
    """Every def and class of a file, outer before inner; told by indentation when the file does not parse."""
    tree = parsed(source)
    return tuple(_walk(tree.body, "")) if tree else tuple(_by_indentation(source.split("\n")))


def enclosing(source: str, first: int, last: int) -> Definition | None:
    """The innermost function (else class) that holds lines `first` to `last`."""
    around = [d for d in definitions(source) if d.start <= first and last <= d.end]
    functions = [d for d in around if not d.is_class]
    found = functions or around
    return found[-1] if found else None


def parses(source: str) -> bool:
    """The text is Python."""
    return parsed(source) is not None


def top_level_names(source: str) -> frozenset[str]:
    """Names of the defs and classes at the top of a file."""
    return frozenset(d.name for d in definitions(source) if "." not in d.name)


def beside(source: str) -> frozenset[str]:
    """Imports and assigned names at the top of a file: what it has beside its defs."""
    tree = parsed(source)
    body = tree.body if tree else []
    imports = {ast.unparse(n) for n in body if isinstance(n, ast.Import | ast.ImportFrom)}
    return frozenset(imports | constants(source).keys())


def constants(source: str) -> dict[str, str]:
    """Assignments to one name at the top of a file, with their text."""
    tree = parsed(source)
    return dict(_assigned(tree.body, source.split("\n"))) if tree else {}


def without_body(source: str) -> str | None:
    """A lone function's head and documentation with the body left out; None when it is something else."""
    part = snippet(source)
    top = [d for d in part.definitions if "." not in d.name] if part else []
    if part is None or len(top) != 1 or top[0].node is None or top[0].is_class:
        return None
    body = top[0].node.body
    documented = ast.get_docstring(top[0].node) is not None
    last = (body[0].end_lineno or 0) if documented else body[0].lineno - 1
    head = part.lines[top[0].start - 1 : last]
    return "\n".join([*head, f"{' ' * body[0].col_offset}..."])


def snippet(block: str) -> Snippet | None:
    """Read a block of code that may be indented as it stands in its file; None when it is not Python."""
    text = block.strip("\n")
    tree = parsed(text)
    if tree is None:
        text = f"if 1:\n{text}"
        whole = parsed(text)
        if whole is None or not isinstance(whole.body[0], ast.If) or len(whole.body) > 1:
            return None
        tree = ast.Module(body=whole.body[0].body, type_ignores=[])
    lines = tuple(text.split("\n"))
    return Snippet(
        lines=lines,
        definitions=tuple(_walk(tree.body, "")),
        imports=tuple(ast.unparse(n) for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)),
        extras=tuple(_assigned(tree.body, lines)),
    )


def rendered(part: Snippet, wanted: Definition, onto: Definition, docstring: str | None = None) -> str:
    """The snippet's definition as text for the place of `onto`: its indentation, `docstring` if it has none itself."""
    shift = onto.indent - wanted.indent
    fixed = _string_lines(wanted.node)
    body = [
        line if not shift or number in fixed else shifted(line, shift)
        for number, line in enumerate(part.lines[wanted.start - 1 : wanted.end], start=wanted.start)
    ]
    at = _undocumented(part, wanted) if docstring else None
    if at is not None:
        body.insert(at, body[at][: len(body[at]) - len(body[at].lstrip())] + (docstring or ""))
    return "\n".join(body)


def documentation(source: str, found: Definition) -> str | None:
    """The docstring of a definition as it is written in its file; None without one."""
    if found.node is None or ast.get_docstring(found.node) is None:
        return None
    return ast.get_source_segment(source, found.node.body[0])


def _undocumented(part: Snippet, wanted: Definition) -> int | None:
    """Which line of a definition without a docstring its body begins at; None where it begins beside the head."""
    if wanted.node is None or ast.get_docstring(wanted.node) is not None:
        return None
    first = wanted.node.body[0]
    number = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
    alone = not part.lines[number - 1][: first.col_offset].strip()
    return number - wanted.start if alone else None


def replaced_lines(wanted: Definition, onto: Definition) -> tuple[int, int]:
    """Lines of the file that the new text replaces: the old decorators stay where the new text has none."""
    return (onto.head if wanted.start == wanted.head else onto.start), onto.end


def missing_imports(source: str, imports: Sequence[str]) -> tuple[str, ...]:
    """Those imports that the file does not have at its top."""
    tree = parsed(source)
    have = {ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)} if tree else set()
    bound = {name for line in have for name in _bound(line)}
    return tuple(line for line in imports if line not in have and not _bound(line) <= bound)


def import_line(source: str) -> int:
    """After which line a new import goes: the last one at the top, else the docstring; 0 is the very start."""
    tree = parsed(source)
    last = 0
    for index, node in enumerate(tree.body if tree else []):
        docstring = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Import | ast.ImportFrom) or docstring:
            last = node.end_lineno or 0
    return last


def _assigned(body: Sequence[ast.stmt], lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Constants beside the definitions, as (name, text); calls, asserts and main guards are only examples of use."""
    for node in body:
        names = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if len(names) == 1 and isinstance(names[0], ast.Name):
            yield names[0].id, "\n".join(lines[node.lineno - 1 : node.end_lineno])


def _walk(body: Sequence[ast.stmt], prefix: str) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}{node.name}"
            start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            end = node.end_lineno or node.lineno
            is_class = isinstance(node, ast.ClassDef)
            yield Definition(
                name=name, start=start, head=node.lineno, end=end, indent=node.col_offset, is_class=is_class, node=node
            )
            yield from _walk(node.body, f"{name}.")
        else:
            yield from _walk([n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)], prefix)


def _by_indentation(lines: Sequence[str]) -> Iterator[Definition]:
    outer: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        match = _HEAD.match(line)
        if not match:
            continue
        indent = len(match["indent"])
        outer = [(i, n) for i, n in outer if i < indent]
        name = ".".join([*(n for _, n in outer), match["name"]])
        outer.append((indent, match["name"]))
        is_class = match["kind"] == "class"
        end = _end(lines, number, indent)
        yield Definition(name=name, start=number, head=number, end=end, indent=indent, is_class=is_class)


def _end(lines: Sequence[str], head: int, indent: int) -> int:
    end = head
    for number, line in enumerate(lines[head:], start=head + 1):
        if line.strip() and len(line) - len(line.lstrip()) <= indent and not line.lstrip().startswith((")", "]", "}")):
            break
        end = number if line.strip() else end
    return end


def _string_lines(node: ast.AST | None) -> set[int]:
    """Lines inside multi-line strings, whose blank space is a value; docstrings may be shifted."""
    if node is None:
        return set()
    documented = [n.value for n in ast.walk(node) if isinstance(n, ast.Expr)]
    return {
        line
        for n in ast.walk(node)
        if isinstance(n, ast.Constant | ast.JoinedStr) and n not in documented and n.end_lineno
        for line in range(n.lineno + 1, n.end_lineno + 1)
    }


def shifted(line: str, shift: int) -> str:
    """A line moved by so many columns, to the left as far as it is blank; a blank line becomes empty."""
    if not line.strip():
        return ""
    return " " * shift + line if shift > 0 else line[min(-shift, len(line) - len(line.lstrip())) :]


def _bound(line: str) -> set[str]:
    node = ast.parse(line).body[0]
    return {a.asname or a.name for a in node.names} if isinstance(node, ast.Import | ast.ImportFrom) else set()

"""GitHub's `${{ }}` expressions, as far as they can be known without GitHub: what is not known stays Unknown.

Grammar and conversions: GitHub Docs, "Evaluate expressions in workflows and actions".
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

LONGEST, DEEPEST = 4000, 30
"""Characters and nesting of an expression that is looked at: nobody writes longer ones by hand."""

_TOKEN = re.compile(
    r"\s*(?:(?P<string>'(?:[^']|'')*')|(?P<number>-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?))"
    r"|(?P<name>[A-Za-z_][\w-]*)|(?P<op>&&|\|\||[<>=!]=|[<>!()\[\].,*]))"
)
_HOLE = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True)
class Unknown:
    """A value that cannot be known here; `what` names it ("secrets.TOKEN")."""

    what: str


class _Bad(Exception):
    """Not an expression."""


def names(text: str, context: str) -> tuple[str, ...]:
    """Which members of `context` (for example "secrets") the expressions in a text refer to."""
    found = (name for hole in _HOLE.findall(text) for name in re.findall(rf"\b{context}\.([A-Za-z_][\w-]*)", hole))
    return tuple(dict.fromkeys(found))


def pieces(text: str) -> list[str]:
    """The fixed text between the expressions of a template."""
    return _HOLE.split(text)[::2]


def expand(text: str, context: Mapping[str, object]) -> str | Unknown:
    """The text with every expression replaced by its value."""
    values = [evaluate(hole, context) for hole in _HOLE.findall(text)]
    missing = next((value for value in values if isinstance(value, Unknown)), None)
    if missing is not None:
        return missing
    filled = iter(values)
    return _HOLE.sub(lambda _: _string(next(filled)), text)


def evaluate(text: str, context: Mapping[str, object]) -> object:
    """The value of one expression (without `${{ }}`): None, bool, float, str, list, dict or Unknown."""
    if len(text) > LONGEST:
        return Unknown("an expression of unusual length")
    try:
        parser = _Parser(_tokens(text), context)
        value = parser.either()
        return value if parser.done else Unknown(text.strip())
    except (_Bad, RecursionError):
        return Unknown(text.strip())


def truthy(value: object) -> bool | None:
    """As GitHub takes it in a condition; None when it is not known."""
    if isinstance(value, Unknown):
        return None
    return not (value is None or value is False or value == "" or value == 0 or value != value)


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _Bad
        found.append((match.lastgroup or "", match.group(match.lastgroup or 0)))
        at = match.end()
    return found


class _Parser:
    """Precedence climbing over the tokens, evaluating as it goes; nothing has side effects."""

    def __init__(self, tokens: Sequence[tuple[str, str]], context: Mapping[str, object]) -> None:
        self._tokens, self._context, self._at, self._depth = tokens, context, 0, 0

    @property
    def done(self) -> bool:
        return self._at == len(self._tokens)

    def either(self) -> object:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _Bad
        value = self._both()
        while self._take("||"):
            right = self._both()
            value = value if truthy(value) else (right if truthy(value) is False else _unknown(value, right))
        self._depth -= 1
        return value

    def _both(self) -> object:
        value = self._compared()
        while self._take("&&"):
            right = self._compared()
            value = right if truthy(value) else (value if truthy(value) is False else _unknown(value, right))
        return value

    def _compared(self) -> object:
        value = self._unary()
        while (op := self._take("==", "!=", "<=", ">=", "<", ">")) is not None:
            value = _compare(op, value, self._unary())
        return value

    def _unary(self) -> object:
        if self._take("!"):
            value = self._unary()
            known = truthy(value)
            return value if known is None else not known
        return self._member(self._primary())

    def _member(self, value: object) -> object:
        while (op := self._take(".", "[")) is not None:
            if op == ".":
                key: object = "*" if self._take("*") else self._next("name")
            else:
                key = self.either()
                self._must("]")
            value = _get(value, key)
        return value

    def _primary(self) -> object:
        if self._take("("):
            value = self.either()
            self._must(")")
            return value
        kind, token = self._tokens[self._at] if not self.done else ("", "")
        self._at += 1
        if kind == "string":
            return token[1:-1].replace("''", "'")
        if kind == "number":
            return float(int(token, 0)) if "x" in token else float(token)
        if kind != "name":
            raise _Bad
        if self._take("("):
            return _call(token, self._arguments())
        if token.lower() in _WORDS:
            return _WORDS[token.lower()]
        return self._context.get(token, Unknown(token))

    def _arguments(self) -> list[object]:
        given: list[object] = []
        while not self._take(")"):
            if given:
                self._must(",")
            given.append(self.either())
        return given

    def _take(self, *ops: str) -> str | None:
        if not self.done and self._tokens[self._at][0] == "op" and self._tokens[self._at][1] in ops:
            self._at += 1
            return self._tokens[self._at - 1][1]
        return None

    def _must(self, op: str) -> None:
        if self._take(op) is None:
            raise _Bad

    def _next(self, kind: str) -> str:
        if self.done or self._tokens[self._at][0] != kind:
            raise _Bad
        self._at += 1
        return self._tokens[self._at - 1][1]


def _unknown(*values: object) -> object:
    return next((value for value in values if isinstance(value, Unknown)), None)


def _get(value: object, key: object) -> object:
    if isinstance(value, Unknown):
        return Unknown(f"{value.what}.{key}")
    if isinstance(key, Unknown):
        return key
    if isinstance(value, Mapping):
        lowered = {str(name).lower(): item for name, item in value.items()}
        return list(value.values()) if key == "*" else lowered.get(_string(key).lower())
    if isinstance(value, list):
        if key == "*":
            return value
        return value[int(key)] if isinstance(key, float) and 0 <= key < len(value) else None
    return None


def _compare(op: str, left: object, right: object) -> object:
    """Strings compare without case; values of two types compare as numbers."""
    unknown = _unknown(left, right)
    if unknown is not None:
        return unknown
    if isinstance(left, str) and isinstance(right, str):
        a, b = left.lower(), right.lower()
        return {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]
    x, y = _number(left), _number(right)
    return {"==": x == y, "!=": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op]


def _number(value: object) -> float:
    if isinstance(value, bool) or value is None:
        return float(bool(value))
    try:
        return float(value or 0) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        return math.nan


def _string(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    if isinstance(value, list | dict):
        return "Array" if isinstance(value, list) else "Object"
    return str(value)


def _contains(where: object, what: object) -> bool:
    if isinstance(where, list):
        return any(_compare("==", item, what) is True for item in where)
    return _string(what).lower() in _string(where).lower()


def _format(text: object, *values: object) -> str:
    told = {f"{{{n}}}": _string(value) for n, value in enumerate(values)} | {"{{": "{", "}}": "}"}
    return re.sub(r"\{\{|\}\}|\{\d+\}", lambda found: told.get(found.group(), ""), _string(text))


def _from_json(text: object) -> object:
    try:
        return json.loads(_string(text), parse_int=float)
    except (ValueError, RecursionError) as error:
        raise _Bad from error


_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "contains": _contains,
    "startswith": lambda text, start: _string(text).lower().startswith(_string(start).lower()),
    "endswith": lambda text, end: _string(text).lower().endswith(_string(end).lower()),
    "format": _format,
    "join": lambda items, by=",": _string(by).join(map(_string, items if isinstance(items, list) else [items])),
    "tojson": lambda value: json.dumps(value, indent=2),
    "fromjson": _from_json,
    "success": lambda: True,
    "always": lambda: True,
    "failure": lambda: False,
    "cancelled": lambda: False,
}
"""Status functions answer as in a run in which nothing fails: that is the run that a repair is after."""


def _call(name: str, given: list[object]) -> object:
    unknown = _unknown(*given)
    function = _FUNCTIONS.get(name.lower())
    if unknown is not None or function is None:
        return unknown or Unknown(f"{name}()")
    try:
        return function(*given)
    except TypeError as error:
        raise _Bad from error

"""Values of GitHub's expressions: how they convert, compare and show, and the functions on them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

LONGEST = 100_000
"""Characters of a value. Attack: `format('{0}{0}', ...)` nested, which doubles at every level."""

_NUMERAL = re.compile(r"-?0[xX][0-9a-fA-F]{1,12}|[-+]?(?:\d{1,18}\.?\d{0,18}|\.\d{1,18})(?:[eE][-+]?\d{1,3})?")


@dataclass(frozen=True)
class Unknown:
    """A value that cannot be known here. `secrets` are the names of the secrets that it is made from."""

    why: str
    secrets: frozenset[str] = frozenset()


class Partial(dict[str, object]):
    """A context of which only some is known: a missing key is Unknown, where a plain dict says null."""

    def __init__(self, name: str, values: Mapping[str, object] = MappingProxyType({})) -> None:
        super().__init__(values)
        self.name = name


class Bad(Exception):
    """An expression that GitHub would not read either."""


def shown(value: object) -> str:
    """A value as text: null is empty, whole numbers have no point, lists and objects are named."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.15g}"
        case str():
            return value
        case list() | tuple():
            return "Array"
        case Mapping():
            return "Object"
    return str(value)


def merged(values: Sequence[Unknown]) -> Unknown:
    """One Unknown for several, with the secrets of all."""
    return Unknown(values[0].why, frozenset().union(*(value.secrets for value in values)))


def number(text: str) -> int | float:
    """A numeral's value."""
    if "x" in text.lower():
        return int(text, 16)
    return float(text) if re.search(r"[.eE]", text) else int(text)


def true(value: object) -> bool:
    """As a condition takes it."""
    return value is not None and value not in (False, 0, "") and value == value


def _asnumber(value: object) -> float:
    if value is None:
        return 0.0
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, str):
        text = value.strip()
        return 0.0 if not text else float(number(text)) if _NUMERAL.fullmatch(text) else float("nan")
    return float("nan")


def compare(op: str, left: object, right: object) -> object:
    """Texts compare without case, values of two types as numbers."""
    unknown = [value for value in (left, right) if isinstance(value, Unknown)]
    if unknown:
        return merged(unknown)
    if isinstance(left, list | Mapping) or isinstance(right, list | Mapping):
        return (left is right) if op == "==" else (left is not right) if op == "!=" else False
    a: object = left
    b: object = right
    if isinstance(a, str) and isinstance(b, str):
        a, b = a.lower(), b.lower()
    else:
        a, b = _asnumber(a), _asnumber(b)
    return _OPERATORS[op](a, b)


_OPERATORS: Mapping[str, Callable[..., bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _contains(where: object, what: object) -> object:
    if isinstance(where, list):
        found = [compare("==", item, what) for item in where if not isinstance(item, list | Mapping)]
        if True in found:
            return True
        return next((item for item in found if isinstance(item, Unknown)), False)
    return shown(what).lower() in shown(where).lower()


def _format(template: object, *values: object) -> object:
    def one(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if int(match[1]) >= len(values):
            raise Bad("format() names a value that is not there")
        return shown(values[int(match[1])])

    text = re.sub(r"\{\{|\}\}|\{(\d{1,3})\}", one, shown(template))
    return text if len(text) <= LONGEST else Unknown("the value is too long")


def _join(values: object, between: object = ",") -> object:
    if not isinstance(values, list):
        return shown(values)
    unknown = [value for value in values if isinstance(value, Unknown)]
    text = shown(between).join(shown(value) for value in values)
    return merged(unknown) if unknown else text if len(text) <= LONGEST else Unknown("the value is too long")


def _from_json(text: object) -> object:
    try:
        return json.loads(shown(text))
    except (ValueError, RecursionError):
        return Unknown("fromJSON() of what is no JSON")


def _to_json(value: object) -> object:
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False)
    except (TypeError, RecursionError, ValueError):
        return Unknown("toJSON() of what is not all known")
    return text if len(text) <= LONGEST else Unknown("the value is too long")


FUNCTIONS: Mapping[str, tuple[int, int, Callable[..., object]]] = {
    "contains": (2, 2, _contains),
    "startswith": (2, 2, lambda text, what: shown(text).lower().startswith(shown(what).lower())),
    "endswith": (2, 2, lambda text, what: shown(text).lower().endswith(shown(what).lower())),
    "format": (1, 255, _format),
    "join": (1, 2, _join),
    "fromjson": (1, 1, _from_json),
    "tojson": (1, 1, _to_json),
    "hashfiles": (1, 255, lambda *_: Unknown("hashFiles() is not worked out here")),
}
"""Name -> fewest arguments, most arguments, function."""

"""GitHub's expressions: `${{ }}` over what is known. What is not known stays Unknown and is never guessed.

Source of the rules: docs.github.com, "Evaluate expressions in workflows and actions".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot.recipe.values import FUNCTIONS, LONGEST, Bad, Partial, Unknown, compare, merged, number, shown, true

_DEPTH = 40
_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?0[xX][0-9a-fA-F]{1,12}\b|-?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][-+]?\d{1,3})?\b)"
    r"|(?P<text>'(?:[^']|'')*')"
    r"|(?P<op>&&|\|\||[=!<>]=|[<>!()\[\],.*])"
    r"|(?P<name>[A-Za-z_][\w-]*))"
)


@dataclass(frozen=True)
class Scope:
    """What an expression can see: contexts by name, and whether the steps before went well."""

    contexts: Mapping[str, object] = field(default_factory=dict)
    success: bool = True


def evaluate(text: str, scope: Scope) -> object:
    """The value of one expression (without `${{ }}`): None, bool, number, text, list, dict or Unknown."""
    try:
        parser = _Parser(_tokens(text), scope)
        value = parser.either(0)
        if parser.peek:
            raise Bad(f"unexpected {parser.peek[1]!r}")
    except (Bad, RecursionError) as error:
        return Unknown(f"the expression cannot be read: {str(error)[:100]}")
    return value


def condition(text: object, scope: Scope) -> bool | Unknown:
    """Whether a step or job with this `if:` runs. Without a status function it also needs success()."""
    if text is None or text == "":
        return scope.success
    if isinstance(text, bool | int | float):
        return bool(text) and scope.success
    if not isinstance(text, str):
        return Unknown("`if` is no expression")
    inner = text.strip()
    whole = re.fullmatch(r"\$\{\{((?:(?!\}\}).)*)\}\}", inner, re.DOTALL)
    value = evaluate(whole[1] if whole else inner, scope) if whole or "${{" not in inner else interpolate(inner, scope)
    if not re.search(r"\b(?:success|failure|always|cancelled)\s*\(", inner) and not scope.success:
        return False
    return value if isinstance(value, Unknown) else true(value)


def interpolate(text: object, scope: Scope) -> str | Unknown:
    """A template with every `${{ }}` replaced; Unknown where one of them is, with the secrets of all."""
    if not isinstance(text, str):
        return shown(text)
    parts, unknown, at = list[str](), list[Unknown](), 0
    while (start := text.find("${{", at)) >= 0:
        end = _end(text, start + 3)
        if end < 0:
            return Unknown("an expression is not closed")
        value = evaluate(text[start + 3 : end], scope)
        if isinstance(value, Unknown):
            unknown.append(value)
        else:
            parts += (text[at:start], shown(value))
        at = end + 2
    if unknown:
        return merged(unknown)
    return "".join((*parts, text[at:]))[:LONGEST]


def literals(text: str) -> list[str]:
    """The fixed parts of a template, in order: what stands between its expressions."""
    parts, at = list[str](), 0
    while (start := text.find("${{", at)) >= 0 and (end := _end(text, start + 3)) >= 0:
        parts.append(text[at:start])
        at = end + 2
    return [*parts, text[at:]]


def _end(text: str, at: int) -> int:
    """Where the `}}` of an expression stands; one inside a quoted text does not count."""
    quoted = False
    for index in range(at, len(text)):
        if text[index] == "'":
            quoted = not quoted
        elif not quoted and text.startswith("}}", index):
            return index
    return -1


def _tokens(text: str) -> list[tuple[str, str]]:
    if len(text) > 10_000:
        raise Bad("too long")
    found, at = list[tuple[str, str]](), 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.end() == at:
            raise Bad(f"at {text[at : at + 20]!r}")
        found.append((str(match.lastgroup), match[str(match.lastgroup)]))
        at = match.end()
    return found


class _Parser:
    """Recursive descent that evaluates as it goes; both sides are always read, and only then chosen from."""

    def __init__(self, tokens: list[tuple[str, str]], scope: Scope) -> None:
        self.tokens, self.scope, self.at = tokens, scope, 0

    @property
    def peek(self) -> tuple[str, str] | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def taken(self, *ops: str) -> str | None:
        token = self.peek
        if token is None or token[0] != "op" or token[1] not in ops:
            return None
        self.at += 1
        return token[1]

    def need(self, op: str) -> None:
        if not self.taken(op):
            raise Bad(f"{op!r} is missing")

    def either(self, depth: int) -> object:
        value = self.both(depth)
        while self.taken("||"):
            other = self.both(depth)
            if not isinstance(value, Unknown) and not true(value):
                value = other
        return value

    def both(self, depth: int) -> object:
        value = self.compared(depth)
        while self.taken("&&"):
            other = self.compared(depth)
            if not isinstance(value, Unknown) and true(value):
                value = other
        return value

    def compared(self, depth: int) -> object:
        value = self.ordered(depth)
        while op := self.taken("==", "!="):
            value = compare(op, value, self.ordered(depth))
        return value

    def ordered(self, depth: int) -> object:
        value = self.unary(depth)
        while op := self.taken("<", "<=", ">", ">="):
            value = compare(op, value, self.unary(depth))
        return value

    def unary(self, depth: int) -> object:
        if depth > _DEPTH:
            raise Bad("nested too deeply")
        if not self.taken("!"):
            return self.path(self.primary(depth), depth)
        value = self.unary(depth + 1)
        return value if isinstance(value, Unknown) else not true(value)

    def primary(self, depth: int) -> object:
        if self.taken("("):
            value = self.either(depth + 1)
            self.need(")")
            return value
        token = self.peek
        if token is None or token[0] == "op":
            raise Bad("a value is missing")
        self.at += 1
        kind, text = token
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind == "number":
            return number(text)
        return self.call(text, depth) if self.taken("(") else self.named(text)

    def named(self, name: str) -> object:
        words: dict[str, object] = {"true": True, "false": False, "null": None, "nan": float("nan")}
        if name.lower() in words:
            return words[name.lower()]
        if name.lower() == "secrets":
            return _Secrets()
        return self.scope.contexts.get(name.lower(), Unknown(f"`{name}` is not known here"))

    def call(self, name: str, depth: int) -> object:
        arguments = list[object]()
        if not self.taken(")"):
            arguments.append(self.either(depth + 1))
            while self.taken(","):
                arguments.append(self.either(depth + 1))
            self.need(")")
        status = {"success": self.scope.success, "failure": not self.scope.success, "always": True, "cancelled": False}
        if name.lower() in status:
            return status[name.lower()]
        if name.lower() not in FUNCTIONS:
            return Unknown(f"`{name}()` is not known here")
        unknown = [value for value in arguments if isinstance(value, Unknown)]
        if unknown:
            return merged(unknown)
        least, most, function = FUNCTIONS[name.lower()]
        if not least <= len(arguments) <= most:
            raise Bad(f"{name}() has {len(arguments)} arguments")
        return function(*arguments)

    def path(self, value: object, depth: int) -> object:
        while op := self.taken(".", "["):
            if op == "." and self.taken("*"):
                value = _Every(_values(value))
                continue
            if op == ".":
                token = self.peek
                if token is None or token[0] != "name":
                    raise Bad("a name is missing after '.'")
                self.at += 1
                key: object = token[1]
            elif self.taken("*"):
                self.need("]")
                value = _Every(_values(value))
                continue
            else:
                key = self.either(depth + 1)
                self.need("]")
            value = _step(value, key)
        return value


class _Secrets(Mapping[str, object]):
    """The `secrets` context: every name is a secret that is not here."""

    def __getitem__(self, key: str) -> object:
        return Unknown(f"needs secret {key}", frozenset((key,)))

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Every(list[object]):
    """What `.*` gives: a further step is taken on each of them."""


def _values(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list) else []


def _step(value: object, key: object) -> object:
    if isinstance(value, Unknown):
        return value
    if isinstance(key, Unknown):
        return key
    if isinstance(value, _Every):
        found = [_step(item, key) for item in value if isinstance(item, Mapping | list)]
        return _Every([item for item in found if item is not None])
    if isinstance(value, _Secrets):
        return value[shown(key)]
    if isinstance(value, Mapping):
        return _member(value, shown(key))
    if isinstance(value, list) and isinstance(key, int | float):
        return value[int(key)] if 0 <= key < len(value) else None
    return None


def _member(value: Mapping[str, object], key: str) -> object:
    if key in value:
        return value[key]
    found = next((name for name in value if isinstance(name, str) and name.lower() == key.lower()), None)
    if found is not None:
        return value[found]
    return Unknown(f"`{value.name}.{key}` is not known here") if isinstance(value, Partial) else None

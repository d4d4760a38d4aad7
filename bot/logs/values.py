"""What was expected and what came instead, taken from the one line that a tool prints for it."""

from __future__ import annotations

import re

_EXCEPTION = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?::(?: (.*)|$)|$)", re.DOTALL)
_PLACES = re.compile(r" within -?\w+ (?:places|delta)(?:\b.*)?$")
_DIFFER = re.compile(r"^(?:Lists|Tuples|Sequences|Sets|Strings) differ: ")
_OPENING = {"(": ")", "[": "]", "{": "}"}


def exception_name(message: str) -> str | None:
    """Type at the head of `Type: text`, where it looks like one: `pkg.Type`, `KeyError`; None for prose."""
    found = _EXCEPTION.match(message)
    if found is None:
        return None
    name = found.group(1)
    last = name.rsplit(".", 1)[-1]
    if last[:1].isupper() or last.endswith(("Error", "Exception", "Warning")):
        return name
    return None


def rewritten(message: str, following: list[str]) -> str:
    """pytest's `assert 3 == 4` line: in the message, or on the lines after a message of one's own."""
    if message.startswith("AssertionError: assert "):
        return message.removeprefix("AssertionError: ")
    if message.startswith("assert "):
        return message
    if message.startswith("AssertionError"):
        for line in following:
            if line.startswith("assert "):
                return line
    return message


def compared(assertion: str) -> tuple[str | None, str | None]:
    """(expected, actual) of `assert L == R` (pytest) or `AssertionError: L != R` (unittest); else (None, None)."""
    if assertion.startswith("assert "):
        sides = _sides(assertion.removeprefix("assert "), " == ")
    elif assertion.startswith("AssertionError: "):
        text = _DIFFER.sub("", _PLACES.sub("", assertion.removeprefix("AssertionError: ")))
        sides = _sides(_without_note(text), " != ")
    else:
        sides = None
    return (sides[1], sides[0]) if sides else (None, None)


def _without_note(text: str) -> str:
    """unittest appends a message of one's own after " : "."""
    return next((text[:at] for at in _occurrences(text, " : ") if _outside(text, at)), text)


def _sides(text: str, operator: str) -> tuple[str, str] | None:
    """Split at the operator; an operator inside quotes or brackets does not count, unless it is the only one."""
    places = _occurrences(text, operator)
    if len(places) > 1:
        places = [place for place in places if _outside(text, place)]
    if len(places) != 1:
        return None
    left, right = text[: places[0]].strip(), text[places[0] + len(operator) :].strip()
    return (left, right) if left and right and not left.startswith("not ") else None


def _occurrences(text: str, operator: str) -> list[int]:
    places: list[int] = []
    at = text.find(operator)
    while at >= 0 and len(places) < 50:
        places.append(at)
        at = text.find(operator, at + 1)
    return places


def _outside(text: str, place: int) -> bool:
    """Whether a place lies outside every string and bracket."""
    depth, quote, at = 0, "", 0
    while at < place:
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char in _OPENING:
            depth += 1
        elif char in ")]}":
            depth -= 1
        at += 1
    return depth == 0 and not quote

"""One fact about a failure that a model would have to work out, or nothing: a guess would mislead."""

from __future__ import annotations

import ast
import math
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from bot.domain.findings import Failure
from bot.packets.facts import of_error
from bot.packets.syntax import parsed
from bot.packets.tree import Tree

LARGEST = 20_000
"""Characters of a value that is parsed."""

SHOWN = 120
"""Characters of a value that a hint quotes."""

_RATIOS = (10, 24, 60, 100, 1000, 1024, 3600, 86400)
_MISSING = object()


def hint(failure: Failure, tree: Tree, source: str | None = None) -> str | None:
    """A sentence that is true of this failure, None when nothing sure can be said.

    `source` is the asserting source line: it tells whether a value is what a call returned.
    """
    return of_error(failure, tree) or _of_values(failure.expected, failure.actual, source)


def _of_values(expected: str | None, actual: str | None, source: str | None) -> str | None:
    if expected is None or actual is None or expected == actual:
        return None
    wanted, found = _value(expected), _value(actual)
    if found is None and wanted is not None:
        return "returned None" if _compares_call(source) else "the actual value is None"
    if wanted is _MISSING or found is _MISSING:
        return None if _elided(expected) or _elided(actual) else _strings(expected, actual, whole=False)
    if type(wanted) is type(found) and wanted == found:
        return None  # what differs is not in the printed values
    if type(wanted) is not type(found):
        return _types(wanted, found)
    for kind, facts in _FACTS:
        if isinstance(wanted, kind):
            return facts(wanted, found)
    return None


def _elided(text: str) -> bool:
    return "..." in text or "\u2026" in text


def _value(text: str) -> Any:
    """A literal's value; not of a text that a tool has shortened with dots, which would parse as something else."""
    if len(text) > LARGEST or _elided(text):
        return _MISSING
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return _MISSING


def _compares_call(source: str | None) -> bool:
    """Whether the line is `assert call(...) == ...`: only then the actual value is what a call returned."""
    module = parsed((source or "").strip()[:2000])
    test = module.body[0].test if module and module.body and isinstance(module.body[0], ast.Assert) else None
    left = test.left if isinstance(test, ast.Compare) else None
    return isinstance(left.value if isinstance(left, ast.Await) else left, ast.Call)


def _types(wanted: Any, found: Any) -> str:
    fact = f"{type(found).__name__} where {type(wanted).__name__} was expected"
    same = str(wanted) == str(found) or (_sized(wanted, found) and list(wanted) == list(found))
    return fact + (", with the same content" if same else "")


def _sized(*values: Any) -> bool:
    return all(isinstance(value, list | tuple) for value in values)


def _numbers(wanted: Any, found: Any) -> str | None:
    if isinstance(wanted, bool):
        return None
    if isinstance(wanted, float):
        if not (math.isfinite(wanted) and math.isfinite(found)):
            return None
        near = wanted and abs(wanted - found) <= 1e-9 * max(abs(wanted), abs(found))
        return "differs only by floating-point rounding" if near else _proportion(wanted, found)
    if abs(wanted - found) == 1:
        return f"one too {'many' if found > wanted else 'few'} (off by one)"
    return _proportion(wanted, found)


def _proportion(wanted: Any, found: Any) -> str | None:
    if wanted == -found:
        return "the sign is reversed"
    for ratio in _RATIOS:
        if found and wanted == found * ratio:
            return f"expected is {ratio} times the actual value"
        if wanted and found == wanted * ratio:
            return f"actual is {ratio} times the expected value"
    return None


def _strings(wanted: str, found: str, whole: bool = True) -> str | None:
    """`whole`: these are the values themselves, not just their printed form."""
    if "".join(wanted.split()) == "".join(found.split()):
        if whole and wanted.rstrip("\n") == found.rstrip("\n"):
            return f"differs only in trailing newlines: {_ends(wanted)} expected, {_ends(found)} found"
        return "differs only in whitespace"
    if wanted.lower() == found.lower():
        return "differs only in letter case"
    if not whole:
        return None
    if not found or not wanted:
        return "the actual string is empty" if not found else "an empty string was expected"
    if wanted == found[::-1]:
        return "the string is reversed"
    return _affix(wanted, found) or _first_difference(wanted, found)


def _ends(text: str) -> int:
    return len(text) - len(text.rstrip("\n"))


def _affix(wanted: str, found: str) -> str | None:
    for longer, shorter, word in ((wanted, found, "missing"), (found, wanted, "too much")):
        if longer.startswith(shorter):
            off = "off by one at the end, " if len(longer) == len(shorter) + 1 else ""
            return f"{off}{word} at the end: {_quote(longer[len(shorter) :])}"
        if longer.endswith(shorter):
            return f"{word} at the start: {_quote(longer[: -len(shorter)])}"
    return None


def _first_difference(wanted: str, found: str) -> str | None:
    if len(wanted) < 20:
        return None
    at = next((i for i, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b), 0)
    around = slice(at, at + 12)
    return f"first difference at index {at}: {_quote(wanted[around])} expected, {_quote(found[around])} found"


def _sequences(wanted: Any, found: Any) -> str | None:
    w, f = list(wanted), list(found)
    if not f or not w:
        return f"empty, {len(w)} items expected" if w else f"{len(f)} items where none was expected"
    if len(w) > 1 and f == w[::-1]:
        return "sorted the other way" if _sorted(w) else "in reverse order"
    keys_w, keys_f = list(map(_key, w)), list(map(_key, f))
    missing, extra = Counter(keys_w) - Counter(keys_f), Counter(keys_f) - Counter(keys_w)
    if not missing and not extra:
        return "the same items in another order"
    shown = dict(zip((*keys_w, *keys_f), map(repr, (*w, *f)), strict=True))
    lacking, more = ([shown[key] for key in keys.elements()] for keys in (missing, extra))
    return _ending(w, f) or _contents(w, f, lacking, more, repeated=set(extra) <= set(keys_w))


def _key(value: Any) -> Any:
    """The same for values that a test finds equal: 1 and True, dicts in any order."""
    if isinstance(value, dict):
        return "dict", frozenset((key, _key(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(map(_key, value))
    return ("set", frozenset(value)) if isinstance(value, set) else ("", value)


def _sorted(values: list[Any]) -> bool:
    try:
        return values in (sorted(values), sorted(values, reverse=True))
    except TypeError:
        return False


def _ending(w: list[Any], f: list[Any]) -> str | None:
    for longer, shorter, word in ((w, f, "missing"), (f, w, "too much")):
        if len(longer) == len(shorter) + 1:
            if longer[:-1] == shorter:
                return f"off by one at the end, {word}: {_quote(longer[-1])}"
            if longer[1:] == shorter:
                return f"off by one at the start, {word}: {_quote(longer[0])}"
    return None


def _contents(w: list[Any], f: list[Any], missing: list[str], extra: list[str], *, repeated: bool) -> str | None:
    if not missing and repeated:
        return f"items repeated: {_list(extra)}"
    if not missing or not extra:
        return f"items missing: {_list(missing)}" if missing else f"items too much: {_list(extra)}"
    if len(w) != len(f):
        return f"{len(f)} items where {len(w)} were expected"
    at = next(i for i, (a, b) in enumerate(zip(w, f, strict=True)) if a != b)
    return f"first difference at index {at}: {_quote(w[at])} expected, {_quote(f[at])} found" if len(w) > 3 else None


def _mappings(wanted: Any, found: Any) -> str | None:
    missing = [repr(key) for key in wanted if key not in found]
    extra = [repr(key) for key in found if key not in wanted]
    wrong = [repr(key) for key in wanted if key in found and wanted[key] != found[key]]
    facts = [f"keys missing: {_list(missing)}"] if missing else []
    facts += [f"keys too much: {_list(extra)}"] if extra else []
    facts += [f"values differ at: {_list(wrong)}"] if wrong else []
    return "; ".join(facts) or None


def _sets(wanted: Any, found: Any) -> str | None:
    missing, extra = sorted(map(repr, wanted - found)), sorted(map(repr, found - wanted))
    facts = [f"items missing: {_list(missing)}"] if missing else []
    return "; ".join(facts + ([f"items too much: {_list(extra)}"] if extra else [])) or None


_FACTS: tuple[tuple[Any, Callable[[Any, Any], str | None]], ...] = (
    ((int, float), _numbers),
    (str, _strings),
    ((list, tuple), _sequences),
    (dict, _mappings),
    ((set, frozenset), _sets),
)


def _list(texts: Sequence[str]) -> str:
    shown = ", ".join(texts[:5])
    return _short(shown) + (f" and {len(texts) - 5} more" if len(texts) > 5 else "")


def _quote(value: Any) -> str:
    return _short(repr(value))


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}[... {len(text) - SHOWN} characters cut ...]"

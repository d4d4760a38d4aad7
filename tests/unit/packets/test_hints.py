"""A hint is a fact, or there is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.findings import Failure
from bot.packets.hints import hint
from bot.packets.tree import Tree
from tests.unit.packets.repos import access

REPO = {
    "shop/cart.py": "class Cart:\n    def total(self, *, tax=0):\n        pass\n\n\n"
    "def price(item, amount=1, **more):\n    pass\n",
    "shop/__init__.py": "def open_shop():\n    pass\n",
    "tests/test_x.py": "def helper():\n    pass\n",
}
TREE = Tree(**access(REPO))


def _values(expected: str | None, actual: str | None, source: str | None = None) -> str | None:
    return hint(Failure(tool="pytest", id="t", expected=expected, actual=actual), TREE, source)


def _error(message: str) -> str | None:
    return hint(Failure(tool="pytest", id="t", message=message), TREE)


@pytest.mark.parametrize(
    ("expected", "actual", "fact"),
    [
        ("3", "None", "the actual value is None"),
        ("'5'", "5", "int where str was expected, with the same content"),
        ("(1, 2)", "[1, 2]", "list where tuple was expected, with the same content"),
        ("[1]", "{'a': 1}", "dict where list was expected"),
        ("3", "4", "one too many (off by one)"),
        ("3", "2", "one too few (off by one)"),
        ("3", "-3", "the sign is reversed"),
        ("300", "5", "expected is 60 times the actual value"),
        ("0.3", "0.30000000000000004", "differs only by floating-point rounding"),
        ("'Abc'", "'abc'", "differs only in letter case"),
        ("'a b'", "'ab'", "differs only in whitespace"),
        (r"'a\n'", "'a'", "differs only in trailing newlines: 1 expected, 0 found"),
        ("'abc'", "'ab'", "off by one at the end, missing at the end: 'c'"),
        ("'ab'", "'xxab'", "too much at the start: 'xx'"),
        ("'abc'", "'cba'", "the string is reversed"),
        ("'abc'", "''", "the actual string is empty"),
        ("[1, 2, 3]", "[1, 2]", "off by one at the end, missing: 3"),
        ("[1, 2]", "[0, 1, 2]", "off by one at the start, too much: 0"),
        ("[1, 2, 3]", "[3, 2, 1]", "sorted the other way"),
        ("[3, 1, 2]", "[2, 1, 3]", "in reverse order"),
        ("[3, 1, 2, 4]", "[2, 1, 3, 4]", "the same items in another order"),
        ("[1, 2]", "[1, 1, 2, 2]", "items repeated: 1, 2"),
        ("[1, 2]", "[]", "empty, 2 items expected"),
        ("[1, 2, 3, 4]", "[1, 9, 3, 4]", "first difference at index 1: 2 expected, 9 found"),
        ("{'a': 1, 'b': 2}", "{'a': 2, 'c': 3}", "keys missing: 'b'; keys too much: 'c'; values differ at: 'a'"),
        ("{1, 2}", "{2, 3}", "items missing: 1; items too much: 3"),
        ("Point(X=1)", "Point(x=1)", "differs only in letter case"),
    ],
)
def test_values(expected: str, actual: str, fact: str) -> None:
    assert _values(expected, actual) == fact


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (None, "1"),
        ("1", "1"),
        ("True", "False"),
        ("7", "12"),
        ("'abc'", "'xyz'"),
        ("[1, 2, 3, ...]", "[1, 2, 4, ...]"),
        ("'aaa...bbb'", "'aaa...ccc'"),
        ("Point(x=1)", "Point(x=2)"),
        ("[1, 2]", "[1,2]"),
        ("'a'", '"a"'),
        ("{'a': 1}", "{'a': True}"),
        ("16", "0x10"),
        ("1e999", "5.0"),
        ("5.0", "1e999"),
        ("1e999", "1e308"),
        ("'stra\u00dfe'", "'strasse'"),
        ("Point(x=1, ...)", "Point(x=1,...)"),
        ("Point(x=1, \u2026)", "Point(x=1,\u2026)"),
        ("9" * 30_000, "8" * 30_000),
        ("[" * 5000, "(" * 5000),
    ],
)
def test_nothing_is_said_when_nothing_is_sure(expected: str | None, actual: str) -> None:
    assert _values(expected, actual) is None


def test_none_is_said_to_be_returned_only_where_a_call_is_compared() -> None:
    assert _values("3", "None", "assert f(1) == 3") == "returned None"
    assert _values("3", "None", "assert await f(1) == 3, 'why'") == "returned None"
    for source in ("assert x == 3", "assert f(1) and x == 3", "self.assertEqual(x, 3)", "assert f(1", None):
        assert _values("3", "None", source) == "the actual value is None"


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("NameError: name 'json' is not defined", "a module of the standard library is named json"),
        ("NameError: name 'price' is not defined", "price is defined in shop/cart.py"),
        ("NameError: name 'helper' is not defined", None),
        ("ImportError: cannot import name 'Cart' from 'shop' (/w/shop/__init__.py)", "Cart is defined in shop/cart.py"),
        (
            "ImportError: cannot import name 'open_shops' from 'shop'",
            "shop/__init__.py defines no open_shops; it defines open_shop",
        ),
        ("ModuleNotFoundError: No module named 'stores.cart'", "a module named cart lies at shop/cart.py"),
        ("ModuleNotFoundError: No module named 'numpy'", None),
        ("AttributeError: 'Cart' object has no attribute 'totl'", "Cart in shop/cart.py has no totl; it has total"),
        ("AttributeError: 'NoneType' object has no attribute 'x'", None),
        (
            "TypeError: price() got an unexpected keyword argument 'n'",
            "shop/cart.py defines price(item, amount=..., **more)",
        ),
        (
            "TypeError: Cart.total() takes 1 positional argument but 2 were given",
            "shop/cart.py defines total(self, *, tax=...)",
        ),
        ("TypeError: unknown() missing 1 required positional argument: 'x'", None),
    ],
)
def test_errors(message: str, fact: str | None) -> None:
    assert _error(message) == fact


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4) | st.tuples(inner)
    ),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_any_two_values_give_a_short_sentence_or_nothing(expected: object, actual: object) -> None:
    fact = _values(repr(expected), repr(actual))
    assert fact is None or (fact and len(fact) < 600)


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_survived(expected: str, actual: str, message: str) -> None:
    hint(Failure(tool="x", id="t", expected=expected, actual=actual, message=message), TREE, message)


SMALL = st.integers(-3, 3) | st.booleans() | st.sampled_from(["", "a", "A", "ab", "a b", "b\n", "ba"])
LITERALS = st.one_of(
    SMALL,
    st.floats(allow_nan=False),
    st.lists(SMALL, max_size=4),
    st.lists(st.dictionaries(st.sampled_from("xy"), SMALL, max_size=2), max_size=3),
    st.tuples(SMALL, SMALL),
    st.dictionaries(st.sampled_from("xyz"), SMALL, max_size=3),
    st.sets(st.integers(0, 4), min_size=1),
)


def _without(one: list, other: list) -> list:
    """The items of one list that the other lacks, by the equality that tests use, each counted."""
    left = list(other)
    return [x for x in one if not (x in left and (left.remove(x) or True))]


def _dense(text: str) -> list[str]:
    return [c for c in text if not c.isspace()]


def _true(fact: str, wanted: object, found: object) -> bool:
    """Whether a hint holds of two values, worked out in another way than the hint was."""
    pair = (list, tuple)
    lists = isinstance(wanted, pair) and isinstance(found, pair)
    w, f = (list(wanted), list(found)) if lists else ([], [])
    checks = {
        "the same items in another order": lambda: w != f and not _without(w, f) and not _without(f, w),
        "in reverse order": lambda: f == w[::-1] and w != f,
        "sorted the other way": lambda: f == w[::-1] and w != f,
        "differs only in whitespace": lambda: wanted != found and _dense(wanted) == _dense(found),
        "differs only in letter case": lambda: wanted != found and wanted.lower() == found.lower(),
        "the sign is reversed": lambda: wanted == -found and wanted != 0,
        "the string is reversed": lambda: wanted == "".join(reversed(found)),
        "differs only by floating-point rounding": lambda: 0 < abs(wanted - found) < 1e-8 * abs(wanted),
        "one too many (off by one)": lambda: found == wanted + 1,
        "one too few (off by one)": lambda: found == wanted - 1,
        "the actual string is empty": lambda: found == "",
        "an empty string was expected": lambda: wanted == "",
    }
    if fact in checks:
        return bool(checks[fact]())
    starts = {
        "items missing": lambda: not lists or _without(w, f) != [],
        "items too much": lambda: not lists or _without(f, w) != [],
        "items repeated": lambda: _without(w, f) == [] and all(x in w for x in f),
        "off by one at the end, missing": lambda: wanted[:-1] == found,
        "off by one at the end, too much": lambda: found[:-1] == wanted,
        "off by one at the start, missing": lambda: wanted[1:] == found,
        "off by one at the start, too much": lambda: found[1:] == wanted,
        "keys missing": lambda: any(k not in found for k in wanted),
        "keys too much": lambda: any(k not in wanted for k in found),
        "values differ": lambda: wanted.keys() == found.keys() and wanted != found,
    }
    return next((bool(holds()) for start, holds in starts.items() if fact.startswith(start)), True)


@given(LITERALS, LITERALS)
def test_what_is_said_of_two_values_is_true(wanted: object, found: object) -> None:
    fact = _values(repr(wanted), repr(found))
    if type(wanted) is type(found) and wanted == found:
        assert fact is None
    elif fact and type(wanted) is type(found):
        assert _true(fact, wanted, found), fact

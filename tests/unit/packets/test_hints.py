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
        ("NameError: name 'json' is not defined", "missing import: json is a module of the standard library"),
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

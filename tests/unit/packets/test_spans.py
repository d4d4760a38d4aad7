"""The right function is shown although the traceback ends in the test."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.findings import CheckKind, Diagnostic, Failure, FailureKind, Location
from bot.domain.packet import Hunk
from tests.unit.packets.repos import SRC, at, evaluation, failing, frame, keys, packet, shown, spans


def _units(**fields: object) -> Failure:
    values = {"expected": "300", "actual": "5", "assertion": "assert 5 == 300", **fields}
    return failing(SRC, "tests/test_d.py", "test_units", "assert parse", **values)


def test_src_layout_with_a_reexport_shows_the_definition() -> None:
    told = packet(SRC, evaluation(_units()))
    assert told.failures[0].span and told.failures[0].span.file == "src/durations/core.py"
    assert "def parse_duration" in told.failures[0].span.source
    assert told.failures[0].assertion == "assert parse_duration('5m') == 300"


def test_a_variable_in_the_assertion_is_followed_to_its_call() -> None:
    told = packet(SRC, evaluation(failing(SRC, "tests/test_d.py", "test_table[8m-480]", "assert result")))
    assert "def parse_duration" in shown(told, "src/durations/core.py")


def test_flat_layout() -> None:
    repo = {
        "d.py": "def half(x):\n    return x\n",
        "test_d.py": "import d\n\ndef test_half():\n    assert d.half(4) == 2\n",
    }
    told = packet(repo, evaluation(failing(repo, "test_d.py", "test_half", "assert")))
    assert shown(told, "d.py") == "def half(x):\n    return x"


def test_a_module_beside_the_tests_in_a_monorepo_whose_log_knows_only_the_package() -> None:
    repo = {
        "services/api/api/__init__.py": "",
        "services/api/api/price.py": "def gross(x):\n    return x\n",
        "services/web/api/price.py": "def gross(x):\n    return 0\n",
        "services/api/tests/test_price.py": "from api.price import gross\n\n"
        "def test_gross():\n    assert gross(1) == 2\n",
    }
    failure = replace(
        failing(repo, "services/api/tests/test_price.py", "test_gross", "assert"), file="tests/test_price.py"
    )
    told = packet(repo, evaluation(replace(failure, id="tests/test_price.py::test_gross")))
    assert spans(told)[0].file == "services/api/api/price.py"
    assert told.failures[0].file == "services/api/tests/test_price.py"


CART = {
    "shop/__init__.py": "from .cart import *\n",
    "shop/base.py": "class Base:\n    def total(self):\n        return sum(self.prices) + 1\n",
    "shop/cart.py": (
        "from .base import Base\n\n\nclass Cart(Base):\n"
        "    def __init__(self, prices):\n        self.prices = prices\n\n"
        "    def count(self):\n        return 0\n\n    @property\n    def empty(self):\n        return True\n\n"
        "    @classmethod\n    def of(cls, *prices):\n        return cls(prices)\n"
    ),
    "tests/conftest.py": "import pytest\nimport shop\n\n\n@pytest.fixture\ndef cart():\n    yield shop.Cart([1, 2])\n",
    "tests/test_cart.py": (
        "from shop import Cart\n\n\n"
        "def test_count():\n    cart = Cart([1])\n    assert cart.count() == 1\n\n\n"
        "def test_total(cart):\n    assert cart.total() == 3\n\n\n"
        "def test_empty():\n    assert not Cart.of(1).empty\n"
    ),
    "tests/test_unit.py": (
        "import unittest\nfrom shop.cart import Cart\n\n\nclass CartTest(unittest.TestCase):\n"
        "    def setUp(self):\n        self.cart = Cart([1, 2])\n\n"
        "    def test_count(self):\n        self.assertEqual(self.cart.count(), 2)\n"
    ),
}


def test_a_method_of_a_local_instance() -> None:
    assert keys(CART, evaluation(failing(CART, "tests/test_cart.py", "test_count", "assert cart.count"))) == [
        "function:shop/cart.py:Cart.count"
    ]


def test_an_inherited_method_of_a_fixture_from_conftest() -> None:
    state = evaluation(failing(CART, "tests/test_cart.py", "test_total", "assert cart.total"))
    assert keys(CART, state) == ["function:shop/base.py:Base.total"]
    assert "def cart():" in shown(packet(CART, state), "tests/conftest.py")


def test_a_property_of_what_a_class_method_returns() -> None:
    found = keys(CART, evaluation(failing(CART, "tests/test_cart.py", "test_empty", "assert not")))
    assert found == ["function:shop/cart.py:Cart.empty"]


def test_unittest_style_with_set_up_and_dotted_id() -> None:
    failure = Failure(
        tool="unittest",
        id="tests.test_unit.CartTest.test_count",
        line=at(CART, "tests/test_unit.py", "self.assertEqual"),
    )
    told = packet(CART, evaluation(failure))
    assert keys(CART, evaluation(failure)) == ["function:shop/cart.py:Cart.count"]
    assert "def setUp" in shown(told, "tests/test_unit.py") and "def test_count" in shown(told, "tests/test_unit.py")
    assert told.failures[0].assertion == "self.assertEqual(self.cart.count(), 2)"


def test_the_deepest_frame_outside_tests_and_libraries_wins() -> None:
    repo = {
        "app.py": "from low import inner\n\ndef outer(x):\n    return inner(x)\n",
        "low.py": "def inner(x):\n    return 1 / x\n",
        "json/decoder.py": "def decode():\n    pass\n",
        "test_app.py": "from app import outer\n\ndef test_outer():\n    assert outer(0) == 0\n",
    }
    frames = (
        frame(repo, "test_app.py", "assert"),
        frame(repo, "app.py", "return inner"),
        frame(repo, "low.py", "return 1"),
        Location(file="/usr/lib/python3.11/json/decoder.py", line=1, name="decode"),
    )
    state = evaluation(failing(repo, "test_app.py", "test_outer", "assert", frames=frames))
    assert keys(repo, state) == ["function:low.py:inner"]
    assert [s.file for s in spans(packet(repo, state))] == ["low.py", "test_app.py", "app.py"]


def test_changed_hunks_decide_between_suspects() -> None:
    repo = {
        "a.py": "def f(x):\n    return x\n",
        "b.py": "def g(x):\n    return x\n",
        "test_ab.py": "from a import f\nfrom b import g\n\ndef test_ab():\n    assert f(g(1)) == 2\n",
    }
    state = evaluation(failing(repo, "test_ab.py", "test_ab", "assert"))
    hunk = Hunk(file="b.py", hunk="@@ -1,2 +1,2 @@\n def g(x):\n-    return x + 1\n+    return x")
    told = packet(repo, state, changed=(hunk,))
    assert told.failures[0].span and told.failures[0].span.file == "b.py"
    assert told.changed == (hunk,)
    assert packet(repo, state).failures[0].span.file == "a.py"  # type: ignore[union-attr]


def test_of_a_big_file_the_function_its_imports_and_its_constructor_are_shown() -> None:
    filler = "".join(f"    def m{i}(self):\n        return {i}\n\n" for i in range(90))
    repo = {
        "big.py": "import os\n\n\nclass Big:\n    def __init__(self):\n        self.n = 0\n\n"
        f"{filler}    def last(self):\n        return self.n\n",
        "test_big.py": "from big import Big\n\ndef test_last():\n    assert Big().last() == 1\n",
    }
    told = packet(repo, evaluation(failing(repo, "test_big.py", "test_last", "assert")))
    text = shown(told, "big.py")
    assert told.failures[0].span and told.failures[0].span.source.strip().startswith("def last(self):")
    assert "import os" in text and "self.n = 0" in text and "def m5(" not in text


def test_shared_spans_are_shown_once() -> None:
    state = evaluation(_units(), failing(SRC, "tests/test_d.py", "test_table[8m-480]", "assert result"))
    told = packet(SRC, state)
    lines = [(s.file, n) for s in spans(told) for n in range(s.start, s.end + 1)]
    assert len(lines) == len(set(lines))
    assert [bool(f.span) for f in told.failures] == [True, False]


def test_spans_are_exact_text_even_with_crlf_and_a_bom() -> None:
    repo = {**SRC, "src/durations/core.py": "\ufeff" + SRC["src/durations/core.py"].replace("\n", "\r\n")}
    told = packet(repo, evaluation(_units()))
    assert shown(told, "src/durations/core.py") == SRC["src/durations/core.py"].rstrip("\n")


def test_a_syntax_error_at_collection_shows_the_broken_lines() -> None:
    repo = {**SRC, "src/durations/core.py": "def parse_duration(text)\n    return 1\n"}
    failure = Failure(
        tool="pytest",
        id="tests/test_d.py",
        kind=FailureKind.ERROR,
        file="tests/test_d.py",
        exception="SyntaxError",
        message="SyntaxError: expected ':' (core.py, line 1)",
        frames=(Location(file="src/durations/core.py", line=1),),
        collection=True,
    )
    told = packet(repo, evaluation(failure, blocked="collection error"))
    assert told.priority == "blocked" and told.blocked == ("tests: collection error",)
    assert "def parse_duration(text)\n" in shown(told, "src/durations/core.py")


def test_the_module_that_lacks_a_name_is_shown_though_no_frame_lies_in_it() -> None:
    failure = Failure(
        tool="pytest",
        id="tests/test_d.py",
        kind=FailureKind.ERROR,
        file="tests/test_d.py",
        line=3,
        exception="ImportError",
        message="ImportError: cannot import name 'other' from 'durations' (/w/src/durations/__init__.py)",
        collection=True,
    )
    told = packet(SRC, evaluation(failure, failing(SRC, "tests/test_d.py", "test_units", "assert parse")))
    assert told.failures[0].span and told.failures[0].span.file == "src/durations/__init__.py"
    assert told.failures[0].hint == "other is defined in src/durations/core.py"
    assert [f.test for f in told.failures] == ["tests/test_d.py", "tests/test_d.py::test_units"], "what blocks is first"


def test_memory_addresses_do_not_make_two_packets_of_one_failure() -> None:
    def digest(address: str) -> str:
        return packet(SRC, evaluation(_units(actual=f"<Cart object at {address}>", message=f"at {address}"))).digest()

    assert digest("0x7f33c6c4a5d0") == digest("0x7f00c6c4a5d0")


def test_javascript_gets_lines_around_its_frames() -> None:
    source = "".join(f"const a{i} = {i};\n" for i in range(1, 400))
    repo = {"src/sum.js": source, "test/sum.test.js": "test('sums', () => {\n  expect(sum(1)).toBe(2);\n});\n"}
    failure = Failure(
        tool="jest",
        id="sums",
        file="test/sum.test.js",
        line=2,
        frames=(Location(file="src/sum.js", line=200, name="sum"),),
    )
    told = packet(repo, evaluation(failure))
    assert told.failures[0].span and told.failures[0].span.start == 188 and told.failures[0].span.end == 212
    assert told.failures[0].assertion == "expect(sum(1)).toBe(2);"


def test_diagnostics_get_the_lines_around_once() -> None:
    source = "import os\n" + "".join(f"x{i} = {i}\n" for i in range(300))
    repo = {"a.py": source}
    found = [Diagnostic(tool="ruff", file="a.py", line=n, col=1, code="F401", message=f"m{n}") for n in (1, 3, 250)]
    told = packet(repo, evaluation(*found, kind=CheckKind.LINT))
    assert [(d.span.start, d.span.end) if d.span else None for d in told.diagnostics] == [(1, 5), (6, 7), (246, 254)]
    assert told.summary == "3 lint errors" and told.priority == "lint"


def test_a_file_outside_the_repository_gives_no_span() -> None:
    told = packet(
        SRC, evaluation(Diagnostic(tool="mypy", file="../../etc/passwd", line=1, message="m"), kind=CheckKind.TYPES)
    )
    assert not spans(told)


def test_missing_fields_are_no_trouble() -> None:
    told = packet({}, evaluation(Failure(tool="x", id="")))
    assert told.failures[0].test == "" and told.omitted == 0

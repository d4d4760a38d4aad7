"""A held-out test leaves no trace in a packet: no id, no value, no source line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.findings import CheckKind, Diagnostic, Failure
from bot.domain.packet import Hunk, Past
from tests.unit.packets.repos import SRC, at, evaluation, failing, frame, packet, shown

SOURCE = "def f(x):\n    return x\n"


def _functions(count: int) -> tuple[str, list[str]]:
    body = "".join(f"\n\ndef test_case{i}q():\n    assert f('in{i}q') == 'out{i}q'\n" for i in range(count))
    return body, [f"test_case{i}q" for i in range(count)]


def _methods(count: int) -> tuple[str, list[str]]:
    body = "".join(f"    def test_case{i}q(self):\n        assert f('in{i}q') == 'out{i}q'\n\n" for i in range(count))
    return f"\n\nclass TestF:\n{body}", [f"TestF::test_case{i}q" for i in range(count)]


def _parametrised(count: int, *, pad: str, case: str, label: str, more: str = "") -> tuple[str, list[str]]:
    cases = pad.join(case.format(i=i) for i in range(count))
    test = "def test_table(x, y):\n    assert f(x) == y\n"
    text = f"\n\n@pytest.mark.parametrize('x, y', [{cases}]{more})\n{test}"
    return text, [f"test_table[{label.format(i=i)}]" for i in range(count)]


def _labelled(count: int) -> tuple[str, list[str]]:
    more = f", ids=[{', '.join(repr(f'id{i}q') for i in range(count))}]"
    return _parametrised(count, pad=", ", case="('in{i}q', 'out{i}q')", label="id{i}q", more=more)


def _single(count: int) -> tuple[str, list[str]]:
    cases = ", ".join(f"'in{i}q'" for i in range(count))
    text = f"\n\n@pytest.mark.parametrize('x', [{cases}])\ndef test_one(x):\n    assert f(x) == x + '!'\n"
    return text, [f"test_one[in{i}q]" for i in range(count)]


def _stacked(count: int) -> tuple[str, list[str]]:
    text, ids = _single(count)
    return text.replace("def test_one(x)", "@pytest.mark.parametrize('n', [1, 2])\ndef test_one(x, n)"), [
        f"{name[:-1].replace('[', '[1-')}]" for name in ids
    ]


def _computed(count: int) -> tuple[str, list[str]]:
    return _parametrised(count, pad=", ", case="(str('in{i}q'), 'out{i}q')", label="x{i}-out{i}q")


def _fixture(count: int) -> tuple[str, list[str]]:
    cases = ", ".join(f"'in{i}q'" for i in range(count))
    fixture = f"\n\n@pytest.fixture(params=[{cases}])\ndef x(request):\n    return request.param\n"
    return f"{fixture}\n\ndef test_x(x):\n    assert f(x) == x + '!'\n", [f"test_x[in{i}q]" for i in range(count)]


STYLES = {
    "functions": _functions,
    "methods": _methods,
    "one line": lambda n: _parametrised(n, pad=", ", case="('in{i}q', 'out{i}q')", label="in{i}q-out{i}q"),
    "one per line": lambda n: _parametrised(n, pad=",\n    ", case="('in{i}q', 'out{i}q')", label="in{i}q-out{i}q"),
    "over lines": lambda n: _parametrised(n, pad=", ", case="('in{i}q',\n 'out{i}q')", label="in{i}q-out{i}q"),
    "unicode": lambda n: _parametrised(n, pad=", ", case="('é', 'out{i}q')", label="\\xe9-out{i}q"),
    "numbers": lambda n: _parametrised(n, pad=", ", case="(-1, 'out{i}q')", label="-1-out{i}q"),
    "params": lambda n: _parametrised(n, pad=", ", case="pytest.param('a', 'out{i}q', id='id{i}q')", label="id{i}q"),
    "labels": _labelled,
    "single": _single,
    "stacked": _stacked,
    "computed": _computed,
    "fixture": _fixture,
}


@pytest.mark.parametrize("style", STYLES)
@given(count=st.integers(2, 6), data=st.data(), wider=st.booleans())
@settings(max_examples=15, deadline=None)
def test_no_trace_of_what_is_held_out(style: str, count: int, data: st.DataObject, wider: bool) -> None:
    text, names = STYLES[style](count)
    repo = {"pkg.py": SOURCE, "tests/test_f.py": f"import pytest\nfrom pkg import f\n{text}"}
    ids = [f"tests/test_f.py::{name}" for name in names]
    secret = data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=count - 1))
    hidden = frozenset(ids[i] for i in secret)
    line = at(repo, "tests/test_f.py", "assert f(")
    found = [
        Failure(
            tool="pytest", id=test, file="tests/test_f.py", line=line + (3 * i if style.endswith(("ns", "ds")) else 0),
            expected=f"'out{i}q'", actual=f"'in{i}q'", captured=f"log of in{i}q",
        )
        for i, test in enumerate(ids)
    ]  # fmt: skip
    told = packet(
        repo,
        evaluation(*found),
        hidden=hidden,
        wider=wider,
        tokens=4000,
        changed=[
            Hunk(file="tests/test_f.py", hunk="@@ -1 +1 @@\n" + text),
            Hunk(file="pkg.py", hunk="@@ -1 +1 @@\n+x"),
        ],
        history=[Past(iteration=1, verdict="no_better", diff="", reason=f"{sorted(hidden)} still fail")],
    )
    out = json.dumps(told.as_json(), ensure_ascii=False)
    for i in secret:
        assert ids[i] not in out and names[i] not in out
        assert f"in{i}q" not in out and f"out{i}q" not in out and f"id{i}q" not in out
    assert len(told.failures) == min(count - len(secret), 12 if wider else 6) and SOURCE.rstrip() in shown(
        told, "pkg.py"
    )


def test_shown_cases_of_a_table_stay() -> None:
    told = packet(
        SRC,
        evaluation(failing(SRC, "tests/test_d.py", "test_table[8m-480]", "assert result")),
        hidden=frozenset({"tests/test_d.py::test_table[9m-540]"}),
    )
    assert "[('7s', 7), ('8m', 480), [held-out case cut]]" in shown(told, "tests/test_d.py")


def test_a_held_out_test_of_the_same_name_in_another_class_hides_only_itself() -> None:
    repo = {
        "pkg.py": SOURCE,
        "test_f.py": "from pkg import f\n\n\nclass TestA:\n    def test_x(self):\n        assert f(1) == 2\n\n\n"
        "class TestB:\n    def test_x(self):\n        assert f(3) == 4\n",
    }
    told = packet(
        repo,
        evaluation(failing(repo, "test_f.py", "TestA::test_x", "assert f(1)")),
        hidden=frozenset({"test_f.py::TestB::test_x"}),
    )
    assert "f(1) == 2" in shown(told, "test_f.py") and "f(3)" not in json.dumps(told.as_json())
    assert told.failures[0].test == "test_f.py::TestA::test_x"


def test_an_inherited_held_out_test_hides_its_definition() -> None:
    repo = {
        "pkg.py": SOURCE,
        "test_f.py": "from pkg import f\n\n\nclass Base:\n    def test_x(self):\n        assert f('secret')\n\n"
        "\n\nclass TestB(Base):\n    pass\n\n\n"
        "def test_y():\n    assert f(0)\n",
    }
    told = packet(
        repo,
        evaluation(failing(repo, "test_f.py", "test_y", "assert f(0)")),
        hidden=frozenset({"test_f.py::TestB::test_x"}),
    )
    assert "secret" not in json.dumps(told.as_json()) and "assert f(0)" in shown(told, "test_f.py")


def test_a_held_out_subtest_hides_the_function_that_holds_its_values() -> None:
    repo = {
        "pkg.py": SOURCE,
        "test_f.py": "import unittest\nfrom pkg import f\n\n\nclass T(unittest.TestCase):\n    def test_x(self):\n"
        "        for s in ('shown', 'secret'):\n            with self.subTest(s=s):\n"
        "                self.assertEqual(f(s), 1)\n",
    }
    found = [
        Failure(
            tool="unittest", id=f"test_f.T.test_x (s='{s}')", file="test_f.py", line=9, actual=f"'{s}'", expected="1"
        )
        for s in ("shown", "secret")
    ]
    told = packet(repo, evaluation(*found), hidden=frozenset({found[1].id}))
    out = json.dumps(told.as_json())
    assert "secret" not in out and "shown" in out and "def f" in out


def test_a_held_out_doctest_is_cut_from_the_code_it_stands_in() -> None:
    repo = {
        "pkg.py": 'def f(x):\n    """F.\n\n    >>> f(1)\n    2\n    """\n    return x\n\n\n'
        'def g(x):\n    """G.\n\n    >>> g(3)\n    4\n    """\n    return x\n'
    }
    found = [
        Failure(
            tool="doctest",
            id=f"pkg.py::pkg.{n}",
            file="pkg.py",
            line=at(repo, "pkg.py", f">>> {n}"),
            frames=(frame(repo, "pkg.py", f">>> {n}"),),
        )
        for n in "fg"
    ]
    told = packet(repo, evaluation(*found), hidden=frozenset({"pkg.py::pkg.g"}))
    text = shown(told, "pkg.py")
    assert ">>> f(1)" in text and ">>> g(3)" not in text and "def g(x):" in text


def test_javascript_tests_are_not_quoted_while_one_of_their_file_is_held_out() -> None:
    repo = {"sum.js": "module.exports = 1\n", "test/sum.test.js": "test('a', () => e(1))\ntest('secret', () => e(2))\n"}
    found = [
        Failure(tool="jest", id=name, file="test/sum.test.js", line=n) for n, name in enumerate(("a", "secret"), 1)
    ]
    assert "secret" in json.dumps(packet(repo, evaluation(found[0])).as_json())
    assert "secret" not in json.dumps(packet(repo, evaluation(*found), hidden=frozenset({"secret"})).as_json())
    assert "secret" not in json.dumps(packet(repo, evaluation(found[0]), hidden=frozenset({"secret"})).as_json())


def test_rust_source_is_shown_up_to_its_tests() -> None:
    source = "pub fn f() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    fn hidden_one() { assert_eq!(f(), 7); }\n}\n"
    repo = {"src/lib.rs": source}
    found = [
        Failure(
            tool="cargo", id=f"tests::{n}", file="src/lib.rs", line=5, frames=(frame(repo, "src/lib.rs", "pub fn"),)
        )
        for n in ("shown_one", "hidden_one")
    ]
    told = packet(repo, evaluation(*found), hidden=frozenset({"tests::hidden_one"}))
    assert shown(told, "src/lib.rs") == "pub fn f() -> i32 { 1 }\n" and "hidden_one" not in json.dumps(told.as_json())


def test_only_held_out_failures_leave_an_empty_packet() -> None:
    failure = failing(SRC, "tests/test_d.py", "test_units", "assert parse", expected="300")
    told = packet(SRC, evaluation(failure), hidden=frozenset({failure.id}))
    assert told.failures == () and told.omitted == 0 and told.priority == "none"


def test_a_diagnostic_in_a_test_file_does_not_show_the_held_out_test_around_it() -> None:
    repo = {"pkg.py": SOURCE, "test_f.py": "import os\n\n\ndef test_secret():\n    assert f('value')\n"}
    found = Diagnostic(tool="ruff", file="test_f.py", line=1, code="F401", message="os unused in test_secret")
    told = packet(repo, evaluation(found, kind=CheckKind.LINT), hidden=frozenset({"test_f.py::test_secret"}))
    out = json.dumps(told.as_json())
    assert "value" not in out and "test_secret" not in out and "import os" in out

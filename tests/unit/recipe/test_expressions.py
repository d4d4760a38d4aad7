"""GitHub's expressions: what is known has GitHub's value, what is not stays Unknown, and nothing raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.recipe.expressions import Unknown, evaluate, expand, names, truthy

CONTEXT = {"matrix": {"os": "Ubuntu", "n": 3.0, "list": ["a", "b"]}, "github": {"ref": "refs/heads/main"}, "env": {}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 == 1.0", True),
        ("'A' == 'a'", True),
        ("matrix.os == 'ubuntu' && matrix.n >= 3", True),
        ("matrix['OS']", "Ubuntu"),
        ("matrix.list[1]", "b"),
        ("matrix.missing || 'x'", "x"),
        ("!matrix.missing", True),
        ("contains(matrix.list, 'B')", True),
        ("contains(github.ref, 'HEADS') && startsWith('abc', 'A') && endsWith('abc', 'C')", True),
        ("format('{0}-{1} {{x}}', matrix.os, 7)", "Ubuntu-7 {x}"),
        ("join(matrix.list, '+')", "a+b"),
        ("fromJSON('[1, 2]')[1]", 2.0),
        ("'it''s'", "it's"),
        ("(1 < 2) == true", True),
        ("failure()", False),
        ("always() && !cancelled()", True),
        ("null == 0", True),
        ("env.X", None),
        ("secrets.TOKEN", Unknown("secrets.TOKEN")),
        ("steps.a.outputs.b", Unknown("steps.a.outputs.b")),
        ("false && secrets.TOKEN", False),
        ("true || secrets.TOKEN", True),
        ("hashFiles('x')", Unknown("hashFiles()")),
        ("1 ===", Unknown("1 ===")),
        ("'open", Unknown("'open")),
        ("contains()", Unknown("contains()")),
    ],
)
def test_values(text: str, value: object) -> None:
    assert evaluate(text, CONTEXT) == value


def test_templates() -> None:
    assert expand("py${{ matrix.n }} on ${{ matrix.os }}", CONTEXT) == "py3 on Ubuntu"
    assert expand("x ${{ secrets.A }}", CONTEXT) == Unknown("secrets.A")
    assert expand("plain", CONTEXT) == "plain"
    assert names("a ${{ secrets.A }} $secrets.B ${{ x && secrets.C-D }}", "secrets") == ("A", "C-D")
    assert truthy(Unknown("x")) is None


@given(st.text(alphabet="()[]!&|<>=.,'x1 -*", max_size=60) | st.text(max_size=40))
def test_any_text_has_a_value(text: str) -> None:
    truthy(evaluate(text, CONTEXT))


def test_deep_nesting_is_no_expression() -> None:
    deep = "(" * 1500 + "1" + ")" * 1500
    assert evaluate(deep, CONTEXT) == Unknown(deep)
    bangs = "!" * 3000 + "1"
    assert isinstance(evaluate(bangs, CONTEXT), Unknown)

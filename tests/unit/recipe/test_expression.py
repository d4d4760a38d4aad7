"""GitHub's expressions: what is known has GitHub's value, what is not stays Unknown, and nothing raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.recipe.expression import Scope, condition, evaluate, interpolate, literals
from bot.recipe.values import LONGEST, Partial, Unknown, shown

LEG = {"os": "Ubuntu", "n": 3.0, "list": ["a", "b"], "all": [{"v": 1}, {"v": 2}]}
SCOPE = Scope(
    {"matrix": LEG, "github": Partial("github", {"ref": "refs/heads/main"}), "env": {}, "steps": Partial("steps")}
)
UNKNOWN = object()


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
        ("fromJSON('[1, 2]')[1]", 2),
        ("'it''s'", "it's"),
        ("(1 < 2) == true", True),
        ("failure()", False),
        ("always() && !cancelled()", True),
        ("null == 0", True),
        ("env.X", None),
        ("secrets.TOKEN", UNKNOWN),
        ("steps.a.outputs.b", UNKNOWN),
        ("false && secrets.TOKEN", False),
        ("true || secrets.TOKEN", True),
        ("hashFiles('x')", UNKNOWN),
        ("1 ===", UNKNOWN),
        ("'open", UNKNOWN),
        ("contains()", UNKNOWN),
        ("github.event.number", UNKNOWN),
        ("true && secrets.TOKEN || 'x'", UNKNOWN),
        ("join(matrix.all.*.v)", "1,2"),
        ("toJSON(matrix.list)", '[\n  "a",\n  "b"\n]'),
        ("toJSON(github)", '{\n  "ref": "refs/heads/main"\n}'),
        ("toJSON(secrets)", UNKNOWN),
        ("fromJSON('{')", UNKNOWN),
        ("0x1F == 31", True),
        ("'' == 0", True),
        ("'x' < 1", False),
        ("matrix.list == matrix.list", True),
        ("runner.os", UNKNOWN),
        ("format('{3}', 1)", UNKNOWN),
    ],
)
def test_values(text: str, value: object) -> None:
    found = evaluate(text, SCOPE)
    assert isinstance(found, Unknown) if value is UNKNOWN else found == value


def test_templates() -> None:
    assert interpolate("py${{ matrix.n }} on ${{ matrix.os }}", SCOPE) == "py3 on Ubuntu"
    assert interpolate("plain ${{ '}}' }}", SCOPE) == "plain }}"
    found = interpolate("x ${{ secrets.A }} ${{ secrets['B'] }}", SCOPE)
    assert isinstance(found, Unknown) and found.secrets == {"A", "B"}
    assert isinstance(interpolate("${{ open", SCOPE), Unknown)
    assert literals("a ${{ x }} b ${{ '}}' }}") == ["a ", " b ", ""]


@pytest.mark.parametrize(
    ("text", "met"),
    [
        (None, True),
        ("${{ matrix.n == 3 }}", True),
        ("matrix.n == 4", False),
        ("failure()", False),
        ("always() && matrix.os == 'ubuntu'", True),
        (False, False),
        ("github.event_name == 'push'", UNKNOWN),
        (["a"], UNKNOWN),
    ],
)
def test_conditions(text: object, met: object) -> None:
    found = condition(text, SCOPE)
    assert isinstance(found, Unknown) if met is UNKNOWN else found is met


EXPRESSIONS = st.recursive(
    st.sampled_from(
        ["1", "0", "'a'", "''", "true", "null", "matrix.os", "matrix.list", "secrets.X", "github.y", "steps"]
    ),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["&&", "||", "==", "!=", "<", ">="]), inner),
        st.builds("!{}".format, inner),
        st.builds("{}({}, {})".format, st.sampled_from(["contains", "startsWith", "format", "join"]), inner, inner),
        st.builds("toJSON({})".format, inner),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS)
def test_a_secret_never_becomes_a_value(text: str) -> None:
    """What depends on a secret's value is Unknown or independent of it; nothing raises."""
    found = evaluate(text, SCOPE)
    assert isinstance(found, Unknown) or "needs secret" not in shown(found)


@given(st.text(alphabet="()[]!&|<>=.,'x1 -*", max_size=60) | st.text(max_size=40))
def test_any_text_has_a_value(text: str) -> None:
    shown(evaluate(text, SCOPE))
    interpolate(f"a ${{{{ {text} }}}}", SCOPE)
    condition(text, SCOPE)


@pytest.mark.parametrize("text", ["(" * 1500 + "1" + ")" * 1500, "!" * 3000 + "1", "1 " * 20_000])
def test_deep_or_endless_expressions_are_unknown(text: str) -> None:
    assert isinstance(evaluate(text, SCOPE), Unknown)


def test_a_value_that_doubles_is_cut_short() -> None:
    text = "'xxxxxxxxxxxxxxxx'"
    for _ in range(25):
        text = f"format('{{0}}{{0}}', {text})"
    found = evaluate(text, SCOPE)
    assert isinstance(found, Unknown) or len(shown(found)) <= LONGEST

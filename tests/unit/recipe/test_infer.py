"""From a log and a workflow file to image, set-up and checks."""

from __future__ import annotations

import pytest

from bot.recipe import DEFAULT_IMAGE, Recipe
from tests.unit.recipe.made import Ran, recipe

PYTHON = Ran(uses="actions/setup-python@v5", given={"python-version": "3.12"})
NODE = Ran(uses="actions/setup-node@v4", given={"node-version": "20.x"})
CHECKOUT = Ran(uses="actions/checkout@v5", given={"fetch-depth": "1"})
RED = Ran(run="pytest -q", code=1)


def commands(made: Recipe) -> list[str]:
    return [check.command for check in made.checks]


def setup(made: Recipe) -> list[str]:
    return [step.command for step in made.setup]


def left_out(made: Recipe) -> list[str]:
    return [str(part) for part in made.unavailable]


def test_a_log_alone_is_enough() -> None:
    made = recipe(CHECKOUT, PYTHON, Ran(run="pip install -r dev.txt"), Ran(run="ruff check ."), RED)
    assert made.image == "python:3.12-slim-trixie"
    assert setup(made) == ["pip install -r dev.txt"]
    assert commands(made) == ["pytest -q", "ruff check ."]
    assert [check.failed for check in made.checks] == [True, False]
    assert made.checks[0].origin == "log of test, step 5"
    assert not made.notes and not left_out(made)


def test_without_set_up_the_default_image_stands() -> None:
    made = recipe(CHECKOUT, RED)
    assert (made.image, setup(made), commands(made)) == (DEFAULT_IMAGE, [], ["pytest -q"])


@pytest.mark.parametrize(
    ("step", "image"),
    [
        (Ran(uses="actions/setup-python@v5", given={"python-version": "pypy3.10"}), "pypy:3.10-slim"),
        (Ran(uses="actions/setup-python@v5", given={"python-version": "3.x"}), "python:3.14-slim-trixie"),
        (Ran(uses="actions/setup-python@v5", given={"python-version": "3.15-dev"}), "python:3.15-rc-slim"),
        (
            Ran(uses="actions/setup-python@v5", given={"python-version-file": ".python-version"}),
            "python:3.11-slim-trixie",
        ),
        (Ran(uses="actions/setup-python@v5"), "python:3.11-slim-trixie"),
        (Ran(uses="actions/setup-node@v4", given={"node-version": "lts/*"}), "node:24-trixie-slim"),
        (Ran(uses="actions/setup-node@v4", given={"node-version-file": ".nvmrc"}), "node:18-bookworm-slim"),
        (Ran(uses="actions/setup-go@v5", given={"go-version-file": "go.mod"}), "golang:1.22-bookworm"),
        (Ran(uses="actions/setup-java@v4", given={"java-version": "17"}), "eclipse-temurin:17-jdk"),
        (Ran(uses="dtolnay/rust-toolchain@1.80"), "rust:1.80-slim-bookworm"),
        (Ran(uses="dtolnay/rust-toolchain@stable"), "rust:1-slim-trixie"),
    ],
)
def test_each_language_has_its_image(step: Ran, image: str) -> None:
    files = {".python-version": "3.11\n", ".nvmrc": "v18.1.0\n", "go.mod": "module x\n\ngo 1.22.3\n"}
    assert recipe(CHECKOUT, step, Ran(run="./check.sh", code=1), files=files).image == image


def test_the_failing_checks_language_is_the_images_and_the_other_is_added() -> None:
    made = recipe(PYTHON, NODE, Ran(run="npm ci"), Ran(run="npm test", code=1))
    assert made.image == "node:20-trixie-slim"
    assert "python3" in setup(made)[0] and setup(made)[1:] == ["npm ci"]
    assert any("Debian's version" in note.text for note in made.notes)


def test_a_script_that_installs_and_checks_is_divided() -> None:
    script = "cd api\nexport MODE=ci\npip install -e .[test] && ruff check .\npytest -q"
    made = recipe(PYTHON, Ran(run=script, code=1))
    assert setup(made) == ["cd api\nexport MODE=ci\npip install -e .[test]"]
    assert commands(made) == [
        "cd api\nexport MODE=ci\nruff check .",
        "cd api\nexport MODE=ci\npytest -q",
    ]


@pytest.mark.parametrize(
    "script",
    [
        "for f in a b; do\n  pytest $f\ndone",
        "if [ -f x ]; then pytest; fi",
        "cat <<EOF >x\npytest\nEOF\npytest",
        "set +e\npytest\nexit $?",
    ],
)
def test_a_script_that_cannot_be_divided_safely_stays_whole(script: str) -> None:
    assert commands(recipe(PYTHON, Ran(run=script, code=1))) == [script]


def test_an_unknown_command_that_failed_is_judged_by_its_exit_status() -> None:
    made = recipe(PYTHON, Ran(run="pip install x"), Ran(run="./scripts/check-docs", code=3))
    assert [(check.command, check.kind.value) for check in made.checks] == [("./scripts/check-docs", "custom")]


def test_set_up_that_failed_is_no_check() -> None:
    made = recipe(PYTHON, Ran(run="pip install -r nope.txt", code=1))
    assert not made.checks
    why = "it failed in CI, while the environment was set up: no check was reached"
    assert left_out(made) == [f"pip install -r nope.txt: {why} (log of test, step 2)"]


def test_the_package_under_test_is_installed_editable() -> None:
    made = recipe(
        PYTHON, Ran(run="python -m pip install '.[test]'\npip install ."), Ran(run="pip install ./other"), RED
    )
    assert setup(made) == ["python -m pip install -e '.[test]'", "pip install -e .", "pip install ./other"]


def test_checks_that_install_while_they_run_are_rehearsed() -> None:
    made = recipe(PYTHON, Ran(run="pip install tox"), Ran(run="tox run -e py312 -- -x", code=1))
    assert setup(made)[-1] == "tox run -e py312 --notest -- -x"
    assert commands(made) == ["tox run -e py312 -- -x"]
    assert made.checks[0].env["PIP_NO_INDEX"] == made.checks[0].env["TOX_SKIP_PKG_INSTALL"] == "1"
    assert "testenv.package=editable" in made.checks[0].env["TOX_OVERRIDE"]
    made = recipe(Ran(uses="astral-sh/setup-uv@v6", given={"version": "0.7.2"}), Ran(run="uv run pytest", code=1))
    assert setup(made) == ["pip install uv==0.7.2", "uv run true"]
    assert made.checks[0].env == {"UV_OFFLINE": "1"}
    assert recipe(PYTHON, RED).checks[0].env == {}


def test_versions_are_those_that_ci_had() -> None:
    said = ["Successfully installed attrs-25.1.0 my-shop-0.1 pytest-cov-6.0 x-1.0+local"]
    made = recipe(
        PYTHON,
        Ran(run="pip install -e .", output=said),
        Ran(run="uv pip install trio", output=[" + trio==0.30.0"]),
        RED,
        files={"pyproject.toml": '[project]\nname = "my_shop"\n'},
    )
    assert setup(made)[0].endswith("\nattrs==25.1.0\npytest-cov==6.0\ntrio==0.30.0\nEND")
    assert made.setup[1].env["PIP_CONSTRAINT"].endswith("/constraints.txt")


WORKFLOW = """
name: CI
on: [push]
defaults:
  run:
    working-directory: api
jobs:
  test:
    name: py ${{ matrix.python }}
    runs-on: ${{ matrix.os || 'ubuntu-latest' }}
    strategy:
      matrix:
        python: ["3.12", "3.13"]
        include:
          - {python: "3.13", extra: docs}
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-python@v5
        with: {python-version: "${{ matrix.python }}"}
      - run: pip install -r ${{ matrix.python }}.txt
      - run: pytest -q
      - run: mypy src
      - run: ruff check .
        if: matrix.extra == 'docs'
      - run: ruff format --check ${{ steps.x.outputs.y }}
      - run: echo done
"""


def leg(version: str) -> Recipe:
    steps = (CHECKOUT, PYTHON, Ran(run=f"pip install -r {version}.txt"), RED)
    return recipe(*steps, workflow=WORKFLOW, name=f"py {version}")


def test_the_workflow_file_tells_what_the_log_cannot() -> None:
    made = leg("3.12")
    assert commands(made) == ["pytest -q", "mypy src"]
    assert [check.workdir for check in made.checks] == ["api", "api"]
    assert made.checks[0].origin == "log of test, step 4; ci.yml:21".replace("test,", "py 3.12,")
    assert made.checks[1].origin == "ci.yml:22, not reached in CI"
    assert "`steps.x` is not known here" in left_out(made)[0]
    assert commands(leg("3.13")) == ["pytest -q", "mypy src", "ruff check ."]


def changed(old: str, new: str) -> Recipe:
    assert old in WORKFLOW
    steps = (CHECKOUT, PYTHON, Ran(run="pip install -r 3.12.txt"), RED)
    return recipe(*steps, workflow=WORKFLOW.replace(old, new), name="py 3.12")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("runs-on: ${{ matrix.os || 'ubuntu-latest' }}", "runs-on: windows-2025", "the sandbox is Linux"),
        ("- run: pytest -q", "- run: pytest -q\n        env: {KEY: '${{ secrets.API_KEY }}'}", "needs secret API_KEY"),
    ],
)
def test_what_cannot_be_had_here_is_said(old: str, new: str, said: str) -> None:
    made = changed(old, new)
    assert "pytest -q" not in commands(made)
    assert any(said in what for what in left_out(made))


def test_services_are_named() -> None:
    made = changed("runs-on: ${{", "services: {db: {image: 'postgres:17', ports: ['5432:5432']}}\n    runs-on: ${{")
    [service] = made.services
    assert (service.name, service.image, service.ports, service.origin) == (
        "db",
        "postgres:17",
        ("5432:5432",),
        "ci.yml:10",
    )


def test_a_container_is_the_image() -> None:
    made = changed("runs-on: ${{", "container: {image: 'fedora:42'}\n    runs-on: ${{")
    assert (made.image, made.origins["image"]) == ("fedora:42", "container of ci.yml:8")


def test_masked_and_runner_bound_variables_stay_behind() -> None:
    env = {"TOKEN": "***", "pythonLocation": "/opt/hostedtoolcache/Python", "MODE": "ci"}
    made = recipe(PYTHON, Ran(run="pytest /home/runner/work/shop/shop/tests", env=env, code=1))
    assert made.checks[0].env == {"MODE": "ci"}
    assert commands(made) == ["pytest /workspace/tests"]


def test_what_is_configured_replaces_what_would_be_inferred() -> None:
    from bot.recipe import infer
    from tests.unit.recipe.made import job, log

    raw = log(PYTHON, Ran(run="pip install tox"), Ran(run="tox", code=1))
    made = infer([job(raw)], logs={"test": raw}, image="debian:13", setup=["make deps"])
    assert (made.image, setup(made), commands(made)) == ("debian:13", ["make deps"], ["tox"])


@pytest.mark.parametrize(
    "workflow",
    [
        "jobs: [",
        "jobs: {a: {steps: 3, strategy: {matrix: {x: 1, include: [2, {y: []}]}}, runs-on: {}}}",
        "jobs: {a: {steps: [{run: [1]}, 7, {uses: {}}], env: [], defaults: 1, container: [], services: 3}}",
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\njobs: {t: {strategy: {matrix: {v: *c}}, steps: *c}}",
        "x: &x {k: 1}\njobs: {t: {<<: [*x, *x]}}",
        "? [a, b]\n: 1\n? {c: d}\n: 2",
        "\x00\x01",
        "- just\n- a list",
    ],
)
def test_a_hostile_workflow_file_is_left_aside(workflow: str) -> None:
    assert commands(recipe(PYTHON, RED, workflow=workflow)) == ["pytest -q"]

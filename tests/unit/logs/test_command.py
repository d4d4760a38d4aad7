"""Which tool a command runs."""

import pytest

from bot.domain.findings import CheckKind
from bot.logs import command_kind
from bot.logs.command import formats_of

TESTS, LINT, TYPES = CheckKind.TESTS, CheckKind.LINT, CheckKind.TYPES


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -q", (TESTS, "pytest")),
        ("python -m pytest tests", (TESTS, "pytest")),
        ("python3.12 -m pytest tests", (TESTS, "pytest")),
        ("PYTHONPATH=src CI=1 pytest", (TESTS, "pytest")),
        ("uv run --frozen pytest", (TESTS, "pytest")),
        ("uv run --with pytest-cov --python 3.12 pytest -x", (TESTS, "pytest")),
        ("uv run python -m pytest", (TESTS, "pytest")),
        ("poetry run pytest", (TESTS, "pytest")),
        ("hatch run pytest", (TESTS, "pytest")),
        ("coverage run -m pytest", (TESTS, "pytest")),
        ("coverage run --branch -m unittest discover", (TESTS, "unittest")),
        ("cd services/api && pytest", (TESTS, "pytest")),
        ("sh -c 'cd a && pytest -q'", (TESTS, "pytest")),
        ('bash -euo pipefail -c "mypy src"', (TYPES, "mypy")),
        (".venv/bin/ruff check .", (LINT, "ruff")),
        ("ruff format --check src", (LINT, "ruff-format")),
        ("uvx ruff@0.9 check", (LINT, "ruff")),
        ("uvx --from 'mypy==1.0' mypy .", (TYPES, "mypy")),
        ("pipx run black --check .", (LINT, "black")),
        ("timeout 60 pytest", (TESTS, "pytest")),
        ("python manage.py test", (TESTS, "unittest")),
        ("python -m unittest -v", (TESTS, "unittest")),
        ("tox -e py311", (TESTS, None)),
        ("npx eslint src", (LINT, "eslint")),
        ("npx --yes tsc --noEmit", (TYPES, "tsc")),
        ("npm test", (TESTS, None)),
        ("npm run lint", (LINT, None)),
        ("yarn run test:unit", (TESTS, None)),
        ("pnpm exec vitest run", (TESTS, "vitest")),
        ("go test ./...", (TESTS, "go")),
        ("cargo test --all", (TESTS, "cargo")),
        ("cargo clippy -- -D warnings", (LINT, "rustc")),
        ("pip install -r requirements.txt", None),
        ("echo pytest", None),
        ("", None),
        ("python setup.py build", None),
        ("echo 'open quote", None),
    ],
)
def test_the_tool_is_seen_through_its_wrappers(command, expected):
    assert command_kind(command) == expected


def test_a_script_of_known_commands_limits_the_formats():
    assert formats_of("cd src\nruff check . &\nmypy x.py &\nwait -n || exit 1") == {"ruff", "mypy"}


def test_one_unknown_command_could_print_anything():
    assert formats_of("pytest\n./scripts/more.sh") is None

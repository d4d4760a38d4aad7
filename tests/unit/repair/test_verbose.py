"""Runners that name only failures are made to name every test, and nothing else about a command changes."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.findings import Check, CheckKind
from bot.repair.verbose import WAYS, verbose

SCRIPTS = {
    "test": "jest",
    "lint": "eslint .",
    "both": "eslint . && jest --ci",
    "first": "jest && eslint .",
    "piped": "jest | cat",
    "fallback": "jest || true",
    "behind": "npm run -s unit",
    "unit": "cross-env NODE_ENV=test vitest run",
    "yarned": "yarn unit",
    "circle": "npm run circle",
    "dot": "vitest run --reporter=dot",
    "wide": "npm test --workspaces",
    "commented": "jest # all",
}


def told(command: str, scripts: object = None, **fields: str) -> str:
    package = json.dumps({"scripts": SCRIPTS if scripts is None else scripts}).encode()
    tree = {"package.json": b"{" if scripts == "broken" else package, "web/package.json": package}
    check = Check(name="x", kind=CheckKind.TESTS, command=command, **fields)
    return verbose(check, tree.get).command


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("jest", "jest --verbose"),
        ("npx jest --ci 2>&1 | tee jest.log", "npx jest --ci --verbose 2>&1 | tee jest.log"),
        ("CI=1 node_modules/.bin/jest src && echo done", "CI=1 node_modules/.bin/jest src --verbose && echo done"),
        ("npm exec -- jest", "npm exec -- jest --verbose"),
        ("yarn jest -t 'a && b'", "yarn jest -t 'a && b' --verbose"),
        ("npx vitest run --coverage", "npx vitest run --coverage --reporter=verbose"),
        ("pnpm exec vitest run --reporter=dot src", "pnpm exec vitest run src --reporter=verbose"),
        ("vitest --reporter dot --run", "vitest --run --reporter=verbose"),
        ("npx mocha -R dot test/*.js", "npx mocha -R dot test/*.js --reporter spec"),
        ("c8 mocha", "c8 mocha --reporter spec"),
        ("node --test --test-reporter=dot test", "node --test test"),
        ("go test ./...", "go test -v ./..."),
        ("go vet ./... && go test -race $(go list ./...)", "go vet ./... && go test -v -race $(go list ./...)"),
        ("gotestsum --format dots -- ./...", "gotestsum --format=standard-verbose -- ./..."),
        ("cargo test --quiet --all -- -q", "cargo test --all --"),
        ("cargo test -- --format terse", "cargo test --"),
        ("python -m unittest", "python -m unittest -v"),
        ("python3 -W error::X -m unittest", "python3 -W error::X -m unittest"),
        ("coverage run -m unittest discover -s tests -q", "coverage run -m unittest discover -s tests -v"),
        ("python manage.py test --parallel", "python manage.py test --parallel -v 2"),
        ("go test ./... \\\n  -count=1\necho 'it''s'", "go test -v ./... \\\n  -count=1\necho 'it''s'"),
    ],
)
def test_a_runner_is_told(command: str, said: str) -> None:
    assert told(command) == said
    assert told(said) == said, "once is enough"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("npm test", "npm test -- --verbose"),
        ("CI=1 npm t", "CI=1 npm t -- --verbose"),
        ("npm test -- --ci", "npm test -- --ci --verbose"),
        ("npm run both", "npm run both -- --verbose"),
        ("npm run unit", "npm run unit -- --reporter=verbose"),
        ("npm run behind", "npm run behind -- -- --reporter=verbose"),
        ("npm run yarned", "npm run yarned -- --reporter=verbose"),
        ("yarn test", "yarn test --verbose"),
        ("yarn run unit --coverage", "yarn run unit --coverage --reporter=verbose"),
        ("pnpm unit", "pnpm unit --reporter=verbose"),
        ("bun run test", "bun run test -- --verbose"),
        ("cd web && npm test", "cd web && npm test -- --verbose"),
    ],
)
def test_a_package_script_passes_it_on(command: str, said: str) -> None:
    assert told(command) == said


@pytest.mark.parametrize(
    "command",
    [
        "",
        "pytest",
        "npx eslint .",
        "jest --json --outputFile=out.json",
        "npx vitest run --reporter=json",
        "mocha --reporter json",
        "node --test",
        "go test -json ./... | tparse",
        "go test -v=true ./...",
        "cargo test",
        "make test",
        "echo jest",
        "npm install jest",
        "npx some-wrapper jest",
        "npm exec jest",
        "cat <<EOF\njest\nEOF",
        "bash -c 'jest'",
        "x=`jest`",
        'echo "$(jest)"',
        "(cd web; jest)",
        "jest 'open",
        "npm run lint",
        "npm run first",
        "npm run piped",
        "npm run fallback",
        "npm run circle",
        "npm run dot",
        "npm run wide",
        "npm run commented",
        "npm run gone",
        "npm test --workspaces",
        "npm test -w web",
        "npm --prefix web test",
        "pnpm -r test",
        "cd elsewhere && npm test",
        "cd $DIR && npm test",
    ],
)
def test_what_is_not_plainly_a_quiet_runner_stays(command: str) -> None:
    assert told(command) == command


def test_the_script_is_that_of_the_checks_own_folder() -> None:
    assert told("npm test", workdir="web") == "npm test -- --verbose"
    assert told("cd .. && npm test", workdir="web") == "cd .. && npm test -- --verbose"
    assert told("npm test", workdir="api") == "npm test"


@pytest.mark.parametrize("scripts", [[], "x", {"test": 3}, "broken", {}])
def test_a_package_json_that_says_nothing(scripts: object) -> None:
    assert told("npm test", scripts) == "npm test"


WORDS = st.sampled_from(["jest", "npm", "test", "run", "--", "-q", "go", "&&", "|", "'a b'", "\n", "2>&1", "$(x)", "#"])


@given(st.lists(WORDS | st.sampled_from(sorted(WAYS)) | st.text(max_size=5), max_size=8).map(" ".join))
def test_any_command_keeps_its_own_words(command: str) -> None:
    """Nothing but our additions and a runner's own switches differs, so that no other command's status can."""
    said = told(command)
    if said == command:
        return
    ours = {word for way in WAYS.values() for word in shlex.split(way.say)} | {"--"}
    gone = {"-q", "--quiet"}
    assert [w for w in said.split() if w not in ours | gone] == [w for w in command.split() if w not in ours | gone]

"""Which files decide whether a repair is right: tests, CI, configuration; matched by name, whatever the case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_TABLE = """
# tests and their data
test_*.py *_test.py tests.py conftest.py test/** tests/** __tests__/** __snapshots__/** *.snap *.spec.* *.test.*
testdata/** test_data/** fixtures/** *_test.go *_spec.rb /spec/**
# CI; a Makefile can hold the check's own command
/.github/** .gitlab-ci.yml /.circleci/** azure-pipelines.yml .travis.yml Jenkinsfile .drone.yml appveyor.yml tox.ini
tox.toml noxfile.py Makefile GNUmakefile *.mk justfile .justfile Taskfile.y*ml .pre-commit-config.yaml hatch.toml
# configuration of test runners, linters, type checkers and coverage
pyproject.toml setup.cfg package.json pytest.ini .pytest.ini pytest.toml .pytest.toml ruff.toml .ruff.toml .flake8
mypy.ini .mypy.ini ty.toml pyrightconfig.json pylintrc .pylintrc .coveragerc codecov.y*ml .codecov.y*ml .bandit
.isort.cfg .pydocstyle .style.yapf .importlinter .editorconfig tsconfig*.json jsconfig.json .eslintrc* eslint.config.*
.eslintignore .prettierrc* prettier.config.* .prettierignore biome.json* jest.config.* jest.setup.* vitest.config.*
vitest.setup.* vite.config.* babel.config.* .babelrc* .mocharc* karma.conf.* playwright.config.* cypress.config.*
.nycrc* .c8rc* .golangci.* clippy.toml .clippy.toml rustfmt.toml .rustfmt.toml .cargo/**
# linters do not look at what these list
.gitignore .ignore
# the environment was built from these before: a change would be delivered without ever having been tried
uv.lock poetry.lock pdm.lock Pipfile Pipfile.lock pylock*.toml requirements*.txt /requirements/** constraints*.txt
environment.y*ml package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock* Cargo.lock go.sum
Gemfile.lock composer.lock .npmrc pip.conf
# what steers tools on the reviewer's machine, and ourselves
AGENTS.md CLAUDE.md GEMINI.md .claude/** .cursor/** .cursorrules .windsurfrules .aider* .mcp.json
copilot-instructions.md selfrepair.y*ml .vscode/** .idea/** .devcontainer/** .envrc .gitattributes .gitmodules
"""

DEFAULT = tuple(glob for line in _TABLE.splitlines() if not line.startswith("#") for glob in line.split())
"""Globs of the locked files, in the form that `matches` reads."""


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a path matches one of the globs.

    As in a `.gitignore`: a glob that begins with `/` or has one in its middle starts at the root, another matches in
    any folder; `**` crosses folders. Case and Unicode composition never count: file systems differ about them.
    """
    name = fold(path)
    return any(_compiled(glob).fullmatch(name) for glob in globs)


def fold(path: str) -> str:
    """The form under which two spellings of a path may be one file on some file system."""
    return unicodedata.normalize("NFKC", path).casefold()


@lru_cache(maxsize=1000)
def _compiled(glob: str) -> re.Pattern[str]:
    body = glob.removesuffix("/**").removesuffix("/")
    anchored = "/" in body
    translated = "".join(_token(token) for token in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", fold(glob.strip("/"))))
    return re.compile(("" if anchored else "(?:.*/)?") + translated, re.DOTALL)


def _token(token: str) -> str:
    return {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token) or re.escape(token)

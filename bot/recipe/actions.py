"""What stands in for the actions that a job uses: a command, a check, or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

NOTHING = frozenset(
    (
        *("actions/checkout", "actions/cache", "actions/cache/restore", "actions/cache/save"),
        *("actions/upload-artifact", "actions/github-script", "actions/labeler", "codecov/codecov-action"),
        *("coverallsapp/github-action", "Swatinem/rust-cache", "step-security/harden-runner", "docker/login-action"),
        *("codecov/test-results-action", "dorny/test-reporter", "EnricoMi/publish-unit-test-result-action"),
        *(
            "mikepenz/action-junit-report",
            "py-cov-action/python-coverage-comment-action",
            "golangci/golangci-lint-action",
        ),
    )
)
"""Actions that change nothing a check could see here: the tree is there, and reports are made by others."""

_USER = '--prefix "$HOME/.local"'

INSTALLS: Mapping[str, str] = {
    "astral-sh/setup-uv": "pip install uv{==}",
    "yezz123/setup-uv": "pip install uv{==}",
    "hynek/setup-cached-uv": "pip install uv",
    "snok/install-poetry": "pip install poetry{==}",
    "abatilo/actions-poetry": "pip install poetry",
    "pdm-project/setup-pdm": "pip install pdm{==}",
    "pypa/hatch": "pip install hatch",
    "extractions/setup-just": "pip install rust-just",
    "pnpm/action-setup": f"npm install -g {_USER} pnpm{{@}}",
    "oven-sh/setup-bun": f"npm install -g {_USER} bun",
    "arduino/setup-task": "pip install go-task-bin",
    "pre-commit/action": "pip install pre-commit",
    "j178/prek-action": "pip install prek",
    "astral-sh/ruff-action": "pip install ruff{==}",
    "psf/black": "pip install black{==}",
    "jakebailey/pyright-action": "pip install pyright{==}",
}
"""Action -> command; `{==}` and `{@}` are filled with the input `version` where it is a plain one."""

CHECKS: Mapping[str, str] = {
    "pre-commit/action": "pre-commit run --show-diff-on-failure --all-files",
    "j178/prek-action": "prek run --show-diff-on-failure --all-files",
    "astral-sh/ruff-action": "ruff check",
    "psf/black": "black --check --diff .",
    "jakebailey/pyright-action": "pyright",
}
"""Action -> the check that it runs; its input `args`, where given, takes the place of the arguments."""


def install(name: str, given: Mapping[str, str], read: Callable[[str], bytes | None]) -> str | None:
    """The command that stands in for an action that installs a tool; None for other actions."""
    command = INSTALLS.get(name)
    if command is None:
        return None
    version = given.get("version", "").strip().removeprefix("v")
    if name == "pnpm/action-setup" and not version:
        version = _package_manager(read)
    plain = version if version[:1].isdigit() and not set(version) - set("0123456789.") else ""
    exact = plain.count(".") == 2
    return command.replace("{==}", f"=={plain}" if exact else "").replace("{@}", f"@{plain}" if plain else "")


def check(name: str, given: Mapping[str, str]) -> str | None:
    """The check that an action runs; None for other actions."""
    command = CHECKS.get(name)
    args = given.get("args", "").strip()
    return f"{command.split()[0]} {args}" if command and args and name != "pre-commit/action" else command


def _package_manager(read: Callable[[str], bytes | None]) -> str:
    """The version in package.json's `packageManager: pnpm@9.1.0+sha...`."""
    try:
        named = json.loads(read("package.json") or b"{}").get("packageManager", "")
    except (ValueError, AttributeError, RecursionError):
        return ""
    name, _, version = str(named).partition("@")
    return version.partition("+")[0] if name == "pnpm" else ""

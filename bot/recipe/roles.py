"""What a command of a workflow is for: it installs, it builds, it judges, or something else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.findings import CheckKind
from bot.logs.command import command_kind, simple_commands


class Role(StrEnum):
    """`INSTALL` fetches what checks need; `BUILD` makes files that checks need; `CHECK` judges; `OTHER` is the rest."""

    INSTALL = "install"
    BUILD = "build"
    CHECK = "check"
    OTHER = "other"


@dataclass(frozen=True)
class Known:
    """A command's role; for a check its kind and output format."""

    role: Role
    kind: CheckKind | None = None
    format: str | None = None


_INSTALLS = re.compile(
    r"(?:(?:python|pypy)[\d.]*t? -m )?(?:"
    r"pip[\d.]* (?:install|download|wheel|uninstall|cache)|pipx (?:install|inject|ensurepath)|ensurepip|venv|virtualenv"
    r"|uv (?:sync|pip|venv|lock|python|tool install|cache|self|export|add)"
    r"|poetry (?:install|sync|lock|config|self|env|add)|pdm (?:install|sync|config|use|lock|venv|add)"
    r"|pipenv (?:install|sync)|hatch (?:env|dep|python|config)|rye sync|pixi install|conda|mamba|micromamba"
    r"|npm (?:ci|i|install|install-\S+|config|link)|pnpm (?:i|install|fetch|config|add)|yarn(?: install| config| set|$)"
    r"|bun (?:i|install|add)|corepack|nvm|n |volta"
    r"|apt(?:-get)? |aptitude |dpkg |snap |apk |dnf |yum |brew |add-apt-repository"
    r"|gem (?:install|update)|bundle (?:install|config|lock)|bundler"
    r"|rustup|cargo (?:install|binstall|fetch)|go (?:install|get|mod|env|work)|mvn \S*dependency:"
    r"|pre-commit (?:install|install-hooks)|playwright install|npx playwright install|setup\.py (?:install|develop)"
    r")(?:\s|$)"
)
_MAKE_INSTALLS = re.compile(
    r"(?:install|deps?|dependencies|setup|bootstrap|init|dev|develop|env|venv|requirements|sync)"
)
_MAKE_KINDS: tuple[tuple[re.Pattern[str], CheckKind], ...] = (
    (re.compile(r".*(?:test|check|pytest|coverage|cov)s?(?:$|[-_:.]).*|.*[-_:.](?:test|check)s?$"), CheckKind.TESTS),
    (re.compile(r".*(?:lint|style|format|fmt|flake8|ruff|black|eslint|pre-?commit).*"), CheckKind.LINT),
    (re.compile(r".*(?:mypy|types?|typing|typecheck|tsc|pyright)(?:$|[-_:].*)"), CheckKind.TYPES),
)
_TASK_RUNNERS = ("make", "gmake", "just", "task", "invoke", "inv", "doit", "poe", "rake")
_PREFIX = re.compile(
    r"(?:sudo(?: -\S+)*|env|time|command|[A-Za-z_]\w*=\S*|xvfb-run(?: -\S+)*|uv run|poetry run|pdm run) "
)
_MORE_CHECKS: tuple[tuple[re.Pattern[str], CheckKind, str | None], ...] = (
    (
        re.compile(r"prek (?:run|$)|prek$|npx lint-staged|codespell|yamllint|vulture|interrogate|deptry"),
        CheckKind.LINT,
        None,
    ),
    (re.compile(r"(?:bundle exec )?(?:rspec|rake (?:test|spec))"), CheckKind.TESTS, None),
    (re.compile(r"(?:bundle exec )?rubocop"), CheckKind.LINT, None),
    (re.compile(r"(?:\./)?(?:mvnw?|gradlew?) .*(?:\btest\b|\bverify\b|\bcheck\b)"), CheckKind.TESTS, None),
    (re.compile(r"(?:\S*/)?(?:mvnw?|gradlew?) .*(?:\btest\b|\bverify\b|\bcheck\b)"), CheckKind.TESTS, None),
    (re.compile(r"hatch (?:run|test|fmt)|deno test|bun test|tox run|ctest|pdm (?:test|lint)"), CheckKind.TESTS, None),
    (re.compile(r"deno lint|deno fmt --check|npm audit"), CheckKind.LINT, None),
)
_PUBLISHES = re.compile(
    r"(?:twine|codecov|coveralls|gh |docker |aws |gcloud |kubectl |git push|bash <\(curl|python -m build)"
)


def role(text: str) -> Known:
    """The role of one command, or of a script that was kept whole: a check where any of its commands is one."""
    found = [_one(words) for words in simple_commands(text)]
    for wanted in (Role.CHECK, Role.INSTALL, Role.BUILD):
        for known in found:
            if known.role is wanted:
                return known
    return Known(Role.OTHER)


def installs(text: str) -> bool:
    """Whether any command of a script installs something."""
    return any(_one(words).role is Role.INSTALL for words in simple_commands(text))


def bare(words: list[str]) -> str:
    """A command as one line, without what stands before its name (sudo, variables, `uv run`)."""
    text = " ".join(words)
    while match := _PREFIX.match(text):
        text = text[match.end() :]
    return text


def _one(words: list[str]) -> Known:
    line = " ".join(words)
    text = bare(words)
    if not text or _PUBLISHES.match(text):
        return Known(Role.OTHER)
    if _INSTALLS.match(text) or _INSTALLS.match(line):
        return Known(Role.INSTALL)
    name, _, rest = text.partition(" ")
    if name.rsplit("/", 1)[-1] in _TASK_RUNNERS:
        return _target(rest.split(), name)
    for pattern, kind, form in _MORE_CHECKS:
        if pattern.match(text):
            return Known(Role.CHECK, kind, form)
    known = command_kind(line) if not re.search(r"(?:^| )--version$|(?:^| )-V$", line) else None
    if known is None:
        return Known(Role.OTHER)
    if known[0] is CheckKind.BUILD and name not in ("go", "cargo"):
        return Known(Role.BUILD, *known)
    return Known(Role.CHECK, *known)


def _target(words: list[str], name: str) -> Known:
    """A task runner's targets: the first whose name tells."""
    targets = [word for word in words if not word.startswith("-") and "=" not in word] or ["all"]
    for target in targets:
        for pattern, kind in _MAKE_KINDS:
            if pattern.fullmatch(target):
                return Known(Role.CHECK, kind)
    if any(_MAKE_INSTALLS.match(target) for target in targets):
        return Known(Role.INSTALL)
    return Known(Role.BUILD, CheckKind.BUILD) if name.endswith("make") else Known(Role.OTHER)

"""Which tool a shell command runs, through the wrappers that people put around it."""

from __future__ import annotations

import re
import shlex

from bot.domain.findings import CheckKind

TESTS, LINT, TYPES, BUILD = CheckKind.TESTS, CheckKind.LINT, CheckKind.TYPES, CheckKind.BUILD

TOOLS: dict[str, tuple[CheckKind, str | None]] = {
    "pytest": (TESTS, "pytest"),
    "py.test": (TESTS, "pytest"),
    "unittest": (TESTS, "unittest"),
    "nose2": (TESTS, "unittest"),
    "doctest": (TESTS, "doctest"),
    "tox": (TESTS, None),
    "nox": (TESTS, None),
    "pre-commit": (LINT, None),
    "ruff": (LINT, "ruff"),
    "flake8": (LINT, "flake8"),
    "pycodestyle": (LINT, "flake8"),
    "pyflakes": (LINT, None),
    "pylint": (LINT, "pylint"),
    "black": (LINT, "black"),
    "isort": (LINT, "isort"),
    "bandit": (LINT, "bandit"),
    "mypy": (TYPES, "mypy"),
    "dmypy": (TYPES, "mypy"),
    "pyright": (TYPES, "pyright"),
    "basedpyright": (TYPES, "pyright"),
    "ty": (TYPES, None),
    "eslint": (LINT, "eslint"),
    "prettier": (LINT, "prettier"),
    "tsc": (TYPES, "tsc"),
    "vue-tsc": (TYPES, "tsc"),
    "jest": (TESTS, "jest"),
    "vitest": (TESTS, "vitest"),
    "mocha": (TESTS, "mocha"),
    "golangci-lint": (LINT, None),
    "make": (BUILD, None),
}
"""Command -> kind of check and output format (None: to be told from the output)."""

_RUNNERS: dict[str, tuple[str, ...]] = {
    "uv": ("run", "tool run"),
    "poetry": ("run",),
    "pdm": ("run",),
    "pipenv": ("run",),
    "hatch": ("run",),
    "rye": ("run",),
    "pixi": ("run",),
    "conda": ("run",),
    "mamba": ("run",),
    "micromamba": ("run",),
    "npm": ("exec",),
    "pnpm": ("exec", "dlx"),
    "yarn": ("exec", "dlx", "run"),
    "bun": ("x",),
    "coverage": ("run",),
}
_PREFIXES = (
    "sudo",
    "time",
    "command",
    "exec",
    "nice",
    "env",
    "xvfb-run",
    "timeout",
    "uvx",
    "npx",
    "bunx",
    "pipx",
    "stdbuf",
)
_WITH_VALUE = frozenset(
    (
        *("-n", "-p", "-k", "-s", "-u", "-c", "-m", "-e", "-E", "-C", "--with", "--extra", "--group", "--python"),
        *("--env", "--directory", "--project", "--package", "--from", "--only-group", "--source", "--rcfile"),
        *("--omit", "--include", "--data-file", "--manifest-path", "--prefix", "--cwd", "--filter"),
    )
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_DURATION = re.compile(r"[\d.]+[smhd]?$")
_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)(?:\d(?:\.\d+)?t?)?(?:\.exe)?$")
_SHELL = re.compile(r"(?:.*/)?(?:ba|da|z|k)?sh$")
_SILENT = frozenset(
    (
        *(
            "cd",
            "export",
            "set",
            "source",
            ".",
            "mkdir",
            "rm",
            "cp",
            "mv",
            "ls",
            "true",
            "false",
            "wait",
            "exit",
            "sleep",
        ),
        *("test", "[", "[[", "pwd", "which", "umask", "ulimit", "trap", "git", "pip", "pip3", "apt", "apt-get", "curl"),
        *(
            "if",
            "then",
            "fi",
            "else",
            "for",
            "do",
            "done",
            ":",
            "unset",
            "shopt",
            "local",
            "pushd",
            "popd",
            "venv",
            "wget",
        ),
    )
)
"""Commands whose output reports nothing on the repository's code."""

_INSTALLS = re.compile(
    r"(?:sudo )?(?:npm (?:ci|i|install)|pnpm (?:i|install)|yarn(?: install|(?= -)|$)|uv (?:sync|pip|venv|lock|python)"
    r"|poetry install|pdm (?:install|sync)|pipenv (?:install|sync)|apt(?:-get)? |python\S* -m (?:pip|venv|ensurepip))"
    r"(?: |$)"
)


def command_kind(command: str) -> tuple[CheckKind, str | None] | None:
    """Kind and format of the first command of a shell line that is a check; None when none is.

    Looks through environment prefixes, `uv run`, `poetry run`, `python -m`, `npx`, `sh -c`, `coverage run -m` etc.
    """
    for words in simple_commands(command):
        known = _known(words)
        if known is not None:
            return known
    return None


def formats_of(script: str | None) -> frozenset[str] | None:
    """The output formats that a script can print; None when one of its commands could print anything."""
    if not script:
        return None
    formats: set[str] = set()
    for words in simple_commands(script):
        if words[0] == "echo":
            formats.add("annotations")
        elif words[0] in ("pip", "pip3") or _INSTALLS.match(" ".join(words[:4])):
            formats.add("generic")  # a build that fails while it is installed
        elif words[0] not in _SILENT:
            known = _known(words)
            if known is None or known[1] is None:
                return None
            formats.add(known[1])
    return frozenset(formats) or None


def simple_commands(script: str) -> list[list[str]]:
    """Word lists of the simple commands of a script, split at `;`, `&`, `|` and line ends; quotes respected."""
    commands: list[list[str]] = []
    for line in script.replace("\\\n", " ").split("\n")[:500]:
        lexer = shlex.shlex(line[:10_000], posix=True, punctuation_chars=";&|()")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        words: list[str] = []
        try:
            for token in lexer:
                if token and set(token) <= set(";&|()"):
                    commands.append(words)
                    words = []
                else:
                    words.append(token)
        except ValueError:  # an open quote: a here-document or a script that runs over lines
            words = line.split()
        commands.append(words)
    return [words for words in commands if words]


def _known(words: list[str], depth: int = 0) -> tuple[CheckKind, str | None] | None:
    words = _bare(words)
    if not words or depth > 5:
        return None
    head, rest = words[0], words[1:]
    name = head.rsplit("/", 1)[-1].removesuffix(".exe")
    if _SHELL.match(head) and "-c" in rest[:-1]:
        return command_kind(rest[rest.index("-c") + 1])
    if _PYTHON.match(head):
        return _python(rest, depth)
    if name in _RUNNERS:
        return _runner(name, rest, depth)
    if name in _PREFIXES:
        return _known(_arguments(rest, name), depth + 1)
    return _tool(name, rest)


def _bare(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and (
        _ASSIGNMENT.match(words[at]) or words[at] in ("!", "if", "then", "do", "else", "{", "&&")
    ):
        at += 1
    return words[at:]


def _arguments(words: list[str], prefix: str) -> list[str]:
    """What a wrapper runs: after its options (and timeout's duration)."""
    at = 0
    while at < len(words):
        if words[at] == "--":
            at += 1
            break
        if words[at].startswith("-"):
            at += 2 if words[at] in _WITH_VALUE else 1
        elif (prefix, words[at]) == ("pipx", "run") or (prefix == "timeout" and _DURATION.match(words[at])):
            at += 1
        else:
            break
    words = words[at:]
    return [words[0].split("@")[0] or words[0], *words[1:]] if words else words


def _python(rest: list[str], depth: int) -> tuple[CheckKind, str | None] | None:
    if "-m" in rest:
        at = rest.index("-m")
        if all(word.startswith("-") for word in rest[:at]):
            return _known(rest[at + 1 :], depth + 1)
    script = next((word for word in rest if not word.startswith("-")), "")
    if script.endswith("manage.py") and "test" in rest:
        return TESTS, "unittest"
    if script.rsplit("/", 1)[-1] == "runtests.py" or (script.endswith("setup.py") and "test" in rest):
        return TESTS, None
    return None


def _runner(name: str, rest: list[str], depth: int) -> tuple[CheckKind, str | None] | None:
    text = " ".join(rest[:2])
    for verb in _RUNNERS[name]:
        if text == verb or text.startswith(verb + " "):
            inner = _arguments(rest[len(verb.split()) :], name)
            if name == "coverage" and rest[1:] and "-m" in rest:
                inner = rest[rest.index("-m") + 1 :]
            known = _known(inner, depth + 1)
            return known if known or name not in ("yarn",) else _script(inner)
    if name in ("npm", "pnpm", "yarn", "bun"):
        return _script([word for word in rest if word not in ("run", "run-script") and not word.startswith("-")])
    if name == "hatch" and rest[:1] == ["test"]:
        return TESTS, "pytest"
    return None


def _script(words: list[str]) -> tuple[CheckKind, str | None] | None:
    """A package script: its name tells the kind, never the format."""
    name = words[0] if words else ""
    if name in TOOLS:
        return TOOLS[name]
    for word, kind in (
        ("test", TESTS),
        ("lint", LINT),
        ("type", TYPES),
        ("tsc", TYPES),
        ("format", LINT),
        ("build", BUILD),
    ):
        if name == word or name.startswith((word + ":", word + "-")) or name.endswith((":" + word, "-" + word)):
            return kind, None
    return (TYPES, None) if name.startswith(("typecheck", "check-types", "check:types")) else None


def _tool(name: str, rest: list[str]) -> tuple[CheckKind, str | None] | None:
    verb = next((word for word in rest if not word.startswith(("-", "+"))), "")
    if name == "ruff":
        return (LINT, "ruff-format") if verb == "format" else (LINT, "ruff")
    if name == "go":
        return {"test": (TESTS, "go"), "vet": (LINT, "go-vet"), "build": (BUILD, "go-vet")}.get(verb)
    if name == "cargo":
        verbs = {
            "test": (TESTS, "cargo"),
            "nextest": (TESTS, "cargo"),
            "clippy": (LINT, "rustc"),
            "fmt": (LINT, None),
            "check": (BUILD, "rustc"),
            "build": (BUILD, "rustc"),
        }
        return verbs.get(verb)
    if name == "node":
        return (TESTS, "node-test") if "--test" in rest else None
    if name in ("gcc", "g++", "clang", "clang++", "cc", "c++"):
        return BUILD, "gcc"
    if name in ("cmake", "ninja", "ctest"):
        return (TESTS, None) if name == "ctest" else (BUILD, None)
    return TOOLS.get(name)

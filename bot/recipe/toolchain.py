"""Which version of a language CI had, and the image that has it: one table of official images."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.recipe.workflow import Read

DEFAULT_IMAGE = "python:3.13-slim-trixie"
"""Where nothing tells what CI ran in."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A language that CI set up; `spec` as it was written ("3.12", ">=3.9", "lts/*", "" when not said)."""

    language: str
    spec: str
    origin: str


@dataclass(frozen=True, kw_only=True)
class Image:
    """The image for a Tool; `note` says what was assumed, or what cannot be had exactly."""

    name: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Language:
    """How versions of one language become images.

    `newest` is what "latest" and open ranges are taken for, `runner` what GitHub's ubuntu-latest has by itself;
    `images` are (lowest version, image) in falling order, `{v}` the version; `apt` installs Debian's own version.
    """

    newest: str
    runner: str
    images: tuple[tuple[tuple[int, ...], str], ...]
    parts: int
    apt: str
    words: Mapping[str, str]
    files: tuple[str, ...]
    commands: frozenset[str]


LANGUAGES: Mapping[str, Language] = {
    "python": Language(
        newest="3.14",
        runner="3.12",
        images=(
            ((3, 9), "python:{v}-slim-trixie"),
            ((3, 7), "python:{v}-slim-bookworm"),
            ((3, 6), "python:{v}-slim-bullseye"),
            ((0,), "python:{v}-slim-buster"),
        ),
        parts=2,
        apt="python3 python3-pip python3-venv python-is-python3",
        words={},
        files=(".python-version", "pyproject.toml", "Pipfile", ".tool-versions"),
        commands=frozenset(
            (
                *("python", "python3", "pip", "pip3", "pytest", "tox", "nox", "uv", "uvx", "poetry", "pdm", "pipenv"),
                *("hatch", "mypy", "ruff", "black", "flake8", "pre-commit", "pylint", "isort", "pyright", "coverage"),
                *("pipx", "bandit", "prek"),
            )
        ),
    ),
    "node": Language(
        newest="24",
        runner="20",
        images=(
            ((20,), "node:{v}-trixie-slim"),
            ((16,), "node:{v}-bookworm-slim"),
            ((0,), "node:{v}-buster-slim"),
        ),
        parts=1,
        apt="nodejs npm",
        words={"lts/*": "24", "lts/krypton": "24", "lts/jod": "22", "lts/iron": "20", "lts/hydrogen": "18"},
        files=(".nvmrc", ".node-version", "package.json", ".tool-versions"),
        commands=frozenset(
            ["node", "npm", "npx", "pnpm", "yarn", "jest", "eslint", "tsc", "vitest", "prettier", "bun", "corepack"]
        ),
    ),
    "go": Language(
        newest="1.25",
        runner="1.24",
        images=(((1, 25), "golang:{v}-trixie"), ((1, 20), "golang:{v}-bookworm"), ((0,), "golang:{v}-bullseye")),
        parts=2,
        apt="golang-go",
        words={"oldstable": "1.24"},
        files=("go.mod", ".go-version", ".tool-versions"),
        commands=frozenset(["go", "gofmt", "golangci-lint"]),
    ),
    "rust": Language(
        newest="1",
        runner="1",
        images=(((1, 90), "rust:{v}-slim-trixie"), ((1, 2), "rust:{v}-slim-bookworm"), ((1,), "rust:{v}-slim-trixie")),
        parts=2,
        apt="cargo rustc rustfmt rust-clippy",
        words={},
        files=("rust-toolchain.toml", "rust-toolchain"),
        commands=frozenset(["cargo", "rustc", "rustup", "rustfmt"]),
    ),
    "java": Language(
        newest="25",
        runner="17",
        images=(((8,), "eclipse-temurin:{v}-jdk"), ((0,), "eclipse-temurin:8-jdk")),
        parts=1,
        apt="default-jdk-headless maven",
        words={},
        files=(".java-version", ".tool-versions"),
        commands=frozenset(["java", "javac", "mvn", "mvnw", "gradle", "gradlew"]),
    ),
    "ruby": Language(
        newest="3.4",
        runner="3.2",
        images=(((3, 2), "ruby:{v}-slim-trixie"), ((2, 7), "ruby:{v}-slim-bookworm"), ((0,), "ruby:{v}-slim-buster")),
        parts=2,
        apt="ruby-full bundler",
        words={},
        files=(".ruby-version", "Gemfile", ".tool-versions"),
        commands=frozenset(["ruby", "bundle", "rake", "rspec", "gem", "rubocop"]),
    ),
}
"""The one table of images."""


def language_of(words: list[str]) -> str | None:
    """The language that a simple command needs."""
    for word in words[:6]:
        name = word.rsplit("/", 1)[-1]
        for language, row in LANGUAGES.items():
            if name in row.commands or (language == "python" and re.fullmatch(r"(?:python|pypy)[\d.]+", name)):
                return language
    return None


def image(tool: Tool) -> Image:
    """The official image for a Tool."""
    row = LANGUAGES[tool.language]
    spec = tool.spec.strip().strip("\"'").splitlines()[-1].strip() if tool.spec.strip() else ""
    special = _special(tool.language, spec)
    if special is not None:
        return special
    version, note = resolved(tool.language, spec)
    numbers = tuple(int(part) for part in version.split("."))
    name = next(name for least, name in row.images if numbers >= least)
    return Image(name=name.format(v=version), note=note)


def _special(language: str, spec: str) -> Image | None:
    """Interpreters and channels that are no plain version."""
    if language == "python":
        if found := re.fullmatch(r"pypy-?(\d+\.\d+).*", spec, re.IGNORECASE):
            return Image(
                name=f"pypy:{found[1]}-slim",
                note=f"PyPy {found[1]} of the official image, whose patch version may differ",
            )
        if found := re.fullmatch(r"(\d+\.\d+)[\d.]*t(?:-dev)?", spec):
            nearest = image(Tool(language="python", spec=found[1], origin=""))
            note = f"the free-threaded build {spec} has no official image: Python {found[1]} is the nearest leg"
            return Image(name=nearest.name, note=note)
        if found := re.fullmatch(r"(\d+\.\d+)-dev", spec):
            return Image(
                name=f"python:{found[1]}-rc-slim", note=f"{spec}: the newest pre-release of the official image"
            )
        if re.match(r"graalpy|jython|ironpython", spec, re.IGNORECASE):
            return Image(name=DEFAULT_IMAGE, note=f"{spec} has no official image: CPython is the nearest leg")
    if language == "rust" and spec.startswith(("nightly", "beta")):
        channel = spec.split("-")[0]
        return Image(name=f"rustlang/rust:{channel}-slim", note=f"Rust {spec}: today's {channel}, not CI's")
    if language == "ruby" and spec in ("head", "jruby", "truffleruby"):
        return Image(name="ruby:3.4-slim-trixie", note=f"Ruby {spec} has no official image: 3.4 is the nearest leg")
    return None


def resolved(language: str, spec: str) -> tuple[str, str]:
    """The version for the image's name, and what was assumed ("" where nothing was)."""
    row = LANGUAGES[language]
    spec = row.words.get(spec.lower(), spec)
    plain = re.fullmatch(r"[=^~v]{0,2}\s*(?:go|ruby-|temurin-|zulu-)?(\d+(?:\.\d+)*)(?:\.[x*]|[-+].*)?", spec)
    if plain:
        parts = plain[1].split(".")[: row.parts]
        if len(parts) == row.parts or language == "rust":
            return ".".join(part[:4] for part in parts), ""
    upper = re.search(r"<\s*(\d+)(?:\.(\d{1,4}))?", spec)
    if upper and row.parts == 2 and upper[2] and int(upper[2]) > 0:
        below = f"{upper[1][:4]}.{int(upper[2]) - 1}"
        return below, f"{language} {spec}: {below} is taken"
    if upper and row.parts == 1 and upper[1].isdigit() and int(upper[1][:4]) > 1:
        return str(int(upper[1][:4]) - 1), f"{language} {spec}: {int(upper[1][:4]) - 1} is taken"
    if not spec:
        return row.runner, f"no version of {language} is named: {row.runner}, as GitHub's runners have it, is assumed"
    if language == "rust" and spec == "stable":
        return row.newest, ""
    return row.newest, f"{language} {spec}: {row.newest} is assumed"


# -- version files ------------------------------------------------------------------------------------------------


def from_repository(language: str, read: Read) -> Tool | None:
    """The version that the repository itself asks for."""
    for path in LANGUAGES[language].files:
        if tool := from_file(language, path, read):
            return tool
    return None


def from_file(language: str, path: str, read: Read) -> Tool | None:
    """The version that a file names; None where it is not there or names none."""
    content = read(path)
    if content is None:
        return None
    text = content[:200_000].decode("utf-8", "replace")
    name = path.rsplit("/", 1)[-1]
    found = _READERS.get(name, _first_line)(text, language)
    return Tool(language=language, spec=found, origin=path) if found else None


def _first_line(text: str, _language: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    return lines[0][:60] if lines else ""


def _pyproject(text: str, _language: str) -> str:
    data = toml(text)
    requires = _at(data, "project", "requires-python") or _at(data, "tool", "poetry", "dependencies", "python")
    if not isinstance(requires, str):
        return ""
    # Open ranges say what is allowed, not what CI had: the runner's own Python is it, where it is allowed.
    runner = LANGUAGES["python"].runner
    lower = re.search(r"(?:>=|\^|~=|==)\s*(\d+)\.(\d+)", requires)
    upper = re.search(r"<\s*(\d+)\.(\d+)", requires)
    mine = tuple(int(part) for part in runner.split("."))
    low = (int(lower[1][:4]), int(lower[2][:4])) if lower else (0, 0)
    high = (int(upper[1][:4]), int(upper[2][:4])) if upper else (99, 0)
    if low <= mine < high and "==" not in requires:
        return runner
    return requires[:60] if mine >= high else f"{low[0]}.{low[1]}"


def _package(text: str, _language: str) -> str:
    data = as_json(text)
    found = _at(data, "volta", "node") or _at(data, "engines", "node")
    return found[:60] if isinstance(found, str) else ""


def _tool_versions(text: str, language: str) -> str:
    names = {"node": "nodejs|node", "go": "golang|go"}.get(language, language)
    found = re.search(rf"^(?:{names})\s+(\S{{1,40}})", text, re.M)
    return found[1].rpartition("-")[2] if found and language == "java" else found[1] if found else ""


def _pattern(pattern: str) -> Callable[[str, str], str]:
    def read(text: str, _language: str) -> str:
        found = re.search(pattern, text, re.M)
        return found[1] if found else ""

    return read


_READERS: Mapping[str, Callable[[str, str], str]] = {
    "pyproject.toml": _pyproject,
    "package.json": _package,
    ".tool-versions": _tool_versions,
    "Pipfile": _pattern(r"^python_(?:full_)?version\s*=\s*[\"']([\d.]+)"),
    "go.mod": _pattern(r"^(?:toolchain go|go )(\d+(?:\.\d+)*)"),
    "Gemfile": _pattern(r"^ruby\s+[\"']([^\"']{1,40})"),
    "rust-toolchain.toml": _pattern(r"^\s*channel\s*=\s*[\"']([\w.-]{1,40})"),
    "rust-toolchain": _pattern(r"^\s*(?:channel\s*=\s*)?[\"']?([\w.-]{1,40})"),
}


def toml(text: str) -> object:
    """A TOML file's data; None where it is none."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return None


def as_json(text: str) -> object:
    """A JSON file's data; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _at(data: object, *keys: str) -> object:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data

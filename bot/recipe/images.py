"""Which image stands in for what a job set up: one row a language."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

Reader = Callable[[str], bytes | None]


@dataclass(frozen=True, kw_only=True)
class Language:
    """How a job asks for a language, and the image that has it.

    `actions` set it up, `version` names their input, `files` say the version where the input does not; `programs` are
    commands that need it; `apt` installs it beside another language's image.
    """

    name: str
    image: str
    actions: tuple[str, ...]
    version: str
    files: tuple[str, ...]
    programs: tuple[str, ...]
    apt: str
    latest: str


LANGUAGES = (
    Language(
        name="python",
        image="python:{}",
        actions=("actions/setup-python",),
        version="python-version",
        files=(".python-version",),
        programs=("python", "python3", "pip", "pytest", "tox", "nox", "uv", "uvx", "poetry", "pdm", "hatch", "ruff"),
        apt="python3 python3-pip python3-venv",
        latest="3",
    ),
    Language(
        name="node",
        image="node:{}",
        actions=("actions/setup-node",),
        version="node-version",
        files=(".nvmrc", ".node-version"),
        programs=("node", "npm", "npx", "yarn", "pnpm", "corepack", "jest", "vitest", "mocha", "tsc", "eslint"),
        apt="nodejs npm",
        latest="lts",
    ),
    Language(
        name="go",
        image="golang:{}",
        actions=("actions/setup-go",),
        version="go-version",
        files=("go.mod",),
        programs=("go", "gofmt", "golangci-lint"),
        apt="golang",
        latest="latest",
    ),
    Language(
        name="rust",
        image="rust:{}",
        actions=(
            *("dtolnay/rust-toolchain", "actions-rs/toolchain", "actions-rust-lang/setup-rust-toolchain"),
            *("moonrepo/setup-rust", "actions-rs/cargo"),
        ),
        version="toolchain",
        files=("rust-toolchain.toml", "rust-toolchain"),
        programs=("cargo", "rustc", "rustup"),
        apt="cargo rustc",
        latest="latest",
    ),
    Language(
        name="java",
        image="eclipse-temurin:{}-jdk",
        actions=("actions/setup-java",),
        version="java-version",
        files=(".java-version",),
        programs=("java", "javac", "mvn", "gradle", "./gradlew", "./mvnw"),
        apt="default-jdk-headless",
        latest="21",
    ),
    Language(
        name="ruby",
        image="ruby:{}",
        actions=("ruby/setup-ruby",),
        version="ruby-version",
        files=(".ruby-version",),
        programs=("ruby", "bundle", "rake", "rspec", "rubocop"),
        apt="ruby-full",
        latest="latest",
    ),
)


def of_action(uses: str) -> Language | None:
    """The language that an action sets up."""
    name = uses.partition("@")[0]
    return next((language for language in LANGUAGES if name in language.actions), None)


def of_programs(commands: Iterable[list[str]]) -> Language | None:
    """The language that the first of these simple commands needs."""
    for words in commands:
        for language in LANGUAGES:
            if any(word in language.programs for word in words[:3]):
                return language
    return None


def version(language: Language, uses: str, given: Mapping[str, str], read: Reader) -> tuple[str, str]:
    """(version as the image's tag has it, where it was read)."""
    named = uses.partition("@")[2]
    wanted = given.get(language.version, "").strip()
    if wanted:
        return tag(language, wanted.split("\n")[-1]), f"its {language.version}"
    if language.name == "rust" and (re.fullmatch(r"\d[\d.]*", named) or named in ("stable", "nightly", "beta")):
        return tag(language, named), "its version"
    files = [given.get(f"{language.version}-file", "").strip(), *language.files]
    for path in filter(None, files):
        found = _in_file(path, read(path.removeprefix("./")))
        if found:
            return tag(language, found), path
    return language.latest, "no version given: the newest"


def tag(language: Language, wanted: str) -> str:
    """An image's tag for a version as people write it: `3.12`, `20.x`, `v18.1`, `lts/*`, `>=3.9`, `3.14-dev`."""
    wanted = wanted.strip().strip("'\"").removeprefix("v")
    if language.name == "python" and wanted.startswith("pypy"):
        return wanted
    number = re.match(r"(?:[~^=]=?)?\s*(\d+(?:\.\d+)*)(?P<rest>.*)", wanted)
    if number is None or wanted.startswith((">", "<", "*")):
        return language.latest
    if re.match(r"-?(?:dev|alpha|beta|rc)", number.group("rest")):
        return f"{number.group(1)}-rc"
    return number.group(1)


def image(language: Language, tagged: str) -> str:
    """The image's name; PyPy has one of its own."""
    if tagged.startswith("pypy"):
        return f"pypy:{tagged.removeprefix('pypy').removeprefix('-').partition('-')[0] or '3'}"
    return language.image.format(tagged)


def _in_file(path: str, content: bytes | None) -> str | None:
    """The version that a file of the repository asks for."""
    text = (content or b"").decode("utf-8", "replace")
    name = path.rsplit("/", 1)[-1]
    try:
        if name == "go.mod":
            found = re.search(r"^go\s+(\d+\.\d+)", text, re.MULTILINE)
            return found.group(1) if found else None
        if name == "package.json":
            engines = json.loads(text or "{}").get("engines", {})
            return str(engines.get("node")) if engines.get("node") else None
        if name.endswith(".toml"):
            data = tomllib.loads(text)
            asked = data.get("project", {}).get("requires-python") or data.get("toolchain", {}).get("channel")
            return str(asked) if asked else None
    except (ValueError, AttributeError, RecursionError):
        return None
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return lines[0] if lines and len(lines[0]) < 40 else None

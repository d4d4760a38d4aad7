"""What the actions of a workflow stand for: one table from their names to toolchains, commands and notes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.recipe.toolchain import Tool, from_file
from bot.recipe.workflow import Read

Inputs = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Stands:
    """What an action stands for. `run` is looked at as a `run:` step would be; `note` says what is left out."""

    tools: tuple[Tool, ...] = ()
    run: str = ""
    note: str = ""


NOTHING = Stands()
_VERSION = re.compile(r"[\w.+*<>=~^! ,-]{1,60}")


def stands_for(uses: str, inputs: Inputs, origin: str, read: Read) -> Stands | None:
    """What `uses: NAME@REF` with these inputs stands for; None where the action is not known."""
    name, _, ref = uses.strip().partition("@")
    name = name.lower()
    given = {**inputs, "@": ref}
    if name in _TOOLS:
        return _toolchain(name, given, origin, read)
    if name in _COMMANDS:
        try:
            return Stands(run=_COMMANDS[name](given))
        except ValueError:
            return Stands(note=f"`{uses}`: its inputs cannot be read")
    if name in _LEFT_OUT:
        return Stands(note=f"`{uses}`: {_LEFT_OUT[name]}")
    return NOTHING if name in _NOTHING or name.startswith(_NOTHING_FROM) else None


# -- toolchains ---------------------------------------------------------------------------------------------------

_TOOLS: Mapping[str, tuple[str, str, str]] = {
    "actions/setup-python": ("python", "python-version", "python-version-file"),
    "actions/setup-node": ("node", "node-version", "node-version-file"),
    "actions/setup-go": ("go", "go-version", "go-version-file"),
    "actions/setup-java": ("java", "java-version", "java-version-file"),
    "ruby/setup-ruby": ("ruby", "ruby-version", ""),
    "dtolnay/rust-toolchain": ("rust", "toolchain", ""),
    "actions-rs/toolchain": ("rust", "toolchain", ""),
    "actions-rust-lang/setup-rust-toolchain": ("rust", "toolchain", ""),
    "moonrepo/setup-rust": ("rust", "channel", ""),
    "astral-sh/setup-uv": ("python", "python-version", ""),
    "hynek/setup-cached-uv": ("python", "", ""),
    "yezz123/setup-uv": ("python", "", ""),
    "pdm-project/setup-pdm": ("python", "python-version", "python-version-file"),
    "deadsnakes/action": ("python", "python-version", ""),
}
"""Action -> language, input with the version, input with the file that names it."""


def _toolchain(name: str, inputs: Inputs, origin: str, read: Read) -> Stands:
    language, key, file_key = _TOOLS[name]
    spec = inputs.get(key, "").strip() if key else ""
    file = inputs.get(file_key, "").strip() if file_key else ""
    if name == "dtolnay/rust-toolchain" and not spec:
        spec = inputs["@"]
    tool = Tool(language=language, spec=spec, origin=origin)
    if not spec and file:
        tool = from_file(language, file, read) or tool
    along = _ALONG.get(name)
    return Stands(tools=(tool,), run=along(inputs) if along else "")


def _components(inputs: Inputs) -> str:
    names = re.findall(r"[\w-]+", inputs.get("components", ""))
    return f"rustup component add {' '.join(names)}" if names else ""


_ALONG: Mapping[str, Callable[[Inputs], str]] = {
    "astral-sh/setup-uv": lambda inputs: _pip("uv", inputs.get("version", "")),
    "hynek/setup-cached-uv": lambda _: "pip install uv",
    "yezz123/setup-uv": lambda inputs: _pip("uv", inputs.get("uv-version", "")),
    "pdm-project/setup-pdm": lambda inputs: _pip("pdm", inputs.get("version", "")),
    "dtolnay/rust-toolchain": _components,
    "actions-rs/toolchain": _components,
    "actions-rust-lang/setup-rust-toolchain": _components,
    "ruby/setup-ruby": lambda inputs: "bundle install" if inputs.get("bundler-cache") == "true" else "",
}
"""What such an action installs besides."""


# -- commands -----------------------------------------------------------------------------------------------------


def _pip(package: str, version: str) -> str:
    """`latest` and the like ask for nothing; ranges are kept as pip reads them."""
    version = version.strip().removeprefix("v")
    if not version or version == "latest" or not _VERSION.fullmatch(version):
        return f"pip install {package}"
    if version[0] in "<>=~!":
        return f"pip install {shlex.quote(package + version.replace(' ', ''))}"
    version = version.replace(".x", ".*")
    return f"pip install {shlex.quote(f'{package}=={version}')}"


def _npm(package: str, version: str) -> str:
    version = version.strip().removeprefix("v")
    tag = version if re.fullmatch(r"[\w.^~-]{1,40}", version) else "latest"
    return f"npm install -g {package}@{tag}"


def _arguments(text: str, default: str = "") -> str:
    """An input that holds arguments, quoted anew: it is written by others and reaches a shell. Raises ValueError."""
    return shlex.join(shlex.split(text)) if text.strip() else default


def _poetry(inputs: Inputs) -> str:
    lines = [_pip("poetry", inputs.get("version") or inputs.get("poetry-version", ""))]
    for name in ("create", "in-project"):
        value = inputs.get(f"virtualenvs-{name}", "").lower()
        if value in ("true", "false"):
            lines.append(f"poetry config virtualenvs.{name} {value}")
    return "\n".join(lines)


def _pnpm(inputs: Inputs) -> str:
    lines = [
        _npm("pnpm", inputs.get("version", "")) if inputs.get("version") else "npm install -g corepack\ncorepack enable"
    ]
    return "\n".join(
        [*lines, *(["pnpm install"] if inputs.get("run_install", "null") not in ("null", "false", "") else [])]
    )


def _apt(packages: str) -> str:
    names = [name for name in re.split(r"[\s,]+", packages) if re.fullmatch(r"[a-z0-9][a-z0-9+.-]*(?:=\S+)?", name)]
    return f"sudo apt-get update && sudo apt-get install -y --no-install-recommends {' '.join(names)}" if names else ""


def _hooks(tool: str) -> Callable[[Inputs], str]:
    def run(inputs: Inputs) -> str:
        extra = _arguments(inputs.get("extra_args") or inputs.get("extra-args") or "", "--all-files")
        return f"pip install {tool}\n{tool} run --show-diff-on-failure --color=always {extra}"

    return run


def _tool(package: str, default: str, *, arguments: str, source: str = "src") -> Callable[[Inputs], str]:
    """A linter's own action: installs it at `version` and runs it with what the inputs say."""

    def run(inputs: Inputs) -> str:
        command = (
            f"{package} {_arguments(inputs.get(arguments, ''), default)} {_arguments(inputs.get(source, ''), '.')}"
        )
        return f"{_pip(package, inputs.get('version', ''))}\n{command.strip()}"

    return run


_COMMANDS: Mapping[str, Callable[[Inputs], str]] = {
    "snok/install-poetry": _poetry,
    "abatilo/actions-poetry": _poetry,
    "pypa/hatch": lambda inputs: _pip("hatch", inputs.get("version", "")),
    "wntrblm/nox": lambda _: "pip install nox",
    "pnpm/action-setup": _pnpm,
    "oven-sh/setup-bun": lambda inputs: _npm("bun", inputs.get("bun-version", "")),
    "pre-commit/action": _hooks("pre-commit"),
    "tox-dev/action-pre-commit-uv": _hooks("pre-commit"),
    "j178/prek-action": _hooks("prek"),
    "astral-sh/ruff-action": _tool("ruff", "check", arguments="args"),
    "chartboost/ruff-action": _tool("ruff", "check", arguments="args"),
    "psf/black": _tool("black", "--check --diff", arguments="options"),
    "isort/isort-action": _tool("isort", "--check-only --diff", arguments="configuration", source="sort-paths"),
    "jakebailey/pyright-action": lambda inputs: f"{_pip('pyright', inputs.get('version', ''))}\npyright",
    "awalsh128/cache-apt-pkgs-action": lambda inputs: _apt(inputs.get("packages", "")),
    "extractions/setup-just": lambda _: _apt("just"),
    "mxschmitt/action-tmate": lambda _: "",
    "coactions/setup-xvfb": lambda inputs: f"{_apt('xvfb xauth')}\nxvfb-run -a {inputs.get('run', 'true').strip()}",
}
"""Action -> the commands that do the same."""


# -- the rest -----------------------------------------------------------------------------------------------------

_CONDA = "conda environments are not rebuilt here: name an `image` and the `setup` in .github/selfrepair.yml"
_LEFT_OUT: Mapping[str, str] = {
    "conda-incubator/setup-miniconda": _CONDA,
    "mamba-org/setup-micromamba": _CONDA,
    "mamba-org/provision-with-micromamba": _CONDA,
    "actions/download-artifact": "what another job uploaded is not here",
    "golangci/golangci-lint-action": "golangci-lint is not set up here: name it in `setup` and `checks` to have it",
    "actions/github-script": "scripts against GitHub's API are not run here",
    "denoland/setup-deno": "deno is not set up here: name an `image` that has it",
}
"""Known, and not had here."""

_NOTHING = frozenset(
    (
        *(
            "actions/checkout",
            "actions/cache",
            "actions/cache/restore",
            "actions/cache/save",
            "actions/upload-artifact",
        ),
        *("codecov/codecov-action", "coverallsapp/github-action", "codecov/test-results-action", "swatinem/rust-cache"),
        *(
            "re-actors/alls-green",
            "actions/labeler",
            "actions/stale",
            "actions/attest-build-provenance",
            "py-cov-action/python-coverage-comment-action",
        ),
        *(
            "step-security/harden-runner",
            "styfle/cancel-workflow-action",
            "fkirc/skip-duplicate-actions",
            "crate-ci/typos",
        ),
        *(
            "gradle/actions/setup-gradle",
            "gradle/gradle-build-action",
            "dorny/test-reporter",
            "mikepenz/action-junit-report",
        ),
        *("jlumbroso/free-disk-space", "egor-tensin/vs-shell", "ilammy/msvc-dev-cmd", "microsoft/setup-msbuild"),
    )
)
_NOTHING_FROM = (
    "github/codeql-action/",
    "actions/deploy-pages",
    "actions/upload-pages-artifact",
    "peter-evans/",
    "softprops/",
)
"""Actions that bring nothing to a check: caches, uploads, reports, comments."""

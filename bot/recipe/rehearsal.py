"""Checks that install while they run: what to do with a network first, and what tells them to use what is there.

Seen with tox 4.5x: after `tox run --notest` with an editable package, TOX_SKIP_PKG_INSTALL makes an offline run test
the patched tree.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bot.logs.command import simple_commands
from bot.recipe.roles import bare
from bot.recipe.toolchain import as_json
from bot.recipe.workflow import Read


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """What makes a check able to run offline.

    `networked` is the command for the set-up ("" for none), `setup_env` its variables, `env` the check's, `command`
    the check itself where it must be told more. `may_fail`: the rehearsal runs the check itself, whose status says
    nothing.
    """

    networked: str = ""
    setup_env: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    may_fail: bool = False
    note: str = ""


NONE = Rehearsal()

_PASSED = "PYTHONPATH,SELFREPAIR_*,PYTEST_*,CI"
"""What must get through tox's isolation, so that our pytest plugin is seen in there."""

EDITABLE_TOX = {"TOX_OVERRIDE": f"testenv.package=editable;testenv.pass_env+={_PASSED}"}

OFFLINE: Mapping[str, Mapping[str, str]] = {
    "uv": {"UV_OFFLINE": "1"},
    "uvx": {"UV_OFFLINE": "1"},
    "npm": {"npm_config_offline": "true", "npm_config_update_notifier": "false"},
    "npx": {"npm_config_offline": "true", "npm_config_update_notifier": "false"},
    "pnpm": {"npm_config_offline": "true"},
    "pip": {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    "tox": {**EDITABLE_TOX, "TOX_SKIP_PKG_INSTALL": "1", "PIP_NO_INDEX": "1"},
    "nox": {"PIP_NO_INDEX": "1", "UV_OFFLINE": "1"},
    "hatch": {"PIP_NO_INDEX": "1", "UV_OFFLINE": "1"},
    "pre-commit": {"PIP_NO_INDEX": "1", "npm_config_offline": "true"},
    "prek": {"UV_OFFLINE": "1", "npm_config_offline": "true"},
    "cargo": {"CARGO_NET_OFFLINE": "true"},
    "go": {"GOPROXY": "off"},
    "mvn": {"MAVEN_ARGS": "--offline"},
}
"""The one table of variables that tell a tool to use what is there. Sources: each tool's own list of variables."""

_REDIRECTS = re.compile(r"[|<>;&`]|\$\(")
_UV_VALUES = frozenset(
    (
        *("--with", "--extra", "--group", "--only-group", "--no-group", "--python", "-p", "--package", "--directory"),
        *("--project", "--env-file", "--with-editable", "--with-requirements", "--no-extra", "--index", "--from", "-w"),
        *("--index-url", "--resolution", "--python-preference", "--color", "--cache-dir", "-C", "--config-setting"),
    )
)


def rehearse(text: str, read: Read, workdir: str = ".", depth: int = 0) -> Rehearsal:
    """The rehearsal of one check's command. What runs behind `make TARGET` and `npm run NAME` is looked up once."""
    commands = simple_commands(text)
    simple = len(commands) == 1 and not _REDIRECTS.search(re.sub(r"'[^']*'", "", text))
    if not commands:
        return NONE
    if not simple:
        return _whole(text, [words for words in commands if _tool(words)])
    words = commands[0]
    tool = _tool(words)
    if tool:
        return _ROWS[tool](text, words)
    inner = _behind(words, read, workdir) if depth == 0 else ""
    return _whole(text, [words for words in simple_commands(inner) if _tool(words)])


def _whole(text: str, installing: list[list[str]]) -> Rehearsal:
    """One run of the whole check with a network, whatever it says."""
    if not installing:
        return NONE
    env = dict[str, str]()
    for words in installing:
        env |= OFFLINE.get(_tool(words), {})
    tools = {_tool(words) for words in installing}
    return Rehearsal(
        networked=text,
        may_fail=True,
        env=env,
        setup_env=EDITABLE_TOX if "tox" in tools else {},
        note=f"run once with a network first: it uses {', '.join(sorted(tools))}, which install while they run",
    )


def _tool(words: list[str]) -> str:
    """The row of the table that a command belongs to, "" for none."""
    names = [word.rsplit("/", 1)[-1].split("@")[0] for word in words]
    for number, name in enumerate(names):
        before = words[number - 1] if number else ""
        if name in ("tox", "nox", "pre-commit", "prek") and before not in _UV_VALUES and before != "install":
            return name
    text = bare(words).split(" ")
    head, verb = names[0], names[1] if len(names) > 1 else ""
    first = text[0].rsplit("/", 1)[-1]
    if (head, verb) == ("uv", "run") or head == "uvx" or (head, verb) == ("uv", "tool"):
        return "uv run" if verb == "run" else "uvx"
    if first in ("npx", "pipx"):
        return first
    if first == "bunx" or (first in ("pnpm", "yarn") and text[1:2] == ["dlx"]) or text[:2] == ["npm", "exec"]:
        return "dlx"
    if first == "hatch" and text[1:2] in (["run"], ["test"], ["fmt"]):
        return "hatch"
    if first in ("cargo", "go"):
        return first
    if first in ("mvn", "mvnw", "gradle", "gradlew"):
        return "mvn" if first.startswith("mvn") else "gradle"
    return ""


def _told(text: str, words: list[str], flag: str) -> str:
    """The command with one more option: before a lone `--`, else at its end."""
    if "--" in words:
        head, dashes, rest = text.partition(" -- ")
        return f"{head} {flag}{dashes}{rest}" if dashes else f"{text} {flag}"
    return f"{text.rstrip()} {flag}"


def _tox(text: str, words: list[str]) -> Rehearsal:
    env = {**OFFLINE["tox"], **(OFFLINE["uv"] if words[0] in ("uv", "uvx") else {})}
    return Rehearsal(networked=_told(text, words, "--notest"), setup_env=EDITABLE_TOX, env=env)


def _nox(text: str, words: list[str]) -> Rehearsal:
    return Rehearsal(
        networked=_told(text, words, "--install-only"),
        command=_told(text, words, "-R"),
        env=OFFLINE["nox"],
        note="nox is run with -R: what a session installs is not installed again",
    )


def _hooks(text: str, words: list[str]) -> Rehearsal:
    """`pre-commit run ...` -> `pre-commit install-hooks`; what stands before the name stays."""
    at = next(n for n, w in enumerate(words) if w.rsplit("/", 1)[-1].split("@")[0] in ("pre-commit", "prek"))
    tool = words[at].rsplit("/", 1)[-1].split("@")[0]
    env = {**OFFLINE[tool], **(OFFLINE["uv"] if words[0] in ("uv", "uvx") else {})}
    return Rehearsal(networked=shlex.join([*words[: at + 1], "install-hooks"]), env=env)


def _uv_run(text: str, words: list[str]) -> Rehearsal:
    """The same environment with a command that does nothing: `uv run --group test true`."""
    at = _command_at(words, words.index("run") + 1)
    if at is None or any("$" in word for word in words[:at]):
        return Rehearsal(networked=text, may_fail=True, env=OFFLINE["uv"])
    return Rehearsal(networked=shlex.join([*words[:at], "true"]), env=OFFLINE["uv"])


def _uvx(text: str, words: list[str]) -> Rehearsal:
    at = _command_at(words, 1 if words[0].endswith("uvx") else words.index("tool") + 2)
    if at is None or any("$" in word for word in words[: at + 1]):
        return Rehearsal(networked=text, may_fail=True, env=OFFLINE["uvx"])
    return Rehearsal(networked=shlex.join([*words[: at + 1], "--version"]), may_fail=True, env=OFFLINE["uvx"])


def _command_at(words: list[str], at: int) -> int | None:
    """Where, after uv's own options, the command begins; None where that cannot be told."""
    while at < len(words):
        word = words[at]
        if word in ("-m", "--module", "--script", "-s"):
            return at
        if word == "--":
            return at + 1 if at + 1 < len(words) else None
        if not word.startswith("-"):
            return at
        at += 2 if word in _UV_VALUES else 1
    return None


def _npx(text: str, words: list[str]) -> Rehearsal:
    return Rehearsal(networked=text, may_fail=True, env=OFFLINE["npx"])


def _dlx(text: str, words: list[str]) -> Rehearsal:
    return Rehearsal(networked=text, may_fail=True, env=OFFLINE["npm"])


def _pipx(text: str, words: list[str]) -> Rehearsal:
    return Rehearsal(networked=text, may_fail=True, env=OFFLINE["pip"])


def _hatch(text: str, words: list[str]) -> Rehearsal:
    """`hatch run ENV:COMMAND` -> `hatch env create ENV`; `hatch test` makes its own, so it is run once."""
    rest = [word for word in words[words.index("hatch") + 1 :] if not word.startswith("-")] if "hatch" in words else []
    if rest[:1] == ["run"] and len(rest) > 1:
        name, colon, _ = rest[1].partition(":")
        networked = f"hatch env create {shlex.quote(name)}" if colon else "hatch env create"
        return Rehearsal(networked=networked, env=OFFLINE["hatch"])
    return Rehearsal(networked=text, may_fail=True, env=OFFLINE["hatch"])


def _cargo(text: str, words: list[str]) -> Rehearsal:
    return Rehearsal(networked="cargo fetch", env=OFFLINE["cargo"])


def _go(text: str, words: list[str]) -> Rehearsal:
    return Rehearsal(networked="go mod download", may_fail=True, env=OFFLINE["go"])


def _mvn(text: str, words: list[str]) -> Rehearsal:
    return Rehearsal(networked=text, may_fail=True, env=OFFLINE["mvn"])


def _gradle(text: str, words: list[str]) -> Rehearsal:
    return Rehearsal(networked=text, may_fail=True, command=f"{text.rstrip()} --offline")


_ROWS: Mapping[str, Callable[[str, list[str]], Rehearsal]] = {
    "tox": _tox,
    "nox": _nox,
    "pre-commit": _hooks,
    "prek": _hooks,
    "uv run": _uv_run,
    "uvx": _uvx,
    "npx": _npx,
    "dlx": _dlx,
    "pipx": _pipx,
    "hatch": _hatch,
    "cargo": _cargo,
    "go": _go,
    "mvn": _mvn,
    "gradle": _gradle,
}


def _behind(words: list[str], read: Read, workdir: str) -> str:
    """What a task runner's target or a package script runs, as text; "" where that cannot be told."""
    place = "" if workdir == "." else f"{workdir}/"
    rest = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    name = words[0].rsplit("/", 1)[-1]
    if name in ("make", "gmake"):
        return _recipe_of(read(f"{place}Makefile") or read(f"{place}GNUmakefile") or b"", set(rest[:5]))
    if name in ("npm", "pnpm", "yarn", "bun"):
        data = as_json((read(f"{place}package.json") or b"").decode("utf-8", "replace"))
        scripts = data.get("scripts") if isinstance(data, dict) else None
        script = next((word for word in rest if word not in ("run", "run-script")), "")
        found = scripts.get(script) if isinstance(scripts, dict) else None
        return found if isinstance(found, str) else ""
    return ""


def _recipe_of(makefile: bytes, targets: set[str]) -> str:
    """The recipe lines of some targets and of what those depend on directly."""
    recipes, needs, names = dict[str, list[str]](), dict[str, list[str]](), list[str]()
    for line in makefile[:100_000].decode("utf-8", "replace").splitlines():
        if line.startswith("\t"):
            for name in names:
                recipes.setdefault(name, []).append(line.strip().lstrip("@-+"))
        elif head := re.match(r"([\w./ -]{1,200}):(?!=)([^=#]*)", line):
            names = head[1].split()
            for name in names:
                needs.setdefault(name, []).extend(head[2].split()[:50])
        elif line.strip() and not line.startswith("#"):
            names = []
    wanted = targets | {need for target in targets for need in needs.get(target, [])}
    return "\n".join(line for name in sorted(wanted) for line in recipes.get(name, []))

"""The image that a job's commands run in, and what it lacks of what GitHub's runners have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.domain.execution import SetupStep
from bot.domain.findings import JobLog
from bot.domain.recipe import Note
from bot.logs.command import simple_commands
from bot.recipe.roles import bare
from bot.recipe.toolchain import DEFAULT_IMAGE, LANGUAGES, Image, Tool, from_repository, image, language_of
from bot.recipe.workflow import Read
from bot.sandbox import UID

PACKAGES: Mapping[str, str] = {
    "git": "git",
    "make": "make",
    "gcc": "build-essential",
    "g++": "build-essential",
    "cc": "build-essential",
    "cmake": "cmake build-essential",
    "ninja": "ninja-build",
    "curl": "curl",
    "wget": "wget",
    "jq": "jq",
    "unzip": "unzip",
    "zip": "zip",
    "rsync": "rsync",
    "xvfb-run": "xvfb xauth",
    "sqlite3": "sqlite3",
    "shellcheck": "shellcheck",
    "parallel": "parallel",
    "file": "file",
    "tree": "tree",
    "bc": "bc",
}
"""Commands that GitHub's runners have and slim images lack -> Debian's packages."""

_LOCATION = re.compile(r"/opt/hostedtoolcache/(Python|PyPy)/(\d+\.\d+)[\w.+-]*")
_GLOBAL = re.compile(
    r"--system\b|npm (?:i|install)\s.*(?:-g|--global)\b|corepack enable|UV_SYSTEM_PYTHON|gem install|bundle install"
)
_VCS = re.compile(
    rb"setuptools[-_]scm|hatch-vcs|versioningit|dunamai|poetry-dynamic-versioning|versioneer|git\+https|flit_scm|uv-dynamic-versioning"
)
_APT = "apt-get update && apt-get install -y --no-install-recommends"


@dataclass
class Base:
    """An image and the steps that come before all others. `assumed`: nothing names the version of its language."""

    image: str
    origin: str
    language: str = ""
    assumed: bool = False
    steps: list[SetupStep] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def serves(self, other: Base) -> bool:
        """Whether what needs `other` can run here too."""
        return self.image == other.image or (other.assumed and self.language == other.language)


def base(
    tools: Sequence[Tool],
    commands: Sequence[str],
    main: str,
    read: Read,
    log: JobLog | None,
    container: str,
    where: str,
) -> Base:
    """Choose the image for these toolchains and commands; `main` is the red check, `container` the job's own."""
    needed = _needed(tools, commands, read, log)
    if container:
        made = Base(image=container, origin=f"container of {where}")
        made.notes += [
            Note(text=f"{tool.language} is taken as the container has it", origin=tool.origin) for tool in tools
        ]
        return made
    language = _main(needed, tools, main)
    if language is None:
        made = Base(image=DEFAULT_IMAGE, origin="default")
        made.notes.append(Note(text="no toolchain is named or used: the default image is taken"))
    else:
        tool = needed[language]
        guessed = language == "python" and not tool.spec and not where
        chosen = Image(name=DEFAULT_IMAGE) if guessed else image(tool)
        made = Base(image=chosen.name, origin=tool.origin, language=language, assumed=not tool.spec)
        made.notes += [Note(text=chosen.note, origin=tool.origin)] if chosen.note else []
    _beside(made, [tool for name, tool in needed.items() if name != language])
    _lacking(made, commands, read)
    return made


def _needed(tools: Sequence[Tool], commands: Sequence[str], read: Read, log: JobLog | None) -> dict[str, Tool]:
    """Every language that is set up or used, with the version that CI had as far as anything tells."""
    needed = {tool.language: tool for tool in tools}
    for command in commands:
        for words in simple_commands(command):
            language = language_of(bare(words).split(" "))
            if language and language not in needed:
                needed[language] = Tool(language=language, spec="", origin="used by the commands")
    for language, tool in needed.items():
        if not tool.spec:
            needed[language] = from_repository(language, read) or tool
    if "python" in needed and (exact := _python_of(log)):
        spec = needed["python"].spec
        if not re.search(r"\d+t\b", spec.splitlines()[-1] if spec else ""):
            needed["python"] = exact
    return needed


def _python_of(log: JobLog | None) -> Tool | None:
    """The Python that the runner had, by the variable that setup-python leaves in every later step."""
    for step in log.steps if log else ():
        found = _LOCATION.search(step.env.get("pythonLocation", ""))
        if found and log:
            spec = found[2] if found[1] == "Python" else f"pypy-{found[2]}"
            return Tool(language="python", spec=spec, origin=f"log of {log.name}, step {step.number}, pythonLocation")
    return None


def _main(needed: Mapping[str, Tool], tools: Sequence[Tool], check: str) -> str | None:
    for words in simple_commands(check):
        language = language_of(bare(words).split(" "))
        if language in needed:
            return language
    return next((tool.language for tool in tools), next(iter(needed), None))


def _beside(made: Base, others: Iterable[Tool]) -> None:
    for tool in others:
        step = SetupStep(command=f"{_APT} {LANGUAGES[tool.language].apt}", root=True, origin=tool.origin)
        made.steps.append(step)
        asked = f" (CI asked for {tool.spec})" if tool.spec else ""
        text = f"{tool.language} beside the image's own language is Debian's version{asked}"
        made.notes.append(Note(text=text, origin=tool.origin))


def _lacking(made: Base, commands: Sequence[str], read: Read) -> None:
    words = {
        word.rsplit("/", 1)[-1]
        for command in commands
        for simple in simple_commands(command)
        for word in bare(simple).split(" ")[:1]
    }
    vcs = any(
        _VCS.search(read(path) or b"") for path in ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
    )
    names = {PACKAGES[word] for word in words if word in PACKAGES}
    names |= {"git"} if vcs or words & {"pre-commit", "prek"} else set()
    if names:
        packages = " ".join(sorted(set(" ".join(names).split())))
        origin = "GitHub's runners have these, the image has not"
        made.steps.insert(0, SetupStep(command=f"{_APT} {packages}", root=True, origin=origin))
    if any(_GLOBAL.search(command) for command in commands):
        command = f"find /usr/local -type d -exec chown {UID}:{UID} {{}} +"
        made.steps.append(
            SetupStep(command=command, root=True, origin="on GitHub's runners the toolchains are the user's")
        )
    if "pipx" in words:
        made.steps.append(SetupStep(command="pip install pipx", origin="GitHub's runners have pipx"))

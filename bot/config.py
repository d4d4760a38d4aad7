"""Every setting in one table: action inputs, command-line flags and .github/selfrepair.yml become one frozen Config."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import yaml

from bot.domain.attempt import Budget, EditFormat, InputError
from bot.domain.execution import STRICT, Limits
from bot.domain.findings import Check, CheckKind
from bot.logs import command_kind

DEFAULT_MODEL = "anthropic:claude-sonnet-5-5"
"""Newest of the Sonnet class in the SDK's list of models; ids without a date are pinned since generation 4.6."""

FILE = ".github/selfrepair.yml"
"""Read from the default branch only: a pull request must not change how it is judged."""

OUT = "selfrepair-out"
"""Folder of the trail and the reports, in the workspace."""

CONFIGURED = "configured"
"""The origin of what a person named."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Everything a run can be told. Secrets are not settings: they come from the environment and stay out of this."""

    image: str = ""
    setup: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    model: str = DEFAULT_MODEL
    base_url: str | None = None
    edit_format: EditFormat | None = None
    candidates: int = 1
    patience: int = 4
    max_tokens: int = 4096
    budget: Budget = Budget()
    limits: Limits = Limits()
    protect: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    fail_on: str = "fault"
    install_gvisor: str = "auto"
    disk_mb: int = 20_000


class Bad(ValueError):
    """One value that cannot be used; the message says what would be right."""


def _text(value: object) -> str:
    if not isinstance(value, str | int | float) or not str(value).strip():
        raise Bad("must be text")
    return str(value).strip()


def _lines(value: object) -> tuple[str, ...]:
    items = value.splitlines() if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise Bad("must be a list of lines")
    return tuple(item.strip() for item in items if item.strip() and not item.strip().startswith("#"))


def _number(kind: type[int] | type[float], low: float, high: float) -> Callable[[object], Any]:
    def parse(value: object) -> Any:
        try:
            number = kind(str(value))
        except ValueError:
            number = kind(-1)
        if not low <= number <= high:
            raise Bad(f"must be a{'n integer' if kind is int else ' number'} from {low:g} to {high:g}")
        return number

    return parse


def _choice(*names: str) -> Callable[[object], str]:
    def parse(value: object) -> str:
        if value not in names:
            raise Bad(f"must be one of {', '.join(names)}")
        return str(value)

    return parse


def _check(command: str) -> Check:
    kind = command_kind(command)
    return Check(
        name=command if len(command) <= 60 else command[:57] + "...",
        kind=kind[0] if kind else CheckKind.CUSTOM,
        format=kind[1] if kind else None,
        command=command,
        origin=CONFIGURED,
    )


def _checks(value: object) -> tuple[Check, ...]:
    return tuple(_check(command) for command in _lines(value))


def _edit_format(value: object) -> EditFormat | None:
    names = {"auto": None, "tool": EditFormat.TOOL, "blocks": EditFormat.BLOCKS, "function": EditFormat.FUNCTION}
    return names[_choice(*names)(value)]


def _model(value: object) -> str:
    scheme, _, name = _text(value).partition(":")
    if scheme not in ("anthropic", "replay") or not name:
        raise Bad("must be anthropic:NAME or replay:FILE")
    return f"{scheme}:{name}"


def _url(value: object) -> str:
    if not _text(value).startswith(("http://", "https://")):
        raise Bad("must start with http:// or https://")
    return _text(value).rstrip("/")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One row: its name (action input, `--name` flag and file key), how it is read and where it goes in Config.

    `into` is the field of Config, `part.field` for one inside; without it the field is called like the setting.
    """

    name: str
    help: str
    parse: Callable[[object], Any]
    into: str = ""

    @property
    def field(self) -> str:
        """Where the value goes."""
        return self.into or self.name.replace("-", "_")

    @property
    def default(self) -> str:
        """What Config has there, as one would write it; "" where it has nothing."""
        value = attrgetter(self.field)(Config())
        return f"{value:g}" if isinstance(value, float) else str(value or "")


SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="image",
        help="Base image of the environment the checks run in. Without one: the language that the job set up.",
        parse=_text,
    ),
    Setting(
        name="setup",
        help="Commands, one a line, that install what the checks need, with network, without secrets. Without any: the "
        "job's own.",
        parse=_lines,
    ),
    Setting(
        name="checks",
        help="Commands, one a line, that must be green. Without any: the test, lint and type commands of the job.",
        parse=_checks,
    ),
    Setting(
        name="model",
        help="Who proposes the edits: anthropic:NAME, or replay:FILE for a recorded run.",
        parse=_model,
    ),
    Setting(
        name="base-url",
        help="Server that speaks the Messages API (llama.cpp, vLLM, Ollama, a gateway) instead of Anthropic's.",
        parse=_url,
    ),
    Setting(
        name="edit-format",
        help="How the model writes edits: auto (by its name; the default), tool, blocks (search/replace) or function.",
        parse=_edit_format,
    ),
    Setting(
        name="max-iterations",
        help="Turns of the loop.",
        parse=_number(int, 1, 50),
        into="budget.iterations",
    ),
    Setting(
        name="max-seconds",
        help="Wall clock of the loop, in seconds.",
        parse=_number(float, 10, 21600),
        into="budget.seconds",
    ),
    Setting(
        name="max-dollars",
        help="Money for model calls in one run, in US dollars; reserved before each call.",
        parse=_number(float, 0, 1000),
        into="budget.dollars",
    ),
    Setting(
        name="packet-tokens",
        help="Size of a repair packet, in tokens.",
        parse=_number(int, 200, 100000),
        into="budget.packet_tokens",
    ),
    Setting(
        name="candidates",
        help="Proposals per turn, of which the best is kept (3 helps small models).",
        parse=_number(int, 1, 16),
    ),
    Setting(
        name="patience",
        help="Turns in a row without progress before the loop stops; 1 is the strict rule.",
        parse=_number(int, 1, 50),
    ),
    Setting(
        name="check-seconds",
        help="Wall clock of one check, in seconds.",
        parse=_number(float, 1, 21600),
        into="limits.timeout_s",
    ),
    Setting(
        name="check-memory-mb",
        help="Memory of one check, in MB.",
        parse=_number(int, 64, 1048576),
        into="limits.memory_mb",
    ),
    Setting(
        name="check-cpus",
        help="Processors of one check.",
        parse=_number(float, 0.1, 256),
        into="limits.cpus",
    ),
    Setting(
        name="protect",
        help="Further globs, one a line, that no repair may touch (tests, CI and tool configuration always are).",
        parse=_lines,
    ),
    Setting(
        name="allow",
        help="Globs, one a line, that a repair may touch although they are protected by default.",
        parse=_lines,
    ),
    Setting(
        name="fail-on",
        help="When the job turns red: fault (only when selfrepair itself could not work), unrepaired, or never.",
        parse=_choice("fault", "unrepaired", "never"),
    ),
    Setting(
        name="sandbox-runtime",
        help="selfrepair-run is gVisor. runc accepts a weaker box; every report says so.",
        parse=_choice("selfrepair-run", "runc"),
        into="limits.runtime",
    ),
    Setting(
        name="disk-mb",
        help="Disk for environment images kept for later runs, in MB; those used longest ago are removed.",
        parse=_number(int, 0, 10_000_000),
    ),
    Setting(
        name="install-gvisor",
        help="Register gVisor with the runner's Docker: auto (only on GitHub-hosted runners), always or never.",
        parse=_choice("auto", "always", "never"),
    ),
)


def load(*layers: tuple[str, Mapping[str, object]], strict: bool = False) -> Config:
    """One Config out of layers (source name, values by setting name), later ones winning.

    Empty text means "not given". `strict` starts from the STRICT limits. Raises InputError naming every bad value.
    """
    rows = {row.name: row for row in SETTINGS}
    config = Config(limits=STRICT) if strict else Config()
    problems: list[str] = []
    for source, values in layers:
        for name, value in values.items():
            if name not in rows:
                problems.append(f"{source}: unknown setting {name!r} (known: {', '.join(rows)})")
            elif value not in ("", None):
                try:
                    config = _put(config, rows[name].field, rows[name].parse(value))
                except Bad as bad:
                    problems.append(f"{source}: {name}: {shlex.quote(str(value))} {bad}")
    if problems:
        raise InputError(*problems)
    return config


def read_file(content: bytes | None) -> Mapping[str, object]:
    """The settings in .github/selfrepair.yml; none when there is no such file. Raises InputError on bad YAML."""
    try:
        data = yaml.safe_load(content or b"")
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{FILE}: not valid YAML: {str(error).splitlines()[0]}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise InputError(f"{FILE}: must hold settings, one `name: value` a line")
    version = data.pop("version", 1)
    if version != 1:
        raise InputError(f"{FILE}: version {version!r} is not known here; this release reads `version: 1`")
    return {str(name): value for name, value in data.items()}


def _put(config: Config, into: str, value: object) -> Config:
    name, _, inner = into.partition(".")
    if inner:
        value = replace(getattr(config, name), **{inner: value})
    return replace(config, **{name: value})  # type: ignore[arg-type]

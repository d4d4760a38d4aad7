"""What CI did, as data: in which image, after which set-up, with which checks, and where each of them was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.execution import SetupStep
from bot.domain.findings import Check


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something that people should know: a value that was assumed, a part of CI that is done in another way."""

    text: str
    origin: str = ""

    def __str__(self) -> str:
        return f"{self.text} ({self.origin})" if self.origin else self.text


@dataclass(frozen=True, kw_only=True)
class Unavailable:
    """A part of CI that cannot be had here, and why. `check`: a verdict that is missing, not only a means to one."""

    what: str
    why: str
    origin: str = ""
    check: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.why} ({self.origin})"


@dataclass(frozen=True, kw_only=True)
class Service:
    """A container that CI ran beside the job. `ports` are as the workflow wrote them ("5432:5432")."""

    name: str
    image: str
    env: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[str, ...] = ()
    options: str = ""
    origin: str = ""


@dataclass(frozen=True, kw_only=True)
class Pin:
    """A version that CI had installed. `index` is "python" or "npm"."""

    index: str
    name: str
    version: str
    origin: str = ""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to rebuild the failing job.

    `setup` runs with network and in order, `checks` offline, each in a box of its own; `env` holds for both. Set-up
    and checks carry their own origin; `origins` has those of "image" and of the variables, by name. `job` is the one
    that the recipe follows, as GitHub shows its name.
    """

    image: str
    setup: tuple[SetupStep, ...] = ()
    checks: tuple[Check, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    services: tuple[Service, ...] = ()
    pins: tuple[Pin, ...] = ()
    notes: tuple[Note, ...] = ()
    unavailable: tuple[Unavailable, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    job: str = ""

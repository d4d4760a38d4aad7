"""The recipe itself: every element says where it came from."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot.domain.execution import WORK
from bot.domain.findings import Check


@dataclass(frozen=True, kw_only=True)
class SetupStep:
    """One networked command. `env` and `workdir` (relative to the tree) hold for it alone."""

    command: str
    origin: str
    workdir: str = "."
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def script(self) -> str:
        """The command as a script that runs anywhere in the box."""
        moved = [] if self.workdir == "." else [f"cd {shlex.quote(f'{WORK}/{self.workdir}')}"]
        exports = [f"export {name}={shlex.quote(value)}" for name, value in self.env.items()]
        return "\n".join([*moved, *exports, self.command])


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to rebuild the failing job.

    `image_origin` says why this image, `notes` what is only nearly as CI had it, `left_out` which steps cannot be had
    here and why. `passed` names the checks that CI itself saw pass: here red, they tell of the environment.
    `configured`: the checks were given by people, not read from a log.
    """

    image: str
    image_origin: str = ""
    setup: tuple[SetupStep, ...] = ()
    checks: tuple[Check, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    passed: frozenset[str] = frozenset()
    configured: bool = False

    def lines(self) -> Iterator[str]:
        """The recipe for people, one line each."""
        yield f"image: {self.image}  ({self.image_origin})"
        for step in self.setup:
            where = f" in {step.workdir}" if step.workdir != "." else ""
            yield f"set-up{where}: {_one_line(step.command)}  ({step.origin})"
        for check in self.checks:
            where = f" in {check.workdir}" if check.workdir != "." else ""
            yield f"{check.kind}{where}: {_one_line(check.command)}  ({check.origin})"
        for name, value in self.env.items():
            yield f"env: {name}={value}"
        yield from (f"note: {note}" for note in self.notes)
        yield from (f"left out: {what}" for what in self.left_out)


def _one_line(command: str) -> str:
    return "; ".join(line.strip() for line in command.splitlines() if line.strip())

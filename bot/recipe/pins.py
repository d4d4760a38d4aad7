"""Versions as CI had them: what the log shows being installed becomes the set-up's constraints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bot.domain.execution import SetupStep
from bot.domain.recipe import Note, Pin
from bot.logs.runner import installed
from bot.sandbox import HOME

FILE = f"{HOME}/.config/selfrepair/constraints.txt"
"""Where the constraints lie in the environment."""

ENV = {"PIP_CONSTRAINT": FILE, "UV_CONSTRAINT": FILE}
"""What tells pip and uv of them; set only for the commands that CI itself ran, never for environments of their own."""

MOST = 2000


def pins(logs: Mapping[str, bytes], own: Iterable[str], notes: list[Note]) -> tuple[Pin, ...]:
    """One Pin per package; one that the logs show at several versions, or the repository's own, has none."""
    ours = {plain(name) for name in own}
    found = dict[tuple[str, str], list[Pin]]()
    for job, log in logs.items():
        for item in installed(log):
            if "+" in item.version or ".dev" in item.version:
                continue  # no index has these
            pin = Pin(index=item.index, name=item.name, version=item.version, origin=f"log of {job}, line {item.line}")
            found.setdefault((item.index, plain(item.name)), []).append(pin)
    several = sorted(name for (_, name), many in found.items() if len({pin.version for pin in many}) > 1)
    if several:
        text = f"installed at several versions in CI, so not held to one: {', '.join(several[:20])}"
        notes.append(Note(text=text, origin=found_first(found, several[0])))
    chosen = [many[0] for (_, name), many in sorted(found.items()) if name not in ours and name not in several]
    return tuple(chosen[:MOST])


def found_first(found: Mapping[tuple[str, str], list[Pin]], name: str) -> str:
    """Where a package is seen first."""
    return next(many[0].origin for (_, key), many in found.items() if key == name)


def constraints(chosen: Iterable[Pin]) -> str:
    """The text of the constraints file (Python packages only: npm has lock files for that)."""
    return "".join(f"{pin.name}=={pin.version}\n" for pin in chosen if pin.index == "python")


def step(chosen: tuple[Pin, ...]) -> SetupStep | None:
    """The set-up step that writes the file; None where there is nothing to hold. Names and versions are plain words."""
    text = constraints(chosen)
    if not text:
        return None
    origins = [pin.origin for pin in chosen if pin.index == "python"]
    command = f"mkdir -p {FILE.rpartition('/')[0]}\ncat >{FILE} <<'END'\n{text}END"
    return SetupStep(command=command, origin=f"versions that CI installed: {origins[0]} and others")


def plain(name: str) -> str:
    """PEP 503's form of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()

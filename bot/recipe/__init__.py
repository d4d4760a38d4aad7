"""What CI did, as data: in which image, after which set-up, with which checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bot.domain.findings import Check, JobLog, Step
from bot.logs import command_kind

RUNNER = "/opt/hostedtoolcache"
"""Where GitHub's runners keep tools; variables that point there mean nothing in another image."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to rebuild the failing job. `notes` says what was left out and why."""

    image: str
    setup: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def infer(jobs: Iterable[JobLog], *, image: str, setup: tuple[str, ...], checks: tuple[Check, ...]) -> Recipe:
    """The configured checks, else every check command that the jobs' logs show, failing ones first."""
    if checks:
        return Recipe(image=image, setup=setup, checks=checks)
    found: dict[str, Check] = {}
    for job in jobs:
        for step in sorted(job.steps, key=lambda step: not step.failed):
            for check in _checks(job, step):
                found.setdefault(check.command, check)
    return Recipe(image=image, setup=setup, checks=tuple(found.values()))


def _checks(job: JobLog, step: Step) -> list[Check]:
    if not step.command:
        return []
    kind = command_kind(step.command)
    if kind is None:
        return []
    name = step.name.removeprefix("Run ").splitlines()[0]
    env = {key: value for key, value in step.env.items() if RUNNER not in value}
    origin = f"log of {job.name}, step {step.number}"
    return [Check(name=name, kind=kind[0], format=kind[1], command=step.command, env=env, origin=origin)]

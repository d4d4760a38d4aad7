"""Which job and leg of which workflow file a log is of: told by the scripts that it shows, then by the job's name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.domain.findings import JobLog, Step
from bot.recipe.expressions import pieces
from bot.recipe.workflow import JobSpec, Leg, StepSpec


@dataclass(frozen=True, kw_only=True)
class Match:
    """The job and leg; which step of the file each step of the log is, by number; the steps that were never reached."""

    job: JobSpec
    leg: Leg = field(default_factory=dict)
    steps: Mapping[int, StepSpec] = field(default_factory=dict)
    later: tuple[StepSpec, ...] = ()


def find(log: JobLog, jobs: Sequence[JobSpec], workflow: str = "") -> Match | None:
    """The best match; None when neither a script nor the name fits any job. `workflow` is the run's, "" if unknown."""
    best: tuple[tuple[int, int, int], Match] | None = None
    for job in jobs:
        steps, later = _aligned(log.steps, job.steps)
        leg, named = _leg(log.name, job)
        runs = sum(1 for spec in steps.values() if spec.run is not None)
        if not runs and not named:
            continue
        score = (runs, named, int(bool(workflow) and job.workflow == workflow))
        if best is None or score > best[0]:
            best = score, Match(job=job, leg=leg, steps=steps, later=later)
    return best[1] if best else None


def _leg(title: str, job: JobSpec) -> tuple[Leg, int]:
    """The leg that the title names and how surely: 2 by its name, 1 by the job alone, 0 not at all."""
    titles = {title, title.rsplit(" / ", 1)[-1]}
    for leg in job.legs:
        if titles & set(job.titles(leg)):
            return leg, 2
    bare = re.sub(r" \([^()]*\)$", "", title.rsplit(" / ", 1)[-1])
    return (job.legs[0] if len(job.legs) == 1 else {}), int(bare in (job.id, job.name))


def _aligned(steps: Sequence[Step], specs: Sequence[StepSpec]) -> tuple[dict[int, StepSpec], tuple[StepSpec, ...]]:
    """Steps of the log beside steps of the file, both in order; a skipped step is in the file only."""
    found: dict[int, StepSpec] = {}
    at = 0
    for step in steps:
        hit = next((n for n in range(at, len(specs)) if _same(step, specs[n])), None)
        if hit is not None:
            found[step.number] = specs[hit]
            at = hit + 1
    return found, tuple(specs[at:])


def _same(step: Step, spec: StepSpec) -> bool:
    if spec.run is not None:
        return step.command is not None and fits(spec.run, step.command)
    return spec.uses is not None and step.name == f"Run {spec.uses}"


def fits(template: str, text: str) -> bool:
    """Whether `text` can be the template with its expressions expanded; takes linear time."""
    first, *rest = [_folded(piece) for piece in pieces(template)]
    text = _folded(text)
    if not rest:
        return text == first
    if not text.startswith(first) or not any([first, *rest]):
        return False
    at = len(first)
    for piece in rest[:-1]:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return text.endswith(rest[-1]) and len(text) - len(rest[-1]) >= at


def _folded(text: str) -> str:
    return "".join(text.split())

"""Which workflow file, job and matrix leg a log belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.domain.execution import WORK
from bot.recipe.expression import Scope, interpolate, literals
from bot.recipe.matrix import Leg, default_name, known, legs
from bot.recipe.values import Partial, Unknown
from bot.recipe.workflow import Job, Workflow

MOST = 2000
"""Job legs looked at in one repository."""

_DEPTH = 4
"""GitHub's own limit of workflows that call workflows."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One leg of one job. `name` is what GitHub calls it (a template's unknown parts are "*"); `called` by whom."""

    workflow: Workflow
    job: Job
    leg: Leg
    scope: Scope
    name: str
    called: str = ""


def candidates(workflows: list[Workflow], notes: list[str]) -> list[Candidate]:
    """Every job leg of every workflow, called workflows under their callers' names too."""
    found = list[Candidate]()
    for workflow in workflows:
        for candidate in _of(workflow, workflows, workflow.inputs, "", 0, notes):
            found.append(candidate)
            if len(found) >= MOST:
                notes.append(f"only the first {MOST} jobs of the workflows are looked at")
                return found
    return found


def _of(
    workflow: Workflow,
    workflows: list[Workflow],
    inputs: Mapping[str, object],
    prefix: str,
    depth: int,
    notes: list[str],
) -> Iterator[Candidate]:
    base = scope_of(workflow, inputs)
    for job in workflow.jobs:
        told = list[str]()
        for leg in legs(job.matrix, base, told):
            scope = Scope({**base.contexts, "matrix": dict(leg) if not told else Partial("matrix", leg)})
            name = prefix + _name(job, leg, scope)
            if job.uses is None:
                yield Candidate(workflow=workflow, job=job, leg=leg, scope=scope, name=name, called=prefix)
                continue
            inner = _called(job, workflows)
            if inner is not None and depth < _DEPTH:
                given = {**inner.inputs, **{key: known(value, scope) for key, value in job.inputs.items()}}
                yield from _of(inner, workflows, given, f"{name} / ", depth + 1, notes)
        notes += [f"{job.where}: {text}" for text in told if f"{job.where}: {text}" not in notes]


def scope_of(workflow: Workflow, inputs: Mapping[str, object]) -> Scope:
    """What an expression of a workflow can see before any step ran."""
    token = Unknown("needs secret GITHUB_TOKEN", frozenset(("GITHUB_TOKEN",)))
    github = Partial("github", {"workspace": WORK, "workflow": workflow.name, "token": token})
    here = {"os": "Linux", "arch": "X64", "temp": "/tmp", "debug": "", "environment": "github-hosted"}  # noqa: S108
    runner = Partial("runner", here)
    contexts: dict[str, object] = {"github": github, "runner": runner, "inputs": dict(inputs), "matrix": {}}
    contexts |= {name: Partial(name) for name in ("steps", "needs", "vars", "env", "job", "strategy", "jobs")}
    return Scope(contexts)


def _called(job: Job, workflows: list[Workflow]) -> Workflow | None:
    path = (job.uses or "").removeprefix("./")
    return next((workflow for workflow in workflows if workflow.path == path), None)


def _name(job: Job, leg: Leg, scope: Scope) -> str:
    if not job.name:
        return default_name(job.id, leg)
    value = interpolate(job.name, scope)
    return "*".join(literals(job.name)) if isinstance(value, Unknown) else value


def best(
    found: list[Candidate], workflow: str, names: list[str], fitting: Mapping[int, int] | None = None
) -> list[Candidate]:
    """The candidates that fit best, best first: by the workflow's name, the job's, then `fitting` (steps that fit).

    Empty when nothing speaks for any of them.
    """
    scored = []
    for number, candidate in enumerate(found):
        level = max((_likeness(candidate, name) for name in names), default=0)
        steps = (fitting or {}).get(number, 0)
        named = workflow in (candidate.workflow.name, candidate.workflow.path) and bool(workflow)
        if level or steps:
            scored.append(((level > 1, steps, named, level), -number, candidate))
    scored.sort(key=lambda entry: entry[:2], reverse=True)
    return [candidate for *_, candidate in scored]


def _likeness(candidate: Candidate, name: str) -> int:
    """3: the same name; 2: the same but for punctuation that file names cannot hold; 1: only the job's id."""
    name = re.sub(r" #\d+$", "", name).strip()
    plain = re.sub(r"^\d+_|\.(?:txt|log)$", "", name)
    if candidate.name in (name, plain):
        return 3
    if _folded(candidate.name) == _folded(plain) or ("*" in candidate.name and _fits(candidate.name, plain)):
        return 2
    return int(_folded(plain.partition("(")[0]) in (_folded(candidate.job.id), _folded(candidate.job.name)))


def _folded(text: str) -> str:
    return " ".join(re.sub(r"[^a-z0-9.*]+", " ", text.lower()).split())


def _fits(pattern: str, text: str) -> bool:
    at, parts = 0, pattern.split("*")
    if not text.startswith(parts[0]) or not any(part.strip() for part in parts):
        return False
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True

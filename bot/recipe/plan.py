"""A job's steps in order, each with the command that CI ran: from the log where it shows them, else from the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.domain.findings import JobLog
from bot.domain.findings import Step as Logged
from bot.domain.recipe import Note, Unavailable
from bot.recipe.expression import condition, interpolate
from bot.recipe.match import Candidate
from bot.recipe.unfold import Template, align, environment, folder, on_tree, templates
from bot.recipe.values import Unknown, shown
from bot.recipe.workflow import Read, Step

RUNNER = re.compile(r"/opt/hostedtoolcache|/home/runner/(?!work/)")
"""Where GitHub's runners keep tools; variables that point there mean nothing in another image."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One step as it is to be looked at: a shell command (`run`) or an action (`uses` with its `inputs`).

    `logged` is the step of the log that shows it. `missing` says why the command cannot be known or had.
    """

    origin: str
    run: str | None = None
    uses: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str = "."
    shell: str | None = None
    may_fail: bool = False
    logged: Logged | None = None
    missing: str = ""
    title: str = ""
    inside: str = ""

    @property
    def failed(self) -> bool | None:
        """Whether the log shows that it ended red; None where it does not show its end."""
        return None if self.logged is None or self.logged.exit_code is None else self.logged.failed


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The steps that ran or would have run, and what is to be said about the others."""

    steps: tuple[Planned, ...]
    notes: tuple[Note, ...] = ()
    unavailable: tuple[Unavailable, ...] = ()


def from_log(log: JobLog) -> Plan:
    """What the log alone tells."""
    return Plan(steps=tuple(_logged(log, step, step.number - 1, "") for step in log.steps if step.name))


def plan(candidate: Candidate, log: JobLog | None, read: Read) -> Plan:
    """The steps of one job; `log` is None for a job of which there is no log."""
    problems = list[str]()
    found = list(templates(candidate, read, problems))
    notes = [Note(text=problem) for problem in problems]
    places = align(found, log.steps) if log else [None] * len(found)
    steps = list(_steps(found, places, log, notes))
    return Plan(steps=tuple(steps), notes=tuple(notes))


def _steps(
    found: Sequence[Template], places: Sequence[int | None], log: JobLog | None, notes: list[Note]
) -> Iterator[Planned]:
    """Steps of the file and, between them, what the log shows of third-party actions' own steps."""
    logged = log.steps if log else ()
    last = max((place for place in places if place is not None), default=-1)
    claimed, shown_to = {place for place in places if place is not None}, 0
    inside, carried = "", dict[str, str]()
    for number, (template, place) in enumerate(zip(found, places, strict=True)):
        if place is None:
            later = number > _last_index(places)
            if later and log is not None:
                yield from (
                    _logged(log, logged[i], i, inside) for i in range(shown_to, len(logged)) if i not in claimed
                )
                shown_to = len(logged)
            for planned in _unlogged(template, notes, gone=not later):
                origin = f"{planned.origin}, not reached in CI" if later and last >= 0 else planned.origin
                yield replace(planned, env={**carried, **planned.env}, origin=origin)
            continue
        if log is None:
            continue
        yield from (_logged(log, logged[i], i, inside) for i in range(shown_to, place) if i not in claimed)
        shown_to = place + 1
        inside = template.step.uses or ""
        if logged[place].command:  # what earlier steps wrote to GITHUB_ENV stands here too
            own = template.step.env.keys()
            carried = {name: value for name, value in clean_env(logged[place].env).items() if name not in own}
        yield _both_told(template, log, place)
    if log is not None and last >= 0:
        yield from (_logged(log, logged[i], i, inside) for i in range(shown_to, len(logged)) if i not in claimed)


def _last_index(places: Sequence[int | None]) -> int:
    return max((index for index, place in enumerate(places) if place is not None), default=-1)


def _unlogged(template: Template, notes: list[Note], *, gone: bool) -> Iterator[Planned]:
    """A step that the log does not show: left out where its condition was not met, or cannot be known."""
    step = template.step
    met = condition(step.condition, template.scope)
    told = _title(step)
    if met is True:
        yield _from_file(template)
    elif gone:
        notes.append(Note(text=f"left out: `{told}`: the log shows that it did not run (`if`)", origin=step.where))
    elif isinstance(met, Unknown):
        why = f"whether it runs is not known here: {met.why}"
        notes.append(Note(text=f"left out: `{told}`: {why}", origin=step.where))


def _title(step: Step) -> str:
    text = step.name or step.uses or (step.run or "").strip()
    return text.splitlines()[0][:80] if text else "a step"


def _logged(log: JobLog, step: Logged, index: int, inside: str) -> Planned:
    """A step that only the log tells of: everything without a file, or a part of a third-party action."""
    masked = "***" in (step.command or "")
    uses = None if step.command else step.name.removeprefix("Run ").strip()
    within = f", inside {inside}" if inside else ""
    return Planned(
        origin=f"log of {log.name}, step {step.number}{within}",
        run=on_tree(step.command) if step.command else None,
        uses=uses,
        inputs=dict(step.env) if uses else {},
        env={} if uses else clean_env(step.env),
        shell=step.shell,
        logged=step,
        missing="needs a secret: the log hides a part of the command" if masked else "",
        title=step.name.removeprefix("Run ").strip(),
        inside=inside,
    )


def _both_told(template: Template, log: JobLog, place: int) -> Planned:
    """The log's command, shell and environment; the file's line, folder and what it says of secrets."""
    step = log.steps[place]
    seen = _logged(log, step, place, "")
    file = _from_file(template)
    own = interpolate(template.step.run or "", template.scope)
    secret = isinstance(own, Unknown) and own.secrets
    hidden = file.missing if secret or file.missing.startswith("needs secret") or "folder" in file.missing else ""
    return replace(
        seen,
        origin=f"{seen.origin}; {template.step.where}",
        workdir=file.workdir,
        may_fail=file.may_fail,
        missing=hidden or seen.missing,
        inputs={**file.inputs, **seen.inputs} if seen.uses else {},
        uses=template.step.uses or seen.uses,
        title=_title(template.step),
    )


def _from_file(template: Template) -> Planned:
    step = template.step
    env, scope, secret = environment(template)
    missing = f"needs secret {', '.join(sorted(secret))}" if secret else ""
    run = interpolate(step.run, scope) if step.run is not None else None
    if isinstance(run, Unknown):
        missing = missing or _why(run)
        run = shown(step.run)
    inputs = {key: interpolate(value, scope) for key, value in step.inputs.items()}
    workdir = folder(step.workdir or (template.workdir if step.run is not None else None), scope)
    if isinstance(workdir, Unknown):
        missing, workdir = missing or f"its working folder is not known here: {workdir.why}", "."
    elif workdir is None:
        missing, workdir = missing or "its working folder lies outside the repository", "."
    return Planned(
        origin=f"{step.where}, used in {template.inside}" if template.inside else step.where,
        run=on_tree(run) if run is not None else None,
        uses=step.uses,
        inputs={key: value for key, value in inputs.items() if isinstance(value, str)},
        env=env,
        workdir=workdir,
        shell=step.shell or template.shell,
        may_fail=step.may_fail is True or interpolate(step.may_fail, scope) == "true",
        missing=missing,
        title=_title(step),
    )


def _why(value: Unknown) -> str:
    if value.secrets:
        return f"needs secret {', '.join(sorted(value.secrets))}"
    return f"the command is not known here: {value.why}"


def clean_env(env: Mapping[str, str]) -> dict[str, str]:
    """The variables that mean something outside the runner and hold no secret."""
    return {
        name: on_tree(value)
        for name, value in env.items()
        if "***" not in value and not RUNNER.search(value) and re.fullmatch(r"[A-Za-z_]\w*", name)
    }

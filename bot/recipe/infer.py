"""Workflow files and logs become a Recipe: the failing job first, what else its workflow checks after it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.domain.execution import WORK, SetupStep
from bot.domain.findings import Check, JobLog
from bot.domain.recipe import Note, Recipe, Service, Unavailable
from bot.logs.runner import job_name
from bot.recipe import pins
from bot.recipe.base import Base, base
from bot.recipe.cook import Dish, cook
from bot.recipe.document import as_items, as_map
from bot.recipe.expression import condition, interpolate
from bot.recipe.match import Candidate, best, candidates
from bot.recipe.moves import Moves, moves
from bot.recipe.package import package
from bot.recipe.plan import from_log, plan
from bot.recipe.toolchain import DEFAULT_IMAGE
from bot.recipe.unfold import align, templates
from bot.recipe.values import Unknown
from bot.recipe.workflow import Read, labels, read_all, short
from bot.sandbox import configured

_RUNNER_FILES = ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
_MOST_ALIGNED = 300
_LINUX = re.compile(r"ubuntu|linux", re.IGNORECASE)
_OTHER = re.compile(r"windows|macos|mac-|osx", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Part:
    """One job: its log if there is one, its place in a workflow if one fits, and what was made of it."""

    log: JobLog | None
    candidate: Candidate | None
    told: Moves
    dish: Dish
    base: Base


def infer(
    jobs: Iterable[JobLog],
    *,
    image: str = "",
    setup: Sequence[str] = (),
    checks: tuple[Check, ...] = (),
    read: Read = lambda _path: None,
    paths: frozenset[str] = frozenset(),
    workflow: str = "",
    logs: Mapping[str, bytes] | None = None,
) -> Recipe:
    """What CI did, from the failed jobs' logs and the repository's files at the same commit.

    `image`, `setup` and `checks` are what a person configured: each takes the place of what would be inferred.
    `workflow` is the failing workflow's name, `logs` the raw logs by job name. Hostile files end in notes.
    """
    kitchen = _Kitchen(list(jobs), read, paths, workflow, logs or {})
    made = kitchen.recipe(toolchains=not image)
    if image:
        made = replace(made, image=image, origins={**made.origins, "image": "configured"})
    if setup:
        steps = tuple(configured(command) for command in setup)
        made = replace(made, setup=steps, env={}, pins=(), checks=tuple(replace(c, before=()) for c in made.checks))
    return replace(made, checks=checks) if checks else made


class _Kitchen:
    """One inference: what was read, and what is to be said about it."""

    def __init__(
        self, jobs: list[JobLog], read: Read, paths: frozenset[str], workflow: str, logs: Mapping[str, bytes]
    ) -> None:
        self.jobs, self.read, self.workflow, self.logs = jobs, read, workflow, logs
        self.notes = list[Note]()
        problems = list[str]()
        self.candidates = candidates(read_all(read, paths, problems), problems)
        self.notes += [Note(text=problem) for problem in problems]
        self.unavailable = list[Unavailable]()

    def recipe(self, *, toolchains: bool) -> Recipe:
        parts = [part for job in self.jobs if (part := self._part(job)) is not None]
        if not parts:
            return Recipe(image=DEFAULT_IMAGE, notes=tuple(self.notes), unavailable=tuple(self.unavailable))
        main = next((part for part in parts if any(check.failed for check in part.dish.checks)), parts[0])
        mine = [main, *self._like(main, [part for part in parts if part is not main])]
        mine += self._like(main, self._others(main, parts))
        return self._served(main, mine, toolchains=toolchains)

    # -- one job ------------------------------------------------------------------------------------------------

    def _part(self, log: JobLog) -> Part | None:
        candidate = self._candidate(log)
        if candidate is None:
            if self.candidates:
                text = "no job of the repository's workflows fits this log: only the log is followed"
                self.notes.append(Note(text=text, origin=f"log of {log.name}"))
            return self._made(log, None)
        return self._made(log, candidate) if self._reachable(candidate) else None

    def _candidate(self, log: JobLog) -> Candidate | None:
        names = [name for name in (job_name(self.logs.get(log.name, b"")), log.name) if name]
        likely = best(self.candidates, self.workflow, names)[:_MOST_ALIGNED] or self.candidates[:_MOST_ALIGNED]
        fitting = {number: self._fitting(candidate, log) for number, candidate in enumerate(likely)}
        found = best(likely, self.workflow, names, fitting)
        if (
            len(found) > 1
            and found[0].leg != found[1].leg
            and found[0].job is found[1].job
            and found[0].name == found[1].name
        ):
            text = f"the log does not tell which leg of {found[0].job.id} it is: the first is taken"
            self.notes.append(Note(text=text, origin=found[0].job.where))
        return found[0] if found else None

    def _fitting(self, candidate: Candidate, log: JobLog) -> int:
        """How many commands of the log are the job's."""
        found = list(templates(candidate, self.read, []))
        places = align(found, log.steps)
        return sum(place is not None and t.step.run is not None for t, place in zip(found, places, strict=True))

    def _reachable(self, candidate: Candidate, *, quiet: bool = False) -> bool:
        """Whether the job's runner is a Linux; what is not is named."""
        job = candidate.job
        asked = [interpolate(label, candidate.scope) for label in labels(job, candidate.scope)]
        known = [label for label in asked if isinstance(label, str)]
        other = next((label for label in known if _OTHER.search(label)), None)
        if other is not None:
            if not quiet:
                why = f"it runs on {other}, and the sandbox is Linux"
                gone = Unavailable(what=f"job {candidate.name}", why=why, origin=job.where, check=True)
                self.unavailable.append(gone)
            return False
        if not quiet and not any(_LINUX.search(label) for label in known):
            which = ", ".join(known) or "a label that is not known here"
            text = f"runs on {which}: an ordinary Linux machine is taken for it"
            self.notes.append(Note(text=text, origin=job.where))
        return True

    def _made(self, log: JobLog | None, candidate: Candidate | None) -> Part:
        steps = plan(candidate, log, self.read) if candidate else from_log(log or JobLog(name="none"))
        told = moves(steps, self.read)
        dish = cook(told, self.read)
        failing = next((check for check in dish.checks if check.failed), dish.checks[0] if dish.checks else None)
        commands = [step.command for step in dish.setup] + [check.command for check in dish.checks]
        where = candidate.job.where if candidate else ""
        chosen = base(
            told.tools,
            commands,
            failing.command if failing else "",
            self.read,
            log,
            self._container(candidate, dish) if candidate else "",
            where,
        )
        return Part(log=log, candidate=candidate, told=told, dish=dish, base=chosen)

    def _container(self, candidate: Candidate, dish: Dish) -> str:
        """The image of the job's own container, "" where there is none."""
        asked = candidate.job.container
        value = interpolate(as_map(asked).get("image", asked if isinstance(asked, str) else ""), candidate.scope)
        if isinstance(value, Unknown):
            dish.notes.append(Note(text=f"its container is not known here: {value.why}", origin=candidate.job.where))
            return ""
        return value.strip()

    # -- other jobs -----------------------------------------------------------------------------------------------

    def _like(self, main: Part, others: Iterable[Part]) -> list[Part]:
        """Those that need no other image."""
        kept = []
        for part in others:
            if main.base.serves(part.base):
                kept.append(part)
            elif part.dish.checks:
                name = part.candidate.name if part.candidate else part.log.name if part.log else "?"
                where = part.candidate.job.where if part.candidate else ""
                text = f"left out: the checks of job {name}: they need {part.base.image}"
                self.notes.append(Note(text=text, origin=where))
        return kept

    def _others(self, main: Part, parts: list[Part]) -> list[Part]:
        """The other jobs of the failing workflow, by their first leg that fits the image."""
        if main.candidate is None:
            return []
        seen = {id(part.candidate.job) for part in parts if part.candidate}
        found = dict[int, Part]()
        for candidate in self.candidates:
            job = candidate.job
            same = candidate.workflow is main.candidate.workflow and candidate.called == main.candidate.called
            if not same or id(job) in seen or job.uses or len(found) > 20:
                continue
            present = found.get(id(job))
            if present and main.base.serves(present.base):
                continue
            if not self._reachable(candidate, quiet=True) or condition(job.condition, candidate.scope) is not True:
                continue
            if job.services:
                self.notes.append(Note(text=f"left out: job {job.id}: it needs services", origin=job.where))
                continue
            made = self._made(None, candidate)
            if made.dish.checks and (present is None or main.base.serves(made.base)):
                found[id(job)] = made
        return list(found.values())

    # -- together -------------------------------------------------------------------------------------------------

    def _served(self, main: Part, parts: list[Part], *, toolchains: bool) -> Recipe:
        checks, notes = self._checks(parts), [*self.notes]
        for part in parts:
            notes += [*part.base.notes, *part.dish.notes] if part.log else []
        found = package(self.read)
        chosen = pins.pins(self.logs, [found.name] if found else [], notes)
        setup = self._setup(parts, pins.step(chosen), toolchains=toolchains)
        env = _runner_env(setup)
        unavailable = [*self.unavailable]
        for part in parts:
            unavailable += part.dish.unavailable
        services = self._services(main, unavailable)
        return Recipe(
            image=main.base.image,
            setup=tuple(setup),
            checks=checks,
            env=env,
            services=services,
            pins=chosen,
            notes=tuple(dict.fromkeys(notes)),
            unavailable=tuple(dict.fromkeys(unavailable)),
            origins={"image": main.base.origin, **dict.fromkeys(env, "GitHub's runners set it")},
            job=main.candidate.name if main.candidate else main.log.name if main.log else "",
        )

    def _checks(self, parts: list[Part]) -> tuple[Check, ...]:
        """Red ones first, then in order; one command in one folder is one check."""
        every = [check for part in parts if part.log for check in part.dish.checks]
        # A job without a log is not among the failed ones: CI saw its checks pass, or did not get to them.
        every += [replace(check, failed=False) for part in parts if not part.log for check in part.dish.checks]
        found = dict[tuple[str, str], Check]()
        for check in sorted(every, key=lambda check: not check.failed):
            found.setdefault((check.command, check.workdir), check)
        named, names = list[Check](), set[str]()
        for check in found.values():
            name, number = check.name, 1
            while name in names:
                number += 1
                name = f"{check.name} ({number})"
            names.add(name)
            named.append(replace(check, name=name))
        return tuple(named)

    def _setup(self, parts: list[Part], pinned: SetupStep | None, *, toolchains: bool) -> list[SetupStep]:
        steps = [*(step for part in parts for step in part.base.steps)] if toolchains else []
        steps += [pinned] if pinned else []
        for number, part in enumerate(parts):
            for step in part.dish.setup:
                env = {**step.env, **pins.ENV} if pinned else step.env
                steps.append(replace(step, env=env, may_fail=step.may_fail or (number > 0 and part.log is None)))
        for part in parts:
            steps += [replace(step, may_fail=step.may_fail or part.log is None) for step in part.dish.rehearsals]
        found = dict[tuple[str, str], SetupStep]()
        for step in steps:
            found.setdefault((step.command, step.workdir), step)
        return list(found.values())

    def _services(self, main: Part, unavailable: list[Unavailable]) -> tuple[Service, ...]:
        if main.candidate is None:
            return ()
        job, scope, made = main.candidate.job, main.candidate.scope, list[Service]()
        for name, value in list(job.services.items())[:20]:
            body = as_map(value)
            origin = f"{short(job.file)}:{job.services.at(name)}"
            texts = {key: interpolate(item, scope) for key, item in as_map(body.get("env")).items()}
            image = interpolate(body.get("image"), scope)
            unknown = [text for text in (image, *texts.values()) if isinstance(text, Unknown)]
            if unknown or not image:
                why = unknown[0].why if unknown else "it names no image"
                unavailable.append(Unavailable(what=f"service {name}", why=why, origin=origin))
                continue
            options = interpolate(body.get("options"), scope)
            made.append(
                Service(
                    name=name,
                    image=str(image),
                    env={key: text for key, text in texts.items() if isinstance(text, str)},
                    ports=tuple(str(port) for port in as_items(body.get("ports"))),
                    options=options if isinstance(options, str) else "",
                    origin=origin,
                )
            )
        return tuple(made)


def _runner_env(setup: Sequence[SetupStep]) -> dict[str, str]:
    """Variables of GitHub's runners, where a set-up command asks for any."""
    if not any(re.search(r"\$\{?(?:GITHUB_|RUNNER_|CI\b)", step.command) for step in setup):
        return {}
    given = {"CI": "true", "GITHUB_WORKSPACE": WORK, "RUNNER_OS": "Linux", "RUNNER_TEMP": "/tmp"}  # noqa: S108 (in the box)
    return {**given, **dict.fromkeys(_RUNNER_FILES, "/dev/null")}

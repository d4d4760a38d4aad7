"""Log first: it shows what was really run, with every expression expanded. The workflow file tells only the rest."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from bot.domain.execution import WORK
from bot.domain.findings import Check, CheckKind, JobLog, Step
from bot.logs import command_kind
from bot.logs.command import simple_commands
from bot.recipe import actions, images, matching, offline, scripts, versions
from bot.recipe.expressions import Unknown, evaluate, expand, names, truthy
from bot.recipe.made import Recipe, SetupStep
from bot.recipe.workflow import StepSpec, read_workflows
from bot.sandbox import HOME

DEFAULT_IMAGE = "python:3.13-slim-trixie"
"""Where neither log nor workflow tells a language."""

_JUDGES = (CheckKind.TESTS, CheckKind.LINT, CheckKind.TYPES)
_RUNNERS_OWN = ("/opt/hostedtoolcache", "/home/runner/.", "/opt/pipx", "/usr/share/")
_CHECKOUT = re.compile(r"(?:/home/runner/work|/__w)/[^/\s]+/[^/\s]+(?=/|\s|$|[\"':;])")
_MASK = "***"


def infer(
    jobs: Iterable[JobLog],
    *,
    image: str = "",
    setup: Sequence[str] = (),
    checks: Sequence[Check] = (),
    workflow: str = "",
    raw: Collection[bytes] = (),
    read: Callable[[str], bytes | None] = lambda _path: None,
    paths: Collection[str] = (),
) -> Recipe:
    """The recipe of the failing jobs. What is configured (`image`, `setup`, `checks`) replaces what would be inferred.

    `workflow` is the run's name, `raw` the logs themselves (for versions), `read` and `paths` show the repository at
    the failing commit. Never raises: what cannot be had is said in `notes` and `left_out`.
    """
    specs, notes = read_workflows(paths, read)
    found = [_Job(job, matching.find(job, specs, workflow), read).recipe() for job in jobs]
    made = _merged([each for each in found if each.checks or each.left_out])
    if checks:
        made = replace(made, checks=tuple(checks), left_out=(), passed=frozenset(), configured=True)
    if image:
        made = replace(made, image=image, image_origin="configured")
    if setup:
        configured = tuple(SetupStep(command=command, origin="configured") for command in setup)
        return replace(made, setup=configured, notes=(*notes, *made.notes))
    return replace(_pinned(_rehearsed(made), raw, read), notes=(*notes, *made.notes))


class _Job:
    """One failing job on its way to a recipe."""

    def __init__(self, log: JobLog, match: matching.Match | None, read: Callable[[str], bytes | None]) -> None:
        self.log, self.match, self.read = log, match, read
        self.languages: dict[str, tuple[images.Language, str, str]] = {}
        self.setup: list[SetupStep] = []
        self.failed: list[Check] = []
        self.others: list[Check] = []
        self.passed: set[str] = set()
        self.notes: list[str] = []
        self.left_out: list[str] = []

    def recipe(self) -> Recipe:
        """Everything that the log shows, in order, then what the workflow has after the failing step."""
        unable = self._unable()
        if unable:
            return Recipe(image=DEFAULT_IMAGE, left_out=(unable,))
        for step in self.log.steps:
            spec = self.match.steps.get(step.number) if self.match else None
            if step.command:
                self._ran(step, spec)
            else:
                self._used(step)
        for spec in self.match.later if self.match else ():
            self._later(spec)
        image, origin = self._image()
        return Recipe(
            image=image,
            image_origin=origin,
            setup=tuple(self.setup),
            checks=_unique([*self.failed, *self.others], lambda check: (check.command, check.workdir)),
            notes=tuple(self.notes),
            left_out=tuple(self.left_out),
            passed=frozenset(self.passed),
        )

    def _unable(self) -> str | None:
        """Why nothing of this job can be had here."""
        if self.match is None:
            return None
        job = self.match.job
        runners = [self._expanded(label) or label for label in job.runs_on]
        foreign = next((label for label in runners if re.match(r"windows|macos", label)), None)
        if foreign:
            return f"{self.log.name} ran on {foreign} ({job.origin}): the sandbox is Linux"
        if "self-hosted" in runners:
            self.notes.append(f"{job.origin}: a self-hosted runner; what it had installed is not known here")
        if job.services:
            return (
                f"{self.log.name} needs the services {', '.join(job.services)} ({job.origin}): none run in the sandbox"
            )
        return None

    def _ran(self, step: Step, spec: StepSpec | None) -> None:
        origin = f"log of {self.log.name}, step {step.number}" + (f"; {spec.origin}" if spec else "")
        self._script(step.command or "", step.env, self._workdir(spec), origin, spec, step.exit_code)

    def _later(self, spec: StepSpec) -> None:
        """A step that CI did not get to: only checks of it matter, and only what is surely run."""
        if spec.run is None or command_kind(spec.run) is None:
            return
        origin = f"{spec.origin}, not reached in CI"
        run = expand(spec.run, self._context())
        condition = evaluate((spec.condition or "true").removeprefix("${{").removesuffix("}}"), self._context())
        if isinstance(run, Unknown) or truthy(condition) is None:
            self.left_out.append(f"{spec.run.strip().splitlines()[0]} ({origin}): it depends on what is not known here")
        elif truthy(condition):
            env = {key: value for key in spec.env if (value := self._expanded(spec.env[key])) is not None}
            self._script(run, env, self._workdir(spec), origin, spec, None)

    def _script(
        self, script: str, env: Mapping[str, str], workdir: str, origin: str, spec: StepSpec | None, code: int | None
    ) -> None:
        secrets = [name for name in names(spec.text, "secrets") if name != "GITHUB_TOKEN"] if spec else []
        if secrets or _MASK in script:
            needs = f"the secret{'s' * (len(secrets) > 1)} {', '.join(secrets)}" if secrets else "a secret"
            self.left_out.append(f"{script.strip().splitlines()[0]} ({origin}): it needs {needs}")
            return
        env = {name: _moved(value) for name, value in env.items() if _portable(value)}
        parts = scripts.parts(_moved(script).strip())
        judging = [part for part in parts if _judges(part)]
        if not judging and code not in (None, 0) and any(not scripts.INSTALLS.search(part) for part in parts):
            judging = parts[-1:]  # it failed and is no known tool: its exit status judges
        for part in parts:
            if part in judging:
                self._check(part, env, workdir, origin, code)
            elif scripts.INSTALLS.search(part) or not (self.failed or self.others):
                self._set_up(part, env, workdir, origin, broke=code not in (None, 0) and not judging)

    def _set_up(self, part: str, env: Mapping[str, str], workdir: str, origin: str, *, broke: bool) -> None:
        first = scripts.last_line(part).split()[:1]
        if broke:
            self.left_out.append(f"{scripts.last_line(part)} ({origin}): set-up that failed in CI")
        elif first and first[0] in ("docker", "docker-compose", "systemctl", "service", "gh"):
            self.left_out.append(f"{scripts.last_line(part)} ({origin}): there is no {first[0]} in the sandbox")
        else:
            self.setup.append(SetupStep(command=_editable(part), origin=origin, workdir=workdir, env=env))

    def _check(self, command: str, env: Mapping[str, str], workdir: str, origin: str, code: int | None) -> None:
        kind = command_kind(command) or (CheckKind.CUSTOM, None)
        name = scripts.last_line(command)
        check = Check(
            name=name if len(name) <= 60 else name[:57] + "...",
            kind=kind[0],
            format=kind[1],
            command=command,
            workdir=workdir,
            env=dict(env),
            origin=origin,
        )
        (self.others if code in (None, 0) else self.failed).append(check)
        if code == 0:
            self.passed.add(check.name)

    def _used(self, step: Step) -> None:
        """A step that used an action; what it was given stands in the log, expanded."""
        uses = step.name.removeprefix("Run ").strip()
        name, origin = uses.partition("@")[0], f"log of {self.log.name}, step {step.number}: {uses}"
        language = images.of_action(uses)
        install, check = actions.install(name, step.env, self.read), actions.check(name, step.env)
        if language:
            version, why = images.version(language, uses, step.env, self.read)
            self.languages.setdefault(language.name, (language, version, f"{origin}, {why}"))
        if install:
            self.setup.append(SetupStep(command=install, origin=origin))
        if check:
            self._check(check, {}, ".", origin, step.exit_code)
        known = language or install or check or name in actions.NOTHING or name.startswith("./")
        if "/" in name and not known:
            self.notes.append(f"{uses} has no stand-in here ({origin.partition(':')[0]})")

    def _image(self) -> tuple[str, str]:
        container = self._expanded(self.match.job.container) if self.match and self.match.job.container else None
        if container:
            return container, f"container of {self.match.job.origin}" if self.match else ""
        commands = [words for check in [*self.failed, *self.others] for words in simple_commands(check.command)]
        wanted = images.of_programs(commands)
        main = self.languages.get(wanted.name) if wanted else None
        main = main or next(iter(self.languages.values()), None)
        if main is None:
            if wanted is None or wanted.name == "python":
                return DEFAULT_IMAGE, "no step sets a language up: the default"
            return images.image(wanted, wanted.latest), f"no step sets {wanted.name} up: the newest"
        language, version, origin = main
        for other, _, where in self.languages.values():
            if other is not language:
                command = f"sudo apt-get update && sudo apt-get install -y --no-install-recommends {other.apt}"
                self.setup.insert(0, SetupStep(command=command, origin=where))
                self.notes.append(f"{other.name} comes from the distribution, so its version may differ ({where})")
        return images.image(language, version), origin

    def _workdir(self, spec: StepSpec | None) -> str:
        """The log does not show it."""
        named = (spec.workdir if spec else None) or (self.match.job.workdir if self.match else None)
        told = self._expanded(named) if named else None
        return _moved(told).removeprefix(f"{WORK}/").removeprefix("./").rstrip("/") or "." if told else "."

    def _expanded(self, text: str) -> str | None:
        told = expand(text, self._context())
        return told if isinstance(told, str) else None

    def _context(self) -> Mapping[str, object]:
        leg = dict(self.match.leg) if self.match else {}
        runner = {"os": "Linux", "temp": "/tmp", "arch": "X64"}  # noqa: S108 - a path in the box
        known = {"matrix": leg, "runner": runner, "github": {"workspace": WORK}}
        env = {key: value for key, value in (self.match.job.env if self.match else {}).items() if "${{" not in value}
        return {**known, "env": env}


def _judges(part: str) -> bool:
    kind = command_kind(part)
    return kind is not None and kind[0] in _JUDGES and not scripts.INSTALLS.match(scripts.last_line(part))


def _portable(value: str) -> bool:
    """Whether a variable means something outside the runner; masked values are secrets."""
    return _MASK not in value and not any(place in value for place in _RUNNERS_OWN)


def _moved(text: str) -> str:
    return _CHECKOUT.sub(WORK, text)


def _editable(command: str) -> str:
    """`pip install .` tests a copy: editable, so that the patched tree is what is tested."""
    return re.sub(r"(\bpip3? install (?:-\S+ )*)(?=[\"']?\.(?:\[|[\"']?(?:\s|$)))(?<!-e )", r"\1-e ", command)


def _rehearsed(made: Recipe) -> Recipe:
    """Checks that install while they run are rehearsed while there is a network."""
    checks, more = [], []
    for check in made.checks:
        ready, command = offline.prepared(check)
        checks.append(ready)
        if command:
            origin = f"so that `{check.name}` finds offline what it installs"
            more.append(SetupStep(command=command, origin=origin, workdir=check.workdir, env=check.env))
    return replace(made, checks=tuple(checks), setup=(*made.setup, *_unique(more, lambda step: step.script)))


def _pinned(made: Recipe, raw: Collection[bytes], read: Callable[[str], bytes | None]) -> Recipe:
    """Python distributions in the versions that CI had: constraints for pip and uv."""
    pins = sorted({pin for log in raw for pin in versions.pins(log, versions.own(read))})
    if not pins or not made.setup:
        return made
    listed = " ".join(shlex.quote(pin) for pin in pins)
    step = SetupStep(
        command=f'printf "%s\\n" {listed} >"$HOME/ci-versions.txt"', origin=f"{len(pins)} versions that the log names"
    )
    constraints = {"PIP_CONSTRAINT": f"{HOME}/ci-versions.txt", "UV_CONSTRAINT": f"{HOME}/ci-versions.txt"}
    return replace(made, setup=(step, *made.setup), env={**made.env, **constraints})


def _merged(found: Sequence[Recipe]) -> Recipe:
    """One environment: the first job's; what others did joins it where their image is the same."""
    if not found:
        return Recipe(image=DEFAULT_IMAGE, image_origin="the default")
    made, *others = sorted(found, key=lambda each: not each.checks)
    for other in others:
        if not other.checks:
            made = replace(made, left_out=(*made.left_out, *other.left_out))
        elif other.image == made.image:
            made = replace(
                made,
                setup=_unique([*made.setup, *other.setup], lambda step: step.script),
                checks=_unique([*made.checks, *other.checks], lambda check: (check.command, check.workdir)),
                passed=made.passed & other.passed,
                left_out=(*made.left_out, *other.left_out),
            )
        else:
            where = other.checks[0].origin
            made = replace(made, notes=(*made.notes, f"{where} ran in {other.image}: that leg is not run here"))
    return made


def _unique(items: Iterable[object], key: Callable[..., object]) -> tuple:  # type: ignore[type-arg]
    return tuple({key(item): item for item in reversed(list(items))}.values())[::-1]

"""A workflow file as typed parts; whatever has the wrong shape counts as not written, and is noted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from bot.recipe.document import Items, Map, Unreadable, as_items, as_map, load
from bot.recipe.expression import Scope
from bot.recipe.values import shown

Read = Callable[[str], bytes | None]

FOLDER = ".github/workflows/"
MOST_FILES, MOST_JOBS, MOST_STEPS = 100, 300, 300
"""Caps on what is looked at of one repository, one workflow, one job."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One entry of `steps:`. `where` is file:line. Texts are templates: expressions are not evaluated yet."""

    where: str
    id: str = ""
    name: str = ""
    run: str | None = None
    uses: str | None = None
    inputs: Mapping[str, object] = field(default_factory=dict)
    env: Mapping[str, object] = field(default_factory=dict)
    condition: object = None
    workdir: str | None = None
    shell: str | None = None
    may_fail: object = False


@dataclass(frozen=True, kw_only=True)
class Job:
    """One entry of `jobs:`; `uses` is the reusable workflow that it calls, if any."""

    id: str
    where: str
    file: str
    name: str = ""
    runs_on: object = None
    env: Mapping[str, object] = field(default_factory=dict)
    workdir: str | None = None
    shell: str | None = None
    matrix: object = None
    container: object = None
    services: Map = field(default_factory=Map)
    condition: object = None
    steps: tuple[Step, ...] = ()
    uses: str | None = None
    inputs: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Workflow:
    """One file. `inputs` are the defaults of `workflow_call` and `workflow_dispatch`."""

    path: str
    name: str
    env: Mapping[str, object] = field(default_factory=dict)
    jobs: tuple[Job, ...] = ()
    inputs: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Composite:
    """A composite action of the repository: its steps and the defaults of its inputs."""

    steps: tuple[Step, ...]
    inputs: Mapping[str, object]


def read_all(read: Read, paths: frozenset[str], problems: list[str]) -> list[Workflow]:
    """Every workflow of the repository; files that cannot be read are named in `problems`."""
    names = sorted(
        p for p in paths if p.startswith(FOLDER) and "/" not in p[len(FOLDER) :] and p.endswith((".yml", ".yaml"))
    )
    if len(names) > MOST_FILES:
        problems.append(f"{FOLDER}: only the first {MOST_FILES} of {len(names)} workflow files are read")
    found = [read_one(read, path, problems) for path in names[:MOST_FILES]]
    return [workflow for workflow in found if workflow is not None]


def read_one(read: Read, path: str, problems: list[str]) -> Workflow | None:
    """One workflow file; None where it is not there or no workflow."""
    document = _document(read, path, problems)
    if document is None:
        return None
    jobs = as_map(document.get("jobs"))
    if not jobs:
        problems.append(f"{path}: has no jobs")
    triggers = as_map(document.get("on"))
    defaults = _run_defaults(document)
    return Workflow(
        path=path,
        name=_text(document.get("name")) or path,
        env=as_map(document.get("env")),
        jobs=tuple(_job(path, name, value, jobs, defaults) for name, value in list(jobs.items())[:MOST_JOBS]),
        inputs={**_defaults(triggers, "workflow_dispatch"), **_defaults(triggers, "workflow_call")},
    )


def read_action(read: Read, folder: str, problems: list[str]) -> Composite | None:
    """The action in a folder of the repository, where it is a composite one."""
    for name in ("action.yml", "action.yaml"):
        path = f"{folder}/{name}" if folder else name
        if (document := _document(read, path, problems)) is not None:
            runs = as_map(document.get("runs"))
            inputs = as_map(document.get("inputs"))
            return Composite(
                steps=_steps(path, runs.get("steps")),
                inputs={key: as_map(value).get("default", "") for key, value in inputs.items()},
            )
    return None


def _document(read: Read, path: str, problems: list[str]) -> Map | None:
    content = read(path)
    if content is None:
        return None
    try:
        document = load(content)
    except Unreadable as error:
        problems.append(f"{path}: left out: {error}")
        return None
    if not isinstance(document, Map):
        problems.append(f"{path}: left out: not a mapping")
        return None
    return document


def _defaults(triggers: Map, trigger: str) -> dict[str, object]:
    inputs = as_map(as_map(triggers.get(trigger)).get("inputs"))
    return {name: as_map(value).get("default", "") for name, value in inputs.items()}


def _run_defaults(value: Map) -> Map:
    return as_map(as_map(value.get("defaults")).get("run"))


def _job(path: str, name: str, value: object, jobs: Map, defaults: Map) -> Job:
    body = as_map(value)
    run = Map()
    run.update({**defaults, **_run_defaults(body)})
    return Job(
        id=name,
        where=f"{short(path)}:{jobs.at(name)}",
        file=path,
        name=_text(body.get("name")) or "",
        runs_on=body.get("runs-on"),
        env=as_map(body.get("env")),
        workdir=_text(run.get("working-directory")),
        shell=_text(run.get("shell")),
        matrix=as_map(body.get("strategy")).get("matrix"),
        container=body.get("container"),
        services=as_map(body.get("services")),
        condition=body.get("if"),
        steps=_steps(path, body.get("steps")),
        uses=_text(body.get("uses")),
        inputs=as_map(body.get("with")),
    )


def _steps(path: str, value: object) -> tuple[Step, ...]:
    items = value if isinstance(value, Items) else Items()
    return tuple(_each(path, items))


def _each(path: str, items: Items) -> Iterator[Step]:
    for body, line in list(zip(items, items.lines, strict=True))[:MOST_STEPS]:
        if isinstance(body, Map):
            key = next((name for name in ("run", "uses") if name in body), "")
            yield Step(
                where=f"{short(path)}:{body.lines.get(key, line)}",
                id=_text(body.get("id")) or "",
                name=_text(body.get("name")) or "",
                run=_text(body.get("run")),
                uses=_text(body.get("uses")),
                inputs=as_map(body.get("with")),
                env=as_map(body.get("env")),
                condition=body.get("if"),
                workdir=_text(body.get("working-directory")),
                shell=_text(body.get("shell")),
                may_fail=body.get("continue-on-error", False),
            )


def short(path: str) -> str:
    """A workflow is called by its file's name, as people do."""
    return path.removeprefix(FOLDER)


def _text(value: object) -> str | None:
    """Scalars as GitHub reads them as text; None for everything else."""
    return shown(value) if isinstance(value, str | int | float) else None


def labels(job: Job, scope: Scope) -> list[object]:
    """What `runs-on` asks for: one entry per label, templates still."""
    value = job.runs_on
    if isinstance(value, Map):
        value = value.get("labels", value.get("group"))
    return list(as_items(value))

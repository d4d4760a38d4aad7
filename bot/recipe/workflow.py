"""Workflow files as data: jobs and steps with the lines that they stand on; anything odd is left out, never guessed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from bot.recipe.expressions import expand

LARGEST = 500_000
"""Bytes of a workflow file that is read; GitHub's own limit is about as large."""

MOST_LEGS = 256
"""Legs of a matrix (GitHub Docs, "Running variations of jobs in a workflow")."""

_LINE = "__line__"

Leg = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class StepSpec:
    """One step as the file has it; `text` is everything that may hold an expression, to look for secrets in."""

    origin: str
    run: str | None = None
    uses: str | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str | None = None
    condition: str | None = None
    shell: str | None = None

    @property
    def text(self) -> str:
        """Script, inputs and environment of the step itself."""
        return "\n".join([self.run or "", *self.given.values(), *self.env.values()])


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """One job of one workflow file; `legs` are its matrix' legs, one empty leg without a matrix."""

    id: str
    name: str
    workflow: str
    origin: str
    runs_on: tuple[str, ...]
    steps: tuple[StepSpec, ...]
    legs: tuple[Leg, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str | None = None
    container: str | None = None
    services: tuple[str, ...] = ()

    def titles(self, leg: Leg) -> tuple[str, ...]:
        """How GitHub may call this leg: its `name` expanded, or the job's name or id and the leg's values."""
        named = expand(self.name, {"matrix": dict(leg)})
        values = ", ".join(expand_value(value) for value in leg.values())
        bare = [name for name in (named, self.id) if isinstance(name, str) and name]
        return tuple(bare + [f"{name} ({values})" for name in bare if values])


def expand_value(value: object) -> str:
    """A matrix value as it stands in a job's title."""
    text = expand("${{ x }}", {"x": _plain(value)})
    return text if isinstance(text, str) else ""


def read_workflows(paths: Iterable[str], read: Callable[[str], bytes | None]) -> tuple[list[JobSpec], list[str]]:
    """Every job of every workflow file, and why files were left out."""
    jobs: list[JobSpec] = []
    notes: list[str] = []
    for path in sorted(paths):
        if path.startswith(".github/workflows/") and path.endswith((".yml", ".yaml")):
            content = read(path) or b""
            try:
                if len(content) > LARGEST:
                    raise yaml.YAMLError("larger than any workflow")
                jobs += _jobs(path, yaml.load(content, _Lines))  # noqa: S506 - a SafeLoader that notes lines
            except (yaml.YAMLError, ValueError, RecursionError) as error:
                notes.append(f"{path} cannot be read: {str(error).splitlines()[0]}")
    return jobs, notes


class _Lines(yaml.SafeLoader):
    """Mappings know the line that they begin on. Attack: merge keys that double at each level; GitHub knows none."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Leave `<<` as it stands, so that it is refused."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        made = super().construct_mapping(node, deep=deep)
        return {**made, _LINE: node.start_mark.line + 1}


def _jobs(path: str, data: object) -> Iterator[JobSpec]:
    top = _map(data)
    name = _text(top.get("name")) or path
    for key, value in _map(top.get("jobs")).items():
        job = _map(value)
        if key == _LINE or not job:
            continue
        container = job.get("container")
        yield JobSpec(
            id=str(key),
            name=_text(job.get("name")) or str(key),
            workflow=name,
            origin=_where(path, job),
            runs_on=tuple(_labels(job.get("runs-on"))),
            steps=tuple(_step(path, _map(step)) for step in _list(job.get("steps"))),
            legs=tuple(itertools.islice(_legs(_map(_map(job.get("strategy")).get("matrix"))), MOST_LEGS)) or ({},),
            env=_texts(top.get("env")) | _texts(job.get("env")),
            workdir=_workdir(job.get("defaults")) or _workdir(top.get("defaults")),
            container=_text(_map(container).get("image")) or _text(container),
            services=tuple(str(each) for each in _map(job.get("services")) if each != _LINE),
        )


def _step(path: str, step: Mapping[Any, Any]) -> StepSpec:
    return StepSpec(
        origin=_where(path, step),
        run=_text(step.get("run")),
        uses=_text(step.get("uses")),
        given=_texts(step.get("with")),
        env=_texts(step.get("env")),
        workdir=_text(step.get("working-directory")),
        condition=_text(step.get("if")),
        shell=_text(step.get("shell")),
    )


def _legs(matrix: Mapping[Any, Any]) -> Iterator[Leg]:
    """The legs in GitHub's order: the product, minus `exclude`, with `include` added to legs or as legs of its own."""
    axes = {str(key): _list(values) for key, values in matrix.items() if key not in ("include", "exclude", _LINE)}
    product = itertools.product(*axes.values()) if axes else iter(())
    legs = [dict(zip(axes, values, strict=True)) for values in itertools.islice(product, MOST_LEGS * 4)]
    excluded = [_clean(_map(each)) for each in _list(matrix.get("exclude"))]
    legs = [leg for leg in legs if not any(_within(each, leg) for each in excluded)]
    originals = [dict(leg) for leg in legs]
    for extra in [_clean(_map(each)) for each in _list(matrix.get("include"))][:MOST_LEGS]:
        shared = {key: value for key, value in extra.items() if key in axes}
        fitting = [leg for leg, was in zip(legs, originals, strict=False) if _within(shared, was)] if axes else []
        for leg in fitting:
            leg.update(extra)
        if not fitting:
            legs.append(dict(extra))
    yield from legs


def _within(part: Mapping[str, object], leg: Leg) -> bool:
    return all(key in leg and leg[key] == value for key, value in part.items())


def _clean(data: Mapping[Any, Any]) -> dict[str, object]:
    return {str(key): value for key, value in data.items() if key != _LINE}


def _where(path: str, data: Mapping[Any, Any]) -> str:
    return f"{path.rsplit('/', 1)[-1]}:{data.get(_LINE, 1)}"


def _workdir(defaults: object) -> str | None:
    return _text(_map(_map(defaults).get("run")).get("working-directory"))


def _labels(value: object) -> list[str]:
    group = _map(value)
    return [_text(label) or "" for label in _list(group.get("labels", group.get("group")) if group else value)]


def _map(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else ([] if value is None else [value])


def _text(value: object) -> str | None:
    """A scalar as GitHub reads it; None for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _texts(value: object) -> dict[str, str]:
    return {str(key): text for key, item in _map(value).items() if key != _LINE and (text := _text(item)) is not None}


def _plain(value: object) -> object:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value

"""A recipe for people at a terminal (`selfrepair recipe LOG`): each element with the place where it was read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.domain.recipe import Recipe
from bot.redact import visible


def recipe(made: Recipe) -> str:
    """One section per kind of element; what came from nowhere is not shown."""
    return "".join(visible(line) + "\n" for line in _lines(made))


def _lines(made: Recipe) -> Iterator[str]:
    if made.job:
        yield f"job: {made.job}"
    yield from _entry("image", made.image, made.origins.get("image", ""))
    for step in made.setup:
        marks = [mark for mark, there in (("root", step.root), ("may fail", step.may_fail)) if there]
        yield from _entry(f"set-up{_marks(step.workdir, marks)}", step.command, step.origin, step.env)
    for check in made.checks:
        marks = [{True: "red in CI", False: "green in CI"}[check.failed]] if check.failed is not None else []
        yield from _entry(f"check {check.kind}{_marks(check.workdir, marks)}", check.command, check.origin, check.env)
        for command in check.before:
            yield f"    before it: {command}"
    for service in made.services:
        yield from _entry(f"service {service.name}", service.image, service.origin, service.env)
    for name, value in made.env.items():
        yield from _entry("env", f"{name}={value}", made.origins.get(name, ""))
    yield from (f"note: {note}" for note in made.notes)
    yield from (f"left out: {part}" for part in made.unavailable)


def _marks(workdir: str, marks: list[str]) -> str:
    told = [*([f"in {workdir}"] if workdir != "." else []), *marks]
    return f" ({', '.join(told)})" if told else ""


def _entry(kind: str, text: str, origin: str, env: Mapping[str, str] | None = None) -> Iterator[str]:
    first, *rest = [line for line in text.splitlines() if line.strip()] or [""]
    yield f"{kind}: {first}"
    yield from (f"    | {line}" for line in rest)
    if env:
        yield f"    env: {' '.join(f'{name}={value}' for name, value in env.items())}"
    if origin:
        yield f"    from {origin}"

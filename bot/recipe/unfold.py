"""A job's steps as templates, with the repository's own composite actions unfolded; and where a log shows each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.domain.execution import WORK
from bot.domain.findings import Step as Logged
from bot.recipe.expression import Scope, interpolate, literals
from bot.recipe.match import Candidate
from bot.recipe.values import Partial, Unknown, shown
from bot.recipe.workflow import Read, Step, read_action

_TREE = re.compile(r"(?:/home/runner/work|/__w)/[^/\s]+/[^/\s\"':;]+(?=[/\s:;\"']|$)")
"""The work tree on GitHub's runners, outside and inside a job's container."""

OWN_TOKEN = "GITHUB_TOKEN"  # noqa: S105 (a name)
"""Every run has it, so a step that is given it is not yet one that cannot be had; it is left out all the same."""

_DEPTH, _MOST = 8, 600
"""Attack: a composite action that calls itself."""


@dataclass(frozen=True, kw_only=True)
class Template:
    """A step of the file before its expressions are evaluated, composite actions unfolded. `outer` are env layers."""

    step: Step
    scope: Scope
    outer: tuple[Mapping[str, object], ...]
    workdir: str | None
    shell: str | None
    inside: str = ""


def templates(candidate: Candidate, read: Read, problems: list[str]) -> Iterator[Template]:
    """The job's steps with the repository's own composite actions unfolded."""
    job = candidate.job
    outer = (candidate.workflow.env, job.env)
    count = 0
    for step in job.steps:
        base = Template(step=step, scope=candidate.scope, outer=outer, workdir=job.workdir, shell=job.shell)
        for template in _unfolded(base, read, problems, 0):
            count += 1
            if count > _MOST:
                problems.append(f"{job.where}: only the first {_MOST} steps are looked at")
                return
            yield template


def _unfolded(template: Template, read: Read, problems: list[str], depth: int) -> Iterator[Template]:
    step = template.step
    if not (step.uses or "").startswith("./"):
        yield template
        return
    folder = "/".join(part for part in (step.uses or "").split("/") if part not in ("", "."))
    action = read_action(read, folder, problems) if depth < _DEPTH and ".." not in folder else None
    if action is None or not action.steps:
        yield template
        return
    given = {key: interpolate(value, template.scope) for key, value in {**action.inputs, **step.inputs}.items()}
    scope = Scope({**template.scope.contexts, "inputs": given, "steps": Partial("steps")}, template.scope.success)
    for inner in action.steps:
        both = _both(step.condition, inner.condition)
        made = replace(inner, condition=both, env={**step.env, **inner.env})
        yield from _unfolded(
            replace(template, step=made, scope=scope, workdir=None, shell=None, inside=step.where),
            read,
            problems,
            depth + 1,
        )


def _both(outer: object, inner: object) -> object:
    """Both conditions of a step inside an action; one of them alone where the other is not written."""
    if outer in (None, "") or inner in (None, ""):
        return inner if outer in (None, "") else outer
    plain = [re.sub(r"^\$\{\{|\}\}$", "", shown(part).strip()) for part in (outer, inner)]
    return f"({plain[0]}) && ({plain[1]})"


def environment(template: Template) -> tuple[dict[str, str], Scope, frozenset[str]]:
    """The variables of a step as far as they are known, the scope that sees them, and the secrets its `env` asks for.

    A secret among the variables of the whole job is left out in silence: no step says that it needs it.
    """
    values, secret = dict[str, str](), frozenset[str]()
    scope = template.scope
    for layer in (*template.outer, template.step.env):
        scope = Scope({**scope.contexts, "env": Partial("env", values)}, scope.success)
        for name, raw in list(layer.items())[:500]:
            value = interpolate(raw, scope)
            if isinstance(value, str):
                values[name] = on_tree(value)
                continue
            values.pop(name, None)
            if layer is template.step.env:
                secret |= value.secrets - {OWN_TOKEN}
    scope = Scope({**scope.contexts, "env": Partial("env", values)}, scope.success)
    return values, scope, secret


def on_tree(text: str) -> str:
    """Paths of the runner's work tree become those of the sandbox's."""
    return _TREE.sub(WORK, text)


def folder(template: str | None, scope: Scope) -> str | Unknown | None:
    """A working folder relative to the tree; None where it lies outside."""
    if not template:
        return "."
    value = interpolate(template, scope)
    if isinstance(value, Unknown):
        return value
    text = on_tree(value.strip())
    if text == WORK or text.startswith(WORK + "/"):
        text = text[len(WORK) + 1 :]
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if text.startswith("/") or ".." in parts or "\0" in text:
        return None
    return "/".join(parts) or "."


def align(found: Sequence[Template], logged: Sequence[Logged]) -> list[int | None]:
    """For each step of the file the place in the log that shows it, in order; None where the log does not."""
    places, at = list[int | None](), 0
    for template in found:
        wanted = _Wanted(template)
        place = next((index for index in range(at, len(logged)) if wanted.fits(logged[index], index == at)), None)
        places.append(place)
        at = at if place is None else place + 1
    return places


class _Wanted:
    """What a step looks like in the log."""

    def __init__(self, template: Template) -> None:
        step = template.step
        self.title = f"Run {step.uses.strip()}" if step.uses else None
        text = interpolate(step.run or "", template.scope)
        known = None if isinstance(text, Unknown) else _plain(text)
        self.text = known if step.run else ""
        self.parts = [] if known is not None else [_plain(part) for part in literals(step.run or "")]

    def fits(self, step: Logged, next_one: bool) -> bool:
        if self.title is not None:
            return step.name == self.title
        if not step.command:
            return False
        if self.text is not None:
            return _plain(step.command) == self.text
        telling = any(len(part) >= 3 for part in self.parts)
        return (telling or next_one) and _glob(self.parts, _plain(step.command))


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _glob(parts: list[str], text: str) -> bool:
    """`parts` in order with anything between; leftmost matches suffice, so no backtracking."""
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return text.startswith(parts[0]) if parts else False

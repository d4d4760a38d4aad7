"""From a job's commands to its part of the recipe: what is set up, what is checked, and what each check needs first."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.domain.execution import SetupStep
from bot.domain.findings import Check, CheckKind
from bot.domain.recipe import Note, Unavailable
from bot.recipe.moves import Move, Moves
from bot.recipe.package import installed
from bot.recipe.rehearsal import OFFLINE, rehearse
from bot.recipe.roles import Known, Role, installs
from bot.recipe.workflow import Read
from bot.sandbox import needs_root

_GH_ACTIONS = re.compile(r"^\[(?:gh-actions|gh)[\]:]|^\[tool\.tox\.gh", re.M)
_SPARE = re.compile(
    r"(?:echo|printf|ls|pwd|env|cat|which|true|printenv|date|uname|df|free|tree)\b|.* (?:--version|-V)$"
    r"|(?:\S*python\S* -m )?pip[\d.]* (?:freeze|list|show|check)\b"
)
"""Commands that only show something."""


@dataclass
class Dish:
    """One job's part of the recipe while it is made."""

    setup: list[SetupStep] = field(default_factory=list)
    rehearsals: list[SetupStep] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    unavailable: list[Unavailable] = field(default_factory=list)


def cook(told: Moves, read: Read) -> Dish:
    """Sort a job's commands: what comes before its checks is set-up, in order; installs between checks too."""
    dish = Dish(notes=list(told.notes), unavailable=list(told.unavailable))
    moves = _judging(told.moves, dish)
    places = [number for number, move in enumerate(moves) if move.known.role is Role.CHECK]
    first, last = (places[0], places[-1]) if places else (len(moves), -1)
    for number, move in enumerate(moves):
        kind = move.known.role
        if kind is Role.CHECK or (kind is Role.BUILD and number > last):
            _check(dish, move, read)
        elif number < first or (kind is not Role.OTHER and number < last):
            _set_up(dish, move, read)
        elif not _SPARE.match(move.piece.text):
            text = f"left out: `{_name(move.piece.text)}`: it comes after the checks and is none"
            dish.notes.append(Note(text=text, origin=move.planned.origin))
    return dish


def _judging(moves: tuple[Move, ...], dish: Dish) -> list[Move]:
    """A red step without a known check is one itself, unless it only sets up: then no check was reached."""
    chosen = list(moves)
    for red in {id(move.planned): move.planned for move in moves if move.failed}.values():
        mine = [number for number, move in enumerate(chosen) if move.planned is red]
        if any(chosen[number].known.role is Role.CHECK for number in mine):
            continue
        rest = [number for number in mine if chosen[number].known.role is not Role.INSTALL]
        if not rest:
            why = "it failed in CI, while the environment was set up: no check was reached"
            dish.unavailable.append(Unavailable(what=red.title, why=why, origin=red.origin, check=True))
            continue
        for number in rest:
            known = chosen[number].known
            kind = known.kind or CheckKind.CUSTOM
            chosen[number] = replace(chosen[number], known=Known(Role.CHECK, kind, known.format))
    return chosen


def _set_up(dish: Dish, move: Move, read: Read) -> None:
    planned, command = move.planned, move.piece.command
    if _SPARE.match(move.piece.text) and "GITHUB_" not in command and ">" not in command:
        return
    copy = installed(command, read, _place(move))
    if copy is not None:
        command = copy.command
        dish.notes.append(Note(text=f"`{_name(command)}`: {copy.note}", origin=planned.origin))
        if copy.needs:
            need = f"pip install {shlex.join(copy.needs)}"
            dish.setup.append(
                SetupStep(command=need, workdir=planned.workdir, origin=f"build needs of {planned.origin}")
            )
        if copy.before:
            dish.before.append(_in(planned.workdir, copy.before))
    if move.known.role is Role.BUILD:
        dish.before.append(_in(planned.workdir, command))
    dish.setup.append(
        SetupStep(
            command=command,
            workdir=planned.workdir,
            env=planned.env,
            root=needs_root(command),
            may_fail=planned.may_fail,
            origin=planned.origin,
        )
    )


def _place(move: Move) -> str:
    """The folder that a command runs in, a `cd` above it followed."""
    place = move.planned.workdir
    for line in move.piece.state:
        if found := re.fullmatch(r"cd\s+[\"']?([\w./-]+)[\"']?", line.strip()):
            place = "/".join(part for part in (place, found[1]) if part != ".").strip("/")
    return re.sub(r"^\./|/\.(?=/|$)", "", place) or "."


def _in(workdir: str, command: str) -> str:
    return command if workdir == "." else f"(cd {shlex.quote(workdir)} && {command})"


def _check(dish: Dish, move: Move, read: Read) -> None:
    planned, text, known = move.planned, move.piece.text, move.known
    rehearsal = rehearse(text, read, _place(move))
    env: Mapping[str, str] = {**planned.env, **rehearsal.env}
    networked, may_fail, setup_env = rehearsal.networked, rehearsal.may_fail, dict(rehearsal.setup_env)
    if not networked and installs(text):
        networked, may_fail, env = text, True, {**env, **OFFLINE["pip"], **OFFLINE["npm"]}
        note = "sets up and checks in one script: run once with a network first, then offline"
        dish.notes.append(Note(text=f"`{_name(text)}`: {note}", origin=planned.origin))
    if "TOX_OVERRIDE" in setup_env and _mapped(read):
        setup_env["GITHUB_ACTIONS"] = "true"
        env = {**env, "GITHUB_ACTIONS": "true"}
        note = "GITHUB_ACTIONS is set, so that tox takes the environments that its configuration maps to this leg"
        dish.notes.append(Note(text=f"`{_name(text)}`: {note}", origin=planned.origin))
    if rehearsal.note:
        dish.notes.append(Note(text=f"`{_name(text)}`: {rehearsal.note}", origin=planned.origin))
    if networked:
        dish.rehearsals.append(
            SetupStep(
                command="\n".join((*move.piece.state, networked)),
                workdir=planned.workdir,
                env={**planned.env, **setup_env},
                may_fail=may_fail,
                origin=f"rehearsal of `{_name(text)}`, {planned.origin}",
            )
        )
    command = "\n".join((*move.piece.state, rehearsal.command or text))
    dish.checks.append(
        Check(
            name=_name(text),
            kind=known.kind or CheckKind.CUSTOM,
            format=known.format,
            command=f"set +o pipefail\n{command}" if "|" in text and not _pipefail(planned.shell) else command,
            workdir=planned.workdir,
            env=env,
            origin=planned.origin,
            before=tuple(dict.fromkeys(dish.before)),
            failed=planned.failed,
        )
    )


def _pipefail(shell: str | None) -> bool:
    """GitHub's `shell: bash` has it, the shell of a step that names none has it not."""
    return shell is not None and ("pipefail" in shell or shell.strip() == "bash")


def _mapped(read: Read) -> bool:
    """Whether a plugin of tox chooses its environments by the leg (tox-gh-actions, tox-gh)."""
    return any(
        _GH_ACTIONS.search((read(path) or b"")[:200_000].decode("utf-8", "replace"))
        for path in ("tox.ini", "setup.cfg", "pyproject.toml", "tox.toml")
    )


def _name(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else text
    return line if len(line) <= 60 else line[:57] + "..."

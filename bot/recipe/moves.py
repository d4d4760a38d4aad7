"""A plan's steps taken apart into single commands, each with its part in the recipe."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.domain.recipe import Note, Unavailable
from bot.recipe.plan import Plan, Planned
from bot.recipe.roles import Known, Role, installs, role
from bot.recipe.script import Piece, pieces
from bot.recipe.toolchain import Tool
from bot.recipe.uses import stands_for
from bot.recipe.workflow import Read

_LOGIN = re.compile(r"(?:/usr/bin/|/bin/)?bash\s+(?:-\S*\s+)*-\w*l\w*\b")
_POSIX = re.compile(r"(?:/usr/bin/|/bin/)?(?:ba)?sh(?:\s|$)")
_PYTHON = re.compile(r"(?:\S*/)?python[\d.]*(?:\s+\{0\})?$")
_DOCKER = re.compile(r"(?:^|[\s;&|(])(?:docker|docker-compose|podman|kubectl|kind|minikube)\s")


@dataclass(frozen=True, kw_only=True)
class Move:
    """One command: where it is from (`planned`), what it is (`piece`) and what it is for (`known`)."""

    planned: Planned
    piece: Piece
    known: Known

    @property
    def failed(self) -> bool | None:
        """Whether its step is red in the CI log."""
        return self.planned.failed


@dataclass(frozen=True, kw_only=True)
class Moves:
    """Every move of a job in order, the toolchains it set up, and what is to be said."""

    moves: tuple[Move, ...]
    tools: tuple[Tool, ...]
    notes: tuple[Note, ...]
    unavailable: tuple[Unavailable, ...]


def moves(plan: Plan, read: Read) -> Moves:
    """Take a plan apart."""
    made, tools = list[Move](), list[Tool]()
    notes, gone = list(plan.notes), list(plan.unavailable)
    for number, planned in enumerate(plan.steps):
        if planned.run is not None:
            made += _of_run(planned, gone)
        elif planned.uses:
            told = _followed(plan.steps, number)
            made += _of_action(planned, read, tools, notes, gone, told=told)
    return Moves(moves=tuple(made), tools=tuple(tools), notes=tuple(notes), unavailable=tuple(gone))


def _followed(steps: Sequence[Planned], number: int) -> bool:
    """Whether the log shows the commands that an action ran itself."""
    following = steps[number + 1] if number + 1 < len(steps) else None
    return following is not None and following.inside == steps[number].uses and following.run is not None


def _of_run(planned: Planned, gone: list[Unavailable]) -> Iterator[Move]:
    command, problem = shelled(planned.run or "", planned.shell)
    missing = planned.missing or problem
    whole = role(planned.run or "")
    if not missing and _DOCKER.search(command) and (planned.failed or whole.role is not Role.OTHER):
        missing = "needs Docker, which a sandbox does not have"
    if missing:
        check = whole.role is Role.CHECK or bool(planned.failed)
        gone.append(Unavailable(what=planned.title, why=missing, origin=planned.origin, check=check))
        return
    if not command.strip() or (_DOCKER.search(command) and not planned.failed):
        return
    plain = command == (planned.run or "")
    found = ordered(pieces(command, installs)) if plain else [Piece(command)]
    yield from (Move(planned=planned, piece=piece, known=role(piece.text)) for piece in found)


def ordered(found: list[Piece]) -> list[Piece]:
    """The pieces, where setting up comes before judging in them; else the script as one: its order may matter."""
    roles = [role(piece.text).role for piece in found]
    first = roles.index(Role.CHECK) if Role.CHECK in roles else len(roles)
    if any(later in (Role.INSTALL, Role.BUILD) for later in roles[first:]):
        return [Piece("\n".join(_script(found)))]
    return found


def _script(found: list[Piece]) -> Iterator[str]:
    """The script again: each line of state once, at its place."""
    said = 0
    for piece in found:
        yield from piece.state[said:]
        said = max(said, len(piece.state))
        yield piece.text


def shelled(command: str, shell: str | None) -> tuple[str, str]:
    """The command as bash runs it, and why it cannot ("" where it can)."""
    text = (shell or "").strip()
    if _LOGIN.match(text):
        return f"bash -l -e -c {shlex.quote(command)}", ""
    if not text or _POSIX.match(text):
        return command, ""
    if _PYTHON.match(text):
        return f"python -c {shlex.quote(command)}", ""
    return command, f"needs the shell {text.split()[0][:40]!r}"


def _of_action(
    planned: Planned, read: Read, tools: list[Tool], notes: list[Note], gone: list[Unavailable], *, told: bool
) -> Iterator[Move]:
    uses = planned.uses or ""
    stands = stands_for(uses, planned.inputs, planned.origin, read)
    if stands is None:
        if planned.failed and not told:
            why = "this action is not known here, and the log does not show what it ran"
            gone.append(Unavailable(what=uses, why=why, origin=planned.origin, check=True))
        elif not told:
            notes.append(Note(text=f"left out: the action `{uses}` is not known here", origin=planned.origin))
        return
    tools += stands.tools
    if stands.note:
        notes.append(Note(text=stands.note, origin=planned.origin))
    if stands.run and not told:
        as_run = replace(planned, uses=None, run=stands.run, shell=None)
        yield from _of_run(as_run, gone)

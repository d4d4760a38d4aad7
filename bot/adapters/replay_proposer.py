"""Writes a model's replies down and plays them back, so that a run can be shown again without a model or a key."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.domain.attempt import EditFormat, Fault, InputError, Prompt, Reply, Spend
from bot.domain.ports import Proposer

RERECORD = "record the run anew with a model: make record-demo"

_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "dollars", "model_calls", "model_seconds")


class RecordingProposer:
    """Asks `inner`; appends each reply to `path` as one line of JSON that `clean` has freed of secrets."""

    def __init__(
        self,
        inner: Proposer,
        path: Path,
        *,
        clean: Callable[[str], str],
        today: Callable[[], str] = lambda: datetime.now(UTC).date().isoformat(),
    ) -> None:
        self.name = inner.name
        self._inner, self._path, self._clean, self._today = inner, path, clean, today

    def ask(self, prompt: Prompt) -> Reply:
        """The inner proposer's answer, written down before it is given on."""
        reply = self._inner.ask(prompt)
        line = json.dumps(_line(prompt, reply, self._today()), ensure_ascii=True)
        with self._path.open("a", encoding="ascii") as file:
            file.write(f"{self._clean(line)}\n")
        return reply

    def price(self, prompt: Prompt) -> float:
        """The inner proposer's."""
        return self._inner.price(prompt)


class ReplayProposer:
    """Plays a recording turn by turn; every prompt must be about the packet that was recorded.

    `model`, `recorded` (a date) and `edit_format` tell how it was made.
    """

    def __init__(self, path: Path) -> None:
        """Raises InputError when the file cannot be read or a line of it is not of the form that is recorded."""
        self._path, self._turn = path, 0
        self._lines = _read(path)
        self.model = str(self._lines[0]["model"])
        self.recorded = str(self._lines[0]["recorded"])
        formats = [EditFormat(line["edit_format"]) for line in self._lines]
        self.edit_format = next((form for form in formats if form is not EditFormat.HOLE), EditFormat.FUNCTION)
        self.name = f"{self.model} (replayed, recorded {self.recorded})"

    def ask(self, prompt: Prompt) -> Reply:
        """The next recorded reply, with the spend of then; Fault when the run asks something else or more."""
        line = self._next()
        told = _told(prompt)
        differing = [key for key, value in told.items() if line[key] != value]
        if differing:
            changes = ", ".join(f"{key} is {told[key]!r}, recorded {line[key]!r}" for key in differing)
            raise Fault(f"{self._path.name}: call {self._turn + 1} is not the recorded one: {changes}", fix=RERECORD)
        self._turn += 1
        reply = line["reply"]
        return Reply(
            model=str(line["model"]),
            text=str(reply["text"]),
            tool_name=reply["tool_name"],
            tool_input=reply["tool_input"],
            stop_reason=str(reply["stop_reason"]),
            spend=Spend(**{key: line["usage"][key] for key in _USAGE}),
        )

    def price(self, prompt: Prompt) -> float:
        """What the next recorded reply cost."""
        return float(self._next()["usage"]["dollars"])

    def _next(self) -> Mapping[str, Any]:
        if self._turn >= len(self._lines):
            what = f"{self._path.name}: the run asks for call {self._turn + 1}, but {len(self._lines)} are recorded"
            raise Fault(what, fix=RERECORD)
        return self._lines[self._turn]


def _told(prompt: Prompt) -> dict[str, object]:
    """What makes a prompt the recorded one; its wording may change without a new recording."""
    return {
        "packet": prompt.packet.digest(),
        "strategy": str(prompt.strategy),
        "edit_format": str(prompt.edit_format),
        "attempt": prompt.attempt,
        "correction": prompt.correction,
    }


def _line(prompt: Prompt, reply: Reply, today: str) -> dict[str, object]:
    usage = asdict(reply.spend)
    return {
        **_told(prompt),
        "model": Path(reply.model).name,  # a local server names its model by a path of its machine
        "reply": {
            "text": reply.text,
            "tool_name": reply.tool_name,
            "tool_input": dict(reply.tool_input),
            "stop_reason": reply.stop_reason,
        },
        "usage": {key: usage[key] for key in _USAGE},
        "recorded": today,
    }


def _read(path: Path) -> tuple[Mapping[str, Any], ...]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the recording {path}: {error.strerror}") from error
    lines = [(number, line) for number, line in enumerate(raw.splitlines(), start=1) if line.strip()]
    checked = [(number, _checked(line)) for number, line in lines]
    bad = [f"{path}, line {number}: {entry}" for number, entry in checked if isinstance(entry, str)]
    if bad or not checked:
        raise InputError(*(bad or [f"the recording {path} is empty; {RERECORD}"]))
    return tuple(entry for _, entry in checked if isinstance(entry, dict))


def _checked(line: bytes) -> dict[str, Any] | str:
    """One recorded call, or what is wrong with it."""
    try:
        entry = json.loads(line)
    except ValueError:
        return f"not JSON; {RERECORD}"
    wanted = {"packet", "strategy", "edit_format", "attempt", "correction", "model", "reply", "usage", "recorded"}
    if not isinstance(entry, dict) or not wanted <= entry.keys() or entry["edit_format"] not in list(EditFormat):
        return f"not a recorded call; {RERECORD}"
    reply, usage = entry["reply"], entry["usage"]
    if not isinstance(reply, dict) or not {"text", "tool_name", "tool_input", "stop_reason"} <= reply.keys():
        return f"`reply` is incomplete; {RERECORD}"
    numbers = isinstance(usage, dict) and all(isinstance(usage.get(key), int | float) for key in _USAGE)
    return entry if numbers else f"`usage` is incomplete; {RERECORD}"

"""Hand-made stand-ins for the small ports: a scripted model, a trail in memory, a silent progress, a tree in a dict."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path

from bot.domain.attempt import Attempt, Outcome, Prompt, Reply, Spend

Answer = str | Reply | Callable[[Prompt], "str | Reply"]


class ScriptedProposer:
    """Implements Proposer: gives the answers in order, keeps the prompts, and fails when asked for more."""

    def __init__(self, *answers: Answer, price: float = 0.0, cost: float = 0.0) -> None:
        self.name, self.prompts = "scripted", list[Prompt]()
        self._answers, self._price, self._cost = list(answers), price, cost

    def ask(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        answer = self._answers.pop(0)
        if not isinstance(answer, str | Reply):
            answer = answer(prompt)
        if isinstance(answer, str):
            answer = Reply(model=self.name, text=answer, spend=Spend(dollars=self._cost, model_calls=1))
        return answer

    def price(self, prompt: Prompt) -> float:
        return self._price


class MemoryTrail:
    """Implements Trail."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.attempts: list[Attempt] = []
        self.outcome: Outcome | None = None

    def attach(self, name: str, content: bytes) -> None:
        self.files[name] = content

    def record(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)

    def finish(self, outcome: Outcome) -> str:
        self.outcome = outcome
        return "0" * 64


class Lines:
    """Implements Progress: keeps what was said."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def say(self, stage: str, text: str) -> None:
        self.said.append((stage, text))


class Tree:
    """Implements Workspace and History over a dict of texts; its diffs are difflib's."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.head = "1" * 40
        self._files = {path: text.encode() for path, text in files.items()}

    def paths(self) -> frozenset[str]:
        return frozenset(self._files)

    def read(self, path: str) -> bytes | None:
        return self._files.get(path)

    def export(self, into: Path) -> str:
        for path, content in self._files.items():
            (into / path).parent.mkdir(parents=True, exist_ok=True)
            (into / path).write_bytes(content)
        return self.head

    def diff(self, files: Mapping[str, bytes | None], base: Mapping[str, bytes | None] | None = None) -> str:
        before = {**self._files, **(base or {})}
        text = ""
        for path in sorted(files):
            old, new = ((tree.get(path) or b"").decode().splitlines(True) for tree in (before, files))
            text += "".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"))
        return text

    def changed(self, since: str | None) -> tuple[()]:
        return ()

"""Job logs as GitHub's runner prints them, and repositories as a mapping, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.domain.findings import JobLog
from bot.logs import read_job
from bot.recipe import Recipe, infer

STAMP = "2026-11-30T10:00:00.0000000Z "


@dataclass(frozen=True, kw_only=True)
class Ran:
    """One step: a script or an action, what it was given, what it printed, and its exit status."""

    run: str = ""
    uses: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    output: Sequence[str] = ()
    code: int = 0
    shell: str = "/usr/bin/bash -e {0}"

    def lines(self) -> list[str]:
        """The step's part of the log."""
        title = self.uses or self.run.splitlines()[0]
        told = [f"##[group]Run {title}"]
        told += [f"\x1b[36;1m{line}\x1b[0m" for line in self.run.splitlines()]
        told += [f"shell: {self.shell}"] if self.run else []
        for head, values in (("with:", self.given), ("env:", self.env)):
            told += [head, *(f"  {name}: {value}" for name, value in values.items())] if values else []
        told += ["##[endgroup]", *self.output]
        return told + ([f"##[error]Process completed with exit code {self.code}."] if self.code else [])


def log(*steps: Ran, job: str = "") -> bytes:
    """A whole job's log."""
    named = [f"Complete job name: {job}"] if job else []
    told = ["Current runner version: '2.334.0'", *named, *(line for step in steps for line in step.lines())]
    return "".join(f"{STAMP}{line}\n" for line in [*told, "Cleaning up orphan processes"]).encode()


def recipe(*steps: Ran, workflow: str = "", name: str = "test", files: Mapping[str, str] | None = None) -> Recipe:
    """The recipe of one failing job of a repository with this workflow file."""
    tree = {path: text.encode() for path, text in (files or {}).items()}
    if workflow:
        tree[".github/workflows/ci.yml"] = workflow.encode()
    raw = log(*steps)
    return infer([job(raw, name)], logs={name: raw}, read=tree.get, paths=frozenset(tree))


def job(raw: bytes, name: str = "test") -> JobLog:
    """The log, read."""
    return read_job([raw], name=name)

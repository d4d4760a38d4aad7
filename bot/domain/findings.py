"""What a check is and what one run of it said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias


class CheckKind(StrEnum):
    """What a check's verdict is about; the order of the members is the order of repair."""

    BUILD = "build"
    TESTS = "tests"
    LINT = "lint"
    TYPES = "types"
    CUSTOM = "custom"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One command whose verdict matters.

    `workdir` is relative to the repository's root, `format` is a key of `bot.logs.PARSERS` or None (to be told from the
    output), `origin` says where the check came from ("--check", "ci.yml:12", "log step 4"). `before` are commands that
    bring what was built or installed in the set-up up to the patched tree; they run in the same box first, offline.
    `failed`: whether CI saw it red; None where CI did not get to it, or nothing tells.
    """

    name: str
    kind: CheckKind
    command: str
    workdir: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None
    origin: str = ""
    before: tuple[str, ...] = ()
    failed: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Location:
    """A place in a file: `line` and `col` are 1-based, None where unknown; `name` is the function around it."""

    file: str
    line: int | None = None
    col: int | None = None
    name: str | None = None


class FailureKind(StrEnum):
    """`failed`: the test's own call failed; `error`: set-up, teardown, import, collection, crash."""

    FAILED = "failed"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One failing test, in the fields of the corpus schema (shared/corpus/SCHEMA.md).

    `file:line` is the deepest frame in the test's own file; `crash` the innermost frame; `frames` the traceback from
    the test inward, only places inside the repository. `assertion` is the rewritten line that says what was wrong,
    `source` the asserting source line, `message` the first line of the exception, `detail` its further lines (a diff).
    """

    tool: str
    id: str
    kind: FailureKind = FailureKind.FAILED
    file: str | None = None
    line: int | None = None
    crash: Location | None = None
    frames: tuple[Location, ...] = ()
    exception: str | None = None
    source: str | None = None
    assertion: str | None = None
    message: str | None = None
    expected: str | None = None
    actual: str | None = None
    detail: str | None = None
    captured: str | None = None
    collection: bool = False

    @property
    def key(self) -> str:
        """Identity of the finding; survives line shifts."""
        return f"test:{self.id}"


@dataclass(frozen=True, kw_only=True)
class Diagnostic:
    """One complaint of a linter, formatter, type checker or compiler. `line` is None for whole-file complaints."""

    tool: str
    file: str
    line: int | None = None
    col: int | None = None
    code: str | None = None
    message: str = ""
    severity: str = "error"

    @property
    def key(self) -> str:
        """Identity of the finding; survives line shifts, so digits in the message do not count."""
        return f"{self.tool}:{self.file}:{self.code or ''}:{re.sub(r'[0-9]+', '#', self.message)}"


Finding: TypeAlias = Failure | Diagnostic


@dataclass(frozen=True, kw_only=True)
class Report:
    """What one run of a check said.

    Test ids are sets, never counts. `blocked` gives the reason why the check stopped before judging (syntax,
    collection, build, crash, time-out), else None. `exit_code` is None when the command did not end by itself.
    """

    check: str
    kind: CheckKind
    exit_code: int | None
    findings: tuple[Finding, ...] = ()
    passed: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    collected: frozenset[str] = frozenset()
    blocked: str | None = None
    timed_out: bool = False
    oom_killed: bool = False
    truncated: bool = False
    duration_ms: int = 0

    @property
    def green(self) -> bool:
        """The command said yes, nothing contradicts it, and it got as far as judging."""
        return self.exit_code == 0 and self.blocked is None and not self.failing

    @property
    def failing(self) -> frozenset[str]:
        """Ids of the tests that this run reports as failing."""
        return frozenset(f.id for f in self.findings if isinstance(f, Failure))


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a CI job, as its log shows it. `command` is expanded and untrusted, `name` the group's title."""

    name: str
    number: int
    command: str | None = None
    shell: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    exit_code: int | None = None
    report: Report | None = None

    @property
    def failed(self) -> bool:
        """The log shows that this step ended with a non-zero status."""
        return self.exit_code not in (None, 0)


@dataclass(frozen=True, kw_only=True)
class JobLog:
    """One CI job, read: its steps in order, each with what its output said."""

    name: str
    steps: tuple[Step, ...] = ()
    truncated: bool = False

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding of the job, in the order printed."""
        return tuple(f for step in self.steps if step.report for f in step.report.findings)

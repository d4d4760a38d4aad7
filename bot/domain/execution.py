"""One command in one box: what is asked, under which limits, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Everything that bounds one execution; recorded whole in every Attempt."""

    timeout_s: float = 300.0
    memory_mb: int = 2048
    cpus: float = 2.0
    processes: int = 128
    host_pids: int = 1024
    tmpfs_mb: int = 512
    tmpfs_exec: bool = True
    read_only_root: bool = False
    output_bytes: int = 4_000_000
    runtime: str = "selfrepair-run"


STRICT = Limits(timeout_s=30.0, memory_mb=512, cpus=1.0, tmpfs_mb=64, tmpfs_exec=False, read_only_root=True)
"""The profile of the demo and the bench."""


@dataclass(frozen=True, kw_only=True)
class SetupStep:
    """One networked command that makes the environment, run by bash up to its first error.

    `workdir` is relative to the work tree. `root`: run as root (system packages), else as the check's user. `may_fail`:
    its status does not matter (a rehearsal on red code, `continue-on-error`). `origin` says where it came from.
    """

    command: str
    workdir: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    root: bool = False
    may_fail: bool = False
    origin: str = ""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What a sandbox is made from.

    `image` is the base image's name, `setup` the networked steps, `tree` a directory holding exactly what shall lie
    in the work directory, `digest` its content's identity, `trust` the domain whose code ran in set-up: images are
    never shared across domains. `env` is set for set-up and checks alike, and never holds a secret.
    """

    image: str
    tree: str
    digest: str
    setup: tuple[SetupStep, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    trust: str = "local"
    setup_timeout_s: float = 900.0


@dataclass(frozen=True, kw_only=True)
class Request:
    """One execution: `entrypoint` is an argument vector run in `workdir` (relative to the work tree).

    `files` is written over the environment's tree first (None removes). `tools` are our own files, placed read-only
    under `TOOLS`; `collect` names files under `TOOLS`/out whose content is wanted afterwards.
    """

    environment: str
    entrypoint: tuple[str, ...]
    workdir: str = "."
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    tools: Mapping[str, bytes] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    collect: tuple[str, ...] = ()
    limits: Limits = Limits()


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came back. `exit_code` is None when the box was ended from outside or died.

    `crashed`: the box itself died under the command (counts against the command, not as a Fault).
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    duration_ms: int
    oom_killed: bool = False
    truncated: bool = False
    timed_out: bool = False
    crashed: bool = False
    collected: Mapping[str, bytes] = field(default_factory=dict)


WORK = "/workspace"
"""The work directory inside every sandbox."""

TOOLS = "/run/selfrepair"
"""Where our own files lie inside every sandbox; only its `out` folder is writable by the command."""

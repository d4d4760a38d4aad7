"""Boxes, as far as they need no box: bounded output, safe paths, and how a Fault is told from a failing command."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shlex
import tarfile
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from bot.domain.attempt import Fault, InputError
from bot.domain.execution import TOOLS, WORK, Environment, SetupStep

UID = 1000
"""The user that set-up commands and checks run as."""

HOME = "/home/selfrepair"
"""That user's home: on the image's disk, so that `pip install --user` in set-up is there for the checks."""

OUT = f"{TOOLS}/out"
"""The one folder of ours that a command may write to."""

RECENT = 1 << 18

INSTALL = "run `selfrepair install-gvisor` (in a workflow: the input `install-gvisor: always`), then start again"


class Capture:
    """The first and the last half of a stream: a summary stands at the end, the first error at the beginning."""

    def __init__(self, cap: int) -> None:
        self._half = max(cap // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self.dropped = 0

    def add(self, data: bytes) -> None:
        """Take the stream's next bytes."""
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        over = len(self._tail) - self._half
        if over > 0:
            self.dropped += over
            del self._tail[:over]

    def recent(self) -> bytes:
        """The last bytes, more than two reads' worth."""
        return bytes((self._head[-RECENT:] + self._tail[-RECENT:])[-RECENT:])

    def content(self) -> bytes:
        """What was kept; a line in the middle says how many bytes are missing."""
        gap = b"\n[... %d bytes of output dropped ...]\n" % self.dropped if self.dropped else b""
        return bytes(self._head) + gap + bytes(self._tail)


class Demux:
    """Docker's multiplexed stream taken apart: frames of one type byte, three zeros, a big-endian length, the payload.

    Source: Docker Engine API, "Attach to a container", "Stream format".
    """

    def __init__(self, cap: int) -> None:
        self.stdout = Capture(cap)
        self.stderr = Capture(cap)
        self._header = b""
        self._left = 0

    def seen(self, mark: bytes) -> bool:
        """Whether `mark` is among the last bytes of either stream."""
        return mark in self.stdout.recent() or mark in self.stderr.recent()

    def feed(self, data: bytes) -> None:
        """Take the next bytes, cut anywhere."""
        while data:
            if not self._left:
                take = 8 - len(self._header)
                self._header, data = self._header + data[:take], data[take:]
                if len(self._header) == 8:
                    self._kind, self._left = self._header[0], int.from_bytes(self._header[4:], "big")
                    self._header = b""
                continue
            payload, data = data[: self._left], data[self._left :]
            self._left -= len(payload)
            (self.stderr if self._kind == 2 else self.stdout).add(payload)


def path_problems(paths: Iterable[str]) -> list[str]:
    """Why some of these relative paths may not be written, one sentence each; [] when all may."""
    return [f"path {path!r} leaves the work directory" for path in paths if not _inside(path)]


def _inside(path: str) -> bool:
    parts = path.split("/")
    plain = "\0" not in path and path.encode("utf-8", "replace") == path.encode("utf-8", "surrogateescape")
    return plain and all(part not in ("", ".", "..") for part in parts)


def folder(workdir: str) -> str:
    """A request's work directory without dot parts; raises InputError when it leaves the tree."""
    pure = PurePosixPath(workdir)
    if pure.is_absolute() or ".." in pure.parts or "\0" in workdir:
        raise InputError(f"work directory {workdir!r} leaves the tree")
    return str(pure)


def archive(files: Mapping[str, bytes], *, mode: int) -> bytes:
    """An uncompressed tar of regular files owned by root, in the order given."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), mode
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def members(data: bytes, names: Iterable[str]) -> dict[str, bytes]:
    """The named regular files of a tar made by hostile hands; one that is missing or cut off is left out."""
    wanted, found = set(names), {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                name = member.name.removeprefix("./")
                content = tar.extractfile(member) if name in wanted and member.isreg() else None
                if content is not None:
                    found[name] = content.read()
    except tarfile.TarError:
        return found
    return found


def is_gvisor(version: str) -> bool:
    """Whether the first line of /proc/version is gVisor's own kernel's.

    gVisor answers a constant: `Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016` for many years (seen with
    20240729), and a release that ends in `-gvisor` in newer ones.
    """
    return "Sun Jan 10 15:06:54 PST 2016" in version or "-gvisor" in version


def fault_of(text: str, *, doing: str) -> Fault:
    """The Fault that an error of the Docker engine means; `text` is the engine's or the transport's own message."""
    low = text.lower()
    for pattern, what, fix in _FAULTS:
        if re.search(pattern, low):
            return Fault(f"{what}, while trying to {doing}: {_short(text)}", fix=fix)
    return Fault(f"Docker could not {doing}: {_short(text)}", fix="see the Docker engine's log, then start again")


_FAULTS = (
    (
        r"no space left|disk quota exceeded",
        "the disk is full",
        "free disk space (`docker system df` shows what uses it), then start again",
    ),
    (r"unknown or invalid runtime|unknown runtime", "a sandbox runtime is not registered with Docker", INSTALL),
    (
        r"permission denied.*(sock|connect)|permissionerror",
        "access to Docker is not permitted",
        "mount /var/run/docker.sock, or run as a user in the `docker` group",
    ),
    (
        r"no such image|pull access denied|manifest unknown|repository .* not found",
        "the image is not there",
        "build or pull the image, or name another one with `image`",
    ),
    (
        r"oci runtime|failed to create shim|failed to create task|fork/exec .*runsc",
        "the sandbox runtime does not start",
        INSTALL,
    ),
    (
        r"connection|refused|no such file|broken pipe|timed out|timeout|eof|reset by peer",
        "Docker does not answer",
        "start Docker (`systemctl start docker`, or `dockerd`), and check DOCKER_HOST",
    ),
)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:297] + "..."


def environment_key(environment: Environment, base_id: str) -> str:
    """Identity of an environment image: base, commands, every file copied in, environment, and trust domain."""
    steps = [[step.command, step.workdir, sorted(step.env.items()), step.root] for step in environment.setup]
    parts = [4, base_id, steps, environment.digest, sorted(environment.env.items()), environment.trust]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


_SYSTEM = re.compile(
    r"(?:^|[;&|(]|\b(?:then|do|else))\s*(?:\w+=\S*\s+)*(?:sudo|apt-get|apt|apk|dnf|yum|microdnf)\s", re.M
)


def needs_root(command: str) -> bool:
    """Whether a set-up command installs system packages (or says `sudo`): only these run as root."""
    return bool(_SYSTEM.search(command))


def configured(command: str, origin: str = "configured") -> SetupStep:
    """A set-up command that a person named."""
    return SetupStep(command=command, root=needs_root(command), origin=origin)


def setup_argv(step: SetupStep) -> list[str]:
    """The argument vector of one set-up step, run as GitHub does: by bash if there, up to the first error.

    Images seldom hold `sudo`: in a root command it becomes a function that drops its options.
    """
    sudo = 'sudo() { while [ "${1#-}" != "$1" ]; do shift; done; env "$@"; }\n' if step.root else ""
    place = shlex.quote(f"{WORK}/{folder(step.workdir)}")
    script = shlex.quote(f"cd {place}\n{sudo}{step.command}")
    return [
        "/bin/sh",
        "-c",
        f"if command -v bash >/dev/null; then exec bash -e -c {script}; else exec sh -e -c {script}; fi",
    ]


def local_addresses(fib_trie: str) -> frozenset[str]:
    """IPv4 addresses that /proc/net/fib_trie calls the machine's own (a leaf followed by `/32 host LOCAL`)."""
    return frozenset(re.findall(r"\|-- (\d+\.\d+\.\d+\.\d+)\s+/32 host LOCAL", fib_trie))


def abandoned(ended: str, now: datetime, grace: timedelta) -> bool:
    """Whether a box that ended at this time (RFC 3339) outlived its run: a living run removes its own at once.

    A run's death ends its boxes, for each lives only as long as its connection: nothing that runs is ever reaped.
    """
    return now - datetime.fromisoformat(re.sub(r"\.\d+", "", ended).replace("Z", "+00:00")) > grace

"""The Sandbox port on Docker and gVisor."""

from __future__ import annotations

import atexit
import json
import logging
import os
import secrets
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import IO, Self

import docker
from docker.errors import NotFound
from docker.models.networks import Network

from bot.adapters import docker_environment
from bot.adapters.docker_box import LABEL, Box, Plan, remove
from bot.adapters.docker_client import connect, faults
from bot.adapters.docker_egress import Egress
from bot.adapters.docker_job import run
from bot.adapters.docker_pool import Pool
from bot.domain.attempt import Fault, InputError
from bot.domain.execution import WORK, Environment, Limits, Request, Result
from bot.domain.ports import Progress
from bot.sandbox import UID, abandoned, path_problems

log = logging.getLogger(__name__)

GRACE = timedelta(seconds=60)
"""How long an ended box of another run is left alone: that run may be about to read how it ended."""

CHUNK = 1 << 20

COPY = 'head -c "$1" | tar -xpof - -C /'


@dataclass(frozen=True)
class _Kind:
    image: str
    limits: Limits


class DockerSandbox:
    """Boxes of one run. Use as a context manager, or call `close`."""

    def __init__(
        self,
        *,
        proxy_image: str,
        client: docker.DockerClient | None = None,
        setup_runtime: str = "selfrepair-setup",
        setup_limits: Limits = Limits(memory_mb=4096, processes=1024, host_pids=4096),
        allow: tuple[str, ...] = (),
        pool_size: int = 2,
        warm: Limits | None = None,
        progress: Progress | None = None,
        grace: timedelta = GRACE,
        disk_mb: int = 20_000,
    ) -> None:
        """`proxy_image` holds squid (the product's own image does); `allow` limits set-up to these domains (all, if
        empty); boxes with the limits `warm` are started as soon as an environment is there; environment images of all
        runs together take at most `disk_mb`, those used longest ago are removed. Raises Fault."""
        self.run_id = secrets.token_hex(8)
        self._client = client or connect()
        self._own_client = client is None
        self._proxy_image = proxy_image
        self._setup_runtime = setup_runtime
        self._setup_limits = setup_limits
        self._allow = allow
        self._warm = warm
        self._disk = disk_mb * 1_000_000
        self._progress = progress
        self._pool: Pool[_Kind] = Pool(self._start, pool_size)
        self._egress: Egress | None = None
        self._trees: dict[str, tuple[IO[bytes], int]] = {}
        self._lock = threading.Lock()
        with faults("look for boxes of dead runs"):
            reap(self._client, self.run_id, grace)
        atexit.register(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def prepare(self, environment: Environment) -> str:
        """Build (or find) the environment image and return its name; raises Fault, or SetupFailed."""
        with faults("prepare the environment"):
            try:
                image = docker_environment.build(
                    self._client,
                    environment,
                    runtime=self._setup_runtime,
                    run_id=self.run_id,
                    limits=self._setup_limits,
                    disk=self._disk,
                    egress=self._way_out,
                    say=self._say,
                )
            finally:
                self._close_egress()
        if self._warm is not None:
            self._pool.warm(_Kind(image, self._warm))
        return image

    def run(self, request: Request) -> Result:
        """Run one request in a fresh box; a failing command returns.

        Raises Fault when the box's surroundings are broken, InputError when a path leaves the work tree or leads
        through a link: that is a bug of the caller's, or an attack.
        """
        problems = path_problems(request.files) + path_problems(request.tools)
        if problems:
            raise InputError(*problems)
        with faults("run a command"):
            kind = _Kind(request.environment, request.limits)
            box = self._pool.take(kind)
            try:
                result = run(box, request)
            finally:
                self._pool.discard(kind, box)
        told = {**asdict(request.limits), **{name: getattr(result, name) for name in _TOLD}}
        log.info("sandbox %s %s: %s", request.environment, json.dumps(request.entrypoint), json.dumps(told))
        return result

    def close(self) -> None:
        """Remove every box of this run. Boxes that cannot be removed end by themselves when this program does."""
        atexit.unregister(self.close)
        self._pool.close()
        for tree, _ in self._trees.values():
            tree.close()
        self._trees.clear()
        try:
            with faults("remove the boxes"):
                for told in self._client.api.containers(all=True, filters={"label": f"{LABEL}={self.run_id}"}):
                    remove(self._client.api, told["Id"])
                for network in self._client.networks.list(filters={"label": f"{LABEL}={self.run_id}"}):
                    network.remove()
        except Fault as fault:
            log.warning("%s; what is left ends with this program, and the next run removes it", str(fault))
        if self._own_client:
            self._client.close()

    def ready(self, image: str, limits: Limits) -> int:
        """How many warm boxes wait for such a request."""
        return self._pool.ready(_Kind(image, limits))

    def _say(self, text: str) -> None:
        if self._progress is not None:
            self._progress.say("environment", text)

    def _way_out(self) -> Egress:
        if self._egress is None:
            self._egress = Egress(
                self._client,
                image=self._proxy_image,
                runtime=self._setup_runtime,
                run_id=self.run_id,
                allow=self._allow,
            )
        return self._egress

    def _close_egress(self) -> None:
        if self._egress is not None:
            self._egress.close()
            self._egress = None

    def _start(self, kind: _Kind) -> Box:
        """One warm box. With a read-only root the work tree is a tmpfs, filled from the image."""
        with ExitStack() as undo:
            box = Box(self._client, _plan(kind, self.run_id))
            undo.callback(box.remove)
            box.start()
            if kind.limits.read_only_root:
                self._copy_tree(box, kind)
            undo.pop_all()
        return box

    def _copy_tree(self, box: Box, kind: _Kind) -> None:
        tree, size = self._tree(kind.image)
        argv = ["/bin/sh", "-c", COPY, "sh", str(size)]
        ended = box.execute(argv, stdin=_from(tree, size), timeout_s=kind.limits.timeout_s)
        if ended.exit_code != 0:
            fix = "allow the checks more memory, or use limits without a read-only root"
            raise Fault(f"the work tree does not fit in {kind.limits.memory_mb} MB of memory", fix=fix)

    def _tree(self, image: str) -> tuple[IO[bytes], int]:
        """The work tree of an environment image as a tar in a file of ours, and its size."""
        with self._lock:
            if image not in self._trees:
                spool = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the sandbox
                container = self._client.api.create_container(image, ["true"], labels={LABEL: self.run_id})["Id"]
                stream, _ = self._client.api.get_archive(container, WORK)
                for data in stream:
                    spool.write(data)
                spool.flush()
                remove(self._client.api, container)
                self._trees[image] = (spool, spool.tell())
            return self._trees[image]


_TOLD = ("exit_code", "duration_ms", "timed_out", "oom_killed", "truncated", "crashed")


def _from(file: IO[bytes], size: int) -> Iterator[bytes]:
    """A file that several threads read at once, in pieces."""
    return (os.pread(file.fileno(), min(CHUNK, size - at), at) for at in range(0, size, CHUNK))


def _plan(kind: _Kind, run_id: str) -> Plan:
    limits = kind.limits
    tmpfs = {"/tmp": f"size={limits.tmpfs_mb}m,mode=1777{',exec' if limits.tmpfs_exec else ''}"}  # noqa: S108
    if limits.read_only_root:
        tmpfs[WORK] = f"size={limits.memory_mb}m,mode=755,uid={UID},gid={UID},exec"
    return Plan(
        image=kind.image,
        runtime=limits.runtime,
        run_id=run_id,
        limits=limits,
        tmpfs=tmpfs,
        read_only=limits.read_only_root,
    )


def reap(client: docker.DockerClient, run_id: str, grace: timedelta) -> list[str]:
    """Remove the ended boxes and the networks of runs that are no more; returns what was removed."""
    now, gone = datetime.now(UTC), []
    filters = {"label": LABEL, "status": ["created", "exited", "dead"]}
    for listed in client.api.containers(all=True, filters=filters):
        if listed["Labels"].get(LABEL) == run_id:
            continue
        if abandoned(_ended_at(client, listed["Id"]), now, grace):
            remove(client.api, listed["Id"])
            gone.append(listed["Id"])
    return gone + [
        network.id for network in client.networks.list(filters={"label": LABEL}) if drop(network, now, grace)
    ]


def drop(network: Network, now: datetime, grace: timedelta) -> bool:
    """Remove a network of a run that is no more; another run may do the same at this moment."""
    try:
        network.reload()
        dead = not network.attrs["Containers"] and abandoned(network.attrs["Created"], now, grace)
        if dead:
            network.remove()
    except NotFound:
        return False
    return dead


def _ended_at(client: docker.DockerClient, container: str) -> str:
    """When a box ended, or was made if it never ran; of one that is removed meanwhile, the future."""
    try:
        told = client.api.inspect_container(container)
    except NotFound:
        return "9999-01-01T00:00:00Z"
    ended = str(told["State"]["FinishedAt"])
    return str(told["Created"]) if ended.startswith("0001-") else ended

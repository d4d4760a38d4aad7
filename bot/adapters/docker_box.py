"""One box: a container that lives as long as our connection to it, in which commands run under watch from outside."""

from __future__ import annotations

import logging
import secrets
import selectors
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import docker
from docker.errors import APIError, NotFound
from docker.types import LogConfig, Ulimit

from bot.adapters.docker_channel import Channel
from bot.domain.attempt import Fault
from bot.domain.execution import TOOLS, Limits
from bot.sandbox import INSTALL, OUT, UID, is_gvisor

LABEL = "selfrepair.run"
"""Label of everything we make in Docker; its value names the run."""

START_S = 60.0
ANSWER_S = 10.0
DRAIN_S = 0.3
POLL_S = 0.02
LATE_OOM_S = 0.05
COLLECT_BYTES = 16 << 20
"""Room for our own files and for what is collected, together."""

LEASE = f"""
umask 022
mkdir -p {OUT} && chmod 1777 {OUT}
# Used once, these programs are in the box's memory: used again they start in a third of the time.
tar -cf - -C {OUT} . | head -c 10240 | tar -xof - -C {OUT}; cat </dev/null
read -r version </proc/version; echo "$version"
while read -r verb size; do
  case $verb in
    tools) head -c "$size" | tar -xof - -C {TOOLS} && echo placed;;
    alive) echo alive;;
    collect) tar -cf - -C {OUT} .; echo "$size";;
  esac
done
"""
"""The box's first process, root without any capability: no command can signal it, and it ends when its input does.

Its input is our connection: when this program is killed, Docker closes it, and the box ends with all that runs in it.
"""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a box is made from. `network` is a network's name or `none`; `caps` are given to its first process."""

    image: str
    runtime: str
    run_id: str
    limits: Limits
    network: str = "none"
    caps: tuple[str, ...] = ()
    tmpfs: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = False
    user: str = "0:0"
    env: Mapping[str, str] = field(default_factory=dict)
    script: str = LEASE
    """What the first process does; it must end when its input ends."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How one command in a box ended; `exit_code` is None when it was ended from outside or died with its box."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    duration_ms: int
    timed_out: bool = False
    died: bool = False
    oom_killed: bool = False
    truncated: bool = False


class Box:
    """One running container of ours."""

    def __init__(self, client: docker.DockerClient, plan: Plan) -> None:
        """Create the container, not yet running. Raises what the docker SDK raises."""
        self._api = client.api
        self.plan = plan
        self.id: str = self._api.create_container(
            plan.image,
            entrypoint=["/bin/sh", "-c", plan.script],
            command=[],
            user=plan.user,
            environment=dict(plan.env),
            working_dir="/",
            stdin_open=True,
            labels={LABEL: plan.run_id},
            host_config=_host_config(self._api, plan),
            # The user's own Docker configuration may hold a proxy with a password: it is not for the box.
            use_config_proxy=False,
        )["Id"]
        self._lease: Channel | None = None

    @property
    def lease(self) -> Channel:
        """The connection that the box lives by."""
        if self._lease is None:
            raise RuntimeError("the box was not started")
        return self._lease

    def start(self) -> None:
        """Start it and wait for its greeting; raises Fault when its kernel is not gVisor's though it should be."""
        version = self.launch(b"\n").decode("utf-8", "replace")
        if self.plan.runtime != "runc" and not is_gvisor(version):
            raise Fault(
                f"the runtime {self.plan.runtime} does not run gVisor's kernel but {version.strip()!r}", fix=INSTALL
            )

    def launch(self, greeting: bytes) -> bytes:
        """Start it and return what it says up to `greeting`; raises Fault when it ends before."""
        # Attached first: Docker closes the box's input when this connection ends, however it ends.
        attached = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        self._lease = Channel(self._api.attach_socket(self.id, params=attached), cap=2 * COLLECT_BYTES)
        self._api.start(self.id)
        said = self.lease.read_until(greeting, time.monotonic() + START_S)
        if greeting not in said:
            raise Fault(
                f"a box of {self.plan.image} did not start: {said[-300:]!r}", fix="the image needs /bin/sh and tar"
            )
        return said

    def idle(self) -> bool:
        """Whether it still waits for a command."""
        return not self.lease.closed and not self.lease.readable()

    def give(self, tools: bytes) -> None:
        """Unpack a tar of our own files under TOOLS, owned by root."""
        self.lease.forget()
        self.lease.send(b"tools %d\n" % len(tools), [tools], time.monotonic() + START_S)
        if b"placed\n" not in self.lease.read_until(b"placed\n", time.monotonic() + START_S):
            raise Fault("a box did not take our own files", fix="the image needs /bin/sh and tar, and a little memory")

    def execute(
        self,
        argv: Sequence[str],
        *,
        user: str = f"{UID}:{UID}",
        env: Mapping[str, str] | None = None,
        stdin: Iterable[bytes] = (),
        timeout_s: float = START_S,
    ) -> Ended:
        """Run one command to its end, its time limit or its box's death, whichever comes first."""
        began = time.monotonic()
        exec_id = self._api.exec_create(
            self.id, list(argv), stdin=True, user=user, environment=dict(env or {}), workdir="/"
        )["Id"]
        channel = Channel(self._api.exec_start(exec_id, socket=True), cap=self.plan.limits.output_bytes)
        try:
            channel.send(b"", stdin, began + timeout_s)
            ending, code = self._watch(exec_id, channel, began + timeout_s)
        finally:
            channel.close()
        return self._ended(channel, ending, code, time.monotonic() - began)

    def _watch(self, exec_id: str, channel: Channel, deadline: float) -> tuple[str, int | None]:
        """How the command ended (`ended`, `died`, `late`) and its exit status.

        The command's stream alone hangs when the box dies of memory under gVisor (seen), so the box's own connection is
        watched beside it. It may also end early: a command can close its output and run on.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(channel, selectors.EVENT_READ)
            selector.register(self.lease, selectors.EVENT_READ)
            while (left := deadline - time.monotonic()) > 0:
                ready = {key.fileobj for key, _ in selector.select(left)}
                if channel in ready and not channel.closed and not channel.receive():
                    selector.unregister(channel)
                if self.lease in ready and not self.lease.receive():
                    channel.read_until(None, time.monotonic() + DRAIN_S)
                    return "died", None
                if channel.closed:
                    told = self._api.exec_inspect(exec_id)
                    if not told["Running"]:
                        return "ended", int(told["ExitCode"])
                    time.sleep(POLL_S)
        self.kill()
        channel.read_until(None, time.monotonic() + DRAIN_S)
        return "late", None

    def _ended(self, channel: Channel, ending: str, code: int | None, seconds: float) -> Ended:
        # A dying box ends the command's stream first, with a status of the runtime's (128): ask whether it lives.
        died = ending == "died" or (ending == "ended" and code != 0 and not self.alive())
        return Ended(
            exit_code=None if died else code,
            stdout=channel.stdout,
            stderr=channel.stderr,
            duration_ms=round(seconds * 1000),
            timed_out=ending == "late",
            died=died,
            oom_killed=code != 0 and ending != "late" and self.out_of_memory(died),
            truncated=channel.truncated,
        )

    def alive(self) -> bool:
        """Whether its first process still answers, or may yet."""
        self._ask(b"alive\n", b"alive\n")
        return not self.lease.closed

    def collect(self) -> bytes:
        """A tar of what lies in `out`, made by hostile hands; cut off where it is too large."""
        mark = secrets.token_hex(16).encode() + b"\n"
        return self._ask(b"collect " + mark, mark).removesuffix(mark)

    def _ask(self, question: bytes, mark: bytes) -> bytes:
        deadline = time.monotonic() + ANSWER_S
        self.lease.forget()
        self.lease.send(question, (), deadline)
        return self.lease.read_until(mark, deadline)

    def out_of_memory(self, died: bool) -> bool:
        """Whether the kernel killed something in here for memory: the whole box, or one of its processes.

        Under gVisor the victim may be one process only: it then ends with status 1 and says nothing, and nor does the
        container's state (seen); the engine's `oom` event does.
        """
        if died:
            self._api.wait(self.id, timeout=round(ANSWER_S))
            if self._api.inspect_container(self.id)["State"]["OOMKilled"]:
                return True
        until: Any = f"{time.time() + LATE_OOM_S:.9f}"
        told = self._api.events(since=0, until=until, filters={"container": self.id, "event": "oom"}, decode=True)
        return bool(list(told))

    def kill(self) -> None:
        """End everything in the box from outside: code can kill a `timeout` that runs beside it (seen)."""
        try:
            self._api.kill(self.id)
        except APIError as error:
            if error.status_code not in (404, 409):  # gone, or not running: what we want
                raise

    def end(self) -> None:
        """Close the connection that the box lives by."""
        if self._lease is not None:
            self._lease.close()

    def remove(self) -> None:
        """Remove the container, whatever state it is in."""
        self.end()
        remove(self._api, self.id)


def remove(api: docker.APIClient, container: str) -> None:
    """Remove a container by force; one that is gone, or being removed, is fine."""
    try:
        api.remove_container(container, force=True, v=True)
    except NotFound:
        logging.getLogger(__name__).debug("box %s is gone already", container[:12])
    except APIError as error:
        if error.status_code != 409:
            raise


def _host_config(api: docker.APIClient, plan: Plan) -> Any:
    limits = plan.limits
    return api.create_host_config(
        runtime=plan.runtime,
        network_mode=plan.network,
        mem_limit=f"{limits.memory_mb}m",
        memswap_limit=f"{limits.memory_mb}m",
        nano_cpus=round(limits.cpus * 1e9),
        pids_limit=limits.host_pids,
        ulimits=[
            Ulimit(name="nproc", soft=limits.processes, hard=limits.processes),
            Ulimit(name="core", soft=0, hard=0),
        ],
        cap_drop=["ALL"],
        cap_add=list(plan.caps),
        security_opt=["no-new-privileges"],
        read_only=plan.read_only,
        tmpfs={TOOLS: f"size={COLLECT_BYTES},mode=755", **plan.tmpfs},
        log_config=LogConfig(type="none"),
        # The only name server would be one outside: an address that leads nowhere (RFC 5737).
        dns=["192.0.2.1"] if plan.network != "bridge" else None,
    )

"""`selfrepair install-gvisor`: registers the sandbox runtimes with the host's Docker, from the action's own image."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import docker
from docker.errors import ContainerError

from bot.adapters.docker_client import faults, output_of
from bot.domain.attempt import Fault
from bot.sandbox import is_gvisor

RUNTIMES: Mapping[str, tuple[str, ...]] = {
    "run": ("--platform=systrap", "--network=none", "--overlay2=root:memory"),
    "setup": ("--platform=systrap", "--network=host", "--overlay2=none"),
    "services": ("--platform=systrap", "--network=host", "--overlay2=root:memory"),
}
"""Runtime name (after the prefix and a dash) -> runsc's arguments. `host` is still the container's own namespace."""

RELOAD_S = 60.0
BY_HAND = (
    "register the runtimes by hand: copy /usr/bin/runsc out of the action's image to the Docker host, "
    "name it in /etc/docker/daemon.json as the README's section on self-hosted runners shows, and reload Docker"
)

LOOK = """
pid=$(cat /host/run/docker.pid 2>/dev/null || cat /host/var/run/docker.pid 2>/dev/null || true)
if [ "$(cat "/proc/${pid:-none}/comm" 2>/dev/null)" != dockerd ]; then
  pid=$(grep -lx dockerd /proc/[0-9]*/comm 2>/dev/null | tr -dc '0-9\\n')
fi
conf=$(tr '\\0' '\\n' <"/proc/$pid/cmdline" | sed -n 's/^--config-file=//p; /^--config-file$/{n;p;}')
conf=${conf:-/etc/docker/daemon.json}
sum() { [ ! -e "$1" ] || sha256sum "$1" | cut -c1-64; }
[ ! -L "/host$conf" ] || { echo "$conf is a link" >&2; exit 3; }
echo "$pid"; echo "$conf"; echo "$(sum "$(command -v runsc)")"; echo "$(sum "/host$DIR/runsc")"
cat "/host$conf" 2>/dev/null || true
"""
"""Prints dockerd's process id, its configuration file, the digests of our runsc and of the one there, the file."""

WRITE = """
set -e
conf=/host$CONF
[ "$(cat "$conf" 2>/dev/null || true)" = "$OLD" ] || { echo "$CONF was changed meanwhile" >&2; exit 3; }
mkdir -p "/host$DIR" "$(dirname "$conf")"
cp "$(command -v runsc)" "/host$DIR/runsc.new"
chmod 755 "/host$DIR/runsc.new"
mv -f "/host$DIR/runsc.new" "/host$DIR/runsc"
if [ -e "$conf" ]; then
  [ -e "$conf.$BACKUP" ] || cp -p "$conf" "$conf.$BACKUP"
  cp -p "$conf" "$conf.new"
fi
if [ -n "$NEW" ]; then printf '%s\\n' "$NEW" >"$conf.new"; mv -f "$conf.new" "$conf"; else rm -f "$conf" "$conf.new"; fi
kill -HUP "$PID"
"""

CLEAN = 'rm -rf "/host$DIR" "/host$CONF.$BACKUP"'


@dataclass(frozen=True, kw_only=True)
class _Host:
    """What the helper saw there."""

    pid: str
    conf: str
    runsc: str
    installed: str
    text: str


def wanted(prefix: str) -> dict[str, dict[str, Any]]:
    """The runtimes as daemon.json holds them: {name: {path, runtimeArgs}}."""
    path = f"/usr/local/lib/{prefix}/runsc"
    return {f"{prefix}-{name}": {"path": path, "runtimeArgs": list(args)} for name, args in RUNTIMES.items()}


def merged(text: str, runtimes: Mapping[str, Any], *, remove: bool = False) -> str:
    """daemon.json with these runtimes put in (or taken out) and all else as it was; "" when nothing is left.

    Raises Fault when `text` is not a JSON object: such a file is never touched.
    """
    try:
        config = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise _unreadable(str(error)) from error
    if not isinstance(config, dict) or not isinstance(config.get("runtimes", {}), dict):
        raise _unreadable("an object was expected")
    rest = {name: told for name, told in config.pop("runtimes", {}).items() if name not in runtimes}
    there = rest if remove else {**rest, **runtimes}
    config |= {"runtimes": there} if there else {}
    return json.dumps(config, indent=2) if config else ""


def _unreadable(why: str) -> Fault:
    return Fault(f"Docker's daemon.json is not valid: {why}", fix="correct /etc/docker/daemon.json; it was not touched")


def install(client: docker.DockerClient, image: str, remove: bool = False, *, prefix: str = "selfrepair") -> str:
    """Register the runtimes (or take them away again) and return a sentence that says what was done.

    `image` holds runsc: the product's own does. Done twice, the second time does nothing. A file of another maker is
    never overwritten: runsc lies in a folder of its own, and daemon.json is merged. Raises Fault.
    """
    with faults("register the gVisor runtimes"):
        host = _look(client, image, prefix)
        if remove:
            return _remove(client, image, prefix, host)
        current = host.installed == host.runsc and _registered(client, wanted(prefix))
        if not current:
            _write(client, image, prefix, host, merged(host.text, wanted(prefix)))
        kernel = verify(client, image, f"{prefix}-run")
        return f"gVisor {'was' if current else 'is now'} registered with Docker ({', '.join(wanted(prefix))}): {kernel}"


def _remove(client: docker.DockerClient, image: str, prefix: str, host: _Host) -> str:
    text = merged(host.text, wanted(prefix), remove=True)
    if text != merged(host.text, {}):
        _write(client, image, prefix, host, text)
    _helper(client, image, CLEAN, prefix, CONF=host.conf)
    return "the gVisor runtimes are no longer registered with Docker"


def _write(client: docker.DockerClient, image: str, prefix: str, host: _Host, text: str) -> None:
    """Write, reload, and see Docker take it up; otherwise put the old file back."""
    there = json.loads(text).get("runtimes", {}) if text else {}
    expected = {name: there.get(name) for name in wanted(prefix)}
    told = {"CONF": host.conf, "PID": host.pid}
    _helper(client, image, WRITE, prefix, OLD=host.text.rstrip("\n"), NEW=text, **told)
    deadline = time.monotonic() + RELOAD_S
    while time.monotonic() < deadline:
        if _registered(client, expected):
            return
        time.sleep(0.1)
    _helper(client, image, WRITE, prefix, OLD=text, NEW=host.text.rstrip("\n"), **told)
    raise Fault(f"Docker did not take up the change of {host.conf}; the old file is back", fix="see the engine's log")


def _registered(client: docker.DockerClient, expected: Mapping[str, Any]) -> bool:
    """Whether Docker lists these runtimes just so (None: not at all)."""
    listed = client.info()["Runtimes"]
    return all(_same(listed.get(name), told) for name, told in expected.items())


def _same(listed: Any, told: Any) -> bool:
    if listed is None or told is None:
        return listed is told
    return (listed.get("path"), listed.get("runtimeArgs")) == (told["path"], told["runtimeArgs"])


def verify(client: docker.DockerClient, image: str, runtime: str) -> str:
    """The kernel that a container under this runtime reports; raises Fault when it is not gVisor's."""
    out = output_of(client, image, ["/bin/cat", "/proc/version"], runtime=runtime, network_mode="none")
    version = out.decode("utf-8", "replace").strip()
    if not is_gvisor(version):
        raise Fault(f"the runtime {runtime} does not run gVisor's kernel but {version!r}", fix=BY_HAND)
    return version


def _look(client: docker.DockerClient, image: str, prefix: str) -> _Host:
    said = _helper(client, image, LOOK, prefix).decode("utf-8", "replace")
    pid, conf, runsc, installed, text = said.split("\n", 4)
    if not pid.isdigit():
        raise Fault("dockerd was not found on the Docker host", fix=BY_HAND)
    if not runsc:
        raise Fault(f"the image {image} holds no runsc", fix="build the action's image from its Dockerfile")
    return _Host(pid=pid, conf=conf, runsc=runsc, installed=installed, text=text)


def _helper(client: docker.DockerClient, image: str, script: str, prefix: str, **env: str) -> bytes:
    """Run a script of ours in a container that sees the host's files and processes."""
    told = {"DIR": f"/usr/local/lib/{prefix}", "BACKUP": f"before-{prefix}", **env}
    try:
        return output_of(
            client,
            image,
            ["/bin/sh", "-c", script],
            environment=told,
            user="0:0",
            runtime="runc",
            pid_mode="host",
            userns_mode="host",
            network_mode="none",
            volumes={"/": {"bind": "/host", "mode": "rw"}},
            security_opt=["apparmor=unconfined", "label=disable"],
        )
    except ContainerError as error:
        raise Fault(f"the Docker host could not be changed: {error.stderr!r}", fix=BY_HAND) from error

"""From a base image and a tree to an environment image: copied in, set up with a network but no secret, committed."""

from __future__ import annotations

import logging
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import docker
from docker.errors import ImageNotFound

from bot.adapters.docker_box import Box, Ended, Plan
from bot.adapters.docker_disk import REPOSITORY, TRUST, bound, mark_used
from bot.adapters.docker_egress import Egress
from bot.domain.attempt import Fault, SetupFailed
from bot.domain.execution import WORK, Environment, Limits
from bot.sandbox import HOME, UID, environment_key, setup_argv

log = logging.getLogger(__name__)

# What a package manager needs to unpack files for others; none of it reaches the host through gVisor.
CAPS = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETGID", "SETUID", "SETFCAP", "KILL")

BEGIN = f"""
set -e
grep -q '^[^:]*:[^:]*:{UID}:' /etc/passwd || echo 'selfrepair:x:{UID}:{UID}::{HOME}:/bin/sh' >>/etc/passwd
grep -q '^[^:]*:[^:]*:{UID}:' /etc/group || echo 'selfrepair:x:{UID}:' >>/etc/group
mkdir -p {HOME}/.local/bin
chown -R {UID}:{UID} {HOME}
"""
GIVE_BACK = f"chown -R {UID}:{UID} {HOME} {WORK}"
FINISH = "rm -rf /tmp/* /tmp/.[!.]* /var/tmp/* /var/lib/apt/lists/*; sync"


def base_image(client: docker.DockerClient, name: str) -> str:
    """The id of a base image, pulled when it is not there; raises Fault when it cannot be had."""
    try:
        return str(client.images.get(name).id)
    except ImageNotFound:
        log.info("pulling %s", name)
    repository, _, tag = name.rpartition(":") if ":" in name.rpartition("/")[2] else (name, "", "latest")
    try:
        return str(client.images.pull(repository, tag=tag).id)
    except docker.errors.APIError as error:
        fix = f"`docker pull {name}` must work on this machine; or name another image with `image`"
        raise Fault(f"the image {name} is not there and cannot be pulled: {error.explanation}", fix=fix) from error


def build(
    client: docker.DockerClient,
    environment: Environment,
    *,
    runtime: str,
    run_id: str,
    limits: Limits,
    disk: int,
    egress: Callable[[], Egress],
    say: Callable[[str], None],
) -> str:
    """The environment image's name; found when it was built before. Raises SetupFailed, or Fault.

    `disk`: bytes that all environment images may take together.
    """
    base = base_image(client, environment.image)
    tag = environment_key(environment, base)
    if client.api.images(name=f"{REPOSITORY}:{tag}", quiet=True):
        say("environment image found, set-up is not run again")
        mark_used(client, tag)
        return f"{REPOSITORY}:{tag}"
    way_out = egress() if environment.setup else None
    network = way_out.network if way_out else "none"
    box = Box(client, Plan(image=base, runtime=runtime, run_id=run_id, limits=limits, network=network, caps=CAPS))
    try:
        _copy_in(client, box, Path(environment.tree))
        box.start()
        env = {**_image_env(client, base), **environment.env}
        _set_up(box, environment, {**env, **(way_out.env if way_out else {})}, say)
        box.kill()
        told = {
            "Env": [f"{name}={value}" for name, value in env.items()],
            "WorkingDir": WORK,
            "Labels": {TRUST: environment.trust},
        }
        client.api.commit(box.id, repository=REPOSITORY, tag=tag, pause=False, conf=told)
    finally:
        box.remove()
    bound(client, disk)
    return f"{REPOSITORY}:{tag}"


def _copy_in(client: docker.DockerClient, box: Box, tree: Path) -> None:
    """Through the engine and before the start: never a bind mount, for in a Docker action host paths are not ours."""
    with tempfile.TemporaryFile() as spool:
        with tarfile.open(fileobj=spool, mode="w", format=tarfile.GNU_FORMAT) as tar:
            tar.add(tree, arcname=WORK.lstrip("/"), filter=_owned)
        spool.seek(0)
        client.api.put_archive(box.id, "/", _chunks(spool))


def _owned(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """As the check's user owns it; devices, pipes and the set-user bits are not copied. Symlinks stay symlinks."""
    if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        return None
    member.uid = member.gid = UID
    member.uname = member.gname = ""
    member.mode = (member.mode & 0o777) | (0o700 if member.isdir() else 0o600)
    return member


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while data := file.read(1 << 20):
        yield data


def _image_env(client: docker.DockerClient, image: str) -> dict[str, str]:
    told = client.images.get(image).attrs["Config"].get("Env") or []
    env = dict(line.split("=", 1) for line in told if "=" in line)
    path = env.get("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    return {"LANG": "C.UTF-8", **env, "HOME": HOME, "PATH": f"{HOME}/.local/bin:{path}"}


def _set_up(box: Box, environment: Environment, env: dict[str, str], say: Callable[[str], None]) -> None:
    deadline = time.monotonic() + environment.setup_timeout_s
    # A distribution's pip refuses to install without this, and nothing but the box's own system is at stake.
    env = {**env, "PIP_BREAK_SYSTEM_PACKAGES": "1", "DEBIAN_FRONTEND": "noninteractive"}
    _own_step(box, BEGIN)
    for number, step in enumerate(environment.setup, 1):
        first = step.command.strip().splitlines()[0]
        say(f"set-up {number} of {len(environment.setup)}{' (as root)' if step.root else ''}: {first}")
        left = max(deadline - time.monotonic(), 0.0)
        user = "0:0" if step.root else f"{UID}:{UID}"
        ended = box.execute(setup_argv(step), user=user, env={**env, **step.env}, timeout_s=left)
        log.info("set-up command %d ended: status %s after %d ms", number, ended.exit_code, ended.duration_ms)
        if ended.exit_code is None or (ended.exit_code != 0 and not step.may_fail):
            output = (ended.stdout + ended.stderr).decode("utf-8", "replace")
            raise SetupFailed(step.command, _why(ended, environment), output)
        if step.root:
            _own_step(box, GIVE_BACK)
    _own_step(box, FINISH)


def _own_step(box: Box, script: str) -> None:
    ended = box.execute(["/bin/sh", "-c", script], user="0:0")
    if ended.exit_code != 0:
        raise Fault(f"the image cannot be made ready: {ended.stderr[-300:]!r}", fix="use an image with /bin/sh and tar")


def _why(ended: Ended, environment: Environment) -> str:
    if ended.timed_out:
        return f"set-up took longer than {environment.setup_timeout_s:g} s"
    if ended.oom_killed:
        return "set-up ran out of memory"
    return "its box died" if ended.died else f"it exited with status {ended.exit_code}"

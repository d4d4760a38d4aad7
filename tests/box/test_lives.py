"""Boxes never outlive their run, however it ends."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import docker
import pytest

from bot.adapters.docker_box import LABEL
from bot.adapters.docker_sandbox import DockerSandbox, drop, reap
from bot.domain.execution import Request
from tests.box.conftest import SMALL, Run

CHILD = """
import signal, sys, time
from bot.adapters.docker_sandbox import DockerSandbox
from bot.domain.execution import Request
from tests.box.conftest import SMALL
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background jobs, such as CI, with it ignored
sandbox = DockerSandbox(proxy_image="none", pool_size=2)
print(sandbox.run_id, flush=True)
if sys.argv[2] == "term":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
sandbox.run(Request(environment=sys.argv[1], entrypoint=("true",), limits=SMALL))
print("warm", flush=True)
sandbox.run(Request(environment=sys.argv[1], entrypoint=("sleep", "15"), limits=SMALL))
"""


def boxes(client: docker.DockerClient, run_id: str, *status: str) -> list[str]:
    filters = {"label": f"{LABEL}={run_id}", **({"status": list(status)} if status else {})}
    return [told["Id"] for told in client.api.containers(all=True, filters=filters)]


def wait_for(what: Callable[[], bool], seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def child(environment: str, how: str = "plain") -> tuple[subprocess.Popen[bytes], str]:
    argv = [sys.executable, "-c", CHILD, environment, how]
    process = subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": "."}
    )
    assert process.stdout is not None
    run_id = process.stdout.readline().decode().strip()
    assert process.stdout.readline() == b"warm\n"
    return process, run_id


def finish(process: subprocess.Popen[bytes], sent: signal.Signals) -> None:
    process.send_signal(sent)
    process.wait(timeout=20)
    assert process.stdout is not None
    process.stdout.close()


def test_boxes_of_a_killed_run_end_at_once_and_the_next_run_removes_them(
    client: docker.DockerClient, environment: str
) -> None:
    process, run_id = child(environment)
    assert boxes(client, run_id, "running")
    finish(process, signal.SIGKILL)
    wait_for(lambda: not boxes(client, run_id, "running"))
    wait_for(lambda: not boxes(client, run_id, "created"))
    left = boxes(client, run_id)
    assert left
    assert reap(client, "another", timedelta(hours=1)) == [], "what just ended may belong to a run that still reads it"
    time.sleep(1.1)
    assert set(left) <= set(reap(client, "another", timedelta(seconds=0)))
    assert boxes(client, run_id) == []


def test_two_runs_that_remove_the_same_dead_network_do_not_fail(client: docker.DockerClient) -> None:
    network = client.networks.create(f"selfrepair-{secrets.token_hex(4)}", internal=True, labels={LABEL: "dead"})
    later = datetime.now(UTC) + timedelta(hours=1)
    assert [drop(network, later, timedelta(0)) for _ in range(2)] == [True, False]


@pytest.mark.parametrize(("sent", "how"), [(signal.SIGINT, "plain"), (signal.SIGTERM, "term")])
def test_an_interrupted_run_removes_its_boxes(
    client: docker.DockerClient, environment: str, sent: signal.Signals, how: str
) -> None:
    process, run_id = child(environment, how)
    finish(process, sent)
    assert process.returncode != 0
    assert boxes(client, run_id) == []


def test_close_removes_everything_and_each_box_is_used_once(
    client: docker.DockerClient, product: str, environment: str
) -> None:
    request = Request(environment=environment, entrypoint=("cat", "/etc/hostname"), limits=SMALL)
    with DockerSandbox(client=client, proxy_image=product, pool_size=2) as sandbox:
        names = {sandbox.run(request).stdout for _ in range(3)}
        assert len(names) == 3
        assert boxes(client, sandbox.run_id)
    assert boxes(client, sandbox.run_id) == []


def test_a_box_that_died_while_it_waited_is_not_used(
    client: docker.DockerClient, sandbox: DockerSandbox, environment: str, run: Run
) -> None:
    assert run("true").exit_code == 0
    wait_for(lambda: sandbox.ready(environment, SMALL) >= 1)
    for box in boxes(client, sandbox.run_id, "running"):
        with contextlib.suppress(docker.errors.APIError):  # being removed already
            client.api.kill(box)
    assert run("true").exit_code == 0

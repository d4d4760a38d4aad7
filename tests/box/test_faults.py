"""A broken box raises, and says what to do; it is never red or green."""

from __future__ import annotations

import contextlib
import gc
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import docker
import pytest

from bot.adapters.docker_client import connect, product_image
from bot.adapters.docker_sandbox import DockerSandbox
from bot.domain.attempt import Fault
from bot.domain.execution import Environment, Request
from tests.box.conftest import SMALL, Run

# The docker SDK leaves a socket that could not connect to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


@pytest.fixture(autouse=True)
def collect() -> Iterator[None]:
    """Have that done within these tests."""
    yield
    gc.collect()


def test_no_docker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    with pytest.raises(Fault, match="Docker does not answer") as caught:
        DockerSandbox(proxy_image="any")
    assert "start Docker" in caught.value.fix


def test_docker_not_permitted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        # Root may open anything: a socket that nobody listens on is refused to everyone.
        with pytest.raises(Fault):
            connect()


def test_unknown_runtime(run: Run) -> None:
    with pytest.raises(Fault, match="runtime is not registered") as caught:
        run("true", replace(SMALL, runtime="no-such-runtime"))
    assert "selfrepair install-gvisor" in caught.value.fix


def test_missing_environment_image(sandbox: DockerSandbox) -> None:
    with pytest.raises(Fault, match="image is not there"):
        sandbox.run(Request(environment="selfrepair-env:gone", entrypoint=("true",), limits=SMALL))


def test_missing_base_image(sandbox: DockerSandbox, tree: Path) -> None:
    with pytest.raises(Fault, match="cannot be pulled") as caught:
        sandbox.prepare(Environment(image="localhost:1/no-such-image:1", tree=str(tree), digest="x"))
    assert "docker pull localhost:1/no-such-image:1" in caught.value.fix


def test_missing_product_image(client: docker.DockerClient) -> None:
    with pytest.raises(Fault, match="is not there"):
        product_image(client, "selfrepair:never-built")


def test_a_runtime_that_is_not_gvisor_is_found_out(client: docker.DockerClient, product: str, environment: str) -> None:
    """`io.containerd.runc.v2` is Docker's own runtime under another name."""
    with (
        DockerSandbox(client=client, proxy_image=product, pool_size=1) as sandbox,
        pytest.raises(Fault, match=r"does not run gVisor's kernel|not registered"),
    ):
        limits = replace(SMALL, runtime="io.containerd.runc.v2")
        sandbox.run(Request(environment=environment, entrypoint=("true",), limits=limits))


class Relay:
    """A stand-in for an engine that dies: hands every byte to the real socket until `die`."""

    def __init__(self, path: Path) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(64)
        self._open: list[socket.socket] = []
        self._path = path
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect("/var/run/docker.sock")
            self._open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._copy, args=(one, other), daemon=True).start()

    def _copy(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(65536):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def die(self) -> None:
        """From now on nothing answers."""
        self._path.unlink(missing_ok=True)
        for end in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def test_an_engine_that_dies_in_mid_run(tmp_path: Path, product: str, environment: str) -> None:
    relay = Relay(tmp_path / "docker.sock")
    engine = docker.DockerClient(base_url=f"unix://{tmp_path}/docker.sock")
    sandbox = DockerSandbox(client=engine, proxy_image=product, pool_size=1)
    timer = threading.Timer(3.0, relay.die)
    timer.start()
    try:
        with pytest.raises(Fault, match="Docker does not answer"):
            sandbox.run(
                Request(environment=environment, entrypoint=("sleep", "60"), limits=replace(SMALL, timeout_s=30))
            )
    finally:
        timer.cancel()
        relay.die()
        sandbox.close()
        engine.close()


def test_an_address_that_is_none_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "http://[")
    with pytest.raises(Fault, match="Docker could not reach Docker: DockerException: Invalid IPv6 URL"):
        connect()

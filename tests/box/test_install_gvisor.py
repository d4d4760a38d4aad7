"""`install-gvisor` on the real host, under names of its own, beside whatever is registered there already."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from bot.adapters import gvisor_host

PREFIX = "selfrepair-boxtest"


@pytest.fixture
def clean(client: docker.DockerClient, product: str) -> Iterator[None]:
    """Not registered before, not registered afterwards."""
    gvisor_host.install(client, product, True, prefix=PREFIX)
    yield
    gvisor_host.install(client, product, True, prefix=PREFIX)


def runtimes(client: docker.DockerClient) -> dict[str, object]:
    """What others registered; an engine of version 20 tells of runtimes of its own only until its first reload."""
    found = client.info()["Runtimes"].items()
    return {name: told for name, told in found if not name.startswith((PREFIX, "io.containerd."))}


@pytest.mark.usefixtures("clean")
def test_install_again_and_remove(client: docker.DockerClient, product: str) -> None:
    others = runtimes(client)
    assert "is now registered" in gvisor_host.install(client, product, prefix=PREFIX)
    assert f"{PREFIX}-run" in client.info()["Runtimes"]
    assert "was registered" in gvisor_host.install(client, product, prefix=PREFIX)
    assert runtimes(client) == others
    assert "no longer" in gvisor_host.install(client, product, True, prefix=PREFIX)
    assert not [name for name in client.info()["Runtimes"] if name.startswith(PREFIX)]
    assert runtimes(client) == others


@pytest.mark.usefixtures("clean")
def test_what_is_broken_is_put_right(client: docker.DockerClient, product: str) -> None:
    gvisor_host.install(client, product, prefix=PREFIX)
    runsc = Path(f"/usr/local/lib/{PREFIX}/runsc")
    runsc.write_bytes(b"#!/bin/sh\nexit 1\n")
    assert "is now registered" in gvisor_host.install(client, product, prefix=PREFIX)
    assert runsc.stat().st_size > 1_000_000
    config = json.loads(Path("/etc/docker/daemon.json").read_text())
    assert config["runtimes"][f"{PREFIX}-setup"]["runtimeArgs"][1] == "--network=host"

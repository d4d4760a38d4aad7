"""Real Docker and gVisor; where they are missing these tests fail with the product's own Fault, they never skip."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from bot.adapters.docker_client import connect, product_image
from bot.adapters.docker_sandbox import DockerSandbox
from bot.domain.execution import Environment, Limits, Request, Result

BASE = "python:3.13-slim-trixie"

SMALL = Limits(timeout_s=20.0, memory_mb=256, cpus=1.0, tmpfs_mb=16, output_bytes=20_000)
"""Small enough that each limit is reached within a second or two."""

Run = Callable[..., Result]


@pytest.fixture(scope="session")
def client() -> Iterator[docker.DockerClient]:
    """The engine."""
    engine = connect()
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def product(client: docker.DockerClient) -> str:
    """The product's image."""
    return product_image(client)


@pytest.fixture(scope="session")
def sandbox(client: docker.DockerClient, product: str) -> Iterator[DockerSandbox]:
    """One sandbox for all tests: every request gets a box of its own anyway."""
    with DockerSandbox(client=client, proxy_image=product, pool_size=2) as made:
        yield made


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small work tree: a script, a module in a folder, a link out of the tree."""
    root = tmp_path_factory.mktemp("tree")
    (root / "pkg").mkdir()
    (root / "pkg" / "mod.py").write_text("VALUE = 1\n")
    (root / "run.sh").write_text("#!/bin/sh\necho run\n")
    (root / "run.sh").chmod(0o755)
    (root / "secret.txt").write_text("s\n")
    (root / "secret.txt").chmod(0o640)
    (root / "etc").symlink_to("/etc")
    (root / "alias.py").symlink_to("pkg/mod.py")
    return root


@pytest.fixture(scope="session")
def environment(sandbox: DockerSandbox, tree: Path) -> str:
    """The environment image of that tree, without set-up."""
    return sandbox.prepare(Environment(image=BASE, tree=str(tree), digest="box-tests-1"))


@pytest.fixture
def run(sandbox: DockerSandbox, environment: str) -> Run:
    """Run a shell script (or an argument vector) in a fresh box under SMALL limits."""

    def go(command: str | tuple[str, ...], limits: Limits = SMALL, **more: Any) -> Result:
        argv = ("sh", "-c", command) if isinstance(command, str) else command
        return sandbox.run(Request(environment=environment, entrypoint=argv, limits=limits, **more))

    return go

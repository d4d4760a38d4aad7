"""The one way to Docker: every error of the engine, its transport or its sockets leaves here as a Fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import docker
import requests
from docker.errors import DockerException

from bot.sandbox import fault_of

REQUEST_TIMEOUT_S = 120
"""How long one call of the engine's API may take; commits of large images are the slowest."""


def connect() -> docker.DockerClient:
    """A client for the engine that DOCKER_HOST names (else the local socket); raises Fault when it does not answer."""
    with faults("reach Docker"):
        return docker.from_env(timeout=REQUEST_TIMEOUT_S)


@contextmanager
def faults(doing: str) -> Iterator[None]:
    """Turn whatever the engine raises into a Fault that says what we were doing and what to do about it."""
    try:
        yield
    except (DockerException, requests.RequestException, OSError) as error:
        raise fault_of(f"{type(error).__name__}: {error}", doing=doing) from error

"""The one way to Docker: every error of the engine, its transport or its sockets leaves here as a Fault."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import docker
import requests
from docker.errors import DockerException, ImageNotFound, NotFound
from docker.types import LogConfig

from bot.domain.attempt import Fault
from bot.sandbox import fault_of

PRODUCT_IMAGE = "selfrepair:dev"
"""What `make image` builds; holds runsc and the set-up proxy. A release names its published image here."""

REQUEST_TIMEOUT_S = 120
"""How long one call of the engine's API may take; commits of large images are the slowest."""


def connect() -> docker.DockerClient:
    """A client for the engine that DOCKER_HOST names (else the local socket); raises Fault when it does not answer."""
    with faults("reach Docker"):
        try:
            return docker.from_env(timeout=REQUEST_TIMEOUT_S)
        except ValueError as error:  # what the SDK makes of an address like http://[
            raise DockerException(str(error)) from error


@contextmanager
def faults(doing: str) -> Iterator[None]:
    """Turn whatever the engine raises into a Fault that says what we were doing and what to do about it."""
    try:
        yield
    except (DockerException, requests.RequestException, OSError) as error:
        raise fault_of(f"{type(error).__name__}: {error}", doing=doing) from error


def product_image(client: docker.DockerClient, given: str = "") -> str:
    """The product's own image (it holds squid and runsc): the one `given`, else the one we run in, else a checkout's.

    Raises Fault when it is not there.
    """
    with faults("find the product's image"):
        name = given or _own_image(client) or PRODUCT_IMAGE
        try:
            client.images.get(name)
        except ImageNotFound as error:
            raise Fault(f"the product's image {name} is not there", fix="build it with `make image`") from error
        return name


def _own_image(client: docker.DockerClient) -> str:
    """The image of the container we run in, "" outside of one: a container's host name is its id's first 12 digits."""
    name = socket.gethostname()
    if not re.fullmatch(r"[0-9a-f]{12}", name):
        return ""
    try:
        return str(client.containers.get(name).attrs["Image"])
    except NotFound:
        return ""


def output_of(client: docker.DockerClient, image: str, argv: Sequence[str], **options: Any) -> bytes:
    """Standard output of a short command of ours in a container of its own; raises ContainerError when it fails."""
    out: bytes = client.containers.run(
        image,
        entrypoint=list(argv),
        command=[],
        remove=True,
        # The SDK reads the output from the engine's log, which the engine's own default may not keep.
        log_config=LogConfig(type="json-file"),
        # The user's own Docker configuration may hold a proxy with a password: it is not for the container.
        use_config_proxy=False,
        **options,
    )
    return out

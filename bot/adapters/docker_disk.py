"""Environment images stay for later runs; this keeps the disk that they take within a bound."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import docker
from docker.errors import APIError, ImageNotFound

log = logging.getLogger(__name__)

REPOSITORY = "selfrepair-env"
TRUST = "selfrepair.trust"
"""Label of an environment image: whose code ran in its set-up."""

IN_USE = timedelta(hours=1)
"""An image that was asked for so lately may belong to a run that has no box of it at this moment."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """One environment image: `size` in bytes is its own, without its base; `used` is when a run last asked for it."""

    id: str
    size: int
    used: datetime


def mark_used(client: docker.DockerClient, tag: str) -> None:
    """Remember that an environment image is used now: the engine notes when an image was last tagged."""
    client.api.tag(f"{REPOSITORY}:{tag}", REPOSITORY, tag)


def bound(client: docker.DockerClient, cap: int, now: datetime | None = None) -> list[str]:
    """Remove nameless environment images, then those used longest ago until the others take at most `cap` bytes.

    What a run may be using stays, so that the bound may be exceeded for `IN_USE`. Returns the ids removed.
    """
    gone = [image for image in _listed(client, dangling=True) if remove(client, image)]
    kept = [found for image in _listed(client, dangling=False) if (found := look(client, image))]
    for image in overdue(kept, cap, now or datetime.now(UTC)):
        if remove(client, image.id):
            log.info("removed environment image %s, last used %s", image.id, image.used)
            gone.append(image.id)
    return gone


def overdue(kept: list[Kept], cap: int, now: datetime) -> list[Kept]:
    """The images to remove, the one used longest ago first."""
    taken, found = sum(image.size for image in kept), []
    for image in sorted(kept, key=lambda image: image.used):
        if taken <= cap or now - image.used < IN_USE:
            break
        found.append(image)
        taken -= image.size
    return found


def _listed(client: docker.DockerClient, *, dangling: bool) -> list[str]:
    # The SDK's own list asks for each image anew, and fails where another run has removed one meanwhile.
    found = client.api.images(filters={"dangling": dangling, "label": TRUST}, quiet=True)
    return sorted({str(image) for image in found})


def look(client: docker.DockerClient, image: str) -> Kept | None:
    """Size and last use of an image; None when it is gone."""
    try:
        told = client.images.get(image)
        layers = told.history()
    except ImageNotFound:
        return None
    used = str(told.attrs["Metadata"]["LastTagTime"])
    return Kept(id=image, size=int(layers[0]["Size"]), used=datetime.fromisoformat(used))


def remove(client: docker.DockerClient, image: str) -> bool:
    """Whether an image could be removed; one that has boxes stays."""
    try:
        client.images.remove(image)
    except APIError as error:
        if error.status_code not in (404, 409):  # another run removed it, or has boxes of it: the next build's work
            raise
        return False
    return True

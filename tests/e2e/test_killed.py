"""SIGKILL after each write to the forge in turn: the next run of the same job ends at the same single pull request."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta

import docker
from docker.models.containers import Container
from docker.models.images import Image

from bot.adapters.docker_box import LABEL
from bot.adapters.docker_client import connect
from bot.adapters.docker_disk import TRUST
from bot.adapters.docker_sandbox import GRACE
from tests.e2e.scene import FIXED, REPAIR, Ended, Scene

REPOSITORY = "octo/killed"
WRITES = ("git/trees", "git/commits", "git/refs", "pulls", "labels", "issues/101/labels", "issues/101/comments")
INPUTS = {"checks": "python3 check.py", "max_iterations": "1"}

Make = Callable[..., Scene]


def test_killed_after_each_write_it_converges(make: Make) -> None:
    """One scene a write, and one more that is not killed: there are no further writes. Its boxes are gone, too."""
    scenes = [make(REPAIR, REPAIR, repository=REPOSITORY) for _ in range(len(WRITES) + 1)]
    with ThreadPoolExecutor(3) as pool:  # most of the time each waits: for the pace of writes, for boxes
        list(pool.map(_killed_and_run_again, scenes, range(1, len(scenes) + 1)))
    assert scenes[0].act(checks="true").outputs["outcome"] == "not_reproduced"
    with closing(connect()) as client:
        _nothing_left(client)


def _killed_and_run_again(scene: Scene, write: int) -> None:
    killed = scene.act(kill_after=write, **INPUTS)
    assert _writes(scene) == list(WRITES[:write]), killed
    assert killed.status == (-signal.SIGKILL if write <= len(WRITES) else 0), killed
    _one_of_each(scene, scene.act(**INPUTS))


def _writes(scene: Scene) -> list[str]:
    posts = (r.path for r in scene.github.requests if r.method != "GET" and r.status < 300 and "graphql" not in r.path)
    return [path.removeprefix(f"/repos/{REPOSITORY}/") for path in posts]


def _one_of_each(scene: Scene, ended: Ended) -> None:
    assert (ended.status, ended.outputs["outcome"]) == (0, "repaired"), ended
    assert scene.ours == [ended.outputs["branch"]]
    assert scene.github.read(scene.ours[0], "greeting.py") == FIXED
    assert [str(pull.number) for pull in scene.github.pulls] == [ended.outputs["pull-request"]]
    assert scene.github.pulls[0].labels == ["selfrepair"]
    assert [comment.issue for comment in scene.github.comments] == [scene.github.pulls[0].number]


def _nothing_left(client: docker.DockerClient) -> None:
    """Boxes of killed runs end at once; the last run has removed those that ended more than the grace before it."""
    images = client.images.list(filters={"label": f"{TRUST}={REPOSITORY}"})
    assert images
    deadline = time.monotonic() + 20
    while _boxes(client, images, "running") and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not _boxes(client, images, "running")
    ended = [
        datetime.fromisoformat(_whole(box.attrs["State"]["FinishedAt"])) for box in _boxes(client, images, "exited")
    ]
    assert all(datetime.now(UTC) - moment < GRACE + timedelta(seconds=60) for moment in ended)


def _boxes(client: docker.DockerClient, images: list[Image], status: str) -> list[Container]:
    wanted = {image.id for image in images}
    found = client.containers.list(all=True, filters={"label": LABEL, "status": status}, ignore_removed=True)
    return [box for box in found if box.attrs["Image"] in wanted]


def _whole(moment: str) -> str:
    return re.sub(r"\.\d+", "", moment).replace("Z", "+00:00")

"""A red run goes in, one pull request comes out: `selfrepair action` on real parts, from the event to the branch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.scene import COMMA, FILES, FIXED, KEY, REPAIR, TOKEN, Scene
from tests.fakes import repositories
from tests.fakes.messages_api import edits

Make = Callable[..., Scene]


def checked_out(scene: Scene, branch: str, folder: Path) -> Path:
    """The branch as anybody gets it: cloned over HTTP."""
    url = f"{scene.github.server_url}/octo/e2e".replace("://", f"://x-access-token:{TOKEN}@")
    repositories.git(scene.place, "clone", "-q", "--branch", branch, url, str(folder))
    return folder


def test_a_red_run_becomes_one_pull_request_and_stays_one(make: Make, tmp_path: Path) -> None:
    """Also what is nowhere: the token and the key."""
    leaky = FILES["test_greeting.py"].replace(b', Ada")', f', Ada", {f"{TOKEN} {KEY}"!r})'.encode())
    scene = make(REPAIR, REPAIR, files={**FILES, "test_greeting.py": leaky})
    first = scene.act()
    assert first.status == 0, first
    [pull], [comment], [branch] = scene.github.pulls, scene.github.comments, scene.ours
    assert (pull.head, pull.base, pull.labels, comment.issue) == (branch, "work", ["selfrepair"], pull.number)
    assert comment.body.startswith("<!-- selfrepair:history -->")
    assert first.outputs == {
        "outcome": "repaired",
        "reason": "every check is green with the patch, and red without it",
        "pull-request": str(pull.number),
        "branch": branch,
        "iterations": "1",
        "dollars": first.outputs["dollars"],
        "trail": "selfrepair-out",
        "chain-head": first.outputs["chain-head"],
    }
    assert first.outputs["chain-head"] in pull.body and first.outputs["chain-head"] in comment.body
    assert f"{scene.github.server_url}/octo/e2e/pull/{pull.number}" in first.summary
    place = checked_out(scene, branch, tmp_path / "clone")
    assert (place / "greeting.py").read_bytes() == FIXED
    assert repositories.text(place, "diff", "--name-only", "origin/work") == "greeting.py"
    done = subprocess.run([sys.executable, "-m", "unittest"], cwd=place, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    commit = scene.github.branches[branch]
    second = scene.act()
    assert (second.status, second.outputs["pull-request"]) == (0, str(pull.number)), second
    assert (scene.ours, scene.github.branches[branch]) == ([branch], commit)
    assert (len(scene.github.pulls), len(scene.github.comments)) == (1, 1)
    for secret in (TOKEN, KEY):
        assert all(secret not in told for told in (first.said, second.said, scene.asked, scene.talk))


def test_pytest_with_set_up_and_a_second_turn(make: Make) -> None:
    """The environment is set up over the network once; the first patch is not enough, and the model is told so."""
    test = b"from greeting import greet\n\ndef test_greets():\n    assert greet('Ada') == 'Hello, Ada'\n"
    wrong = edits({**COMMA, "new": "'Hello; '"})
    scene = make(
        wrong,
        edits(COMMA),
        files={"greeting.py": FILES["greeting.py"], "test_greeting.py": test},
        steps=("python3 -m pytest -q",),
    )
    ended = scene.act(setup="pip install --user pytest", max_iterations="2", patience="4")
    assert (ended.status, ended.outputs["outcome"], ended.outputs["iterations"]) == (0, "repaired", "2"), ended
    assert len(scene.api.requests) == 2 and "no better" in scene.github.comments[0].body
    assert scene.github.read(ended.outputs["branch"], "greeting.py") == FIXED


@pytest.mark.parametrize(("verb", "status"), [(["local", "--help"], 0), (["--version"], 0), (["mend"], 2), ([], 2)])
def test_help_version_and_unknown_verbs(verb: list[str], status: int) -> None:
    done = subprocess.run([sys.executable, "-m", "bot", *verb], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert ("usage: selfrepair" in done.stdout + done.stderr) != (verb == ["--version"])

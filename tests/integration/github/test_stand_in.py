"""The stand-in itself: real git over HTTP, and as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.github_forge import GitHubForge
from bot.domain.ports import Trigger
from tests.fakes.github.delivery import TOKEN, git


def test_real_git_clones_and_pushes_over_http(make: Any, tmp_path: Path) -> None:
    stand_in, _ = make()
    secret = b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    header = f"http.extraheader=AUTHORIZATION: basic {secret}"
    url = f"{stand_in.server_url}/octo/widgets.git"
    git(tmp_path, "-c", header, "clone", "-q", url, "clone")
    assert git(tmp_path / "clone", "rev-parse", "HEAD") == stand_in.branches["main"]
    git(tmp_path / "clone", "fetch", "-q", "--depth=1", str(tmp_path / "bare.git"), "feature")
    git(tmp_path / "clone", "-c", header, "fetch", "-q", "--depth=1", "origin", stand_in.branches["feature"])
    (tmp_path / "clone" / "big").write_bytes(os.urandom(3 << 20))  # over http.postBuffer: a chunked request
    git(tmp_path / "clone", "add", ".")
    git(tmp_path / "clone", "commit", "-q", "-m", "second")
    git(tmp_path / "clone", "-c", header, "push", "-q", "origin", "HEAD:pushed")
    assert stand_in.branches["pushed"] == git(tmp_path / "clone", "rev-parse", "HEAD")
    for bad in ([], ["-c", "http.extraheader=AUTHORIZATION: basic eDp5"]):
        with pytest.raises(subprocess.CalledProcessError):
            git(tmp_path, *bad, "ls-remote", url)


def test_stand_in_runs_as_a_process(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"red\n")
    seed = tmp_path / "seed.json"
    seed.write_text(json.dumps({"runs": [{"branch": "feature", "logs": {"tests": str(tmp_path / "log")}}]}))
    argv = [sys.executable, "-m", "tests.fakes.github", "--repo", str(bare), "--token", TOKEN, "--seed", str(seed)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout
        told = json.loads(child.stdout.readline())
        forge = GitHubForge(token=TOKEN, repository="octo/widgets", api_url=told["api_url"])
        asked = Trigger(repository="octo/widgets", event="workflow_dispatch", branch="", sha="", run_id=told["runs"][0])
        assert forge.failed_run(asked).logs == {"tests": b"red\n"}
        forge.close()
        child.communicate(timeout=30)
    assert child.returncode == 0

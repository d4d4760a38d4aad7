"""What people and repositories get wrong, each with the message that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.scene import FILES, REPAIR, Ended, Scene
from tests.fakes import ci_runner, repositories
from tests.fakes.messages_api import REFUSAL, edits

Make = Callable[..., Scene]

CHECK = "python3 check.py"
EMPTY = "the log is empty: there is nothing to read in it; re-run the failed jobs, or name the `checks` (--check)"
NOTHING = "the log shows no test, lint or type command that failed: name one with `checks` (--check)"


def told(ended: Ended, *problems: str) -> None:
    """Usage is exit status 2, each problem on a line of its own and an annotation of its own."""
    assert ended.status == 2, ended
    assert ended.stderr.splitlines() == [f"selfrepair: {problem}" for problem in problems]
    assert ended.stdout.splitlines() == [f"::error title=selfrepair::{problem}" for problem in problems]
    assert ended.outputs["outcome"] == "faulted" and "**What to do:**" in ended.summary


def test_event_that_is_not_json(make: Make) -> None:
    told(make().act(b"not JSON"), "the event file (GITHUB_EVENT_PATH) is not JSON")


def test_event_file_that_is_not_there(make: Make) -> None:
    why = "cannot be read (No such file or directory): selfrepair action runs inside a workflow"
    told(make().act(env={"GITHUB_EVENT_PATH": "/nowhere/event.json"}), f"GITHUB_EVENT_PATH '/nowhere/event.json' {why}")


def test_every_bad_input_is_named_at_once_and_before_the_network_is_asked(make: Make) -> None:
    scene = make()
    told(
        scene.act(b"[]", github_token="", max_iterations="many", fail_on="always", model="gpt"),
        "the event file (GITHUB_EVENT_PATH) does not hold a JSON object",
        "input: model: gpt must be anthropic:NAME or replay:FILE",
        "input: max-iterations: many must be an integer from 1 to 50",
        "input: fail-on: always must be one of fault, unrepaired, never",
        "there is no GitHub token: pass `github-token: ${{ github.token }}`",
    )
    assert scene.github.requests == []


def test_unknown_settings_in_the_repositorys_file(make: Make) -> None:
    scene = make()
    scene.github.commit("main", {".github/selfrepair.yml": b"modell: x\ncandidates: 99\n"})
    ended = scene.act()
    assert ended.status == 2 and len(ended.stderr.splitlines()) == 2, ended
    assert ".github/selfrepair.yml: unknown setting 'modell' (known: image, setup, " in ended.stderr
    assert ".github/selfrepair.yml: candidates: 99 must be an integer from 1 to 16\n" in ended.stderr


def test_no_key_for_the_model(make: Make) -> None:
    ended = make().act(anthropic_api_key="", base_url="")
    told(ended, "no key for the model: set ANTHROPIC_API_KEY (input `anthropic-api-key`), or give base-url")


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (b"", EMPTY),
        (b"\xef\xbb\xbf\r\n", EMPTY),
        (b"\xef\xbb\xbf2026-01-02T03:04:05.0000000Z ##[group]Run make all\n", NOTHING),
        (None, NOTHING),
    ],
)
def test_log_without_anything_to_run(make: Make, tmp_path: Path, log: bytes | None, reason: str) -> None:
    if log is None:
        log = ci_runner.job_log(tmp_path, ["echo all is well"], env={"PATH": "/usr/bin:/bin"})
    ended = make(log=log).act()
    assert (ended.status, ended.outputs["outcome"], ended.outputs["reason"]) == (0, "not_reproduced", reason), ended


def test_model_that_declines(make: Make) -> None:
    """It is not asked again for the same: only for what the next rung makes of it."""
    scene = make(REFUSAL)
    ended = scene.act(checks=CHECK, max_iterations="1")
    assert (ended.status, ended.outputs["outcome"], len(scene.api.requests)) == (0, "exhausted", 1), ended
    assert "iteration 1 of 1: rejected: the model declined to answer this request" in ended.stdout
    assert ended.outputs["reason"] == "the model declined to answer this request (budget: 1 of 1 iterations used)"
    assert "Name another `model`, or repair this one by hand." in ended.stdout


def test_edits_that_leave_the_rules_are_told_why(make: Make) -> None:
    """Binary file, symlink, escape: asked again at once with the reason; then a good edit is taken."""
    bad = [{"path": path, "old": "a", "new": "b"} for path in ("logo.bin", "link.py", "../../etc/passwd")]
    scene = make(*map(edits, bad), REPAIR, files={**FILES, "logo.bin": b"a\0\xff"}, links={"link.py": "greeting.py"})
    ended = scene.act(checks=CHECK, max_iterations="2")
    assert (ended.status, ended.outputs["outcome"]) == (0, "repaired"), ended
    asked = [request["messages"][0]["content"] for request in scene.api.requests]
    assert "logo.bin: binary file, it cannot be edited" in asked[1]
    assert "link.py: a link, a submodule or a file too large to edit; edit the file at its real path" in asked[2]
    assert "rejected: ../../etc/passwd: not a plain path inside the repository" in ended.stdout


def test_crlf_stays_and_so_do_files_that_are_not_utf8(make: Make) -> None:
    crlf = FILES["greeting.py"].replace(b"\n", b"\r\n")
    latin = b"# -*- coding: latin-1 -*-\nNAMES = ['Zo\xeb']\n"
    files = {**FILES, "greeting.py": crlf, "names.py": latin}
    scene = make(edits({"path": "names.py", "old": "NAMES", "new": "PEOPLE"}), REPAIR, files=files)
    ended = scene.act(checks=CHECK, max_iterations="1")
    assert (ended.status, ended.outputs["outcome"]) == (0, "repaired"), ended
    branch = ended.outputs["branch"]
    assert scene.github.read(branch, "greeting.py") == crlf.replace(b"'Hello '", b"'Hello, '")
    assert scene.github.read(branch, "names.py") == latin
    assert "names.py: not UTF-8 (byte 38), it cannot be edited" in scene.api.requests[1]["messages"][0]["content"]


def test_empty_repository(make: Make) -> None:
    scene = make()
    event = scene.event()
    for name in scene.github.branches:
        repositories.git(scene.place / "bare.git", "update-ref", "-d", f"refs/heads/{name}")
    ended = scene.act(event)
    assert (ended.status, ended.outputs["outcome"]) == (3, "faulted"), ended
    assert "Push a first commit to octo/e2e: it has none." in ended.stdout

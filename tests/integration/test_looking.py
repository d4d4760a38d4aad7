"""What can be looked at without a model, on the demo's repository and log."""

from __future__ import annotations

import argparse
import json
import shutil
import zipfile
from pathlib import Path

import pytest

from bot import cli
from bot.adapters.git_plumbing import first_commit
from bot.verbs.local import DEMO
from bot.verbs.looking import packet


def test_the_packet_shown_holds_no_secret_as_the_packet_sent_holds_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(DEMO / "repo", tmp_path / "repo")
    first_commit(tmp_path / "repo", "red")
    args = argparse.Namespace(log=DEMO / "ci.log", repo=tmp_path / "repo")
    shown = []
    for secret in ("", "discount"):
        assert packet(args, {"ANTHROPIC_API_KEY": secret}) == 0
        shown.append(capsys.readouterr().out)
    assert json.loads(shown[0])["failures"]
    assert "discount" in shown[0] and "discount" not in shown[1]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    shutil.copytree(DEMO / "repo", tmp_path / "repo")
    first_commit(tmp_path / "repo", "red")
    return tmp_path / "repo"


def shown(capsys: pytest.CaptureFixture[str], log: Path, repo: Path) -> dict:
    assert cli.main(["packet", str(log), "--repo", str(repo)]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    return json.loads(told.out)


SHAPE = {
    "iteration": int,
    "summary": str,
    "priority": str,
    "failures": list,
    "diagnostics": list,
    "changed": list,
    "instructions": str,
    "budget": dict,
    "history": list,
}
"""The public shape of DESIGN 3: fields may be added, none renamed."""


def test_the_packet_has_the_public_shape(capsys: pytest.CaptureFixture[str], repo: Path) -> None:
    told = shown(capsys, DEMO / "ci.log", repo)
    assert {key: type(told[key]) for key in SHAPE} == SHAPE
    assert set(told) - set(SHAPE) <= {"blocked", "spans", "aside", "omitted"}
    for failure in told["failures"]:
        assert set(failure) >= {"test", "file", "line", "assertion", "message", "expected", "actual"}
    for diagnostic in told["diagnostics"]:
        assert set(diagnostic) >= {"file", "message"}
    assert set(told["failures"][1]["span"]) == {"file", "start", "end", "source"}


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_the_legs_of_a_run_make_one_packet(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, repo: Path, form: str
) -> None:
    """What one job's log says, said once; and by how many of the legs."""
    red = (DEMO / "ci.log").read_bytes()
    members = {"0_ci (3.12).txt": red, "1_ci (3.13).txt": red, "2_ci (3.14).txt": b"", "ci (3.12)/1_Set up.txt": b""}
    if form == "zip":
        log = tmp_path / "logs.zip"
        with zipfile.ZipFile(log, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
    else:
        log = tmp_path / "logs"
        for name, content in members.items():
            (log / name).parent.mkdir(parents=True, exist_ok=True)
            (log / name).write_bytes(content)
    told, single = shown(capsys, log, repo), shown(capsys, DEMO / "ci.log", repo)
    legs = [each.pop("legs") for each in [*told["failures"], *told["diagnostics"]]]
    assert legs and all(leg == {"failing": 2, "of": 2, "names": ["ci (3.12)", "ci (3.13)"]} for leg in legs)
    assert told["summary"] == single["summary"]
    assert [f["test"] for f in told["failures"]] == [f["test"] for f in single["failures"]]

"""What can be looked at without a model, on the demo's repository and log."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import pytest

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

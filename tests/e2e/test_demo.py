"""The demo, as `make demo` runs it without a key: recorded replies, everything else real."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_demo_repairs_the_bundled_repository_and_shows_packet_history_patch_and_pull_request(tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "bot", "demo", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    wanted = ["recorded from a real model's run", "packet.json", "history.md", "pull-request.md", "branch: selfrepair/"]
    assert [text for text in wanted if text not in done.stdout] == []
    git = ["git", "-C", str(out / "repo")]
    branch = subprocess.run([*git, "branch", "--list", "selfrepair/*", "--format=%(refname:short)"], **TEXT).stdout
    changed = subprocess.run([*git, "diff", "--name-only", "main", branch.strip()], **TEXT).stdout.split()
    assert changed
    assert all(path.startswith("shop/") for path in changed)


TEXT = {"capture_output": True, "text": True, "check": True}

"""Repairs tests/repos/SET with a real model, one after another, and prints what came of it as Markdown.

python scripts/local-trial.py URL OUT [SET]   (resumable: a repository with an outcome in OUT is not run again)
SET: `local`, ten repositories that can be repaired, or `impossible`, twelve whose one red test contradicts the rest.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def main(url: str, out: Path, name: str = "local") -> int:
    """Run what has no result yet, then print the table and every history."""
    repos = sorted((ROOT / "tests" / "repos" / name).iterdir())
    for repo in repos:
        if not (out / repo.name / "out" / "trail" / "outcome.json").exists():
            _run(repo, out / repo.name, url)
    rows = [(repo.name, _outcome(out / repo.name)) for repo in repos]
    print("| repository | outcome | turns | model calls | tokens in / out | seconds | held out |")
    print("|---|---|---|---|---|---|---|")
    for name, outcome in rows:
        spend, turns = outcome["spend"], [a for a in outcome["attempts"] if a["iteration"]]
        tokens = f"{spend['input_tokens']:,} / {spend['output_tokens']:,}"
        cells = (name, outcome["kind"], len(turns), spend["model_calls"], tokens, round(outcome["seconds"]))
        print("|", " | ".join(str(cell) for cell in cells), "|", outcome["held_out"], "|")
    for name, outcome in rows:
        print(f"\n{name}: {outcome['kind']} ({outcome['reason']})")
        for attempt in outcome["attempts"]:
            print(f"- turn {attempt['iteration']}, {attempt['strategy']}: {attempt['verdict']}: {attempt['reason']}")
    return 0


def _run(repo: Path, place: Path, url: str) -> None:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(repo, place / "repo")
    git = ["git", "-C", str(place / "repo"), "-c", "user.name=trial", "-c", "user.email=trial@localhost"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "as found"]):
        subprocess.run([*git, *arguments], check=True)
    model = ["--model", "anthropic:qwen2.5-coder-1.5b", "--base-url", url, "--candidates", "3"]
    checks = ["--setup", "pip install -r requirements-dev.txt", "--check", "pytest"]
    command = [sys.executable, "-m", "bot", "local", "--repo", str(place / "repo"), "--out", str(place / "out")]
    print(f"{repo.name} ...", file=sys.stderr, flush=True)
    subprocess.run([*command, *checks, *model], cwd=ROOT, check=False, stdout=sys.stderr)


def _outcome(place: Path) -> dict[str, Any]:
    """The run's end, with its turns from the history."""
    trail = place / "out" / "trail"
    turns = [json.loads(line) for line in (trail / "history.jsonl").read_text().splitlines()]
    return {**json.loads((trail / "outcome.json").read_text()), "attempts": turns}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]))

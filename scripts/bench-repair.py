"""What a repair costs beside the model and the checks: the bundled demo, replayed, so that the model takes no time.

Usage: python scripts/bench-repair.py (after `make gvisor`). Exit status 1 when a target is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TURN_S, PROCESS_MB = 0.5, 200
"""Targets: seconds of a turn that are neither model nor sandbox, and the peak memory of the action's own process."""


def main() -> int:
    """Run the demo in a process of its own and read its trail."""
    with tempfile.TemporaryDirectory() as folder:
        out, log = Path(folder) / "out", Path(folder) / "log"
        with log.open("wb") as said:
            demo = subprocess.Popen([sys.executable, "-m", "bot", "demo", "--out", str(out)], stdout=said)
            _, status, used = os.wait4(demo.pid, 0)
        if status:
            sys.stdout.write(log.read_text())
            return 1
        attempts = [json.loads(line) for line in (out / "trail" / "history.jsonl").read_text().splitlines()]
    turns = [attempt for attempt in attempts if attempt["iteration"] > 0]
    for turn in turns:
        checks = sum(report["duration_ms"] for report in turn["reports"]) / 1000
        told = f"sandbox {turn['spend']['sandbox_seconds']:.2f} s (commands {checks:.2f} s, two at a time)"
        sys.stdout.write(f"turn {turn['iteration']}: {told}, own {own(turn):.2f} s\n")
    slowest = max(own(turn) for turn in turns)
    peak = used.ru_maxrss / 1024
    sys.stdout.write(f"neither model nor sandbox: at most {slowest:.2f} s a turn (target {TURN_S})\n")
    sys.stdout.write(f"peak memory of the process: {peak:.0f} MB (target {PROCESS_MB})\n")
    return 0 if slowest <= TURN_S and peak <= PROCESS_MB else 1


def own(turn: dict[str, Any]) -> float:
    """Seconds that were neither model nor sandbox: a replayed model takes none."""
    return float(turn["seconds"] - turn["spend"]["sandbox_seconds"])


if __name__ == "__main__":
    sys.exit(main())

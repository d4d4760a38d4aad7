"""`make score-logs`: what the log reader scores on the corpus, per tool, and how small the packets are; 1 below a target.

The handed scorer (score.py) is the judge; the targets are those of issue 3. Tokens are `bot.packets.tokens`: UTF-8 bytes
over three, of the packet's JSON and of the raw log alike, so that the ratio does not depend on the estimate.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bot.domain.fitness import Evaluation
from bot.logs import read_job
from bot.packets import build, tokens

CORPUS = Path(__file__).parent
DEMO = CORPUS.parents[1] / "bot" / "demo"
LARGEST = 2000
"""Tokens of a packet by default."""

FEWEST = 100
"""Facts of one kind that a tool must show to be held to a target alone: below, one miss is more than one in a hundred."""

Row = tuple[str, tuple[str, str], float]
FAILURE_ROWS: Sequence[Row] = (
    ("line", ("line", "line_n"), 0.98),
    ("assertion", ("ass", "ass_n"), 0.95),
    ("exp+act", ("exp", "exp_n"), 0.90),
)
WHOLE = 0.99
"""Precision and recall of failures and of diagnostics."""


def folders() -> tuple[list[Path], list[Path]]:
    """The handed set, and the corpora of our own making."""
    found = sorted({path.parent for path in CORPUS.glob("*/*.truth.json")})
    return [f for f in found if f.name == "handed"], [f for f in found if f.name != "handed"]


def scored(places: Sequence[Path]) -> dict[str, Mapping[str, Counter[str]]]:
    """Counts of the handed scorer over some folders: kind -> tool -> what."""
    total: dict[str, dict[str, Counter[str]]] = {"failures": {}, "diagnostics": {}, "step": {"step": Counter()}}
    for place in places:
        with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
            scorer = [sys.executable, str(CORPUS / "score.py"), "--json", out.name, str(place)]
            subprocess.run([*scorer, sys.executable, str(CORPUS / "parse.py")], stdout=subprocess.DEVNULL, check=True)
            told = json.load(out)
        for kind in ("failures", "diagnostics"):
            for tool, counts in told[kind].items():
                total[kind].setdefault(tool, Counter()).update(counts)
        total["step"]["step"].update(told["step"])
    return total


def share(part: int, of: int) -> str:
    return f"{100 * part / of:6.1f}" if of else "     -"


def table(name: str, counts: Mapping[str, Mapping[str, Counter[str]]]) -> tuple[list[str], list[str]]:
    """The rows of one corpus, and the targets that it misses."""
    lines = [f"{name:16} cases  truth  precision recall   line  assert exp+act"]
    missed: list[str] = []
    for kind in ("failures", "diagnostics"):
        tools = counts[kind]
        for tool in [*sorted(tools), f"all {kind}"]:
            n = tools[tool] if tool in tools else sum(tools.values(), Counter())
            facts = [share(n[a], n[b]) for _, (a, b), _ in FAILURE_ROWS] if kind == "failures" else []
            numbers = "  ".join([share(n["tp"], n["tp"] + n["fp"]), share(n["tp"], n["truth"]), *facts])
            lines.append(f"{tool:16} {'':5} {n['truth']:6}     {numbers}")
            fewest = FEWEST if tool in tools else 1
            missed += [f"{name}: {tool}: {what}" for what in _below(n, kind, fewest)]
    step = counts["step"]["step"]
    lines.append(f"{'failing step':16} {step['n']:5} {'':6}     {share(step['ok'], step['n'])}")
    if step["ok"] < step["n"] or step["broken"]:
        missed.append(f"{name}: failing step {step['ok']} of {step['n']}, {step['broken']} broken answers")
    return lines, missed


def _below(n: Counter[str], kind: str, fewest: int) -> Iterator[str]:
    for what, part, of in (("precision", n["tp"], n["tp"] + n["fp"]), ("recall", n["tp"], n["truth"])):
        if n["truth"] >= fewest and part < WHOLE * of:
            yield f"{kind} {what} {share(part, of).strip()} below {100 * WHOLE:.0f}"
    for what, (part_name, of_name), bar in FAILURE_ROWS:
        if n[of_name] >= fewest and n[part_name] < bar * n[of_name]:
            yield f"{what} {share(n[part_name], n[of_name]).strip()} below {100 * bar:.0f}"


def size(log: Path, repo: Path | None = None) -> tuple[int, int] | None:
    """Tokens of the packet and of the raw log; None for a log that gives nothing to tell."""
    raw = log.read_bytes()
    reports = tuple(step.report for step in read_job([raw]).steps if step.report)
    files = {p.relative_to(repo).as_posix(): p.read_bytes() for p in repo.rglob("*") if p.is_file()} if repo else {}
    told = build(
        Evaluation(reports=reports), iteration=1, max_iterations=5, read=files.get, paths=frozenset(files)
    ).as_json()
    if not (told["failures"] or told["diagnostics"] or told.get("blocked")):
        return None
    return tokens(json.dumps(told, ensure_ascii=False)), tokens(raw.decode("utf-8", "replace"))


def sizes(name: str, found: Sequence[tuple[int, int]]) -> str:
    """Median and worst of the packets, of the logs, and of the packets' share of the logs."""
    packets, logs = [p for p, _ in found], [r for _, r in found]
    ratios = [p / r for p, r in found]
    return (
        f"{name}: {len(found)} packets, tokens median {statistics.median(packets):.0f}, worst {max(packets)}; raw logs "
        f"median {statistics.median(logs):.0f}, worst {max(logs)}; packet/log median {statistics.median(ratios):.2f}, "
        f"worst {max(ratios):.2f}; over all {sum(packets) / sum(logs):.3f}"
    )


def main() -> int:
    """Print everything; 1 when a target is missed."""
    missed: list[str] = []
    for name, places in zip(("handed", "own"), folders(), strict=True):
        lines, below = table(name, scored(places))
        missed += below
        print("\n".join(lines), end="\n\n")
    found = [told for log in sorted(CORPUS.glob("*/*.log")) if (told := size(log))]
    print(sizes("corpus (no checkout, so no source excerpts)", found))
    told = size(DEMO / "ci.log", DEMO / "repo")
    assert told, "the demo's log is red"
    print(sizes("demo (with its checkout)", [told]))
    if max(packet for packet, _ in [*found, told]) > LARGEST:
        missed.append(f"a packet is above {LARGEST} tokens")
    print("\n".join(f"missed: {each}" for each in missed) or "\nevery target of issue 3 is met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The corpus: logs with the truth beside them; the bars of quality are asserted per tool, not in the mean."""

import collections
import json
from pathlib import Path

import pytest

from bot.logs import as_schema, read_job
from tests.corpus import score

CORPUS = Path(__file__).parents[2] / "corpus"
CASES = sorted(path for path in CORPUS.glob("*/*.truth.json"))


def parsed(truth_path):
    log = truth_path.with_name(truth_path.name.replace(".truth.json", ".log"))
    return as_schema(read_job([log.read_bytes()]))


def counted(kind, truths, got, optional=()):
    """(tool -> Counter) of what was told, found, and told right."""
    tally = collections.defaultdict(collections.Counter)
    matched, used = score.match(truths, got) if kind == "failures" else score.match_diags(truths, got)
    for i, truth in enumerate(truths):
        tool = truth.get("framework") or truth["tool"]
        tally[tool]["truth"] += 1
        if i in matched:
            hit = matched[i][0] if kind == "failures" else matched[i]
            tally[tool]["hit"] += 1
            if kind == "failures":
                facts(tally[tool], truth, got[hit])
    names = [score.norm_id(name) for name in optional]
    for i, row in enumerate(got):
        if i not in used and not any(score.norm_id(row.get("id")) == name for name in names):
            tool = truths[0].get("framework") or truths[0]["tool"] if truths else row.get("framework") or row["tool"]
            tally[tool]["spurious"] += 1
    return tally


def facts(tally, truth, got):
    places = {(truth["file"], truth["line"]), (truth["crash_file"], truth["crash_line"])}
    if {line for _, line in places} != {None}:
        tally["lines"] += 1
        shown = got["line"] if got["line"] is not None else got["crash_line"]
        tally["line"] += shown is not None and shown in {line for _, line in places}
    if truth["assertion"]:
        tally["assertions"] += 1
        wanted = {score.norm_assert(truth["assertion"]), score.norm_assert(truth["message"])}
        tally["assertion"] += bool({score.norm_assert(got["assertion"]), score.norm_assert(got["message"])} & wanted)
    if truth["expected"] is not None:
        tally["pairs"] += 1
        tally["pair"] += score.norm_val(got["expected"]) == score.norm_val(truth["expected"])
    tally["outcome"] += got["outcome"] == truth["outcome"]


@pytest.fixture(scope="module")
def tallies():
    total = collections.defaultdict(collections.Counter)
    steps = []
    for path in CASES:
        truth = json.loads(path.read_text(encoding="utf-8"))
        got = parsed(path)
        for kind in ("failures", "diagnostics"):
            for tool, counts in counted(kind, truth[kind], got[kind], truth["optional_ids"]).items():
                total[tool].update(counts)
        if got["failing_step"] != truth["failing_step"]:
            steps.append((path.name, got["failing_step"], truth["failing_step"]))
    return total, steps


def test_the_failing_step_is_named_right_in_every_case(tallies):
    assert tallies[1] == []


def test_precision_and_recall_of_every_tool_are_at_the_bar(tallies):
    low = {}
    for tool, n in tallies[0].items():
        if not n["truth"]:
            continue
        recall, precision = n["hit"] / n["truth"], n["hit"] / max(1, n["hit"] + n["spurious"])
        if min(recall, precision) < 0.99:
            low[tool] = (round(precision, 4), round(recall, 4))
    assert low == {}


@pytest.mark.parametrize(
    ("of", "right", "bar"), [("lines", "line", 0.98), ("assertions", "assertion", 0.95), ("pairs", "pair", 0.90)]
)
def test_what_is_told_of_a_failure_is_right(tallies, of, right, bar):
    shares = {t: n[right] / n[of] for t, n in tallies[0].items() if n[of] >= 5}
    assert {tool: share for tool, share in shares.items() if share < bar} == {}

"""The same job, got at in three ways, reads the same."""

import re
from pathlib import Path
from zlib import crc32

import pytest

from bot.logs import as_schema, read_job

CORPUS = Path(__file__).parents[2] / "corpus"
LOGS = [
    path
    for path in sorted(CORPUS.glob("*/*.log"))
    if crc32(path.name.encode()) % 6 == 0  # the same ones, whatever else joins the corpus
    and b"Z ##[group]Run " in path.read_bytes()
    and b"\tRun " not in path.read_bytes()[:20_000]
]
CUT = [path for path in LOGS if crc32(path.name.encode()) % 18 == 12]
IDS = [f"{path.parent.name}-{path.stem}" for path in LOGS]


def seen(log):
    read = as_schema(read_job([log]))
    return {key: read[key] for key in ("failing_step", "exit_code", "command", "failures", "diagnostics")}


def as_gh_prints(log):
    """`gh run view --log`: job and step before each line."""
    step, out = "Set up job", []
    for line in log.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if found := re.match(rb"\S+Z ##\[group\](Run [^\r]*)", line):
            step = found.group(1).decode("utf-8", "replace")
        out.append(b"tests (3.12)\t" + step.encode() + b"\t" + line if line else line)
    return b"\n".join(out)


def as_pasted(log):
    """Copied from the web page: no timestamps, colours or `##[...]`."""
    out = []
    for line in log.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text = re.sub(rb"\x1b\[[0-9;]*m", b"", re.sub(rb"^\d{4}-\d\d-\d\dT[\d:.]+Z ", b"", line))
        if not text.startswith(b"##[endgroup]"):
            text = text.replace(b"##[group]", b"").replace(b"##[error]", b"Error: ")
            out.append(text.replace(b"##[warning]", b"Warning: "))
    return b"\n".join(out)


@pytest.mark.parametrize("path", LOGS, ids=IDS)
def test_gh_run_view_reads_like_the_raw_log(path):
    log = path.read_bytes()
    assert seen(as_gh_prints(log)) == seen(log)


@pytest.mark.parametrize("path", LOGS, ids=IDS)
def test_text_from_the_web_page_reads_like_the_raw_log(path):
    log = path.read_bytes()
    assert seen(as_pasted(log)) == seen(log)


@pytest.mark.parametrize("path", LOGS, ids=IDS)
def test_line_endings_change_nothing(path):
    log = path.read_bytes().replace(b"\r\n", b"\n")
    assert seen(log.replace(b"\n", b"\r\n")) == seen(log)


@pytest.mark.parametrize("path", CUT, ids=lambda path: path.stem)
def test_a_log_cut_anywhere_tells_no_test_that_the_whole_does_not(path):
    """Cut at a line's end, a log may tell less (the name without its file, too), never something else."""
    log = path.read_bytes()
    whole = as_schema(read_job([log]))
    known = {failure["id"] for failure in whole["failures"]}
    known |= {test.partition("::")[2] for test in known}
    lines = log.split(b"\n")
    for share in (0.5, 0.7, 0.9, 0.97):
        cut = as_schema(read_job([b"\n".join(lines[: int(len(lines) * share)])]))
        assert {failure["id"] for failure in cut["failures"]} - known == set()

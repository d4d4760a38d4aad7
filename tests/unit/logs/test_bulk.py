"""Most lines are passed over many at a time: what is found must be what reading line by line finds."""

import re
from pathlib import Path

import pytest

from bot.logs import PARSERS, as_schema, read_job
from bot.logs.clean import blocks, plain, plain_block
from bot.logs.table import wanted

LOGS = sorted((Path(__file__).parents[2] / "corpus").glob("*/*.log"))
ALL = wanted(frozenset(PARSERS))


@pytest.mark.parametrize("path", LOGS[::4], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_log_in_one_piece_reads_like_its_lines(path):
    log = path.read_bytes()
    assert read_job([log]) == read_job(line for line in log.splitlines(keepends=True))


def test_a_search_in_a_block_finds_the_lines_that_fit_alone():
    for path in LOGS:
        for block in blocks([path.read_bytes()]):
            texts = [re.sub(r"^\S+Z ", "", line) for line in block.split("\n")]
            found = {match.start() for match in ALL.block.finditer("\n" + "\n".join(texts))}
            at = 0
            for text in texts:
                assert (at in found) == bool(ALL.line.match(text)), text
                at += len(text) + 1


def test_patterns_have_no_groups_of_their_own():
    """Which formats want a line is told from the groups of one pattern made of all of them."""
    patterns = {pattern for form in PARSERS.values() for pattern in form.parser.patterns}
    assert [pattern for pattern in patterns if re.compile(pattern).groups] == []


def test_escapes_of_a_block_end_with_their_line():
    text = "a \x1b]8;;link\nb \x1b[\nc [31mred[0m\n[31mnot\x1b[1;32m x\x1b"
    assert plain_block(text) == "\n".join(map(plain, text.split("\n")))


STAMP = b"2026-02-02T13:43:07.0001317Z "


@pytest.mark.parametrize(
    "line",
    [
        STAMP + b"\x1b[0m##[group]Run pytest\n" + STAMP + b"\x1b[36;1mpytest\x1b[0m",
        b"\x1b[1m" + STAMP + b"##[error]Process completed with exit code 7.",
        STAMP + b"[0m##[error]Process completed with exit code 7.",
        STAMP + b"\x1b[1mCleaning up orphan processes",
    ],
)
def test_what_a_program_prints_in_colour_is_none_of_the_runners_words(line):
    """Attack: escapes before a mark of the runner's, so that a reader that takes them out sees a step or its end."""
    head = STAMP + b"##[group]Run make\n" + STAMP + b"\x1b[36;1mmake\x1b[0m\n" + STAMP + b"##[endgroup]\n"
    tail = (
        STAMP + b"a.py:1:1: F401 'os' imported but unused\n" + STAMP + b"##[error]Process completed with exit code 2.\n"
    )
    lines = [*head.splitlines(keepends=True), line + b"\n", *tail.splitlines(keepends=True)]
    whole = as_schema(read_job([b"".join(lines)]))
    assert whole == as_schema(read_job(lines))
    assert (whole["failing_step"], whole["exit_code"], len(whole["diagnostics"])) == ("Run make", 2, 1)


def test_job_name_whose_fifth_letter_is_a_dash():
    """`gh run view --log` of a job such as unit-tests."""
    log = STAMP + b"##[group]Run false\n" + STAMP + b"\x1b[36;1mfalse\x1b[0m\n" + STAMP + b"##[endgroup]\n"
    log += STAMP + b"##[error]Process completed with exit code 1.\n"
    prefixed = b"".join(b"unit-tests\tRun false\t" + line for line in log.splitlines(keepends=True))
    assert as_schema(read_job([prefixed])) == as_schema(read_job([log]))

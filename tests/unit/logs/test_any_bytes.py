"""Whatever the bytes: no exception, the same answer for every way of cutting them into chunks, bounded memory."""

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.findings import Check, CheckKind
from bot.logs import PARSERS, as_schema, read_job, read_output
from bot.logs.clean import lines
from bot.logs.parser import Found

CORPUS = sorted((Path(__file__).parents[2] / "corpus").glob("*/*.log"))
SNIPPETS = [
    b"=================================== FAILURES ===================================",
    b"=========================== short test summary info ============================",
    b"============================= test session starts ==============================",
    b"____________________________________ test_a ____________________________________",
    b"----------------------------- Captured stdout call -----------------------------",
    b"FAILED tests/test_a.py::test_a[x] - assert 1 == 2",
    b"E       assert 1 == 2",
    b">       assert f() == 2",
    b"tests/test_a.py:4: AssertionError",
    b"1 failed in 0.1s",
    b"======================================================================",
    b"ERROR: test_a (m.C.test_a)",
    b"----------------------------------------------------------------------",
    b"Traceback (most recent call last):",
    b'  File "tests/test_a.py", line 99999999999999999999, in test_a',
    b"**********************************************************************",
    b'File "a.py", line 3, in a.f',
    b"src/a.py:99999999999999:1: F401 x",
    b"src/a.py:1:1: error: wrapped",
    b"##[group]Run pytest",
    b"\x1b[36;1mpytest\x1b[0m",
    b"##[endgroup]",
    b"##[error]Process completed with exit code 1.",
    b"::error file=a.py,line=3::no%0A",
    b'<?xml version="1.0"?><testsuites><testsuite>',
    b'<testcase classname="tests.test_a" name="x"><failure message="m">E  x</failure></testcase>',
    b"</testsuite></testsuites>",
    b'[{"filename": 3, "location": null, "message": [], "end_location": {}}]',
    b'{"results": [{"test_id": 1, "filename": 2}], "metrics": {}}',
    b"[",
    b"2026-02-02T13:43:07.0001317Z ",
    b"job\tstep\t2026-02-02T13:43:07.0001317Z ",
    b"Fatal Python error: Aborted",
    b"Current thread 0x1 (most recent call first):",
    b"/home/runner/work/a/a/src/a.js",
    b"  99999999999999:7  error  Parsing error: x",
    b"  2:7  error  Strange  a/rule",
    b"/w/a.js: line 2, col 99999999999, Error - x (rule)",
    b"/w/a.js:2:7: x [Error/rule]",
    b"\xe2\x9c\x96 3 problems (3 errors, 0 warnings)",
    b"Oops! Something went wrong! :(",
    b"[error] a.js: SyntaxError: x (1:99999999999)",
    b"[warn] a b.js",
    b"$ prettier -l src",
    b"src/a.ts(3,99999999999): error TS2322: x",
    b"src/a.ts:3:5 - error TS2322: x",
    b"ERROR in src/a.ts:3:5",
    b"TS2322: x",
    b'[{"filePath": 1, "messages": [{"line": "x"}, 3], "errorCount": 1}]',
    b"@a/b:test: src/a.py:3:1: F401 x",
    b"ImportError while loading conftest '/w/conftest.py'.",
    b"[doctest] x",
    b">> Issue: [B101:x] y",
    b"FAIL test/a.test.js (5 s)",
    b"PASS test/a.test.js",
    "  ● suite › test".encode(),
    "    ✕ test (3 ms)".encode(),
    b"    Expected: 1",
    b"    Received: 2",
    b"    > 12 |   expect(1).toBe(2);",
    b"      at Object.<anonymous> (test/a.test.js:12:99999999999999)",
    b"      at file:///a/b.mjs?t=1:1:1",
    "▶ suite".encode(),
    "  ✖ test (1.5ms)".encode(),
    "ℹ tests 3".encode(),
    "✖ failing tests:".encode(),
    b"test at a/b.test.js:3:99999999999999",
    "✖ test (1.5ms)".encode(),
    b"  Error [ERR_X]: no",
    b"    expected: 'x'",
    b"TAP version 13",
    b"# Subtest: test",
    b"not ok 1 - test # time=1.00ms {",
    b"  ---",
    b"  error: |-",
    b"  stack: |-",
    b"  ...",
    b"1..3",
    b"> mocha",
    b"  suite",
    "    ✔ test (3ms)".encode(),
    b"    1) test",
    b"  3 passing (5ms)",
    b"  1 failing",
    b"  1) suite",
    b"       test:",
    b"      + expected - actual",
    b"      -1",
    b" RUN  v3.2.4 /home/runner/work/a/a",
    " ❯ test/a.test.ts (2 tests | 1 failed) 5ms".encode(),
    "   × suite > test 5ms".encode(),
    "⎯⎯⎯ Failed Tests 1 ⎯⎯⎯".encode(),
    b" FAIL  |web| test/a.test.ts > suite > test",
    b"- Expected",
    b"+ Received",
    b"- 1",
    b"+ 2",
    " ❯ test/a.test.ts:3:99999999999999".encode(),
    "⎯⎯⎯⎯⎯⎯[1/1]⎯".encode(),
    b"      Tests  1 failed | 2 passed (3)",
    b"Tests:       1 failed, 99999999999999999999 passed, 3 total",
    b"\r",
    b"\x00\xff\xfe",
    b"\x1b[",
]
LINE = st.one_of(st.sampled_from(SNIPPETS), st.binary(max_size=40))
LOG = st.lists(st.builds(lambda parts: b"".join(parts), st.lists(LINE, max_size=3)), max_size=30).map(b"\n".join)
CHECK = Check(name="c", kind=CheckKind.CUSTOM, command="make")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(LOG)
def test_no_bytes_raise(log):
    as_schema(read_job([log]))
    read_output(log, check=CHECK, exit_code=1, events=log)


@settings(max_examples=100, deadline=None)
@given(LOG, st.integers(1, 40))
def test_chunk_boundaries_do_not_matter(log, size):
    chunks = [log[i : i + size] for i in range(0, len(log), size)]
    assert read_job(chunks) == read_job([log])


@pytest.mark.parametrize("name", sorted(PARSERS))
@settings(max_examples=40, deadline=None)
@given(log=LOG)
def test_no_line_raises_in_any_format(name, log):
    parser = PARSERS[name].parser()
    for line in lines([log]):
        parser.feed(line)
    assert isinstance(parser.found(1), Found)


@pytest.mark.parametrize("path", CORPUS[::9], ids=lambda path: path.stem)
def test_colours_change_nothing(path):
    """Escapes around every word that a terminal would colour: the findings are the same."""
    log = path.read_bytes()
    if b"\x1b[36;1m" not in log:
        return
    plain = as_schema(read_job([log]))
    coloured = b"\n".join(
        line.replace(b" Z ", b" Z \x1b[1m").replace(b"Error", b"\x1b[31mError\x1b[0m") + b"\x1b[0m\x1b[K"
        if b"##[" not in line and b"\x1b[36;1m" not in line and b"shell: " not in line
        else line
        for line in log.split(b"\n")
    )
    if b"\r" not in log:
        assert as_schema(read_job([coloured])) == plain


def endless(count):
    """A log of `count` failing tests in a verbose run, never held in memory as a whole."""
    yield b"============================= test session starts ==============================\n"
    for i in range(count):
        yield b"tests/test_a.py::test_number_%d PASSED                      [ 50%%]\n" % (i % 50_000)
        yield b"src/pkg/module_%d.py:3:1: F401 'x' imported but unused and %s\n" % (i, b"y" * 200)


def peak(count):
    tracemalloc.start()
    read_job(endless(count))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_log():
    assert peak(60_000) < peak(30_000) + 4_000_000


@pytest.mark.parametrize(
    "filler",
    [
        b"x",
        b"=",
        b"_",
        b"[",
        b"{",
        b'"',
        b" ",
        b":",
        b"a:1:",
        b"a(",
        b"a/",
        b" (a",
        b"error: a at ",
        b"prettier ",
        b"E",
        b"\x1b[",
        b"\r",
        b"\x00",
    ],
)
def test_a_line_of_a_megabyte_is_read_in_linear_time(filler):
    line = filler * (1_000_000 // len(filler))
    read_job([b"=================================== FAILURES ===================================\n", line, b"\n", line])

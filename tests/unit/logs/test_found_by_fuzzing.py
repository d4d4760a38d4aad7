"""Every fault that `make fuzz` found, by its name."""

import json
import time

import pytest

from bot.domain.findings import Check, CheckKind
from bot.logs import PARSERS, as_schema, read_job, read_output

CHECK = Check(name="check", kind=CheckKind.CUSTOM, command="make")


def found(text):
    return read_output(text.encode(), check=CHECK, exit_code=1).findings


def test_json_rows_without_a_file_are_none():
    rows = [
        {"description": "x", "fingerprint": "1", "location": {}},
        {"description": "y", "location": {"path": "a.py"}},
    ]
    assert [row.file for row in found(json.dumps(rows))] == ["a.py"]


@pytest.mark.parametrize("missing", ["file", "filename", "test_id"])
def test_json_rows_that_lack_what_the_first_one_has(missing):
    mypy = {"file": "a.py", "line": 1, "column": 0, "message": "m", "severity": "error", "code": "c", "hint": None}
    bandit = {"filename": "a.py", "test_id": "B101", "line_number": 1, "issue_text": "t"}
    rows = [mypy, {key: value for key, value in mypy.items() if key != missing}]
    results = [bandit, {key: value for key, value in bandit.items() if key != missing}]
    found(json.dumps(rows))
    found(json.dumps({"results": results, "metrics": {}}))


def test_xml_rows_of_ruff_without_a_file_are_none():
    case = '<testcase name="org.ruff.E401" line="1" column="1"><failure message="m">x</failure></testcase>'
    assert found(f'<?xml version="1.0"?>\n<testsuites><testsuite name="">{case}</testsuite></testsuites>') == ()


def test_negative_line_numbers_are_unknown():
    row = {"filename": "a.py", "location": {"row": -1, "column": -5}, "message": "m", "end_location": {}, "code": "E1"}
    (got,) = found(json.dumps([row]))
    assert (got.line, got.col) == (None, None)


@pytest.mark.parametrize("name", sorted(PARSERS))
@pytest.mark.parametrize(
    "unit", ["\u2029", "\xa0", " ", "\t", "a.py:", "1:", ": ", " - ", "[x] ", "(x) ", "a b ", "::x", "--> "]
)
def test_one_long_line_takes_linear_time(name, unit):
    """Twenty thousand characters cost any format less than a millisecond; quadratic patterns took seconds."""
    parser = PARSERS[name].parser()
    line = unit * (20_000 // len(unit))
    began = time.process_time()
    for start in ("", "a.py:1:", "FAILED ", "E   "):
        parser.feed(start + line)
    assert time.process_time() - began < 0.5


def test_empty_log():
    assert as_schema(read_job([b""]))["failures"] == []

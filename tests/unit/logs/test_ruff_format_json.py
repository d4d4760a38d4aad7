from __future__ import annotations

from bot.domain.findings import Check, CheckKind
from bot.logs import read_output

OUTPUT = b"""[
  {
    "code": "unformatted",
    "end_location": {"column": 42, "row": 10},
    "filename": "/workspace/shop/receipt.py",
    "location": {"column": 17, "row": 10},
    "message": "File would be reformatted"
  }
]"""


def test_ruff_format_obeying_our_json_setting_is_read_as_a_whole_file_complaint():
    check = Check(name="format", kind=CheckKind.LINT, command="ruff format --check", format="ruff-format")
    report = read_output(OUTPUT, check=check, exit_code=1)
    (found,) = report.findings
    assert (found.tool, found.file, found.line) == ("ruff-format", "shop/receipt.py", None)
    assert report.blocked is None

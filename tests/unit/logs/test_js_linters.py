"""What only looks like a row of eslint, prettier or tsc, and what the corpus' logs do not show."""

import pytest

from bot.domain.findings import Check, CheckKind
from bot.logs import read_output


def rows(text, command="make lint", exit_code=1):
    check = Check(name="lint", kind=CheckKind.LINT, command=command)
    report = read_output(text.encode(), check=check, exit_code=exit_code)
    return [(row.file, row.line, row.code) for row in report.findings]


def test_a_row_without_a_path_on_the_line_before_is_none():
    assert rows("src/a.js\nhello\n  2:7  error  Missing semicolon  semi\n") == []


def test_a_path_without_rows_is_none():
    assert rows("/w/src/a.js\n/w/src/b.js\n\n✖ 3 problems (3 errors, 0 warnings)\n") == []


def test_a_message_over_several_lines_does_not_swallow_the_next_file():
    text = (
        "/w/a.js\n  0:0  error  Parsing error: not in the project\nHowever, include it\n\n"
        "/w/b.js\n  3:1  error  Do not\n\n  1 | code\n> 3 | more  some/rule\n"
        "  4:1  warning  Unused eslint-disable directive\n\n"
        "✖ 3 problems (2 errors, 1 warning)\nsrc/c.py:1:1: F401 'x' imported but unused\n"
    )
    assert rows(text) == [
        ("/w/a.js", 0, None),
        ("/w/b.js", 3, "some/rule"),
        ("/w/b.js", 4, None),
        ("src/c.py", 1, "F401"),
    ]


def test_a_message_that_never_ends_gives_way():
    text = "/w/a.js\n  3:1  error  Do not\n" + "more\n" * 100 + "src/c.py:1:1: F401 'x' imported but unused\n"
    assert rows(text) == [("/w/a.js", 3, None), ("src/c.py", 1, "F401")]


def test_eslint_that_crashed_says_why():
    check = Check(name="lint", kind=CheckKind.LINT, command="npx eslint .")
    text = b"\nOops! Something went wrong! :(\n\nESLint: 9.1.0\n\nTypeError: x is not a function\n    at f (a.js:1:2)\n"
    report = read_output(text, check=check, exit_code=2)
    assert report.blocked == "eslint crashed: TypeError: x is not a function"


@pytest.mark.parametrize("text", ["[warn] src/a.js\n", "src/a.js\nsrc/b.js\n", "[error] a.js: SyntaxError: no (1:2)\n"])
def test_lines_like_prettiers_count_only_where_prettier_ran(text):
    assert rows(text) == []
    assert len(rows(text, "npx prettier -l src")) == text.count("\n")


def test_a_sentence_of_prettier_is_no_file():
    text = "Checking formatting...\n[warn] Ignored unknown option { x: 1 }.\n[warn] a b.js\n[warn] .prettierrc\n"
    assert rows(text) == [("a b.js", None, None), (".prettierrc", None, None)]


@pytest.mark.parametrize("command", ["npx prettier -w -l src", "npx prettier --check src", "npm run x"])
def test_paths_that_were_not_asked_for_are_no_findings(command):
    assert rows("src/a.js 20ms\nsrc/b.js\n", command) == []


def test_what_a_package_manager_says_after_the_list_is_no_file():
    text = "\n> a@1.0.0 fmt\n> prettier --list-different src\n\nsrc/a.js\nmy file.md\nnpm error path /w/package.json\n"
    assert rows(text, "npm run fmt") == [("src/a.js", None, None), ("my file.md", None, None)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("src/(shop)/[id]/a.tsx(3,5): error TS2322: x", ("src/(shop)/[id]/a.tsx", 3, "TS2322")),
        ("C:\\w\\a.ts(3,5): error TS2322: x", ("C:/w/a.ts", 3, "TS2322")),
        ("C:/w/a.ts:3:5 - warning TS6133: x", ("C:/w/a.ts", 3, "TS6133")),
        ("Error: src/a.ts:3:5 - error TS2322: x", ("src/a.ts", 3, "TS2322")),
        ("ERROR in src/a.ts:3:5\nTS2322: x", ("src/a.ts", 3, "TS2322")),
        ("[tsl] ERROR in /w/a.ts(3,5)\n      TS2322: x", ("/w/a.ts", 3, "TS2322")),
        ("./app/a.tsx:3:5\nType error: x", ("./app/a.tsx".removeprefix("./"), 3, None)),
        ("error TS5083: Cannot read file 'x'.", ("", None, "TS5083")),
    ],
)
def test_forms_of_tsc(line, found):
    assert rows(line + "\n\n  Type 'a' is not 'b'.\n", "npm run build") == [found]


def test_mixed_outputs_of_one_path_are_findings_of_several_packages():
    row = "src/a.ts(3,5): error TS2322: x\n"
    text = "packages/a types$ tsc\npackages/b types$ tsc\npackages/a types: " + row + "packages/b types: " + row
    assert rows(text) == [("src/a.ts", 3, "TS2322")] * 2


def test_a_log_level_is_no_stream():
    assert rows("Checking formatting...\n[error] a.js: SyntaxError: no (2:1)\n[error] > 2 | a\n[warn] b.js\n") == [
        ("a.js", 2, None),
        ("b.js", None, None),
    ]


def test_pre_commits_hook_lists_what_it_changed():
    text = (
        "prettier.................................................................Failed\n- hook id: prettier\n"
        "- files were modified by this hook\n\nREADME.md\ndocs/my notes.md\n\n"
        "check names..............................................................Failed\n- hook id: names\n"
        "- exit code: 1\n\nsrc/a.js\n"
    )
    assert rows(text, "pre-commit run --all-files") == [("README.md", None, None), ("docs/my notes.md", None, None)]


def test_paths_of_windows():
    text = "D:\\a\\w\\w\\src\\a.js\n  2:7  error  Missing semicolon  semi\n\n✖ 1 problem (1 error, 0 warnings)\n"
    text += "D:\\a\\w\\w\\src\\b.js: line 2, col 7, Error - Missing semicolon. (semi)\n\n1 problem\n"
    assert rows(text) == [("src/a.js", 2, "semi"), ("src/b.js", 2, "semi")]

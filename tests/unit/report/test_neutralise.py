"""Nothing that a hostile text holds gets through, checked with GitHub's own renderer."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from bot.redact import visible
from bot.report import neutralise as n
from tests.fakes.github_page import COMMIT_COMMAND, MENTION, REFERENCE, render

ATTACKS = [
    "@octocat and @github/security please",
    "a@b.example",
    "mail <x@y.example>",
    "fixes #1",
    "Closes octo/app#12",
    "GH-7",
    "resolves https://github.com/octo/app/issues/3",
    "www.evil.example",
    "http://evil.example",
    "<https://evil.example>",
    "[click](https://evil.example)",
    "![x](https://evil.example/pixel.png)",
    "[ref]: https://evil.example",
    "[ref]",
    "<!-- selfrepair:history -->",
    "<!--",
    "-->",
    "<img src=x onerror=alert(1)>",
    "<details><summary>x",
    "</details>",
    "</blockquote>",
    "<script>alert(1)</script>",
    "&lt;b&gt;",
    "&#64;octocat",
    "&commat;octocat",
    "\\@octocat",
    "\\",
    "```",
    "````",
    "~~~",
    "`",
    "``",
    "` ` `",
    "``` suggestion\nrm\n```",
    "| a | b |",
    "|-|-|",
    ":-:",
    "a\n:-:\n",
    "a\n===",
    "a\n---",
    "---",
    "***",
    "___",
    "# big",
    "- item",
    "+ item",
    "* item",
    "1. item",
    "2) item",
    "> quote",
    "    code",
    "\tcode",
    "- [ ] task",
    "**bold**",
    "_em_",
    "~~gone~~",
    "$x$",
    "[^1]",
    "[^1]: note",
    "[!NOTE]",
    ":smile:",
    "::set-output name=x::y",
    "::add-mask::x",
    "##[error]x",
    "  ::error::x",
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://e\x07x",
    "\x9b31m",
    "\u202eevil\u202c",
    "\u200b",
    "\u2066x\u2069",
    "\U000e0041",
    "\u2028",
    "\x00",
    "\r",
    "\r\n",
    "\x0b",
    "\x0c",
    "\ud800",
    "[skip ci]",
    "[ci skip]",
    "[no ci]",
    "skip-checks: true",
    "Co-authored-by: x <x@y>",
    "\n",
    "\n\n",
    " ",
    "\u3000",
    "\u00a0",
    "<",
    ">",
    "&",
    "]",
    "[",
    "(",
    ")",
    "!",
    "@",
    "#",
    "1",
    "x",
    "\u00e9",
    "fixes: #2",
    "fixes\u00a0#3",
]
TABLE = ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "code", "td", "code", "p", "em"]
hostile = st.lists(st.one_of(st.sampled_from(ATTACKS), st.text(max_size=4)), max_size=12).map("".join)


def harmless(markdown: str, allowed: set[str]) -> None:
    page = render(markdown)
    assert set(page.tags) <= allowed, page.html
    assert not page.attributes, page.html
    assert not page.comments
    assert not page.stray
    assert page.active == [], page.html


@given(hostile)
def test_prose_is_only_paragraphs(text: str) -> None:
    harmless(n.prose(text), {"p", "br", "code"})


@given(hostile)
@example("7")
@example("_em_www.evil.example")
@example("_GH-7")
def test_a_sentence_is_only_a_paragraph(text: str) -> None:
    harmless(n.sentence(text), {"p", "code"})


@given(hostile)
def test_a_quote_is_only_a_quote(text: str) -> None:
    markdown = f"Before\n\n{n.quote(text)}\n\nAfter"
    harmless(markdown, {"p", "br", "code", "blockquote"})
    assert render(markdown).html.rstrip().endswith("<p>After</p>")


@given(hostile)
def test_prose_shows_what_was_written(text: str) -> None:
    def letters(shown: str) -> str:
        return re.sub(r"[\s`]", "", shown.replace(n.GAP, "").replace("|", "¦"))

    assert letters(render(n.prose(text)).whole) == letters(visible(text))


@given(hostile, hostile)
def test_code_stays_in_its_span(text: str, other: str) -> None:
    page = render(f"Says {n.code(text)} and {n.code(other)}, *ours*")
    assert page.tags == ["p", "code", "code", "em"], page.html
    assert page.active == []
    assert page.code[0].replace(n.GAP, "").strip() == " ".join(visible(text).split()).replace("|", "¦")


@given(hostile, hostile)
def test_code_stays_in_its_table_cell(text: str, other: str) -> None:
    page = render(f"| a | b |\n|---|---|\n| {n.code(text)} | {n.code(other)} |\n\n*after*")
    assert page.tags == TABLE, page.html


@given(hostile)
def test_a_fence_cannot_be_left(text: str) -> None:
    page = render(f"Before\n\n{n.fence(text, 'diff')}\n\n*after*")
    assert page.tags == ["p", "pre", "code", "p", "em"], page.html
    assert page.code[0].rstrip("\n") == visible(text).rstrip("\n")


@given(hostile)
def test_a_fence_inside_a_foldable_cannot_close_it(text: str) -> None:
    page = render(f"<details>\n<summary>x</summary>\n\n{n.fence(text)}\n\n</details>\n\n*after*")
    assert page.tags == ["details", "summary", "pre", "code", "p", "em"], page.html
    assert not page.stray


@given(hostile)
def test_a_line_is_one_inert_line(text: str) -> None:
    shown = n.line(text)
    assert "\n" not in shown
    assert not COMMIT_COMMAND.search(shown)
    assert not MENTION.search(shown)
    assert not REFERENCE.search(shown)


@given(hostile)
def test_no_line_of_a_log_is_a_command(text: str) -> None:
    for each in n.log_safe(visible(text)).split("\n"):
        assert not each.lstrip().startswith("::")
        assert "##[" not in each


@given(hostile)
def test_hidden_characters_are_shown(text: str) -> None:
    shown = visible(text)
    assert not set(shown) & set("\u202e\u202c\u2066\u2069\u200b\u2028\x1b\x00\r\x9b\ud800\U000e0041")


def test_ordinary_text_stays_readable() -> None:
    assert n.prose("`parse_duration` drops the `unit`, see my_module.py") == (
        "`parse_duration` drops the `unit`, see my_module.py"
    )
    assert n.sentence("tests/test_d.py is protected") == "tests/test_d.py is protected."
    assert n.sentence("the budget is spent!") == "The budget is spent!"
    assert n.prose("Set x = 1 - 2 (see d.py:4), it's fine.") == "Set x = 1 - 2 (see d.py:4), it's fine."
    assert n.code("tests/test_d.py::test_units[5m-300]") == "`tests/test_d.py::test_units[5m-300]`"
    assert n.log_safe("tests/test_d.py::test_units") == "tests/test_d.py::test_units"


def test_what_is_left_out_is_said() -> None:
    assert n.clip("abcdef", 3) == "abc … (3 more characters)"
    assert n.fence("one\ntwo\nthree", limit=9).endswith(
        "one\ntwo\n```\n\n*4 more characters are in the run's artifact.*"
    )

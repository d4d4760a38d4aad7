"""Replies of every form, well and badly written, against small trees in memory."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.attempt import EditFormat, Reply
from bot.domain.patch import Hole, Patch, Refused, Rejected, apply
from bot.repair.draft import MAX_CHARACTERS, MAX_EDITS
from bot.repair.reply import parse

D = """\
import re

LIMIT = 3


def parse(text):
    return int(text[:-1])


class Clock:
    @property
    def now(self):
        return self._now + 1

    async def tick(self, n):
        self._now += n
        return 0

    class Face:
        def draw(self):
            return "x"
"""

TREE = {
    "src/d.py": D,
    "tests/test_d.py": "from d import parse\n\n\ndef test_a():\n    assert parse('5m') == 300\n",
    "README.md": "# d\n\n```python\nparse('5m')\n```\n",
}


def told(
    reply: Reply | str,
    tree: Mapping[str, str | bytes] = TREE,
    *,
    edit_format: EditFormat = EditFormat.FUNCTION,
    hole: Hole | None = None,
    near: tuple[str, ...] = ("src/d.py",),
) -> dict[str, str | None] | Rejected | Refused:
    """The files that a reply changes, as text, or why it changes none."""
    files = {path: text.encode() if isinstance(text, str) else text for path, text in tree.items()}
    answer = Reply(model="m", text=reply) if isinstance(reply, str) else reply
    proposal = parse(answer, read=files.get, edit_format=edit_format, paths=files.keys(), hole=hole, near=near)
    if not isinstance(proposal, Patch):
        return proposal
    touched = apply(proposal, files.get)
    assert not isinstance(touched, Rejected)
    return {path: None if content is None else content.decode() for path, content in touched.items()}


def tool(*edits: object, **more: object) -> Reply:
    return Reply(
        model="m", tool_name="propose_edits", tool_input={"rationale": "why", "edits": list(edits), **more},
        stop_reason="tool_use",
    )  # fmt: skip


def rejected(reply: Reply | str, **options: object) -> Rejected:
    result = told(reply, **options)  # type: ignore[arg-type]
    assert isinstance(result, Rejected), result
    return result


PARSED = D.replace("return int(text[:-1])", "return int(text[:-1]) * 60")


# -- how it ended -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stop", "rule"),
    [("refusal", "refusal"), ("max_tokens", "truncated"), ("model_context_window_exceeded", "truncated")],
)
def test_a_reply_that_stopped_short_is_never_used(stop: str, rule: str) -> None:
    whole = f"src/d.py\n```python\n{PARSED}```"
    assert rejected(Reply(model="m", text=whole, stop_reason=stop)).rule == rule


def test_the_test_may_be_called_wrong_by_tool_or_by_line() -> None:
    called = Reply(model="m", tool_name="test_contradicts_contract", tool_input={"reason": "doc says minutes"})
    assert told(called) == Refused(reason="doc says minutes")
    assert told("Hm.\n**TEST CONTRADICTS CONTRACT:** the doc says minutes\n") == Refused(reason="the doc says minutes")
    assert rejected(Reply(model="m", tool_name="test_contradicts_contract", tool_input={})).rule == "reply"


def test_code_counts_more_than_a_doubt() -> None:
    text = "TEST CONTRADICTS CONTRACT: perhaps\n```python\ndef parse(text):\n    return int(text[:-1]) * 60\n```"
    assert told(text) == {"src/d.py": PARSED}


@pytest.mark.parametrize("text", ["", "I cannot see any bug.", "```\n```", "```python\n```", "\n\n"])
def test_a_reply_without_an_edit_is_told_so(text: str) -> None:
    assert rejected(text).rule == "reply"


# -- the tool ---------------------------------------------------------------------------------------------------------


def test_edits_of_the_tool_apply_in_order() -> None:
    first = {"path": "src/d.py", "old": "return int(text[:-1])", "new": "n = int(text[:-1])\n    return n"}
    second = {"path": "src/d.py", "old": "    return n\n", "new": "    return n * 60\n"}
    result = told(tool(first, second))
    assert result == {"src/d.py": D.replace("return int(text[:-1])", "n = int(text[:-1])\n    return n * 60")}


def test_the_tool_creates_and_rewrites_files() -> None:
    result = told(tool({"path": "src/new.py", "content": "x = 1\n"}, {"path": "README.md", "content": "# new\n"}))
    assert result == {"src/new.py": "x = 1\n", "README.md": "# new\n"}


def test_edits_given_as_a_json_string_are_taken() -> None:
    edits = '[{"path": "README.md", "old": "# d", "new": "# e"}]'
    assert told(Reply(model="m", tool_name="propose_edits", tool_input={"edits": edits})) == {
        "README.md": TREE["README.md"].replace("# d", "# e")
    }


@pytest.mark.parametrize(
    "edits",
    [
        [], None, "x", [{}], [{"path": "src/d.py"}], [{"path": 3, "old": "a", "new": "b"}],
        [{"path": "src/d.py", "old": "import re"}], [{"path": "src/d.py", "old": "import re", "new": None}],
        [{"path": "src/d.py", "old": "import re", "new": "x", "content": "y"}], ["src/d.py"],
    ],
)  # fmt: skip
def test_a_tool_call_of_another_shape_is_rejected(edits: object) -> None:
    assert rejected(Reply(model="m", tool_name="propose_edits", tool_input={"edits": edits})).rule == "reply"


def test_an_unknown_tool_is_rejected() -> None:
    assert "propose_edits" in rejected(Reply(model="m", tool_name="bash", tool_input={"cmd": "ls"})).reason


def test_the_reason_says_how_often_or_what_is_nearest() -> None:
    twice = rejected(tool({"path": "src/d.py", "old": "return", "new": "yield"}))
    assert "occurs 4 times" in twice.reason
    near = rejected(tool({"path": "src/d.py", "old": "    return float(text[:-1])\n", "new": "x"}))
    assert "return int(text[:-1])" in near.reason
    assert "src/gone.py" in rejected(tool({"path": "src/gone.py", "old": "x", "new": "y"})).reason


@pytest.mark.parametrize(
    "old",
    [
        "    return int(text[:-1])   \n\n",
        "return int(text[:-1])",
        "def parse(text):\n  return int(text[:-1])".replace("  ", "    "),
        "def parse(text):  \r\n    return int(text[:-1])\r\n",
    ],
)
def test_blank_space_at_line_ends_does_not_matter(old: str) -> None:
    new = old.replace("[:-1])", "[:-1]) * 60")
    result = told(tool({"path": "src/d.py", "old": old, "new": new}))
    assert isinstance(result, dict)
    assert str(result["src/d.py"]).replace(" \n", "\n").split() == PARSED.split()


def test_a_uniform_indentation_is_put_right() -> None:
    old = "async def tick(self, n):\n    self._now += n\n    return 0"
    new = "async def tick(self, n):\n    self._now += n\n    if n:\n        return n\n    return 0"
    expected = D.replace("        return 0", "        if n:\n            return n\n        return 0")
    assert told(tool({"path": "src/d.py", "old": old, "new": new})) == {"src/d.py": expected}


def test_a_change_of_nothing_is_told_as_such() -> None:
    assert rejected(tool({"path": "src/d.py", "old": "import re", "new": "import re"})).rule == "unchanged"
    assert rejected(f"src/d.py\n```python\n{D}```").rule == "unchanged"
    assert rejected("```python\ndef parse(text):\n    return int(text[:-1])\n```").rule == "unchanged"
    there = tool({"path": "README.md", "old": "# d", "new": "# e"}, {"path": "README.md", "old": "# e", "new": "# d"})
    assert rejected(there).rule == "unchanged"


# -- paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/etc/passwd", "src/../../x.py", ".git/config", "src", "src/d.py/x.py"])
def test_where_nothing_can_be_written_is_told_first(path: str) -> None:
    for edit in ({"path": path, "content": "x"}, {"path": path, "old": "import re", "new": "x"}):
        assert rejected(tool(edit)).rule in ("path", "git", "symlink")


def test_a_slightly_different_path_is_understood() -> None:
    for path in ("./src/d.py", "a/src/d.py", "d.py"):
        assert isinstance(told(tool({"path": path, "old": "LIMIT = 3", "new": "LIMIT = 4"})), dict), path


def test_a_path_that_could_mean_two_files_is_not_guessed() -> None:
    tree = {"a/d.py": "x = 1\n", "b/d.py": "x = 1\n"}
    assert isinstance(told(tool({"path": "d.py", "old": "x = 1", "new": "x = 2"}), tree, near=()), Rejected)


# -- limits and strange files -----------------------------------------------------------------------------------------


def test_too_many_or_too_large_edits_are_rejected() -> None:
    many = [{"path": f"n{i}.py", "content": "x\n"} for i in range(MAX_EDITS + 1)]
    assert f"more than {MAX_EDITS}" in rejected(tool(*many)).reason
    large = {"path": "big.txt", "content": "x" * (MAX_CHARACTERS + 1)}
    assert "characters" in rejected(tool(large)).reason


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b"])
def test_files_that_are_not_text_are_left_alone(content: bytes) -> None:
    assert isinstance(told(tool({"path": "x.bin", "old": "a", "new": "b"}), {"x.bin": content}), Rejected)
    assert isinstance(told("x.py\n```python\ny = 1\n```", {"x.py": content}, near=("x.py",)), Rejected)
    assert isinstance(told(tool({"path": "x.bin", "content": "a"}), {"x.bin": content}), Rejected)


def test_text_that_cannot_be_encoded_is_rejected() -> None:
    assert isinstance(told(tool({"path": "x.py", "content": "a\ud800b"})), Rejected)
    assert isinstance(told(tool({"path": "x.py", "content": "a\0b"})), Rejected)


def test_line_ends_follow_the_file() -> None:
    windows = {"w.py": "a = 1\r\nb = 2\r\nc = 3\r\n"}
    edit = {"path": "w.py", "old": "a = 1\nb = 2", "new": "a = 1\nx = 0\nb = 2"}
    assert told(tool(edit), windows) == {"w.py": "a = 1\r\nx = 0\r\nb = 2\r\nc = 3\r\n"}
    mixed = {"w.py": "a = 1\r\nb = 2\nc = 3\r\n"}
    assert told(tool({"path": "w.py", "old": "b = 2", "new": "b = 9"}), mixed) == {"w.py": "a = 1\r\nb = 9\nc = 3\r\n"}
    assert told(tool({"path": "w.py", "old": "a = 1\nb = 2", "new": "a = 9\nb = 9"}), mixed) == {
        "w.py": "a = 9\nb = 9\nc = 3\r\n"
    }


def test_a_missing_final_line_end_stays_missing() -> None:
    tree = {"x.py": "a = 1\nb = 2"}
    assert told(tool({"path": "x.py", "old": "b = 2\n", "new": "b = 3\n"}), tree) == {"x.py": "a = 1\nb = 3"}


# -- search/replace blocks --------------------------------------------------------------------------------------------

BLOCK = "<<<<<<< SEARCH\n    return int(text[:-1])\n=======\n    return int(text[:-1]) * 60\n>>>>>>> REPLACE"


@pytest.mark.parametrize(
    "form",
    [
        "src/d.py\n{}",
        "The bug is here.\n\nsrc/d.py\n```python\n{}\n```\nDone.",
        "```python\nsrc/d.py\n{}\n```",
        "```src/d.py\n{}\n```",
        "### `src/d.py`\n\n{}",
        "**src/d.py**:\n{}",
        "path: src/d.py\n{}",
        "File: ./src/d.py\n```\n{}\n```",
        "{}",
        "d.py\n{}",
    ],
)
def test_blocks_name_their_file_in_many_ways(form: str) -> None:
    assert told(form.format(BLOCK)) == {"src/d.py": PARSED}
    assert told(form.format(BLOCK).replace("\n", "\r\n")) == {"src/d.py": PARSED}


def test_several_blocks_share_the_last_path() -> None:
    second = "<<<<<<< SEARCH\nLIMIT = 3\n=======\nLIMIT = 4\n>>>>>>> REPLACE"
    assert told(f"src/d.py\n{BLOCK}\n\n{second}") == {"src/d.py": PARSED.replace("LIMIT = 3", "LIMIT = 4")}


def test_an_empty_search_writes_the_file() -> None:
    assert told("src/n.py\n<<<<<<< SEARCH\n=======\nx = 1\n>>>>>>> REPLACE") == {"src/n.py": "x = 1\n"}


def test_an_empty_replacement_removes_the_lines() -> None:
    text = "src/d.py\n<<<<<<< SEARCH\nLIMIT = 3\n=======\n>>>>>>> REPLACE"
    assert told(text) == {"src/d.py": D.replace("LIMIT = 3\n", "")}


@pytest.mark.parametrize(
    "text",
    [
        "src/d.py\n<<<<<<< SEARCH\nLIMIT = 3\n>>>>>>> REPLACE",
        "src/d.py\n<<<<<<< SEARCH\nLIMIT = 3\n=======\nLIMIT = 4\n",
        "src/d.py\n<<<<<<< SEARCH\nLIMIT = 3\n=======\n=======\nLIMIT = 4\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\nnowhere\n=======\nx\n>>>>>>> REPLACE",
    ],
)
def test_broken_blocks_are_rejected(text: str) -> None:
    assert rejected(text).rule == "reply"


# -- diffs ------------------------------------------------------------------------------------------------------------

DIFF = """\
--- a/src/d.py
+++ b/src/d.py
@@ -60,9 +61,2 @@ def parse
 def parse(text):
-    return int(text[:-1])
+    return int(text[:-1]) * 60
"""


@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "Here:\n```diff\n{}```\nDone.",
        "```diff\ndiff --git a/src/d.py b/src/d.py\nindex 1..2 100644\n{}```",
        "```\n{}\n\n```",
    ],
)
def test_diffs_apply_by_their_text(form: str) -> None:
    assert told(form.format(DIFF)) == {"src/d.py": PARSED}
    assert told(form.format(DIFF.replace("@@ -60,9 +61,2 @@ def parse", "@@ ... @@"))) == {"src/d.py": PARSED}


def test_a_diff_may_have_blank_context_and_several_hunks() -> None:
    diff = DIFF.replace(" def parse(text):", "\n\n def parse(text):") + "@@ -3 +3 @@\n-LIMIT = 3\n+LIMIT = 4\n"
    assert told(diff) == {"src/d.py": PARSED.replace("LIMIT = 3", "LIMIT = 4")}


def test_a_diff_creates_and_removes_files() -> None:
    diff = "--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+x = 1\n--- a/README.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-# d\n"
    assert told(diff) == {"n.py": "x = 1\n", "README.md": None}


@pytest.mark.parametrize(
    "diff",
    [
        "--- a/src/d.py\n+++ b/src/d.py\n@@ -1 +1 @@\n-nowhere\n+x\n",
        "+++ b/src/d.py\n@@ -1 +1 @@\n-LIMIT = 3\n+x\n",
        "--- a/src/d.py\n+++ b/src/e.py\n@@ -1 +1 @@\n-LIMIT = 3\n+x\n",
        "--- a/src/d.py\n+++ b/src/d.py\n@@ -1 +1 @@\n",
    ],
)
def test_diffs_that_do_not_apply_are_rejected(diff: str) -> None:
    assert rejected(diff).rule == "reply"


# -- whole files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        "src/d.py\n```python\n{}```",
        "`src/d.py`:\n\n```py\n{}```\nThat is all.",
        "```python src/d.py\n{}```",
        "```python title=src/d.py\n{}```",
        "```python:src/d.py\n{}```",
        "```python\n# src/d.py\n{}```",
        "~~~python\n# File: src/d.py\n{}~~~",
        "src/d.py\n```python\n{}",
    ],
)
def test_a_whole_file_is_taken_with_its_path(form: str) -> None:
    assert told(form.format(PARSED)) == {"src/d.py": PARSED}


def test_fences_inside_a_file_do_not_end_it() -> None:
    new = TREE["README.md"].replace("# d", "# e")
    assert told(f"README.md\n```markdown\n{new}```") == {"README.md": new}
    assert told(f"README.md\n````\n{new}````") == {"README.md": new}


def test_a_whole_file_without_an_unused_import_is_a_whole_file() -> None:
    new = D.replace("import re\n\n", "")
    assert told(f"src/d.py\n```python\n{new}```") == {"src/d.py": new}


def test_a_new_file_needs_its_path() -> None:
    assert told("src/n.py\n```python\nx = 1\n```") == {"src/n.py": "x = 1\n"}
    assert rejected("```python\nx = 1\n```").rule == "reply"


def test_a_fragment_never_replaces_a_file() -> None:
    tree = {"a.js": "".join(f"let x{i} = {i};\n" for i in range(20))}
    assert isinstance(told("a.js\n```js\nlet x1 = 2;\n```", tree, near=("a.js",)), Rejected)
    assert "neither" in rejected("src/d.py\n```python\nLIMIT = 4\n```").reason


@pytest.mark.parametrize(
    "line", ["# ... rest of the code", "# existing code here", "# ...", "# (rest of the class unchanged)"]
)
def test_left_out_code_is_not_deleted(line: str) -> None:
    text = f"```python\ndef parse(text):\n    {line}\n    return 60\n```"
    assert "in full" in rejected(text).reason
    assert "in full" in rejected(f"src/d.py\n{text}").reason


# -- whole functions --------------------------------------------------------------------------------------------------


def test_a_function_is_put_where_it_belongs() -> None:
    assert told("Sure!\n```python\ndef parse(text):\n    return int(text[:-1]) * 60\n```") == {"src/d.py": PARSED}


def test_a_function_with_the_path_of_its_file_keeps_the_rest() -> None:
    assert told("src/d.py\n```python\ndef parse(text):\n    return int(text[:-1]) * 60\n```") == {"src/d.py": PARSED}


@pytest.mark.parametrize("indent", ["", "    "])
@pytest.mark.parametrize("decorated", [True, False])
def test_a_method_keeps_its_place_and_its_decorators(indent: str, decorated: bool) -> None:
    lines = [*(["@property"] if decorated else []), "def now(self):", "    return self._now"]
    body = "\n".join(indent + line for line in lines)
    assert told(f"```python\n{body}\n```") == {"src/d.py": D.replace("self._now + 1", "self._now")}


def test_a_docstring_left_out_stays() -> None:
    documented = 'class A:\n    def f(self, x):\n        """Twice x.\n\n        Never None."""\n        return x\n'
    reply = "```python\ndef f(self, x):\n  return x * 2\n```"
    expected = documented.replace('    """Twice', '  """Twice').replace("        return x", "      return x * 2")
    assert told(reply, {"a.py": documented}, near=("a.py",)) == {"a.py": expected}
    compile(expected, "a.py", "exec")
    own = '```python\ndef f(self, x):\n    "Double."\n    return x * 2\n```'
    assert "Twice" not in told(own, {"a.py": documented}, near=("a.py",))["a.py"]
    beside = "```python\ndef f(self, x): return x * 2\n```"
    assert "Twice" not in told(beside, {"a.py": documented}, near=("a.py",))["a.py"]


def test_a_function_without_its_docstring_but_with_the_old_body_is_no_change() -> None:
    tree = {"a.py": 'def f(x):\n    """Twice x."""\n    return x\n'}
    assert rejected("```python\ndef f(x):\n    return x\n```", tree=tree, near=("a.py",)).rule == "unchanged"


def test_async_and_nested_functions_are_found() -> None:
    tick = "async def tick(self, n):\n    self._now += n\n    return n"
    assert told(f"```python\n{tick}\n```") == {"src/d.py": D.replace("return 0", "return n")}
    assert told('```python\ndef draw(self):\n    return "y"\n```') == {"src/d.py": D.replace('"x"', '"y"')}


def test_a_class_given_in_part_keeps_its_other_methods() -> None:
    part = "class Clock:\n    async def tick(self, n):\n        self._now += n\n        return n"
    assert told(f"```python\n{part}\n```") == {"src/d.py": D.replace("return 0", "return n")}


def test_a_new_method_goes_to_the_end_of_its_class() -> None:
    tree = {"c.py": "class A:\n    def a(self):\n        return 1\n\n\nX = 1\n"}
    part = "class A:\n    def b(self):\n        return 2"
    expected = "class A:\n    def a(self):\n        return 1\n\n    def b(self):\n        return 2\n\n\nX = 1\n"
    assert told(f"```python\n{part}\n```", tree, near=("c.py",)) == {"c.py": expected}
    both = "def a(self):\n    return self.b()\n\ndef b(self):\n    return 2"
    assert told(f"```python\n{both}\n```", tree, near=("c.py",)) == {
        "c.py": expected.replace("return 1", "return self.b()")
    }


def test_imports_helpers_and_constants_come_along_examples_do_not() -> None:
    text = """```python
import math
import re

UNITS = {"m": 60}

def _unit(c):
    return UNITS[c]

def parse(text):
    return int(text[:-1]) * math.floor(_unit(text[-1]))

print(parse("5m"))
assert parse("5m") == 300
if __name__ == "__main__":
    parse("1m")
```"""
    result = told(text)
    assert isinstance(result, dict)
    new = str(result["src/d.py"])
    assert new.startswith("import re\nimport math\n")
    assert new.index("UNITS =") < new.index("def parse(")
    assert new.index("def _unit") < new.index("def parse(")
    assert "print(" not in new and "__main__" not in new
    scope: dict[str, object] = {}
    exec(compile(new, "d.py", "exec"), scope)
    assert scope["parse"]("5m") == 300  # type: ignore[operator]


def test_the_value_of_a_long_string_is_not_shifted() -> None:
    tree = {"s.py": "class A:\n    def f(self):\n        return 1\n"}
    new = 'def f(self):\n    """Doc.\n\n    More.\n    """\n    return """a\n  b\nc"""'
    result = told(f"```python\n{new}\n```", tree, near=("s.py",))
    assert isinstance(result, dict)
    scope: dict[str, type] = {}
    exec(str(result["s.py"]), scope)
    assert scope["A"]().f() == "a\n  b\nc"


def test_a_function_that_stands_twice_is_not_guessed() -> None:
    tree = {"a.py": "def f():\n    return 1\n", "b.py": "def f():\n    return 1\n"}
    text = "```python\ndef f():\n    return 2\n```"
    assert "several places" in str(told(text, tree, near=("a.py", "b.py")))
    assert told(f"b.py\n{text}", tree, near=("a.py", "b.py")) == {"b.py": "def f():\n    return 2\n"}


def test_a_function_nobody_has_is_told_with_those_there_are() -> None:
    reason = rejected("```python\ndef prase(text):\n    return 1\n```").reason
    assert "prase" in reason and "parse" in reason


def test_a_file_that_does_not_parse_can_be_repaired_by_function() -> None:
    broken = {"x.py": "import re\n\n\ndef f(a)\n    return a\n\n\ndef g():\n    return 1\n"}
    assert told("```python\ndef f(a):\n    return a\n```", broken, near=("x.py",)) == {
        "x.py": broken["x.py"].replace("def f(a)\n", "def f(a):\n")
    }


def test_code_that_does_not_parse_is_told_where() -> None:
    assert "line 1" in rejected("```python\ndef parse(text)\n    return 1\n```").reason


def test_without_told_files_every_python_file_is_searched() -> None:
    assert told("```python\ndef parse(text):\n    return int(text[:-1]) * 60\n```", near=()) == {"src/d.py": PARSED}


# -- holes ------------------------------------------------------------------------------------------------------------

H = "def f(xs):\n    out = []\n    for x in xs:\n        if x > 0:\n            out.append(x)\n    return out\n"
HOLE = Hole(
    file="h.py",
    start=4,
    end=5,
    before_source="def f(xs):\n    out = []\n    for x in xs:\n        <<<HOLE>>>\n    return out",
    removed="        if x > 0:\n            out.append(x)",
)
FILLED = H.replace("x > 0", "x >= 0")


@pytest.mark.parametrize(
    "text",
    [
        "```python\n        if x >= 0:\n            out.append(x)\n```",
        "```python\nif x >= 0:\n    out.append(x)\n```",
        "```\nif x >= 0:\n            out.append(x)\n```",
        "if x >= 0:\n    out.append(x)",
        "Here:\n```python\n\n  if x >= 0:\n      out.append(x)\n\n```\nThis works.",
        "```python\n    for x in xs:\n        if x >= 0:\n            out.append(x)\n    return out\n```",
        f"```python\n{FILLED}```",
        f"```python\nimport re\n\n{FILLED}\nprint(f([1]))\n```",
        "h.py\n<<<<<<< SEARCH\n        if x > 0:\n=======\n        if x >= 0:\n>>>>>>> REPLACE",
    ],
)
def test_a_hole_is_filled_at_its_indentation(text: str) -> None:
    result = told(text, {"h.py": H}, edit_format=EditFormat.HOLE, hole=HOLE, near=("h.py",))
    assert isinstance(result, dict), result
    scope: dict[str, object] = {}
    exec(str(result["h.py"]), scope)
    assert scope["f"]([-1, 0, 1]) == [0, 1]  # type: ignore[operator]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I think it is fine.",
        "```python\n<<<HOLE>>>\n```",
        "```python\nif x >= 0\n```",
        "```\na = 1\n```\n```\na = 2\n```",
    ],
)
def test_what_does_not_fit_the_hole_is_rejected(text: str) -> None:
    assert rejected(text, tree={"h.py": H}, edit_format=EditFormat.HOLE, hole=HOLE, near=("h.py",)).rule == "reply"


def test_a_hole_filled_as_before_is_unchanged() -> None:
    text = f"```python\n{HOLE.removed}\n```"
    result = rejected(text, tree={"h.py": H}, edit_format=EditFormat.HOLE, hole=HOLE, near=("h.py",))
    assert result.rule == "unchanged"


def test_a_json_answer_in_text_is_taken_like_the_tool() -> None:
    text = '```json\n{"rationale": "r", "edits": [{"path": "src/d.py", "old": "LIMIT = 3", "new": "LIMIT = 4"}]}\n```'
    assert told(text) == {"src/d.py": D.replace("LIMIT = 3", "LIMIT = 4")}


PIECES = st.sampled_from(
    [
        "src/d.py\n", "```python\n", "```\n", "````\n", "~~~\n", "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n",
        "--- a/src/d.py\n", "+++ b/src/d.py\n", "@@ -1 +1 @@\n", "-LIMIT = 3\n", "+LIMIT = 4\n", " import re\n",
        "\\ No newline\n", "def parse(text):\n", "    return 1\n", "class Clock:\n", "@property\n", "LIMIT = 3\n",
        "async def tick(self, n):\n", "TEST CONTRADICTS CONTRACT: x\n", "<<<HOLE>>>\n", '{"edits": [', "]}\n", "\r\n",
        '"""', "import os\n", "\x0c\n", "# ...\n",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(text=st.lists(PIECES | st.text(max_size=20), max_size=14).map("".join), hole=st.booleans())
def test_no_text_breaks_the_reader(text: str, hole: bool) -> None:
    form = EditFormat.HOLE if hole else EditFormat.FUNCTION
    told(text, {**TREE, "h.py": H}, edit_format=form, hole=HOLE if hole else None, near=("src/d.py", "h.py"))


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["src/d.py", "LIMIT = 3"])
EDITS = st.dictionaries(st.sampled_from(["path", "old", "new", "content"]), VALUES | st.lists(VALUES, max_size=2))


@settings(max_examples=200, deadline=None)
@given(edits=st.lists(EDITS | VALUES, max_size=4) | VALUES)
def test_no_tool_input_breaks_the_reader(edits: object) -> None:
    told(Reply(model="m", tool_name="propose_edits", tool_input={"edits": edits}))

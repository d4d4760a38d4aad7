"""Reads the forms in which models write edits as text: blocks, diffs, fenced files and functions, all untrusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from bot.domain.patch import Rejected


@dataclass(frozen=True, kw_only=True)
class Replace:
    """Put `new` where `old` stands; `path` None: in whichever told file it stands."""

    path: str | None
    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Write:
    """The whole content of a file, None to remove it."""

    path: str
    content: str | None


@dataclass(frozen=True, kw_only=True)
class Code:
    """A fenced block: a whole file or whole functions; what it is shows when it meets the file."""

    path: str | None
    code: str


Raw: TypeAlias = Replace | Write | Code

_SEARCH = re.compile(r"^[ \t]*<{5,9}[ \t]*(?:SEARCH|ORIGINAL|OLD)?[ \t]*$", re.IGNORECASE)
_DIVIDE = re.compile(r"^[ \t]*={5,9}[ \t]*$")
_REPLACE = re.compile(r"^[ \t]*>{5,9}[ \t]*(?:REPLACE|UPDATED|NEW)?[ \t]*$", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?P<ticks>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)$")
_PATH = re.compile(r"[\w@+.-]+(?:/[\w@+.-]+)*")
_LABEL = re.compile(r"^(?:file ?name|file ?path|file|path)\b[ \t]*[:=]?[ \t]*", re.IGNORECASE)
_HUNK = re.compile(r"^@@.*$")
_ELIDED = re.compile(
    r"^[ \t]*(?:#|//|--)[ \t]*(?:\.\.\.|…)|"
    r"^[ \t]*(?:#|//|--).{0,20}\b(?:rest of|remaining|existing|other|unchanged|same as before)\b.{0,20}\b"
    r"(?:code|function|method|class|file|unchanged|same)",
    re.IGNORECASE | re.MULTILINE,
)


def elided(code: str) -> str | None:
    """A line that stands for code left out ("# ... rest of the code"), which would delete that code if applied."""
    match = _ELIDED.search(code)
    return match.group().strip() if match else None


def tool_edits(tool_input: Mapping[str, object]) -> list[Raw] | Rejected:
    """The edits of a `propose_edits` call; strictness of the schema is not relied upon (gateways ignore it)."""
    edits = tool_input.get("edits")
    if isinstance(edits, str):
        edits = _json(edits)
    if not isinstance(edits, list) or not edits:
        return Rejected(reason="propose_edits needs a non-empty list `edits` of {path, old, new} or {path, content}")
    raw = [_tool_edit(edit) for edit in edits]
    bad = next((r for r in raw if isinstance(r, Rejected)), None)
    return bad or [r for r in raw if not isinstance(r, Rejected)]


def text_edits(text: str) -> list[Raw] | Rejected:
    """The edits of a plain-text reply, in the first form that it uses: blocks, diff, JSON, fenced code."""
    lines = text.split("\n")
    if any(_SEARCH.match(line) for line in lines):
        return _blocks(lines)
    if any(_HUNK.match(line) for line in lines) and re.search(r"^\+\+\+ ", text, re.MULTILINE):
        return _diff(lines)
    found = list(fences(lines))
    whole = _json(found[0].code if len(found) == 1 else text)
    if isinstance(whole, dict) and "edits" in whole:
        return tool_edits(whole)
    if not found:
        return Rejected(reason="no edit found in the reply; answer in exactly the form asked for")
    return list(found)


def fences(lines: Sequence[str]) -> Iterator[Code]:
    """Fenced blocks with the path written on the fence, on the line before it, or in a comment on its first line."""
    index = 0
    while index < len(lines):
        opened = _FENCE.match(lines[index])
        if not opened:
            index += 1
            continue
        end = _closing(lines, index, opened["ticks"])
        body = lines[index + 1 : end]
        path = _info_path(opened["info"]) or _line_path(_before(lines, index))
        if path is None and body and (comment := re.match(r"^(?:#|//|--|<!--)[ \t]*(.+?)[ \t]*(?:-->)?$", body[0])):
            path = _line_path(comment[1])
            body = body[1:] if path else body
        yield Code(path=path, code="\n".join(body))
        index = end + 1


def _closing(lines: Sequence[str], start: int, ticks: str) -> int:
    """The line that closes the fence: blocks inside (opened with a language) are passed over; else the end."""
    depth = 0
    for index in range(start + 1, len(lines)):
        match = _FENCE.match(lines[index])
        if not match or match["ticks"][0] != ticks[0] or len(match["ticks"]) < len(ticks):
            continue
        if match["info"].strip():
            depth += 1
        elif depth == 0:
            return index
        else:
            depth -= 1
    return len(lines)


def _info_path(info: str) -> str | None:
    words = re.split(r"[ \t]+|(?<=\w):(?=\S)", info.strip())
    named = [re.sub(r"^(?:title|file|path|filename)=", "", word).strip("\"'{}") for word in words]
    return next((n for n in named if _PATH.fullmatch(n) and ("." in n or "/" in n)), None)


def _line_path(line: str) -> str | None:
    """The path that a line consists of, without its decoration ("### `src/d.py`:", "File: d.py")."""
    bare = _LABEL.sub("", line.strip().strip("#*`: \t")).strip("*`: \t\"'")
    return bare if _PATH.fullmatch(bare) and ("/" in bare or re.search(r"\w\.\w", bare)) else None


def _before(lines: Sequence[str], index: int) -> str:
    return next((line for line in reversed(lines[max(0, index - 3) : index]) if line.strip()), "")


def _tool_edit(edit: object) -> Raw | Rejected:
    if not isinstance(edit, dict) or not isinstance(path := edit.get("path"), str):
        return Rejected(reason="each edit needs a `path` and either `old` and `new`, or `content`")
    old, new, content = edit.get("old"), edit.get("new"), edit.get("content")
    if isinstance(content, str) and old is None and new is None:
        return Write(path=path, content=content)
    if isinstance(old, str) and isinstance(new, str) and content is None:
        return Replace(path=path, old=old, new=new) if old else Write(path=path, content=new)
    return Rejected(reason=f"edit of {path[:200]}: give either `old` and `new`, or `content`, as strings")


def _blocks(lines: Sequence[str]) -> list[Raw] | Rejected:
    raw: list[Raw] = []
    path: str | None = None
    index = 0
    while index < len(lines):
        if not _SEARCH.match(lines[index]):
            index += 1
            continue
        end = next((i for i in range(index + 1, len(lines)) if _REPLACE.match(lines[i])), None)
        dividers = [i for i in range(index + 1, end or 0) if _DIVIDE.match(lines[i])]
        if end is None or len(dividers) != 1:
            form = "one line <<<<<<< SEARCH, one line =======, one line >>>>>>> REPLACE"
            return Rejected(reason=f"a search/replace block is broken: it needs {form}")
        path = _block_path(lines, index) or path
        middle = dividers[0]
        raw.append(_block(path, lines[index + 1 : middle], lines[middle + 1 : end]))
        index = end + 1
    return raw


def _block(path: str | None, old: Sequence[str], new: Sequence[str]) -> Raw:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    if path is not None and not before.strip():
        return Write(path=path, content=after)
    return Replace(path=path, old=before, new=after)


def _block_path(lines: Sequence[str], index: int) -> str | None:
    """The path above a block: on the fence, or on one of the two lines before the block or its fence."""
    for line in reversed(lines[max(0, index - 3) : index]):
        if _REPLACE.match(line):
            return None
        fence = _FENCE.match(line)
        found = _info_path(fence["info"]) if fence else _line_path(line)
        if found:
            return found
    return None


def _diff(lines: Sequence[str]) -> list[Raw] | Rejected:
    try:
        patches = PatchSet("\n".join(_recounted(lines)) + "\n")
    except UnidiffParseError as error:
        return Rejected(reason=f"the unified diff does not parse ({error}); use search/replace blocks instead")
    raw: list[Raw] = []
    for file in patches:
        if file.is_rename:
            return Rejected(reason=f"{file.path}: a diff may not rename files")
        raw.extend(_file_edits(file))
    return raw or Rejected(reason="the unified diff holds no hunk")


def _file_edits(file: PatchedFile) -> Iterator[Raw]:
    if file.is_removed_file:
        yield Write(path=file.path, content=None)
        return
    for hunk in file:
        old = "".join(str(line.value) for line in hunk if line.is_context or line.is_removed)
        new = "".join(str(line.value) for line in hunk if line.is_context or line.is_added)
        if file.is_added_file:
            yield Write(path=file.path, content=new)
        else:
            yield Replace(path=file.path, old=old, new=new)


def _recounted(lines: Sequence[str]) -> Iterator[str]:
    """The diff alone, with each hunk's counts made true: models count badly, and places are found by text anyway."""
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.startswith(("--- ", "+++ ")):
            yield line.rstrip()
        elif _HUNK.match(line):
            body = list(_hunk_body(lines[index + 1 :]))
            yield f"@@ -1,{_count(body, '-')} +1,{_count(body, '+')} @@"
            yield from body
            index += len(body)
        index += 1


def _hunk_body(lines: Sequence[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        ahead = next((after for after in lines[index + 1 :] if after), "")
        next_file = line.startswith("--- ") and ahead.startswith("+++ ")
        if _HUNK.match(line) or next_file or (line or ahead)[:1] not in ("+", "-", " ", "\\"):
            return
        if line or not ahead.startswith("--- "):
            yield line or " "


def _count(body: Sequence[str], sign: str) -> int:
    return sum(line[0] in (sign, " ") for line in body)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None

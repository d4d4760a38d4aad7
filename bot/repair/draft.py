"""Makes exact edits of what a model wrote: each is located in the state that the ones before it left."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Collection
from dataclasses import dataclass, field

from bot.domain.patch import Edit, Patch, Read, Rejected, apply
from bot.repair.functions import shifted
from bot.repair.oracle import unwritable

MAX_EDITS = 40
MAX_CHARACTERS = 200_000


@dataclass(kw_only=True)
class Draft:
    """Edits of one reply, applied one after the other; the first problem ends it."""

    source: Read
    known: Collection[str]
    edits: list[Edit] = field(default_factory=list)
    files: dict[str, bytes | None] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        """The file as the edits so far leave it."""
        return self.files[path] if path in self.files else self.source(path)

    def text(self, path: str) -> str | None:
        """The file as text with LF line ends (mixed ones stay); None when it is absent or not UTF-8."""
        content = self.read(path)
        if content is None or b"\0" in content:
            return None
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            return None
        return text if _mixed(text) else text.replace("\r\n", "\n")

    def replace(self, path: str, old: str, new: str) -> Rejected | None:
        """Replace the one place where `old` stands, tolerating blank space at line ends and a uniform indentation."""
        if bad := unwritable(path, self.known, self.source):
            return bad
        text = self.text(path)
        if text is None:
            return self._add(Edit(path=path, old=old, new=new))
        place = locate(text, old.replace("\r\n", "\n"), new.replace("\r\n", "\n"))
        if isinstance(place, str):
            return Rejected(reason=f"{path}: {place}")
        start, end, new = place
        return self.splice(path, start, end, new)

    def splice(self, path: str, start: int, end: int, new: str) -> Rejected | None:
        """Replace characters `start:end` of the file's text by `new`."""
        text = self.text(path) or ""
        if _mixed(text):
            return self._add(Edit(path=path, old=None, new=text[:start] + new + text[end:]))
        lead, tail = _context(text, start, end)
        return self._add(Edit(path=path, old=lead + text[start:end] + tail, new=lead + new + tail))

    def write(self, path: str, content: str | None) -> Rejected | None:
        """Give the file its whole content; None removes it."""
        if bad := unwritable(path, self.known, self.source):
            return bad
        if self.read(path) is not None and self.text(path) is None:
            return Rejected(reason=f"{path}: not a UTF-8 text file, it cannot be edited")
        return self._add(Edit(path=path, old=None, new=content))

    def finish(self, rationale: str) -> Patch | Rejected:
        """The patch, unless it changes nothing."""
        if all(self.source(path) == content for path, content in self.files.items()):
            return Rejected(
                reason="the reply leaves the code exactly as it is, and that code is wrong: change what it computes",
                rule="unchanged",
            )
        return Patch(edits=tuple(self.edits), rationale=rationale)

    def _add(self, edit: Edit) -> Rejected | None:
        if edit.new is not None and not _encodable(edit.new):
            return Rejected(reason=f"{edit.path}: the new text holds a NUL or a lone surrogate")
        if len(self.edits) >= MAX_EDITS:
            return Rejected(reason=f"more than {MAX_EDITS} edits; change only what the failing checks need")
        if sum(len(e.new or "") for e in [*self.edits, edit]) > MAX_CHARACTERS:
            return Rejected(reason=f"more than {MAX_CHARACTERS} characters; change only what the failing checks need")
        result = apply(Patch(edits=(edit,)), self.read)
        if isinstance(result, Rejected):
            return result
        self.edits.append(edit)
        self.files.update(result)
        return None


def locate(text: str, old: str, new: str) -> tuple[int, int, str] | str:
    """Where the one occurrence of `old` stands in `text`, as character offsets, with `new` made to fit there.

    Exact text wins; else whole lines that differ in trailing blank space only; else whole lines that are shifted by
    the same indentation throughout, `new` then being shifted along. Never a guess: none or several is a reason.
    """
    if not old.strip():
        return "the text to replace is empty; quote the lines to replace, or give the whole file"
    if text.count(old) == 1:
        start = text.index(old)
        return start, start + len(old), new
    if text.count(old) > 1:
        return f"the text to replace occurs {text.count(old)} times; quote more lines around it"
    return _by_lines(text, old, new)


def _by_lines(text: str, old: str, new: str) -> tuple[int, int, str] | str:
    lines, wanted = text.splitlines(keepends=True), old.strip("\n").split("\n")
    bare = [line.rstrip() for line in lines]
    starts = [i for i in range(len(lines) - len(wanted) + 1) if bare[i].strip() == wanted[0].strip()]
    for shape in (_rstripped, _dedented):
        aim = shape(wanted)
        hits = [i for i in starts if shape(bare[i : i + len(wanted)]) == aim]
        if len(hits) > 1:
            return f"the text to replace occurs {len(hits)} times; quote more lines around it"
        if hits:
            return _fitted(lines, hits[0], wanted, new)
    return _nearest(bare, wanted)


def _fitted(lines: list[str], at: int, wanted: list[str], new: str) -> tuple[int, int, str]:
    found = lines[at : at + len(wanted)]
    shift = _margin([line.rstrip() for line in found]) - _margin(wanted)
    body = new.strip("\n").split("\n") if new.strip("\n") else []
    if shift:
        body = [shifted(line, shift) for line in body]
    start = sum(len(line) for line in lines[:at])
    ending = "\n" if found[-1].endswith("\n") else ""
    return start, start + sum(len(line) for line in found), "\n".join(body) + (ending if body else "")


def _nearest(bare: list[str], wanted: list[str]) -> str:
    """The reason that helps: the text around the line that is most like the longest one wanted."""
    longest = max(range(len(wanted)), key=lambda i: len(wanted[i].strip()))
    near = difflib.get_close_matches(wanted[longest].strip(), [line.strip() for line in bare[:5000]], n=1)
    hint = ""
    if near:
        start = max(0, [line.strip() for line in bare].index(near[0]) - longest)
        hint = "; the nearest text there is:\n" + "\n".join(bare[start : start + min(len(wanted), 20)])
    return f"the text to replace does not occur; quote it exactly as it stands in the file{hint}"


def _rstripped(lines: list[str]) -> list[str]:
    return [line.rstrip() for line in lines]


def _dedented(lines: list[str]) -> list[str]:
    return textwrap.dedent("\n".join(line.rstrip() for line in lines)).split("\n")


def _margin(lines: list[str]) -> int:
    return min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)


def _context(text: str, start: int, end: int) -> tuple[str, str]:
    """Whole lines before and after `start:end`, as many as make the text between them unique."""
    low, high = start, end
    while text.count(text[low:high]) != 1 or low == high:
        if (low, high) == (0, len(text)):
            break
        low = text.rfind("\n", 0, max(0, low - 1)) + 1 if low else 0
        after = text.find("\n", high)
        high = len(text) if after < 0 else after + 1
    return text[low:start], text[end:high]


def _mixed(text: str) -> bool:
    return "\r\n" in text and text.count("\r\n") != text.count("\n")


def _encodable(text: str) -> bool:
    return "\0" not in text and not any(0xD800 <= ord(c) <= 0xDFFF for c in text)

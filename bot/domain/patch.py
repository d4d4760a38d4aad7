"""What the model may say: exact edits against one state of the tree, or nothing usable and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Files: TypeAlias = Mapping[str, bytes | None]
"""An overlay over the head commit: path -> whole content, None for a removed file."""

Read: TypeAlias = Callable[[str], bytes | None]
"""Gives a file of the state that edits are made against, None when there is none."""


@dataclass(frozen=True, kw_only=True)
class Edit:
    """Replace the one occurrence of `old` in `path` by `new`; without `old` the whole file, without `new` none."""

    path: str
    old: str | None
    new: str | None


@dataclass(frozen=True, kw_only=True)
class Patch:
    """Ordered edits with the model's reason for them (untrusted text)."""

    edits: tuple[Edit, ...]
    rationale: str = ""


@dataclass(frozen=True, kw_only=True)
class Rejected:
    """A reply or patch that cannot be tried; `reason` is fed back to the model and shown to the reviewer."""

    reason: str
    rule: str = "reply"


@dataclass(frozen=True, kw_only=True)
class Refused:
    """The model says that the test contradicts the code's contract; `reason` is its argument (untrusted text)."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Hole:
    """Lines `start` to `end` (1-based, inclusive) of `file`, cut out to be filled anew.

    `before_source` is the function around them with one line `HOLE_MARK` in their place, `removed` what stood there.
    """

    file: str
    start: int
    end: int
    before_source: str
    removed: str


HOLE_MARK = "<<<HOLE>>>"
"""Stands, indented like the first removed line, where the lines of a hole were."""


Proposal: TypeAlias = Patch | Rejected | Refused


def apply(patch: Patch, read: Read) -> dict[str, bytes | None] | Rejected:
    """Apply edits in order to the state behind `read`; all or nothing.

    Returns the overlay of touched files. Line endings follow the file: `old` and `new` come with LF and are written
    with CRLF where the file uses it throughout. A file that is not UTF-8 is never edited.
    """
    touched: dict[str, bytes | None] = {}
    for edit in patch.edits:
        current = touched[edit.path] if edit.path in touched else read(edit.path)
        result = _edited(edit, current)
        if isinstance(result, Rejected):
            return result
        touched[edit.path] = result
    return touched


def _edited(edit: Edit, current: bytes | None) -> bytes | Rejected | None:
    if edit.new is None:
        return (
            None if current is not None else Rejected(reason=f"{edit.path}: cannot remove a file that does not exist")
        )
    if edit.old is None:
        crlf = current is not None and _crlf(current)
        return _encode(edit.new, crlf)
    if current is None:
        return Rejected(reason=f"{edit.path}: no such file; give the whole content to create it")
    if b"\0" in current:
        return Rejected(reason=f"{edit.path}: binary file, it cannot be edited")
    try:
        text = current.decode("utf-8")
    except UnicodeDecodeError as error:
        return Rejected(reason=f"{edit.path}: not UTF-8 (byte {error.start}), it cannot be edited")
    crlf = _crlf(current)
    old = edit.old.replace("\r\n", "\n")
    text = text.replace("\r\n", "\n") if crlf else text
    found = text.count(old) if old else 0
    if found != 1:
        what = "is empty" if not old else "does not occur" if not found else f"occurs {found} times"
        return Rejected(reason=f"{edit.path}: the text to replace {what}; quote it exactly, with enough lines around")
    return _encode(text.replace(old, edit.new), crlf)


def _crlf(content: bytes) -> bool:
    return b"\r\n" in content and content.count(b"\r\n") == content.count(b"\n")


def _encode(text: str, crlf: bool) -> bytes:
    if crlf:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text.encode("utf-8", "surrogatepass")

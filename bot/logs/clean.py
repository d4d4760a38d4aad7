"""Bytes of unknown condition become text lines: everything after this file sees clean text only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

LONGEST = 4_000_000
"""Characters kept of one line; the rest of a longer line is dropped, so that one endless line cannot fill memory."""

SHOWN = 20_000
"""Characters of one line that regular expressions get to see; only JSON is read from longer lines."""

STAMP = r"\ufeff?+[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]++)?+Z ?+"
"""Pattern of the time that GitHub writes before each line."""

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|\x1b[ -/]*[0-~]"  # every other escape
    r"|\x1b"
)
_COLOUR = re.compile(r"\x1b\[[\d;]*[mK]")
_ORPHANS = re.compile(r"\[(?:\d{1,3}(?:;\d{1,3})*)?m")
_CONTROL = bytes(code for code in [*range(32), 127] if code not in b"\t\n\r\x1b")


def lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """The lines of `blocks`."""
    for block in blocks(chunks):
        yield from block.split("\n")


def blocks(chunks: Iterable[bytes]) -> Iterator[str]:
    """Bytes as text, whole lines at a time, separated by newlines; invalid UTF-8 becomes U+FFFD.

    A carriage return inside a line starts a new one. Control characters other than tab and escape are left out.
    Memory is bound by the longest chunk and LONGEST, whatever the chunks are cut into.
    """
    for block in _blocks(chunks):
        text = block.translate(None, _CONTROL).decode("utf-8", "replace")
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        if "\r" in text:
            text = "\n".join(part for line in text.split("\n") for part in _overwritten(line))
        yield text


def _overwritten(line: str) -> Iterator[str]:
    """A progress bar writes many lines over each other; all of them are lines to us, but empty ones."""
    body = line.rstrip("\r")
    if "\r" not in body:
        yield body
        return
    yield from (part for part in body.split("\r") if part)


def _blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines only, without the last newline; a line is never longer than LONGEST."""
    pending = bytearray()
    first = True
    for chunk in chunks:
        head, newline, tail = chunk.rpartition(b"\n")
        if not newline:
            pending += chunk[: max(0, LONGEST - len(pending))]
            continue
        start, more, rest = head.partition(b"\n")
        pending += start[: max(0, LONGEST - len(pending))]
        block = bytes(pending) + more + rest
        yield block.removeprefix(b"\xef\xbb\xbf") if first else block
        first = False
        pending = bytearray(tail[:LONGEST])
    if pending:
        yield bytes(pending).removeprefix(b"\xef\xbb\xbf") if first else bytes(pending)


def plain(line: str) -> str:
    """Without terminal escapes, and without colours whose escape got lost."""
    line = _unescaped(line)
    return _ORPHANS.sub("", line) if "[0m" in line else line


def plain_block(text: str) -> str:
    """The same for many lines at once."""
    text = _unescaped(text)
    return "\n".join(map(plain, text.split("\n"))) if "[0m" in text else text


def _unescaped(text: str) -> str:
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    return _ESCAPES.sub("", text) if "\x1b" in text else text

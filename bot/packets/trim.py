"""What fits: an estimate of tokens, and cuts that can be seen."""

from __future__ import annotations

import math

CHARACTERS_PER_TOKEN = 3.0


def tokens(text: str) -> int:
    """A conservative estimate of a text's tokens, without any model's tokenizer.

    Measured with Qwen2.5-Coder's tokenizer: 3.0 bytes a token for a small packet (short names, numbers, JSON's own
    punctuation), 3.7 for source inside JSON. UTF-8 bytes are counted, since a character of another script takes three
    bytes and costs about a token.
    """
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / CHARACTERS_PER_TOKEN)


def cut(text: str, limit: int, keep: int = 0) -> str:
    """At most `limit` characters (never fewer than a mark needs) of a text; each cut says how much is gone.

    The beginning and the end stay; what surrounds index `keep` stays too, such as the first difference of two values.
    """
    limit = max(limit, 120)
    if len(text) <= limit:
        return text
    room = limit - 80  # two marks
    if room // 2 < keep < len(text) - room // 2:
        head, around, tail = room // 4, room // 2, room // 4
        start = max(head, keep - around // 3)
        stop = min(start + around, len(text) - tail)
        return _joined(text, [(0, head), (start, stop), (len(text) - tail, len(text))])
    return _joined(text, [(0, room - room // 3), (len(text) - room // 3, len(text))])


def _joined(text: str, kept: list[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, stop in kept:
        if start > at:
            parts.append(f"[... {start - at} characters cut ...]")
        parts.append(text[start:stop])
        at = stop
    return "".join(parts)


def cut_pair(first: str | None, second: str | None, limit: int) -> tuple[str | None, str | None]:
    """Two values that should be equal, both cut so that their first difference stays in sight."""
    if first is None or second is None:
        return (first and cut(first, limit)), (second and cut(second, limit))
    differ = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
    return cut(first, limit, differ), cut(second, limit, differ)


def cut_lines(text: str, limit: int) -> str:
    """At most about `limit` characters of a text in whole lines, from its beginning and its end."""
    if len(text) <= limit:
        return text
    lines = text.split("\n")
    head = _fitting(lines, limit * 2 // 3)
    tail = _fitting(list(reversed(lines[head:])), limit // 3)
    gone = len(lines) - head - tail
    if not gone or not head + tail:
        return cut(text, limit)
    return "\n".join([*lines[:head], f"[... {gone} lines cut ...]", *lines[len(lines) - tail :]])


def _fitting(lines: list[str], limit: int) -> int:
    used = 0
    for count, line in enumerate(lines):
        used += len(line) + 1
        if used > limit:
            return count
    return len(lines)

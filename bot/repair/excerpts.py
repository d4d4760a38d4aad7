"""Pieces of source as they are put into a prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.domain.packet import PacketDiagnostic, PacketFailure, RepairPacket, Span
from bot.domain.patch import Read


def spans(packet: RepairPacket) -> tuple[Span, ...]:
    """Every excerpt once: those of the findings first, in the packet's order of importance."""
    found: Sequence[PacketFailure | PacketDiagnostic] = [*packet.failures, *packet.diagnostics]
    return tuple(dict.fromkeys([*(f.span for f in found if f.span), *packet.spans]))


def files(packet: RepairPacket) -> tuple[str, ...]:
    """The files that the packet shows code of, most likely cause first, tests last (they may not be edited)."""
    tests = {f.file for f in packet.failures}
    named = [span.file for span in spans(packet)] + [d.file for d in packet.diagnostics]
    named += [hunk.file for hunk in packet.changed]
    return tuple(sorted(dict.fromkeys(named), key=lambda name: name in tests))


def file_text(read: Read, path: str) -> str | None:
    """The file as text with LF line ends, None when it is absent; bytes that are not UTF-8 show as replacements."""
    content = read(path)
    return content.decode("utf-8", "replace").replace("\r\n", "\n") if content is not None else None


def fenced(text: str, language: str = "") -> str:
    """A block whose fence is longer than any inside, so that text cannot break out of it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"

"""A packet that grows piece by piece and never beyond its budget."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from bot.domain.packet import Aside, Hunk, PacketDiagnostic, PacketFailure, Past, RepairPacket, Span
from bot.packets import spans
from bot.packets.trim import cut_lines, tokens
from bot.packets.view import View


def size(packet: RepairPacket) -> int:
    """Estimated tokens of a packet's public JSON."""
    return tokens(json.dumps(packet.as_json(), ensure_ascii=False))


class Draft:
    """The packet so far. Every `add_*` says whether the piece went in; what does not fit changes nothing."""

    def __init__(self, packet: RepairPacket, view: View, budget: int) -> None:
        self.packet = packet
        self._view = view
        self._budget = budget

    @property
    def room(self) -> int:
        """Tokens left."""
        return self._budget - size(self.packet)

    def _take(self, packet: RepairPacket) -> bool:
        if size(packet) > self._budget:
            return False
        self.packet = packet
        return True

    def shown(self) -> list[Span]:
        """Every excerpt that is in."""
        carried = [*(f.span for f in self.packet.failures), *(d.span for d in self.packet.diagnostics)]
        return [*filter(None, carried), *self.packet.spans]

    def add_failure(self, versions: Iterable[PacketFailure]) -> bool:
        """The first version, from whole to much cut, that fits."""
        return any(self._take(replace(self.packet, failures=(*self.packet.failures, v))) for v in versions)

    def add_diagnostic(self, diagnostic: PacketDiagnostic) -> bool:
        """One complaint."""
        return self._take(replace(self.packet, diagnostics=(*self.packet.diagnostics, diagnostic)))

    def add_blocked(self, text: str) -> bool:
        """Why one check stopped; said once."""
        if text in self.packet.blocked:
            return True
        return self._take(replace(self.packet, blocked=(*self.packet.blocked, text)))

    def add_span(self, span: Span) -> bool:
        """The part of an excerpt that is not shown yet."""
        pieces = spans.fresh(self._view, span, self.shown())
        return not pieces or self._take(replace(self.packet, spans=(*self.packet.spans, *pieces)))

    def carry(self, versions: Iterable[Span], onto: Literal["failures", "diagnostics"]) -> bool:
        """The first version that fits, on the newest failure or diagnostic; further pieces beside it."""
        for span in versions:
            pieces = spans.fresh(self._view, span, self.shown())
            if not pieces or self._take(self._carrying(pieces[0], pieces[1:], onto)):
                return True
        return False

    def _carrying(self, span: Span, others: list[Span], onto: Literal["failures", "diagnostics"]) -> RepairPacket:
        beside = (*self.packet.spans, *others)
        if onto == "diagnostics":
            *first, last = self.packet.diagnostics
            return replace(self.packet, diagnostics=(*first, replace(last, span=span)), spans=beside)
        *before, newest = self.packet.failures
        return replace(self.packet, failures=(*before, replace(newest, span=span)), spans=beside)

    def add_hunk(self, hunk: Hunk, limit: int) -> bool:
        """A change, cut to whole lines within `limit` characters."""
        if any(other.file == hunk.file and other.hunk.startswith(hunk.hunk[:60]) for other in self.packet.changed):
            return True
        shorter = Hunk(file=hunk.file, hunk=cut_lines(hunk.hunk, limit))
        return self._take(replace(self.packet, changed=(*self.packet.changed, shorter)))

    def add_aside(self, aside: Aside) -> bool:
        """A test that counts for nothing."""
        return self._take(replace(self.packet, aside=(*self.packet.aside, aside)))

    def add_past(self, past: Past, limit: int) -> bool:
        """A refused attempt, in the order of the attempts."""
        diff = cut_lines(past.diff, limit)
        entries = (*self.packet.history, replace(past, diff=diff))
        return self._take(replace(self.packet, history=tuple(sorted(entries, key=lambda p: p.iteration))))

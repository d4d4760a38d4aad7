"""The last look at every text of a packet: what must not reach a model is taken out wherever it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.domain.packet import Legs, PacketDiagnostic, PacketFailure, RepairPacket, Span
from bot.redact import Redactor, visible

Change = Callable[[str], str]


def redact_packet(packet: RepairPacket, redactor: Redactor) -> RepairPacket:
    """The packet without secrets, and with hidden characters made visible.

    Source excerpts only lose secrets: an edit must quote them exactly, so nothing else in them may change.
    """
    return changed(packet, lambda text: redactor.text(visible(redactor.text(text))), lambda s: redactor.text(s.source))


def changed(packet: RepairPacket, prose: Change, source: Callable[[Span], str]) -> RepairPacket:
    """A copy with `prose` applied to every text and `source` to every excerpt."""

    def span(old: Span | None) -> Span | None:
        return replace(old, file=prose(old.file), source=source(old)) if old else None

    return replace(
        packet,
        summary=prose(packet.summary),
        instructions=prose(packet.instructions),
        blocked=tuple(map(prose, packet.blocked)),
        failures=tuple(_failure(f, prose, span(f.span)) for f in packet.failures),
        diagnostics=tuple(_diagnostic(d, prose, span(d.span)) for d in packet.diagnostics),
        spans=tuple(s for old in packet.spans if (s := span(old))),
        changed=tuple(replace(h, file=prose(h.file), hunk=prose(h.hunk)) for h in packet.changed),
        aside=tuple(replace(a, test=prose(a.test), reason=prose(a.reason)) for a in packet.aside),
        history=tuple(replace(p, diff=prose(p.diff), reason=prose(p.reason)) for p in packet.history),
    )


def _failure(failure: PacketFailure, prose: Change, span: Span | None) -> PacketFailure:
    def maybe(text: str | None) -> str | None:
        return None if text is None else prose(text)

    return replace(
        failure,
        test=prose(failure.test),
        file=maybe(failure.file),
        assertion=maybe(failure.assertion),
        message=maybe(failure.message),
        expected=maybe(failure.expected),
        actual=maybe(failure.actual),
        hint=maybe(failure.hint),
        captured=maybe(failure.captured),
        span=span,
        legs=_legs(failure.legs, prose),
    )


def _diagnostic(diagnostic: PacketDiagnostic, prose: Change, span: Span | None) -> PacketDiagnostic:
    code = prose(diagnostic.code) if diagnostic.code is not None else None
    legs = _legs(diagnostic.legs, prose)
    return replace(
        diagnostic, file=prose(diagnostic.file), code=code, message=prose(diagnostic.message), span=span, legs=legs
    )


def _legs(legs: Legs | None, prose: Change) -> Legs | None:
    return legs and replace(legs, names=tuple(map(prose, legs.names)))

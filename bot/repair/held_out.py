"""Which failing tests the model is never shown, so that a patch for the told values only is found out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

Group = frozenset[str]
"""Ids of the failing tests of one likely cause."""


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Per cause: ids that packets may tell, and ids that stay hidden until a patch passes the told ones only."""

    told: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    groups: tuple[Group, ...] = field(default_factory=tuple)

    def extend(self, groups: Iterable[Group]) -> HeldOut:
        """Split every group's new ids: from two on about a third is hidden, at least one; deterministic by id."""
        told, hidden, known = set(self.told), set(self.hidden), list(self.groups)
        for group in groups:
            new = sorted(group - told - hidden, key=_order)
            count = max(1, len(new) // 3) if len(new) > 1 else 0
            hidden |= set(new[:count])
            told |= set(new[count:])
            if new:
                known.append(group)
        return HeldOut(told=frozenset(told), hidden=frozenset(hidden), groups=tuple(known))

    def contradicted(self, passed: frozenset[str]) -> frozenset[str]:
        """Hidden ids that still fail although every told id of their cause passes: the patch answers the told only."""
        found: set[str] = set()
        for group in self.groups:
            told, hidden = group & self.told, group & self.hidden
            if told and told <= passed:
                found |= hidden - passed
        return frozenset(found)

    def reveal(self, failing: frozenset[str]) -> HeldOut:
        """Tell one hidden id more of each cause that `failing` touches; one stays hidden while there are two."""
        shown: set[str] = set()
        for group in self.groups:
            hidden = sorted(group & self.hidden, key=_order)
            candidates = [test for test in hidden if test in failing and test not in shown]
            shown |= set(candidates[:1])
        return HeldOut(told=self.told | shown, hidden=self.hidden - shown, groups=self.groups)

    def words(self, passed: frozenset[str]) -> str:
        """What was verified on hidden tests, for people."""
        if not self.hidden:
            return "none"
        return f"{len(self.hidden & passed)} of {len(self.hidden)} hidden tests pass"


def _order(test: str) -> str:
    return hashlib.sha256(test.encode("utf-8", "surrogatepass")).hexdigest()

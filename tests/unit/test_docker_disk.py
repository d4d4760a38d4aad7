"""Which environment images have to go, and in which order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.adapters.docker_disk import Kept, overdue

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def image(name: str, *, size: int, hours: float) -> Kept:
    return Kept(id=name, size=size, used=NOW - timedelta(hours=hours))


def test_the_ones_used_longest_ago_go_until_the_others_fit() -> None:
    kept = [image("new", size=5, hours=2), image("oldest", size=5, hours=9), image("old", size=5, hours=8)]
    assert [gone.id for gone in overdue(kept, 12, NOW)] == ["oldest"]
    assert [gone.id for gone in overdue(kept, 5, NOW)] == ["oldest", "old"]
    assert [gone.id for gone in overdue(kept, 0, NOW)] == ["oldest", "old", "new"]


def test_nothing_goes_while_all_fit() -> None:
    assert overdue([image("a", size=5, hours=9), image("b", size=5, hours=8)], 10, NOW) == []


def test_an_image_that_another_run_just_asked_for_stays_whatever_it_takes() -> None:
    kept = [image("running", size=50, hours=0.5), image("old", size=5, hours=8)]
    assert [gone.id for gone in overdue(kept, 1, NOW)] == ["old"]

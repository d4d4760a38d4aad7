"""Scenes that close themselves; Docker and gVisor must be there: nothing here is ever skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.scene import Scene, scene


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Scene]]:
    """Make scenes, each in a folder of its own."""
    made: list[Scene] = []

    def start(*script: Any, **given: Any) -> Scene:
        place = tmp_path / f"scene-{len(made)}"
        place.mkdir()
        made.append(scene(place, script, **given) if script else scene(place, **given))
        return made[-1]

    yield start
    for one in made:
        one.close()

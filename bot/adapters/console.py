"""Live progress for people: one line per step, with the seconds since the start."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from bot.redact import visible


class Console:
    """Implements Progress. No line begins with untrusted text, so none is a workflow command; `runner`: on GitHub's.

    `clean` takes the secrets out: a test's name or a check's command may hold one.
    """

    def __init__(
        self, out: TextIO, clock: Callable[[], float], clean: Callable[[str], str], *, runner: bool = False
    ) -> None:
        self._out, self._clock, self._began, self._clean, self._runner = out, clock, clock(), clean, runner

    def say(self, stage: str, text: str) -> None:
        """`  12 s  stage: text`; untrusted characters are made visible, and never more than one line is printed."""
        first = visible(" ".join(self._clean(text).split()))[:400]
        self._out.write(f"{self._clock() - self._began:6.0f} s  {visible(stage)}: {first}\n")
        self._out.flush()

    def notice(self, level: str, text: str) -> None:
        """A notice, warning or error that GitHub shows on the run's page; plain text elsewhere."""
        text = visible(self._clean(text).strip())
        if self._runner:
            text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
            self._out.write(f"::{level} title=selfrepair::{text}\n")
        else:
            self._out.write(f"{level}: {text}\n")
        self._out.flush()

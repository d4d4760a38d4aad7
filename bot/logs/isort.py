"""isort --check."""

from __future__ import annotations

import re
from typing import ClassVar

from bot.domain.findings import Diagnostic
from bot.logs.parser import Rows
from bot.logs.paths import relative

_ROW = re.compile(r"(?:ERROR: )(?P<file>\S.*?) (?P<text>Imports are incorrectly sorted and/or formatted\.)$")


class Isort(Rows):
    """Files whose imports isort would change."""

    starts: ClassVar[tuple[str, ...]] = ("ERROR: ",)

    def feed(self, line: str) -> bool:
        """Take one line."""
        found = _ROW.match(line)
        if found is None:
            return False
        return self.add(Diagnostic(tool="isort", file=relative(found.group("file")), message=found.group("text")))

"""Compilers print the same row again for every unit that includes a header or is built twice: it counts once."""

from __future__ import annotations

from bot.domain.findings import Diagnostic
from bot.logs.parser import Rows


class OnceRows(Rows):
    """Rows of which equal ones count once; `apart` tells rows without a line from each other."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[tuple[object, ...]] = set()

    def add_once(self, row: Diagnostic, apart: str | None = None) -> bool:
        """Keep a row unless the same was kept; True if it is now the last of `rows`."""
        key = (row.file, row.line, row.col, row.code, row.message, apart)
        if key in self._seen:
            return False
        if len(self.rows) < 2000:
            self._seen.add(key)
        before = len(self.rows)
        self.add(row)
        return len(self.rows) > before

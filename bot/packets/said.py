"""What a failure says in its own words, once each and the same in every run."""

from __future__ import annotations

import re

from bot.domain.findings import Failure

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,16}\b")
"""Where an object lay in memory: says nothing, and differs in each run, so that no packet would come twice."""


def steady(text: str | None) -> str | None:
    """Text without addresses in memory."""
    return _ADDRESS.sub("at 0x...", text) if text else text


def message(failure: Failure) -> str | None:
    """The rewritten assertion, the exception's own words where they say more, its diff where no pair of values does."""
    said = _said(failure)
    if failure.detail and failure.expected is None:
        return f"{said}\n{failure.detail}" if said else failure.detail
    return said


def _said(failure: Failure) -> str | None:
    words = failure.message
    if failure.assertion and words == f"AssertionError: {failure.assertion}":
        return failure.assertion
    exception = (failure.exception or "").rpartition(".")[2]
    if words and exception not in ("", "AssertionError") and exception not in words:
        words = f"{exception}: {words}"
    if not failure.assertion or not words or failure.assertion in words:
        return words or failure.assertion
    return failure.assertion if words in failure.assertion else f"{words}\n{failure.assertion}"

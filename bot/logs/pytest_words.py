"""The words and the places of one Python test failure, put into the fields of a Failure."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.findings import Failure, Location
from bot.logs.paths import inside, same_file
from bot.logs.trace import Frame, kind_of
from bot.logs.values import compared, rewritten


def told(
    failure: Failure,
    frames: list[Frame],
    words: tuple[str | None, list[str]],
    said: tuple[str | None, list[str]] = (None, []),
) -> Failure:
    """Fill in a failure. `frames` lead from the test inward, paths relative; `words` are the exception's lines from the
    traceback, `said` what a summary says of it, used where there is no traceback.
    """
    message, rest = words if words[0] is not None else said
    assertion = rewritten(message, rest) if message else None
    expected, actual = compared(assertion) if assertion else (None, None)
    if expected is None:
        expected, actual = _mocked(rest)
    own = [frame for frame in frames if failure.file and same_file(frame.file, failure.file)]
    home = [frame for frame in frames if inside(frame.file)]
    shown = own or home
    return replace(
        failure,
        line=own[-1].line if own else None,
        crash=location(frames[-1]) if frames and inside(frames[-1].file) else None,
        frames=tuple(location(frame) for frame in home[-12:]),
        exception=kind_of(message),
        source=shown[-1].source if shown else None,
        assertion=assertion,
        message=message,
        expected=expected,
        actual=actual,
        detail="\n".join(rest).strip("\n")[:4000] or None,
    )


def location(frame: Frame) -> Location:
    """A frame as a Location."""
    return Location(file=frame.file, line=frame.line, name=frame.name)


def _mocked(rest: list[str]) -> tuple[str | None, str | None]:
    """unittest.mock and pytest.raises print the pair on two lines of their own."""
    expected = actual = None
    for line in rest[:6]:
        word, colon, value = line.strip().partition(": ")
        if colon and word in ("Expected", "Expected regex"):
            expected = value
        elif colon and word in ("Actual", "Input", "Actual message"):
            actual = value
    return (expected, actual) if expected is not None and actual is not None else (None, None)

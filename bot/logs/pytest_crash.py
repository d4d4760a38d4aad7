"""Tests that took the whole process down: no report names them, but the progress and the stack dump do.

Dumps are from `faulthandler` (fatal signals) and pytest-timeout (`~~~ Stack of ... ~~~`).
"""

from __future__ import annotations

import re

from bot.domain.findings import Failure, FailureKind
from bot.logs.paths import inside, relative, same_file
from bot.logs.pytest_report import Session
from bot.logs.pytest_words import location
from bot.logs.trace import Frame

_STACK = re.compile(r'\s*File "([^"]+)", line (\d{1,9}),? in (\S+)')


def crashed(session: Session, known: set[str], exit_code: int | None) -> Failure | None:
    """The interpreter died: the test it died in is the one last started, or the one the stack shows.

    Without a last word of the interpreter (`os._exit`, a kill) only the exit status tells that it died.
    """
    if session.counts is not None or (session.crash_word is None and exit_code in (None, 0)):
        return None
    frames = _stack(session)
    if session.started:
        test: str | None = session.started
    else:
        hit = next((f for f in frames if f.name and f.name.startswith("test")), None)
        test = f"{hit.file}::{hit.name}" if hit else None
    if test is None or test in known:
        return None
    file = test.split("::", 1)[0]
    own = [frame for frame in frames if same_file(frame.file, file)]
    function = test.split("[")[0].rsplit("::", 1)[-1]
    at = next((i for i, frame in enumerate(own) if frame.name == function), None)
    return Failure(
        tool="pytest",
        id=test,
        kind=FailureKind.ERROR,
        file=file,
        line=own[at].line if at is not None else None,
        crash=location(frames[0]) if frames else None,
        frames=tuple(location(frame) for frame in reversed(frames[:12])),
        assertion=session.crash_word if session.crash_word != "Timeout" else None,
        message=session.crash_word or "the process ended while this test ran",
    )


def _stack(session: Session) -> list[Frame]:
    """Frames of the thread that mattered, inside the repository, innermost first."""
    threads: list[list[Frame]] = [[]]
    main = 0
    for line in session.crash:
        if line.startswith(("~ Stack of", "Current thread", "Thread ")):
            threads.append([])
            if "MainThread" in line or line.startswith("Current thread"):
                main = len(threads) - 1
        elif found := _STACK.match(line):
            frame = Frame(relative(found.group(1), session.root), int(found.group(2)), found.group(3))
            if inside(frame.file):
                threads[-1].append(frame)
    frames = threads[main]
    return frames[::-1] if session.crash_word == "Timeout" else frames

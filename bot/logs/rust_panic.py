"""What one Rust test printed, read for why it failed: panics in the old and the new form, `Error:`, should_panic notes.

Forms: library/std/src/panicking.rs (before 1.73 the message stood in quotes before the place), library/test
(should_panic, Result), librustdoc/doctest.rs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bot.domain.findings import Failure, FailureKind, Location
from bot.logs.paths import inside, relative, same_file

_THREAD = r"thread '(?P<thread>.*?)'(?: \(\d+\))? "
_PANIC = re.compile(_THREAD + r"panicked at (?P<file>[^':]+(?::[\\/][^:]*)?):(?P<line>\d{1,9}):(?P<col>\d{1,9}):$")
_OLD_PANIC = re.compile(_THREAD + r"panicked at '(?P<text>.*)$")
_OLD_END = re.compile(r"(?P<text>.*)', (?P<file>[^\s:']+(?::[\\/][^:]*)?):(?P<line>\d{1,9}):(?P<col>\d{1,9})$")
_OVERFLOW = re.compile(_THREAD + r"has overflowed its stack$")
_CALL = re.compile(r" +\d+: +(?:0x[0-9a-f]+ - )?(?P<name>.+)$")
_AT = re.compile(r" +at (?P<file>.+?):(?P<line>\d{1,9})(?::\d{1,9})?$")
_CALM = re.compile(r"note: (?P<text>test did not panic as expected)(?: at (?P<file>.+?):(?P<line>\d{1,9}):\d{1,9})?$")
_OTHER_PANIC = re.compile(r"note: (?P<text>panic did not contain expected string|expected panic with string value)")
_SAID = re.compile(r"\s*(?P<key>panic message|expected substring): (?P<value>.*?),?$")
_COMPILER = re.compile(r"error(?:\[\w+\])?: (?!aborting due|could not compile)")
_ARROW = re.compile(r" *--> (?P<file>.+?):(?P<line>\d{1,9}):\d{1,9}$")
_SIDE = re.compile(r"\s*(?P<side>left|right): (?P<value>.*)$")
_DOC = re.compile(r"(?P<file>\S.*?) - .*\(line (?P<line>\d{1,9})\)$")
_ENDS = ("note: run with `RUST_BACKTRACE", "stack backtrace:", "note: Some details are omitted", "thread '")
_WORDS = (
    *("Test executable succeeded", "Test compiled successfully", "Some expected error codes", "Test executable failed"),
    *("fatal runtime error: ", "(test ", "memory allocation of "),
)
_TERMINATION = "the test returned a termination value with a non-zero status code"
"""What libtest itself panicked with, before 1.66, when a test returned an Err; the `Error:` line says which."""
_DETAIL, _LINES, _BEFORE = 4000, 4000, 40
_FAR = 15


@dataclass
class Panic:
    """One panic: message, place, calls of its backtrace (innermost first)."""

    thread: str
    lines: list[str] = field(default_factory=list)
    place: Location | None = None
    calls: list[Location] = field(default_factory=list)


def panics(lines: Sequence[str]) -> list[Panic]:
    """Every panic in a test's output, in order."""
    found: list[Panic] = []
    state, name = "out", ""
    for line in lines[:_LINES]:
        if state == "quoted":
            state = _quoted(found[-1], line)
        elif panic := _begun(line):
            found.append(panic)
            state = "message" if panic.place else _quoted(panic, panic.lines.pop()) if panic.lines else "out"
        elif not found or state == "out":
            continue
        elif line.startswith("stack backtrace:"):
            state = "calls"
        elif line.startswith(_ENDS):
            state = "out"
        elif state == "message":
            found[-1].lines.append(line)
        elif call := _CALL.match(line):
            name = call.group("name")
        elif (at := _AT.match(line)) and name:
            place = Location(file=relative(at.group("file")), line=int(at.group("line")), name=_plain(name))
            found[-1].calls.append(place)
            name = ""
    return found


def _begun(line: str) -> Panic | None:
    if not line.startswith("thread '"):
        return None
    if new := _PANIC.match(line):
        place = Location(file=relative(new.group("file")), line=int(new.group("line")), col=int(new.group("col")))
        return Panic(new.group("thread"), place=place)
    if old := _OLD_PANIC.match(line):
        return Panic(old.group("thread"), [old.group("text")])
    overflow = _OVERFLOW.match(line)
    return Panic(overflow.group("thread"), ["has overflowed its stack"], None) if overflow else None


def _quoted(panic: Panic, line: str) -> str:
    """Lines of a message that ends with `', file:line:col`."""
    ended = _OLD_END.match(line)
    panic.lines.append(ended.group("text") if ended else line)
    if ended is None:
        return "out" if panic.lines == ["has overflowed its stack"] or len(panic.lines) > 200 else "quoted"
    panic.place = Location(
        file=relative(ended.group("file")), line=int(ended.group("line")), col=int(ended.group("col"))
    )
    return "calls"


def _plain(name: str) -> str:
    return re.sub(r"(?:::h[0-9a-f]{16}|\[[0-9a-f]{16}\])", "", name)


def read_test(
    tool: str, test: str, lines: Sequence[str], *, own: str | None = None, error: bool = False, why: str | None = None
) -> Failure:
    """The failure of one test from its output; `own` is the file of its test binary, `why` what is known otherwise."""
    all_panics = panics(lines)
    if any(line.startswith("Error: ") for line in lines):
        all_panics = [p for p in all_panics if not any(_TERMINATION in line for line in p.lines[-2:])]
    panic = _which(test, all_panics)
    note = _note(lines)
    text = note[0] if note else "\n".join(panic.lines).strip("\n") if panic else _words(lines) or why or ""
    expected, actual = note[1] if note else values(text)
    place, frames = _places(test, panic, own)
    if note and note[2] is not None:
        place, frames = note[2], []
    elif panic is None and place is None:
        place = _compiled(lines) if text.startswith("error") else None
    place = _documented(test, place)
    crash = panic.place if panic and panic.place and inside(panic.place.file) else place
    head, _, rest = text.partition("\n")
    elsewhere = ["\n".join(p.lines).strip("\n") for p in all_panics if p is not panic]
    return Failure(
        tool=tool,
        id=test,
        kind=FailureKind.ERROR if error else FailureKind.FAILED,
        file=place.file if place else None,
        line=place.line if place else None,
        crash=crash,
        frames=tuple(reversed(frames[:12])),
        exception="panic" if panic and not note else None,
        assertion=head or None,
        message=head or None,
        expected=expected,
        actual=actual,
        detail="\n".join([rest, *elsewhere]).strip("\n")[:_DETAIL] or None,
        captured=_captured(lines, all_panics),
    )


def _which(test: str, all_panics: list[Panic]) -> Panic | None:
    """The last panic of the test's own thread; a panic while panicking has its reason in the one before."""
    mine = [p for p in all_panics if p.thread == test] or all_panics
    home = [p for p in mine if p.place and inside(p.place.file)]
    if home and mine[-1] is not home[-1] and len(mine) > 2:
        return home[0]
    return mine[-1] if mine else None


def _documented(test: str, place: Location | None) -> Location | None:
    """A doc test's place: some versions count lines from the start of the generated program, far above the text."""
    doc = _DOC.match(test)
    if doc is None:
        return place
    line = int(doc.group("line"))
    near = place is not None and place.line is not None and place.line + _FAR >= line
    return place if near else Location(file=doc.group("file"), line=line)


def _captured(lines: Sequence[str], all_panics: list[Panic]) -> str | None:
    """What the test printed before it panicked."""
    if not all_panics:
        return None
    at = next((i for i, line in enumerate(lines) if line.startswith("thread '")), 0)
    return "\n".join(lines[max(0, at - _BEFORE) : at]).strip("\n")[:2000] or None


def _places(test: str, panic: Panic | None, own: str | None) -> tuple[Location | None, list[Location]]:
    """(the deepest place in the test's own file, calls in the repository).

    Backtraces show paths relative to the package, panics to the workspace.
    """
    if panic is None:
        return None, []
    frames = _from_workspace([call for call in panic.calls if inside(call.file)], panic.place)
    place = panic.place if panic.place and inside(panic.place.file) else frames[0] if frames else None
    if place is None:
        return None, frames
    called = next((f for f in frames if f.name and re.search(rf"(?:^|::){re.escape(test)}(?:$|::)", f.name)), None)
    if called is not None and not same_file(called.file, place.file):
        deepest = next(f for f in frames if f.file == called.file)
        return deepest, frames
    if own and "tests/" in own and not same_file(own, place.file):
        return None, frames
    return place, frames


def _from_workspace(frames: list[Location], place: Location | None) -> list[Location]:
    """The calls with the package's folder before their paths, which the panic's own place shows."""
    if not frames or place is None or not place.file.endswith("/" + frames[0].file):
        return frames
    folder = place.file.removesuffix(frames[0].file)
    return [replace(frame, file=folder + frame.file) for frame in frames]


def _note(lines: Sequence[str]) -> tuple[str, tuple[str | None, str | None], Location | None] | None:
    """What should_panic says: (text, (expected, actual), place)."""
    for at, line in enumerate(lines):
        if not line.startswith("note: "):
            continue
        if calm := _CALM.match(line):
            file, number = calm.group("file"), calm.group("line")
            place = Location(file=relative(file), line=int(number)) if file else None
            return calm.group("text"), (None, None), place
        if other := _OTHER_PANIC.match(line):
            said = {
                m.group("key"): m.group("value").strip("`") for x in lines[at + 1 : at + 4] if (m := _SAID.match(x))
            }
            return other.group("text"), (said.get("expected substring"), said.get("panic message")), None
    return None


def _words(lines: Sequence[str]) -> str | None:
    """The reason of a test that did not panic: its Err, a compiler's error, or what the runner says of it."""
    errors = [i for i, line in enumerate(lines) if line.startswith("Error: ")]
    if errors:
        return "\n".join(lines[errors[-1] : errors[-1] + 40]).strip("\n")
    for knows in (_COMPILER.match, lambda line: line.startswith(_WORDS)):
        for line in lines:
            if knows(line):
                return line.strip("()")
    return None


def _compiled(lines: Sequence[str]) -> Location | None:
    found = next((m for line in lines if (m := _ARROW.match(line))), None)
    return Location(file=relative(found.group("file")), line=int(found.group("line"))) if found else None


def values(text: str) -> tuple[str | None, str | None]:
    """(expected, actual) of a panic's text: `left` is what came, `right` what was expected."""
    lines = text.split("\n")
    if not lines[0].startswith("assertion "):
        return None, None
    sides: dict[str, list[str]] = {}
    now: list[str] | None = None
    for line in lines[1:200]:
        found = _SIDE.match(line)
        if found and found.group("side") not in sides:
            now = sides.setdefault(found.group("side"), [])
            now.append(found.group("value"))
        elif now is not None:
            now.append(line)
    if len(sides) == 2:
        return _side(sides["right"]), _side(sides["left"])
    return _diff(lines)


def _side(lines: list[str]) -> str:
    text = "\n".join(lines).strip()
    if text.startswith("`"):  # before 1.73: `value`, then a comma or `: message`
        end = text.find("`: ", 1)
        text = text[1:end] if end > 0 else text.rstrip(",").removesuffix("`")[1:]
    return text


def _diff(lines: list[str]) -> tuple[str | None, str | None]:
    """pretty_assertions' `Diff < left / right > :`, where one line differs."""
    head = next((i for i, line in enumerate(lines) if line.startswith("Diff < left / right >")), None)
    if head is None:
        return None, None
    left = [line[1:] for line in lines[head + 1 :] if line.startswith("<")]
    right = [line[1:] for line in lines[head + 1 :] if line.startswith(">")]
    return (right[0].strip(), left[0].strip()) if len(left) == len(right) == 1 else (None, None)

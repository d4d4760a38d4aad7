"""Job logs out of files: one log, a folder of logs, or the zip of a run's logs, read as streams and never unpacked."""

from __future__ import annotations

import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from bot.domain.attempt import InputError

LOG_BYTES = 24 << 20
"""Cap on all logs of a run together, where they are held: with what reading them takes, we stay under 200 MB."""

_CUT = b"\n[selfrepair left out %d bytes here]\n"

MOST_BYTES = 4 << 30
"""Text read out of one zip or folder. Attack: a small zip that unpacks to petabytes."""

MOST_LOGS = 20_000
"""Logs in one zip or folder."""

_MOST_TABLE = 8 << 20
"""Bytes of a zip's table of contents, all of which is held in memory."""

_CHUNK = 1 << 16
_NUMBERED = re.compile(r"(-?\d{1,20})_(.*)$", re.DOTALL)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""What `zipfile` raises for damaged, encrypted and unknown members."""

Part = Callable[[], AbstractContextManager[IO[bytes]]]


class _Meter:
    """How much may still be read."""

    def __init__(self, most: int) -> None:
        self.most = self.left = most

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise ValueError(f"there are more than {self.most >> 20} MiB of text")


@dataclass(frozen=True, kw_only=True)
class LogFile:
    """The log of one job; in several parts where only its steps' logs were kept. `source` names it in complaints."""

    name: str
    source: str
    parts: tuple[Part, ...]
    meter: _Meter | None = field(default=None, compare=False)

    def chunks(self) -> Iterator[bytes]:
        """The text, as a stream. Raises InputError when it cannot be read to its end."""
        last = b""
        for part in self.parts:
            if last and not last.endswith(b"\n"):
                yield b"\n"
            with _reading(self.source), part() as file:
                while chunk := file.read(_CHUNK):
                    if self.meter:
                        self.meter.take(len(chunk))
                    yield chunk
                    last = chunk


@dataclass(frozen=True, kw_only=True)
class LogFiles:
    """The logs found at a path, sorted by name; `single`: the path was one job's log itself."""

    logs: tuple[LogFile, ...]
    single: bool = False


@contextmanager
def opened(path: Path, most: int = MOST_BYTES) -> Iterator[LogFiles]:
    """The logs at a path: a log, a folder, or a zip as GitHub gives it for a run. Raises InputError.

    `most` bytes are read of a zip or folder. A zip is known by its first bytes.
    Zips inside of zips or folders are left alone.
    """
    source = f"log {str(path)!r}"
    with ExitStack() as stack:
        with _reading(source):
            found = _found(path, source, stack, _Meter(most))
        yield found


def contents(path: Path) -> dict[str, bytes]:
    """Job name -> its log, each capped at its share of LOG_BYTES. Raises InputError."""
    with opened(path) as found:
        return {log.name: capped(log.chunks(), LOG_BYTES // len(found.logs)) for log in found.logs}


def capped(chunks: Iterator[bytes], cap: int) -> bytes:
    """The first quarter and the last three quarters of at most `cap` bytes, with a note of what was left out."""
    head, tail, dropped = bytearray(), bytearray(), 0
    first, last = cap // 4, cap - cap // 4
    for chunk in chunks:
        room = first - len(head)
        head += chunk[:room]
        tail += chunk[room:] if room < len(chunk) else b""
        if len(tail) > last + (1 << 20):  # cut now and then, not per chunk
            dropped += len(tail) - last
            del tail[:-last]
    if len(tail) > last:
        dropped += len(tail) - last
        del tail[:-last]
    return b"".join((head, _CUT % dropped if dropped else b"", tail))


@contextmanager
def _reading(source: str) -> Iterator[None]:
    """Whatever is wrong with a file is the caller's input, named with its source."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror or error}") from error
    except _BROKEN as error:
        raise InputError(f"{source} cannot be read: {error}") from error


def _found(path: Path, source: str, stack: ExitStack, meter: _Meter) -> LogFiles:
    if path.is_dir():
        files = {PurePosixPath(*f.relative_to(path).parts): partial(_file, f) for f in _walk(path)}
        return LogFiles(logs=_named(files, source, meter))
    file = stack.enter_context(path.open("rb"))
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        start = file.read(4)
        if not start:
            raise ValueError("it is empty")
        if start in (b"PK\3\4", b"PK\5\6") or path.suffix.lower() == ".zip":
            _bounded(file)
            archive = stack.enter_context(zipfile.ZipFile(file))
            members = {
                PurePosixPath(m.filename): partial(archive.open, m) for m in archive.infolist() if not m.is_dir()
            }
            return LogFiles(logs=_named(members, source, meter))
        file.seek(0)
    log = LogFile(name=path.stem, source=source, parts=(lambda: file,))
    return LogFiles(logs=(log,), single=True)


def _file(path: Path) -> IO[bytes]:
    return path.open("rb")


def _walk(folder: Path) -> Iterator[Path]:
    """Regular files, links left out. Attack: an unpacked artifact with a link to a file of this machine."""
    for top, _, names in os.walk(folder):
        for name in names:
            path = Path(top, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path


def _bounded(file: IO[bytes]) -> None:
    """Refuse a table of contents that would fill memory; where it says its size: APPNOTE.TXT of PKWARE, 4.3.16."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 66_000))
    tail = file.read()
    at = len(tail) - 22 if tail[-22:-18] == b"PK\5\6" and tail.endswith(b"\0\0") else tail.rfind(b"PK\5\6")
    if at >= 0 and (int.from_bytes(tail[at + 12 : at + 16], "little") > _MOST_TABLE or b"PK\6\7" in tail[:at][-20:]):
        raise ValueError("its table of contents is too large")
    file.seek(0)


def _named(files: Mapping[PurePosixPath, Part], source: str, meter: _Meter) -> tuple[LogFile, ...]:
    jobs = layout(files)
    if not jobs:
        raise ValueError("it holds no logs (.txt or .log)")
    if len(jobs) > MOST_LOGS:
        raise ValueError(f"it holds more than {MOST_LOGS} logs")
    return tuple(
        LogFile(
            name=name,
            source=f"{source}: {name!r}",
            parts=tuple(files[path] for path in paths),
            meter=meter,
        )
        for name, paths in sorted(jobs.items())
    )


def layout(paths: Iterable[PurePosixPath]) -> dict[str, list[PurePosixPath]]:
    """Job name -> the files that hold its log, each text once.

    GitHub's layout is a file `0_JOB.txt` for a whole job (the number is an ordinal, negative from its old service, and
    missing in some downloads) and a folder `JOB` with `1_STEP.txt`, `2_STEP.txt`, ... and `system.txt`, which repeat
    the same text: they count only where the whole job's file is missing.
    """
    folders: dict[PurePosixPath, list[PurePosixPath]] = {}
    for path in sorted(paths):
        if path.suffix.lower() in (".txt", ".log"):
            folders.setdefault(path.parent, []).append(path)
    whole: dict[str, list[PurePosixPath]] = {}
    steps: dict[str, list[PurePosixPath]] = {}
    for folder, files in folders.items():
        numbers = {path: int(found[1]) for path in files if (found := _NUMBERED.match(path.stem))}
        if _of_steps(folder, files, list(numbers.values())):
            steps[str(folder) if folder.name else "job"] = sorted(numbers, key=lambda path: numbers[path])
            continue
        for path in files:
            title = _NUMBERED.match(path.stem)
            name = str(folder / (title[2].strip() or path.stem if title else path.stem))
            whole[name if name not in whole else str(path)] = [path]
    return whole | {job: found for job, found in steps.items() if job.strip() not in whole}


def _of_steps(folder: PurePosixPath, files: list[PurePosixPath], numbers: list[int]) -> bool:
    """Whether a folder holds the steps of one job: they count from 1 and begin with the setting up."""
    if not numbers or min(numbers) < 1:
        return False
    own = {path.name for path in files} & {"system.txt", "1_Set up job.txt"}
    return bool(own) or (bool(folder.name) and len(numbers) == len(files))

"""The audit record: every attempt on disk before the next step, chained by hashes, without secrets."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from bot.domain.attempt import Attempt, Fault, Outcome
from bot.domain.wire import canonical, to_json

START = "0" * 64
"""`prev` of the first link."""

Redact = Callable[[str], str]


@dataclass(kw_only=True)
class JsonlTrail:
    """Port Trail: `history.jsonl` (a link per attempt), the attached files, and `outcome.json` (the last link).

    A link is a JSON object with `prev`, `files` (name -> SHA-256 of everything attached since the link before) and
    `sha256` over its own canonical JSON without that field. Opening a folder again continues its chain.
    """

    folder: Path
    redact: Redact
    head: str = START
    _sealed: set[str] = field(default_factory=set)
    _fresh: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path, redact: Redact) -> JsonlTrail:
        """Start or continue the trail in `folder`; a half-written last line of a killed run is cut off.

        Raises Fault when the folder cannot be written or its chain was tampered with.
        """
        with _writing(folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            history = folder / "history.jsonl"
            if history.exists():
                whole = history.read_bytes().rpartition(b"\n")
                os.truncate(history, len(whole[0] + whole[1]))
        if problems := verify(folder):
            raise Fault(f"the trail in {folder} was changed: {problems[0]}", fix="name another folder with --out")
        with _writing(folder):
            _put_aside(folder)
        links = read(folder)
        sealed = {name for link in links for name in link["files"]}
        return cls(folder=folder, redact=redact, head=links[-1]["sha256"] if links else START, _sealed=sealed)

    def attach(self, name: str, content: bytes) -> None:
        """Store a file, redacted, under a relative name; one that a link already vouches for is never replaced."""
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise ValueError(f"not a name inside the trail: {name!r}")
        name = self._free(path)
        clean = _redacted_file(path.suffix, content, self.redact)
        with _writing(self.folder):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write(self.folder / name, clean, os.O_TRUNC)
        self._fresh[name] = hashlib.sha256(clean).hexdigest()

    def record(self, attempt: Attempt) -> None:
        """Append one attempt, with its patch and reports as files beside it."""
        place = f"attempt-{attempt.iteration}"
        self.attach(f"{place}/patch.diff", attempt.diff.encode("utf-8", "backslashreplace"))
        self.attach(f"{place}/reports.json", _pretty(to_json(attempt.reports)))
        link = self._link(to_json(attempt))
        with _writing(self.folder):
            _write(self.folder / "history.jsonl", canonical(link) + b"\n", os.O_APPEND)
        self._chain(link)

    def finish(self, outcome: Outcome) -> str:
        """Write `outcome.json`, the last link, and return its hash: the head of the whole chain."""
        bare = replace(outcome, attempts=(), chain_head="")
        link = self._link(to_json(bare) | {"attempts": len(outcome.attempts)})
        with _writing(self.folder):
            _write(self.folder / "outcome.json", _pretty(link), os.O_TRUNC)
        self._chain(link)
        return self.head

    def _link(self, content: Mapping[str, Any]) -> dict[str, Any]:
        clean = _walk(content, self.redact)
        link = {**clean, "prev": self.head, "files": dict(sorted(self._fresh.items()))}
        return {**link, "sha256": _digest(link)}

    def _chain(self, link: Mapping[str, Any]) -> None:
        self.head = link["sha256"]
        self._sealed |= set(self._fresh)
        self._fresh = {}

    def _free(self, path: PurePosixPath) -> str:
        """`packet.json`, or `packet.2.json` when a link already vouches for the first."""
        number, candidate = 1, path
        while str(candidate) in self._sealed:
            number += 1
            candidate = path.with_name(f"{path.stem}.{number}{path.suffix}")
        return str(candidate)


def read(folder: Path) -> list[dict[str, Any]]:
    """The links of a trail in order, `outcome.json` left out; a partial last line is not one."""
    history = folder / "history.jsonl"
    lines = history.read_bytes().split(b"\n")[:-1] if history.exists() else []
    return [json.loads(line) for line in lines]


def verify(folder: Path) -> list[str]:
    """Everything that contradicts the chain, in words; empty when the trail is as it was written."""
    try:
        links = read(folder)
        ends = {path.name: json.loads(path.read_bytes()) for path in sorted(folder.glob("outcome*.json"))}
    except ValueError as error:
        return [f"not JSON: {error}"]
    problems: list[str] = []
    known = [START]
    for name, link in [*((f"line {number}", link) for number, link in enumerate(links, 1)), *ends.items()]:
        if not isinstance(link, dict) or not {"prev", "sha256", "files"} <= link.keys():
            return [*problems, f"{name} is not a link"]
        # The end of a run that was continued later follows an earlier link.
        if link["prev"] != known[-1] and (name not in ends or name == "outcome.json" or link["prev"] not in known):
            problems.append(f"{name} does not follow the one before it")
        problems += _content_problems(folder, name, link)
        known += [link["sha256"]] if name not in ends else []
    return problems


def _content_problems(folder: Path, name: str, link: Mapping[str, Any]) -> list[str]:
    body = {key: value for key, value in link.items() if key != "sha256"}
    wrong = [file for file, told in link["files"].items() if not _is(folder / file, told)]
    if link["sha256"] != _digest(body):
        wrong.insert(0, name)
    return [f"{what} does not match its hash" for what in wrong]


def _put_aside(folder: Path) -> None:
    """Keep the end of an earlier run in the same folder under a number."""
    if (folder / "outcome.json").exists():
        number = 1
        while (folder / f"outcome-{number}.json").exists():
            number += 1
        (folder / "outcome.json").rename(folder / f"outcome-{number}.json")


def _is(path: Path, digest: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def _digest(link: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(link)).hexdigest()


def _pretty(data: object) -> bytes:
    return json.dumps(data, indent=2, ensure_ascii=True, allow_nan=False).encode() + b"\n"


def _redacted_file(suffix: str, content: bytes, redact: Redact) -> bytes:
    """JSON is redacted string by string, because a secret with a quote or a line break is spelt otherwise in it."""
    if suffix == ".json":
        return _pretty(_walk(json.loads(content), redact))
    return redact(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _walk(data: Any, redact: Redact) -> Any:
    if isinstance(data, str):
        return redact(data)
    if isinstance(data, Mapping):
        return {redact(key): _walk(value, redact) for key, value in data.items()}
    if isinstance(data, list):
        return [_walk(item, redact) for item in data]
    return data


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write and sync; readable by nobody else, and never through a link that someone put there."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | mode, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Fault(
            f"cannot write the trail: {error}", fix=f"free space or rights in {folder}, or name another"
        ) from error

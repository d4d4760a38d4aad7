"""Every git process is started here, deaf to the hostile repository's and the machine's configuration."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bot.domain.attempt import Fault

LIMIT = 64_000_000
"""Bytes that one call may print; more is a Fault, so that a hostile repository cannot fill the memory."""

TIMEOUT_S = 120.0

_SILENT = "no message"

# Set through the environment, which outranks the repository's own configuration. `safe.directory`: in a container the
# checkout belongs to another user; git refuses such a one because its configuration could start programs, which the
# other settings forbid.
_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.autocrlf": "false",
    "core.quotePath": "false",
    "core.logAllRefUpdates": "false",
    "core.pager": "cat",
    "core.editor": "false",
    "core.askPass": "",
    "credential.helper": "",
    "commit.gpgSign": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "safe.directory": "*",
}

_ENVIRONMENT = {
    "PATH": os.defpath,
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one call said: exit status, standard output, and standard error as one short line."""

    code: int
    out: bytes
    error: str

    @property
    def complained(self) -> bool:
        """Something was printed on standard error."""
        return self.error != _SILENT

    @property
    def text(self) -> str:
        """Standard output without surrounding white space; odd bytes survive as in file names."""
        return os.fsdecode(self.out).strip()


@dataclass(frozen=True, kw_only=True)
class Git:
    """git on one repository (`place`: its git directory, or a folder inside its work tree with `discover`)."""

    place: Path
    discover: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = TIMEOUT_S

    def ask(self, *arguments: str, stdin: bytes = b"", limit: int = LIMIT) -> Answer:
        """Run one git command; a failing one returns. Raises Fault for no git, time-out or too much output."""
        where = ("-C", str(self.place)) if self.discover else (f"--git-dir={self.place}",)
        settings = _SETTINGS | dict(self.settings)
        env = _ENVIRONMENT | {"GIT_CONFIG_COUNT": str(len(settings))} | dict(self.env)
        for number, (key, value) in enumerate(settings.items()):
            env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return _run([_git(), *where, *arguments], env, stdin, limit, self.timeout_s)

    def tell(self, *arguments: str, stdin: bytes = b"", limit: int = LIMIT) -> bytes:
        """Run one git command that must succeed and return its output; raises Fault with what git said."""
        answer = self.ask(*arguments, stdin=stdin, limit=limit)
        if answer.code:
            raise Fault(f"git {arguments[0]} failed: {answer.error}", fix=f"look at the repository {self.place}")
        return answer.out

    def within(self, **env: str) -> Git:
        """The same repository with more environment, such as GIT_INDEX_FILE."""
        return Git(
            place=self.place,
            discover=self.discover,
            env={**self.env, **env},
            settings=self.settings,
            timeout_s=self.timeout_s,
        )

    def tree_with(self, base: str, files: Mapping[str, bytes | None]) -> str:
        """Name of the tree of `base` (a full commit or tree name) with an overlay; existing files keep their mode.

        Works in an index of its own: neither the repository's index nor its work tree is touched.
        """
        with tempfile.TemporaryDirectory(prefix="selfrepair-index-") as folder:
            indexed = self.within(GIT_INDEX_FILE=str(Path(folder) / "index"))
            indexed.tell("read-tree", base)
            modes = _modes(indexed.tell("ls-files", "-z", "--stage", "--", *files) if files else b"")
            gone = b"0 " + b"0" * len(base) + b"\t"
            heads = ((path, gone if c is None else self._entry(c, modes.get(path))) for path, c in files.items())
            lines = b"".join(head + os.fsencode(path) + b"\0" for path, head in sorted(heads))
            answer = indexed.ask("update-index", "-z", "--index-info", stdin=lines)
            if answer.code or answer.complained:  # git skips a path such as .git/hooks/x with a complaint and status 0
                raise Fault(f"git update-index failed: {answer.error}", fix="the patch names a path that git refuses")
            return os.fsdecode(indexed.tell("write-tree")).strip()

    def _entry(self, content: bytes, mode: str | None) -> bytes:
        blob = self.tell("hash-object", "-w", "--stdin", "--no-filters", stdin=content).strip()
        regular = mode if mode in ("100644", "100755") else "100644"
        return regular.encode() + b" " + blob + b"\t"


def new_repository(place: Path, *, object_format: str = "sha1") -> Git:
    """A bare repository of our own whose attributes let no .gitattributes of the content filter, hide or rewrite it."""
    _initialise(place, object_format, "--bare")
    (place / "info").mkdir(exist_ok=True)
    raw = "* -text !eol !crlf !ident !filter !working-tree-encoding !diff !export-ignore !export-subst\n"
    (place / "info" / "attributes").write_text(raw)
    return Git(place=place)


def new_checkout(place: Path, *, object_format: str = "sha1") -> Git:
    """An empty work tree with its own .git, without hooks, remotes or templates."""
    _initialise(place, object_format)
    return Git(place=place / ".git")


def first_commit(place: Path, message: str) -> str:
    """Make the files in `place` a repository with one commit, the same for the same files; returns its id."""
    _initialise(place, "sha1")
    person = {"NAME": "selfrepair", "EMAIL": "selfrepair@localhost", "DATE": "2026-01-01T00:00:00+0000"}
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    git = Git(place=place, discover=True, env=env)
    git.tell("symbolic-ref", "HEAD", "refs/heads/main")
    git.tell("add", "--all")
    git.tell("commit", "-q", "-m", message)
    return git.tell("rev-parse", "HEAD").decode().strip()


def _initialise(place: Path, object_format: str, *options: str) -> None:
    place.mkdir(parents=True, exist_ok=True)
    init = ("init", "-q", "--template=", "--initial-branch=selfrepair", f"--object-format={object_format}")
    Git(place=place, discover=True).tell(*init, *options)


def _modes(listing: bytes) -> dict[str, str]:
    """path -> mode, from `git ls-files -z --stage` (git-ls-files documentation, OUTPUT)."""
    entries = (record.split(b"\t", 1) for record in listing.split(b"\0") if record)
    return {os.fsdecode(path): meta[:6].decode() for meta, path in entries}


def _git() -> str:
    found = shutil.which("git")
    if found is None:
        raise Fault("git is not installed", fix="install git (apt-get install git) and run again")
    return found


def _run(argv: list[str], env: Mapping[str, str], stdin: bytes, limit: int, timeout_s: float) -> Answer:
    with tempfile.TemporaryFile() as fed, tempfile.TemporaryFile() as errors:
        fed.write(stdin)
        fed.seek(0)
        # An argument vector, never a shell; the program is git itself.
        with subprocess.Popen(  # noqa: S603
            argv, stdin=fed, stdout=subprocess.PIPE, stderr=errors, env=dict(env), start_new_session=True
        ) as process:
            out, late = _read(process, limit, timeout_s)
        if late or len(out) > limit:
            what = f"took longer than {timeout_s:.0f} s" if late else f"printed more than {limit} bytes"
            raise Fault(
                f"git {argv[-1][:80]} {what}", fix="the repository is too large or the disk or network too slow"
            )
        errors.seek(0)
        return Answer(code=process.returncode, out=out, error=_short(errors.read(20_000)))


def _read(process: subprocess.Popen[bytes], limit: int, timeout_s: float) -> tuple[bytes, bool]:
    """Output up to the limit and whether time ran out; the whole process group is gone afterwards."""
    late = threading.Event()

    def expire() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(timeout_s, expire)
    timer.start()
    try:
        out = _stdout(process).read(limit + 1)
        if len(out) <= limit:
            process.wait()
    finally:
        timer.cancel()
        _end(process)
    return out, late.is_set()


def _stdout(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None, "opened with a pipe"
    return process.stdout


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _short(errors: bytes) -> str:
    """git's complaint as one line; a server's text is untrusted, so only printable characters stay."""
    lines: Iterable[str] = (line.strip() for line in errors.decode("utf-8", "replace").splitlines())
    text = "; ".join(line for line in lines if line)
    return "".join(c for c in text if c.isprintable())[:500] or _SILENT

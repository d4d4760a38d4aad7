"""Small real git repositories for tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ENV = {
    "PATH": os.defpath,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
}


def git(place: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run git there; the call must succeed."""
    done = subprocess.run(["git", "-C", str(place), *arguments], input=stdin, env=ENV, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def text(place: Path, *arguments: str) -> str:
    """The same, as one stripped string."""
    return git(place, *arguments).decode("utf-8", "surrogateescape").strip()


def repository(place: Path, files: Mapping[str, bytes] | None = None) -> Path:
    """A repository on branch main, with one commit when files are given."""
    place.mkdir(parents=True, exist_ok=True)
    git(place, "init", "-q", "-b", "main")
    if files:
        commit(place, files)
    return place


def commit(place: Path, files: Mapping[str, bytes | None], message: str = "change") -> str:
    """Write files (None removes), commit everything, and give the commit's name."""
    for name, content in files.items():
        target = place / name
        if content is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", message)
    return text(place, "rev-parse", "HEAD")


def raw_commit(place: Path, entries: Mapping[bytes, tuple[str, bytes]], branch: str = "main") -> str:
    """A commit made by plumbing, so that no filter, attribute or check touches names and content.

    `entries`: path -> (mode, content); for mode 160000 the content is the commit's name.
    """
    lines = []
    for path, (mode, content) in entries.items():
        blob = content if mode == "160000" else git(place, "hash-object", "-w", "--stdin", stdin=content).strip()
        lines.append(mode.encode() + b" " + blob + b"\t" + path + b"\0")
    git(place, "update-index", "-z", "--index-info", stdin=b"".join(lines))
    tree = text(place, "write-tree")
    made = text(place, "commit-tree", "-m", "raw", tree)
    git(place, "update-ref", f"refs/heads/{branch}", made)
    return made


def fingerprint(place: Path) -> dict[str, tuple[bytes, float]]:
    """Every file below a folder with content and time: equal before and after means that nothing was written."""
    found = (path for path in sorted(place.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path): (path.read_bytes(), path.stat().st_mtime) for path in found}

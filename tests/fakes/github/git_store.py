"""The bare git repository behind the stand-in: every object that the API makes is really in it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """One row of a tree."""

    mode: str
    kind: str
    sha: str
    size: int | None
    path: str


class GitStore:
    """Plumbing over one bare repository; wrong objects raise GitRefused."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def git(self, *args: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> bytes:
        """Run git in the repository; raises GitRefused with git's own words."""
        done = subprocess.run(
            ["git", f"--git-dir={self.path}", *args],
            input=stdin,
            capture_output=True,
            env={**os.environ, **(env or {})},
        )
        if done.returncode:
            raise GitRefused(done.stderr.decode(errors="replace").strip())
        return done.stdout

    def line(self, *args: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> str:
        """The command's output as one stripped line."""
        return self.git(*args, stdin=stdin, env=env).decode().strip()

    @property
    def empty(self) -> bool:
        """No reference at all."""
        return not self.git("for-each-ref", "--count=1")

    @property
    def default_branch(self) -> str:
        """What HEAD names."""
        return self.line("symbolic-ref", "--short", "HEAD")

    def ref(self, name: str) -> str | None:
        """The commit of `refs/...`, None when there is no such reference."""
        rows = self.line("for-each-ref", "--format=%(refname) %(objectname)", name).splitlines()
        return next((row.split(" ")[1] for row in rows if row.split(" ")[0] == name), None)

    def refs(self, prefix: str = "refs/heads/") -> dict[str, str]:
        """Reference -> commit."""
        rows = self.line("for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
        return dict(row.split(" ", 1) for row in rows)

    def set_ref(self, name: str, sha: str, old: str | None) -> None:
        """Create (`old` None) or move a reference, atomically."""
        self.git("update-ref", name, sha, old or "0" * 40)

    def kind(self, sha: str) -> str | None:
        """Object type, None when it is not there."""
        try:
            return self.line("cat-file", "-t", sha)
        except GitRefused:
            return None

    def blob(self, content: bytes) -> str:
        """Store a blob."""
        return self.line("hash-object", "-w", "--stdin", stdin=content)

    def read(self, sha: str) -> bytes:
        """A blob's content."""
        return self.git("cat-file", "blob", sha)

    def tree_of(self, treeish: str) -> str:
        """The tree of a commit or tree."""
        return self.line("rev-parse", "--verify", f"{treeish}^{{tree}}")

    def entries(self, tree: str, recursive: bool = False) -> list[Entry]:
        """Rows of a tree."""
        flags = ["-r", "-t"] if recursive else []
        rows = self.git("ls-tree", "-z", "-l", *flags, tree).decode().split("\0")
        return [_entry(row) for row in rows if row]

    def write_tree(self, base: str | None, rows: list[tuple[str, str, str | None]]) -> str:
        """A tree from `base` with (mode, path, sha) laid over it; sha None removes."""
        with tempfile.TemporaryDirectory() as folder:
            env = {"GIT_INDEX_FILE": f"{folder}/index"}
            self.git("read-tree", base or "--empty", env=env)
            lines = "".join(f"{mode if sha else 0} {sha or '0' * 40}\t{path}\0" for mode, path, sha in rows)
            self.git("update-index", "-z", "--index-info", stdin=lines.encode(), env=env)
            return self.line("write-tree", env=env)

    def commit(self, tree: str, parents: list[str], message: str, author: str, email: str) -> str:
        """Store a commit, dated now as GitHub does."""
        who = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": email}
        who |= {"GIT_COMMITTER_NAME": "GitHub", "GIT_COMMITTER_EMAIL": "noreply@github.com"}
        flags = [flag for parent in parents for flag in ("-p", parent)]
        return self.line("commit-tree", tree, *flags, stdin=message.encode(), env=who)

    def show(self, commit: str) -> tuple[str, list[str], str]:
        """(tree, parents, message) of a commit."""
        tree, parents, message = self.git("show", "-s", "--format=%T%n%P%n%B", commit).decode().split("\n", 2)
        return tree, parents.split(), message.rstrip("\n")

    def count(self, base: str, head: str) -> int:
        """Commits on `head` that `base` has not."""
        return int(self.line("rev-list", "--count", f"{base}..{head}"))


class GitRefused(Exception):
    """git said no."""


def _entry(row: str) -> Entry:
    meta, path = row.split("\t", 1)
    mode, kind, sha, size = meta.split()
    return Entry(mode, kind, sha, None if size == "-" else int(size), path)

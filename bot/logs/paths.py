"""Paths in a log are the runner's; findings carry paths inside the repository."""

from __future__ import annotations

import re

_WORKSPACES = re.compile(
    r"(?:file://)?(?:"
    r"/home/runner/(?:work|actions-runner/_work)/[^/]+/[^/]+/"
    r"|/Users/runner/work/[^/]+/[^/]+/"
    r"|/home/[^/]+/actions-runner/_work/[^/]+/[^/]+/"
    r"|/__w/[^/]+/[^/]+/"
    r"|/github/workspace/"
    r"|/workspace/"
    r"|[A-Za-z]:/a/[^/]+/[^/]+/"
    r")"
)
_FOREIGN = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|node_modules|\.tox|\.nox|\.venv|venv)/|/lib/python\d|^<|^\.\./"
)


def relative(path: str, root: str | None = None) -> str:
    """The path inside the repository, if it can be told; else the path as it is, with forward slashes.

    `root` is the directory that relative paths of this tool start from, as the tool printed it.
    """
    path = path.strip().replace("\\", "/") if "\\" in path else path.strip()
    if root and path.startswith(root.rstrip("/") + "/"):
        return path[len(root.rstrip("/")) + 1 :]
    found = _WORKSPACES.match(path)
    if found:
        path = path[found.end() :]
    while path.startswith("./"):
        path = path[2:]
    return path


def inside(path: str) -> bool:
    """Whether a path (already relative) lies in the repository's own code: not the interpreter's, not a package's."""
    return not path.startswith("/") and not _FOREIGN.search(path) and path[1:3] != ":/"


def same_file(one: str, other: str) -> bool:
    """One path is the other, seen from further up or down the tree."""
    return one == other or one.endswith("/" + other) or other.endswith("/" + one)

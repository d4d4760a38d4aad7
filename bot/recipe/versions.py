"""Which versions CI had installed, as its log says: a release made since then must not change the failure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterator

MOST = 2000
"""Pins that are kept."""

_UV = re.compile(r" \+ ([A-Za-z0-9][\w.-]*)==(\d[\w.!]*)\s*$")
_NAMED = re.compile(r"([A-Za-z0-9][\w.-]*?)-(\d[\w.!+]*)$")


def pins(log: bytes, own: Collection[str]) -> tuple[str, ...]:
    """`name==version` for every Python distribution the log says was installed, sorted; the last word counts.

    `own` are names of the repository's own distributions, which come from the tree. Local and development versions,
    which no index has, are left out.
    """
    known = {_normal(name) for name in own}
    found: dict[str, str] = {}
    for line in log.decode("utf-8", "replace").splitlines():
        for name, version in _told(line):
            if _normal(name) not in known and "+" not in version and ".dev" not in version and len(found) < MOST:
                found[_normal(name)] = version
    return tuple(f"{name}=={version}" for name, version in sorted(found.items()))


def own(read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The name of the repository's own distribution, as its metadata tells it."""
    try:
        project = tomllib.loads((read("pyproject.toml") or b"").decode("utf-8", "replace"))
    except (tomllib.TOMLDecodeError, RecursionError):
        project = {}
    named = [project.get("project"), (project.get("tool") or {}).get("poetry")]
    found = [str(table["name"]) for table in named if isinstance(table, dict) and "name" in table]
    legacy = re.search(
        rb"^\s*name\s*=\s*[\"']?([\w.-]+)", (read("setup.cfg") or b"") + b"\n" + (read("setup.py") or b""), re.M
    )
    return (*found, *([legacy.group(1).decode()] if legacy else []))


def _told(line: str) -> Iterator[tuple[str, str]]:
    if "Successfully installed " in line:
        for word in line.partition("Successfully installed ")[2].split():
            named = _NAMED.match(word[:200])
            if named:
                yield named.group(1), named.group(2)
    elif " + " in line:
        added = _UV.search(line)
        if added:
            yield added.group(1), added.group(2)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

"""What a patch may not touch: the files that say whether it is right, and names that would change who says so."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from bot.domain.fitness import Evaluation
from bot.domain.patch import Files, Read, Rejected
from bot.repair.locked import DEFAULT, fold, matches

MAX_FILES = 50
MAX_BYTES = 2_000_000

STARTUP = ("sitecustomize", "usercustomize")
"""Python imports these by itself (docs.python.org, module `site`)."""

_TOOLS = """pytest _pytest py pluggy iniconfig unittest mock nose nose2 coverage pytest_cov hypothesis xdist tox nox
selfrepair_events selfrepair_facts selfrepair_lines ruff mypy flake8 pycodestyle pyflakes pylint pyright"""

TEST_TOOLS = frozenset(_TOOLS.split())
"""A module of such a name at an import root takes the place of the tool."""


_Broken = tuple[str, str] | None


def protected_paths(
    paths: frozenset[str],
    baseline: Evaluation,
    *,
    protect: Iterable[str] = (),
    allow: Iterable[str] = (),
    commands: Iterable[str] = (),
) -> frozenset[str]:
    """The tracked paths that are locked.

    Files of the test ids collected in the baseline, shell scripts that the checks' commands name, and what
    `locked.DEFAULT` or a `protect` glob matches; without what an `allow` glob matches.
    """
    globs, opened = (*DEFAULT, *protect), tuple(allow)
    named = {test.partition("::")[0] for test in baseline.collected if "::" in test}
    scripts = {word.removeprefix("./") for text in commands for word in re.findall(r"[\w./-]+\.(?:sh|bash)\b", text)}
    told = {path for path in paths if _ends_with_one_of(path, named | scripts)}
    return frozenset(p for p in paths if (p in told or matches(p, globs)) and not matches(p, opened))


def _ends_with_one_of(path: str, names: set[str]) -> bool:
    """Ids are relative to the runner's root folder, which may lie anywhere in the repository."""
    parts = path.split("/")
    return any("/".join(parts[start:]) in names for start in range(len(parts)))


def protected_files(read: Read, protected: frozenset[str]) -> dict[str, bytes | None]:
    """The overlay that puts the locked files back; symlinks and submodules, which `read` does not give, stay."""
    found = {path: read(path) for path in sorted(protected)}
    return {path: content for path, content in found.items() if content is not None}


def check(
    files: Files,
    *,
    protected: frozenset[str],
    paths: frozenset[str],
    read: Read,
    allow: Iterable[str] = (),
    protect: Iterable[str] = (),
) -> Rejected | None:
    """Hold what a patch touches against the path rules; `paths` are those of the head commit, `read` gives its files.

    The first broken rule is given, its reason worded for the model.
    """
    if len(files) > MAX_FILES or sum(len(content or b"") for content in files.values()) > MAX_BYTES:
        return Rejected(rule="size", reason="the patch is too large; make the smallest change that repairs the failure")
    new = {path for path, content in files.items() if path not in paths and content is not None}
    spellings = _spellings(paths | files.keys())
    globs = (*DEFAULT, *protect)
    for path in sorted(files):
        broken = _lock(path, protected) or _spelling(path, paths, spellings)
        if broken is None and path in new:
            broken = _new(path, globs, tuple(allow), paths | new)
        rejected = unwritable(path, paths, read) or _rejected(path, broken)
        if rejected:
            return rejected
    return None


def unwritable(path: str, paths: Collection[str], read: Read) -> Rejected | None:
    """Why nothing can be written to a path, whatever it is: what it looks like, and what stands there or above."""
    return _rejected(path, _form(path) or _kind(path, paths, read))


def _rejected(path: str, broken: _Broken) -> Rejected | None:
    return Rejected(rule=broken[0], reason=f"{_shown(path)}: {broken[1]}") if broken else None


def _form(path: str) -> _Broken:
    """Paths that leave the tree, or that git or a file system reads otherwise than they look."""
    parts = path.split("/")
    if not path or any(part in ("", ".", "..") for part in parts) or "\\" in path or len(path) > 400:
        return "path", "not a plain path inside the repository; use one relative to its root, with forward slashes"
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in path) or re.match("[A-Za-z]:", path):
        return "path", "unusable characters in the path"
    # Windows drops trailing dots and blanks and knows .git as GIT~1: both have been used to write hooks.
    if any(fold(part).rstrip(". ") in (".git", "git~1") or part != part.strip() for part in parts):
        return "git", "git's own files cannot be changed; change the code instead"
    return None


def _lock(path: str, protected: frozenset[str]) -> _Broken:
    if path in protected:
        return "protected", "locked, because it decides whether the repair is right; change the code under test instead"
    return None


def _spellings(paths: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Every file and folder, by its folded form."""
    found: dict[str, set[str]] = {}
    for path in paths:
        for prefix in (path, *map(str, PurePosixPath(path).parents)):
            found.setdefault(fold(prefix), set()).add(prefix)
    return {folded: frozenset(names) for folded, names in found.items()}


def _kind(path: str, paths: Collection[str], read: Read) -> _Broken:
    if _through(path, paths):  # a link, a submodule or a file: what lies behind is not ours
        return "symlink", "the path goes through something that is not a folder; edit the file at its real path"
    if path in paths and read(path) is None:  # it would be written over, or written through
        return "symlink", "a link, a submodule or a file too large to edit; edit the file at its real path"
    if any(other.startswith(f"{path}/") for other in paths):
        return "path", "a folder, not a file"
    return None


def _through(path: str, paths: Collection[str]) -> bool:
    return any(parent in paths for parent in _parents(path))


def _parents(path: str) -> list[str]:
    return [str(parent) for parent in PurePosixPath(path).parents][:-1]


def _spelling(path: str, paths: frozenset[str], spellings: Mapping[str, frozenset[str]]) -> _Broken:
    parents = _parents(path)
    if path not in paths and any(len(spellings[fold(prefix)]) > 1 for prefix in (path, *parents)):
        return "collision", "differs from an existing path only in spelling; use the existing path exactly"
    return None


def _new(path: str, globs: tuple[str, ...], allow: tuple[str, ...], paths: frozenset[str]) -> _Broken:
    if _through(path, paths):
        return "path", "inside another new file; give each a place of its own"
    if matches(path, allow):
        return None
    name = PurePosixPath(fold(path))
    top = fold(_top_module(path, paths))
    if name.suffix == ".pth" or top in STARTUP or name.stem in STARTUP:
        return "startup", "this would run at every start of Python; put the change into the code that fails"
    if name.suffix in (".pyc", ".pyo", ".so", ".pyd", ".dll", ".dylib") or "__pycache__" in name.parts:
        return "binary", "compiled files cannot be added; change the source instead"
    if matches(path, globs):
        return "protected", "do not add tests or configuration; change the code under test instead"
    if name.suffix in (".py", ".pyi") and (top in sys.stdlib_module_names or top in TEST_TOOLS or _plugin(top)):
        return "shadowing", f"a module named {top} here would take the place of another; choose another name"
    return None


def _plugin(top: str) -> bool:
    return top.startswith(("pytest_", "_pytest"))


def _top_module(path: str, paths: frozenset[str]) -> str:
    """The first name of the module's import path: packages upward for as long as they have an `__init__.py`."""
    pure = PurePosixPath(path)
    top = pure.name.split(".")[0]
    for parent in pure.parents:
        if f"{parent}/__init__.py" not in paths:
            return top
        top = parent.name
    return top


def _shown(path: str) -> str:
    return path if path.isprintable() and len(path) <= 200 else repr(path[:200])

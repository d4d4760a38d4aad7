"""The Python package under test: it must be tested as patched, so a copy that CI installed is installed editable here.

The rule: `pip install .` becomes `pip install -e .` where the build backend has editable installs (PEP 660). Where it
has none, or where compiled parts would stay as they were, every check first installs the tree again, offline.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.recipe.toolchain import toml
from bot.recipe.workflow import Read

_TARGET = re.compile(r"""(?<=\s)(?P<quote>["']?)(?P<path>\.(?:/[\w./-]*)?(?:\[[\w, .-]*\])?)(?P=quote)(?=\s|$)""")
_COMMAND = re.compile(r"(?:^|[\s/])(?:pip[\d.]*|uv pip) install(?=\s)")
_OLD = re.compile(r"\bpython[\d.]* setup\.py (?:install|develop)\b.*")
_WHEEL = re.compile(r"\binstall\s(?:.*\s)?[\"']?(?:\./)?dist/\S*\.(?:whl|tar\.gz)")

BACKENDS: Mapping[str, bool] = {
    "setuptools.build_meta": True,
    "setuptools.build_meta:__legacy__": True,
    "hatchling.build": True,
    "hatchling.ouroboros": True,
    "flit_core.buildapi": True,
    "flit.buildapi": True,
    "poetry.core.masonry.api": True,
    "poetry_dynamic_versioning.backend": True,
    "pdm.backend": True,
    "pdm.pep517.api": True,
    "uv_build": True,
    "maturin": True,
    "mesonpy": True,
    "scikit_build_core.build": True,
}
"""Build backends with editable installs."""

_COMPILED = frozenset(("maturin", "scikit_build_core.build"))
"""Backends whose editable installs do not rebuild what is compiled."""

REINSTALL = "pip install --no-index --no-deps --no-build-isolation --quiet"


@dataclass(frozen=True, kw_only=True)
class Package:
    """What a folder's own metadata says. `requires` are its build requirements."""

    name: str = ""
    backend: str = "setuptools.build_meta:__legacy__"
    requires: tuple[str, ...] = ("setuptools", "wheel")
    compiled: bool = False


@dataclass(frozen=True, kw_only=True)
class Installed:
    """How an install command is run here: `command`, what each check does `before`, and what to say about it."""

    command: str
    before: str = ""
    needs: tuple[str, ...] = ()
    note: str = ""


def package(read: Read, folder: str = ".") -> Package | None:
    """The package in a folder; None where there is none."""
    place = "" if folder == "." else f"{folder}/"
    content, old = read(f"{place}pyproject.toml"), read(f"{place}setup.py")
    cfg = (read(f"{place}setup.cfg") or b"")[:200_000].decode("utf-8", "replace")
    if content is None and old is None and not cfg:
        return None
    data = toml((content or b"")[:500_000].decode("utf-8", "replace"))
    build = _table(data, "build-system")
    project, poetry = _table(data, "project"), _table(_table(data, "tool"), "poetry")
    names = (project.get("name"), poetry.get("name"), _cfg_name(cfg))
    requires = build.get("requires")
    compiled = b"ext_modules" in (old or b"") or b"cythonize" in (old or b"")
    backend = build.get("build-backend")
    return Package(
        name=next((name for name in names if isinstance(name, str) and name), ""),
        backend=backend if isinstance(backend, str) else Package.backend,
        requires=tuple(str(item) for item in requires[:50]) if isinstance(requires, list) else Package.requires,
        compiled=compiled or backend in _COMPILED,
    )


def _table(data: object, key: str) -> Mapping[str, object]:
    value = data.get(key) if isinstance(data, Mapping) else None
    return value if isinstance(value, dict) else {}


def _cfg_name(text: str) -> str:
    found = re.search(r"^\[metadata\][^\[]*?^name\s*=\s*([\w.-]+)", text, re.M | re.S)
    return found[1] if found else ""


def installed(command: str, read: Read, folder: str) -> Installed | None:
    """How a command, run in `folder`, that installs a copy of the tree is run here; None where it installs none."""
    old, wheel = _OLD.search(command), _WHEEL.search(command)
    found = package(read, folder)
    if wheel and found is not None:
        note = "CI tested the built package: here it is installed from the tree, and every check installs it again"
        return Installed(command=_editable_or_plain(found), before=f"{REINSTALL} .", needs=found.requires, note=note)
    if old:
        command = command[: old.start()] + "pip install ." + command[old.end() :]
    start = _COMMAND.search(command)
    target = _TARGET.search(command, start.end()) if start else None
    if start is None or target is None or re.search(r"(?:^|\s)(?:-e|--editable)(?:\s|=|$)", command[: target.start()]):
        return None
    if place := re.sub(r"\[.*|^\./?", "", target["path"]).strip("/"):
        found = package(read, place if folder == "." else f"{folder}/{place}")
        if found is None:
            return None
    able = found is None or BACKENDS.get(found.backend, False)
    again = found is not None and (found.compiled or not able)
    where = target.group(0)
    editable = f"{command[: target.start()]}-e {command[target.start() :]}" if able else command
    return Installed(
        command=editable,
        before=f"{REINSTALL} {'-e ' if able else ''}{where}" if again else "",
        needs=found.requires if again and found is not None else (),
        note="`-e` is added, so that the patched tree is what is tested"
        if able
        else f"{found.backend if found else ''} has no editable installs: every check installs the patched tree again",
    )


def _editable_or_plain(found: Package) -> str:
    return "pip install -e ." if BACKENDS.get(found.backend, False) else "pip install ."

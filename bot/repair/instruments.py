"""What is put beside a check so that its runs can be read: our pytest plugin, and the switches of other tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files

from bot.domain.execution import TOOLS, WORK
from bot.domain.findings import Check

EVENTS = "events.jsonl"
"""What the plugin writes, in the sandbox's `out` folder."""

_SHELL = (
    f'export PYTHONPATH="{TOOLS}${{PYTHONPATH:+:$PYTHONPATH}}"; '
    'if command -v bash >/dev/null 2>&1; then exec bash -eo pipefail -c "$0"; fi; exec sh -e -c "$0"'
)

_QUIET_FILES = ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
"""Files that a workflow step may append to; docs.github.com, "Variables reference"."""


def entrypoint(command: str) -> tuple[str, ...]:
    """The argument vector that runs a check's command as GitHub's `shell: bash` does; by sh in images without bash.

    PYTHONPATH is set in the box, because the image may have one of its own; where the command sets one itself, ours
    goes before its value (text it merely prints may change so, which is harmless).
    """
    return "sh", "-c", _SHELL, re.sub(r"(?<![\w$])PYTHONPATH=(?=[^\s;&|])", f"PYTHONPATH={TOOLS}:", command)


def tools(only: frozenset[str] | None) -> dict[str, bytes]:
    """The plugin with its entry-point metadata, and the ids to run when not all are wanted."""
    plugin = files("bot.repair") / "plugin"
    found = {entry.name: entry.read_bytes() for entry in plugin.iterdir() if entry.name.endswith(".py")}
    found["selfrepair_events-1.dist-info/METADATA"] = b"Metadata-Version: 2.1\nName: selfrepair-events\nVersion: 1\n"
    found["selfrepair_events-1.dist-info/entry_points.txt"] = b"[pytest11]\nselfrepair_events = selfrepair_events\n"
    if only is not None:
        found["only.json"] = json.dumps(sorted(only)).encode()
    return found


def environment(check: Check, *, only: bool, trace: bool) -> Mapping[str, str]:
    """Variables of one run: what GitHub's runner gives, the check's own, then ours."""
    given = {"CI": "true", "GITHUB_WORKSPACE": WORK, "RUNNER_OS": "Linux", "RUNNER_TEMP": "/tmp"}  # noqa: S108 (in the box)
    ours = {"SELFREPAIR_OUT": f"{TOOLS}/out", "SELFREPAIR_ROOT": WORK}
    if only:
        ours["SELFREPAIR_ONLY"] = f"{TOOLS}/only.json"
    if trace:
        ours["SELFREPAIR_TRACE"] = "1"
    if "--output-format" not in check.command:
        ours["RUFF_OUTPUT_FORMAT"] = "json"
    return {**given, **dict.fromkeys(_QUIET_FILES, "/dev/null"), **check.env, **ours}

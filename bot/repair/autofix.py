"""What the linter can repair by itself costs nothing, so it is tried before a model is asked."""

from __future__ import annotations

import shlex

from bot.domain.execution import TOOLS, Limits, Request
from bot.domain.findings import Check, CheckKind, Diagnostic
from bot.domain.fitness import Evaluation
from bot.domain.patch import Files, Read
from bot.domain.ports import Sandbox

MAX_FILES = 50


def autofix(
    sandbox: Sandbox,
    environment: str,
    checks: tuple[Check, ...],
    *,
    evaluation: Evaluation,
    files: Files,
    protected: frozenset[str],
    read: Read,
    limits: Limits,
) -> dict[str, bytes]:
    """The safe fixes of ruff for the files it complains about, as an overlay ({} when there are none).

    Only where the checks run ruff themselves: another linter's taste is not ours to bring in. Protected files are left
    alone. Source: `ruff check --fix-only` applies safe fixes only (ruff's documentation, "Fix safety").
    """
    lint = {check.name: check.command for check in checks if check.kind is CheckKind.LINT and "ruff" in check.command}
    named = {
        finding.file
        for report in evaluation.reports
        if report.check in lint
        for finding in report.findings
        if isinstance(finding, Diagnostic) and finding.file not in protected and read(finding.file) is not None
    }
    paths = sorted(named)[:MAX_FILES]
    if not paths:
        return {}
    formats = any("format" in command for command in lint.values())
    result = sandbox.run(
        Request(
            environment=environment,
            entrypoint=("sh", "-c", _script(paths, formats=formats)),
            files=files,
            collect=tuple(str(index) for index in range(len(paths))),
            limits=limits,
        )
    )
    fixed = {path: result.collected.get(str(index)) for index, path in enumerate(paths)}
    return {path: content for path, content in fixed.items() if content is not None and content != read(path)}


def _script(paths: list[str], *, formats: bool) -> str:
    quoted = " ".join(shlex.quote(path) for path in paths)
    lines = ['ruff() { if command -v ruff >/dev/null; then command ruff "$@"; else python3 -m ruff "$@"; fi; }']
    lines += [f"ruff check --fix-only --quiet -- {quoted}"]
    lines += [f"ruff format --quiet -- {quoted}"] if formats else []
    lines += [f"cp -- {shlex.quote(path)} {TOOLS}/out/{index}" for index, path in enumerate(paths)]
    return "\n".join(lines)

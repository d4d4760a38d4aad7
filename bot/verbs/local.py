"""`selfrepair local` and `selfrepair demo`: a repository on this machine, repaired into a branch of its own."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from bot import action, config, report, wiring
from bot.adapters import git_plumbing, log_files
from bot.adapters.console import Console
from bot.adapters.git_workspace import GitWorkspace
from bot.adapters.local_forge import LocalForge
from bot.config import SETTINGS
from bot.domain.attempt import EXIT, InputError, OutcomeKind
from bot.domain.ports import Trigger
from bot.redact import Redactor, secrets_in

DEMO = Path(__file__).parents[1] / "demo"
"""The bundled broken repository, its CI log and the recorded replies."""


def local(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    return _ended(_repair_here(args.repo, args.log, args, environ), args)


def demo(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """The main job on the bundled repository, with the strict limits; recorded replies unless a model is at hand."""
    live = bool(args.base_url or args.model or environ.get("ANTHROPIC_API_KEY"))
    if args.record and not live:
        raise InputError("to record, name a model: give --base-url, --model, or set ANTHROPIC_API_KEY")
    replies = DEMO / "replies.jsonl"
    if not live:
        args.model = f"replay:{replies}"
    said = "a real model" if live else "replies recorded from a real model's run (no key needed)"
    sys.stdout.write(f"selfrepair demo: a small broken repository, its real CI log, and {said}.\n\n")
    shutil.rmtree(args.out, ignore_errors=True)
    repo = args.out / "repo"
    shutil.copytree(DEMO / "repo", repo)
    git_plumbing.first_commit(repo, "A shop, red in CI")
    # A type checker without its cache takes most of a turn: one run in the set-up fills it, whatever it finds.
    args.setup = args.setup or ["pip install -r requirements-dev.txt", "mypy || true"]
    args.candidates = args.candidates or "3"
    told = _repair_here(repo, DEMO / "ci.log", args, environ, strict=True)
    if args.record and told.outcome.kind is OutcomeKind.REPAIRED:  # a run that failed shows nothing
        shutil.copyfile(args.out / "trail" / "replies.jsonl", args.record)
    _show("what the model was told in turn 1", args.out / "trail" / "attempt-1" / "packet.json")
    _show("the history", args.out / "history.md")
    sys.stdout.write(f"\n──── the patch ────\n\n{told.outcome.diff}")
    _show("the pull request", args.out / "pull-request.md")
    return _ended(told, args)


def _show(title: str, path: Path) -> None:
    if path.exists():
        sys.stdout.write(f"\n──── {title} ({path}) ────\n\n{path.read_text()}\n")


def _repair_here(
    repo: Path, log: Path | None, args: argparse.Namespace, environ: Mapping[str, str], *, strict: bool = False
) -> action.Told:
    workspace = GitWorkspace.open(repo)
    logs = log_files.contents(log) if log else {}
    forge = LocalForge(repo=repo, out=args.out, logs=logs)
    settings = config.load((config.FILE, config.read_file(forge.settings())), ("flag", _flags(args)), strict=strict)
    console = Console(sys.stdout, time.monotonic, Redactor(secrets_in(environ)).text)
    trigger = Trigger(repository=repo.resolve().name, event="local", branch=workspace.branch, sha=workspace.head)
    with wiring.scratch() as scratch:
        return wiring.run(trigger, settings, console, forge, workspace, scratch, args.out / "trail", environ)


def _ended(told: action.Told, args: argparse.Namespace) -> int:
    where = f"branch: {told.delivered.branch}\n" if told.delivered.branch else ""
    sys.stdout.write(f"\n{report.terminal(told.outcome)}\n{where}files: {args.out}\n")
    return EXIT[told.outcome.kind]


def _flags(args: argparse.Namespace) -> dict[str, object]:
    values = {row.name: getattr(args, row.name.replace("-", "_")) for row in SETTINGS}
    return {name: value for name, value in values.items() if value is not None}

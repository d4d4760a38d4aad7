"""`selfrepair action`: the container's entry point. However it ends, the job's page says why."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bot import action, config, event, report, submit, wiring
from bot.adapters.console import Console
from bot.adapters.git_workspace import GitWorkspace
from bot.adapters.github_forge import GitHubForge
from bot.config import OUT, SETTINGS, Config
from bot.domain.attempt import EXIT, Fault, InputError, Outcome, OutcomeKind
from bot.domain.ports import Delivered, FailedRun, Ignored, Trigger
from bot.redact import Redactor, secrets_in

NETWORK = (
    *("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "GIT_SSL_CAINFO"),
)
"""Variables that git needs to reach the server; nothing else of the environment reaches it."""


def run(_args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """However it ends, the job's page says why: annotation, summary and outputs."""
    console = Console(sys.stdout, time.monotonic, Redactor(secrets_in(environ)).text, runner=True)
    fail_on = environ.get("INPUT_FAIL-ON") or Config.fail_on
    try:
        told, fail_on = _woken(console, environ)
    except InputError as error:
        for problem in error.problems:
            console.notice("error", problem)
        _publish(_unable(OutcomeKind.FAULTED, str(error), environ, "Correct what is named here."), environ)
        raise
    except Fault as fault:
        told = _unable(OutcomeKind.FAULTED, str(fault), environ, fault.fix)
    kind, delivered = told.outcome.kind, told.delivered
    _publish(told, environ)
    said = (f"{kind}: {told.outcome.reason}", told.outcome.fix, *delivered.notes, delivered.url)
    console.notice("error" if kind is OutcomeKind.FAULTED else "notice", " ".join(part for part in said if part))
    return _job_status(kind, fail_on)


def _woken(console: Console, environ: Mapping[str, str]) -> tuple[action.Told, str]:
    """The run, and what turns its job red. Raises InputError with every problem of event and inputs, and Fault."""
    problems: list[str] = []
    inputs = {row.name: environ.get(f"INPUT_{row.name.upper()}", "") for row in SETTINGS}
    with _noting(problems):
        woken = event.read(_event(environ), environ)
        if isinstance(woken, Ignored):
            return _unable(OutcomeKind.IGNORED, woken.reason, environ), Config.fail_on
    with _noting(problems):
        config.load(("input", inputs))
    repository = environ.get("GITHUB_REPOSITORY", "")
    token = environ.get("INPUT_GITHUB-TOKEN") or environ.get("GITHUB_TOKEN", "")
    server = environ.get("GITHUB_SERVER_URL", "https://github.com")
    api = environ.get("GITHUB_API_URL", "https://api.github.com")
    with _noting(problems):
        forge = GitHubForge(token=token, repository=repository, api_url=api, server_url=server)
    if problems:
        raise InputError(*problems)
    trigger = forge.resolve(woken)
    if isinstance(trigger, Ignored):
        told = _unable(OutcomeKind.IGNORED, trigger.reason, environ)
        return replace(told, delivered=forge.deliver(submit.reply(woken, trigger))), Config.fail_on
    settings = config.load((config.FILE, config.read_file(forge.settings())), ("input", inputs))
    network = {name: environ[name] for name in NETWORK if name in environ}
    with wiring.scratch() as scratch:
        url = f"{server}/{trigger.repository}"
        tree = GitWorkspace.fetch(url, trigger.sha, trigger.branch, token, scratch / "repo.git", network=network)
        out = Path(environ.get("GITHUB_WORKSPACE", ".")) / OUT
        return wiring.run(trigger, settings, console, forge, tree, scratch, out, environ), settings.fail_on


@contextmanager
def _noting(problems: list[str]) -> Iterator[None]:
    """Bad input is noted, so that all of it is told at once."""
    try:
        yield
    except InputError as error:
        problems += error.problems


def _unable(kind: OutcomeKind, reason: str, environ: Mapping[str, str], fix: str = "") -> action.Told:
    """How a run ended that never began."""
    repository, name = environ.get("GITHUB_REPOSITORY", ""), environ.get("GITHUB_EVENT_NAME", "")
    run = FailedRun(trigger=Trigger(repository=repository, event=name, branch="", sha=""))
    return action.Told(outcome=Outcome(kind=kind, reason=reason, fix=fix), run=run, delivered=Delivered())


def _event(environ: Mapping[str, str]) -> bytes | None:
    path = environ.get("GITHUB_EVENT_PATH", "")
    try:
        return Path(path).read_bytes()
    except OSError as error:
        why = f"cannot be read ({error.strerror}): selfrepair action runs inside a workflow"
        raise InputError(f"GITHUB_EVENT_PATH {path!r} {why}") from error


def _publish(told: action.Told, environ: Mapping[str, str]) -> None:
    """Write the job summary and the outputs, where the runner gave files for them."""
    outcome, delivered = told.outcome, told.delivered
    outputs = {
        "outcome": outcome.kind.value,
        "reason": " ".join(outcome.reason.split()),
        "pull-request": str(delivered.pull_request or ""),
        "branch": delivered.branch or "",
        "iterations": str(sum(attempt.iteration > 0 for attempt in outcome.attempts)),
        "dollars": f"{outcome.spend.dollars:.4f}",
        "trail": OUT if outcome.chain_head else "",
        "chain-head": outcome.chain_head,
    }
    clean = Redactor(secrets_in(environ)).text
    _append(environ.get("GITHUB_OUTPUT"), clean("".join(f"{name}={value}\n" for name, value in outputs.items())))
    _append(environ.get("GITHUB_STEP_SUMMARY"), clean(report.job_summary(outcome, told.run, delivered)))


def _append(path: str | None, text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def _job_status(kind: OutcomeKind, fail_on: str) -> int:
    """Exit status of the job: `fail-on` decides what turns it red."""
    red = {"never": (), "fault": (OutcomeKind.FAULTED,), "unrepaired": tuple(OutcomeKind)}[fail_on]
    return EXIT[kind] if kind in red else 0

"""One thin command per verb: the only place that reads the environment, exits, or catches what nobody foresaw."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from bot import __version__, action, config, event, packets, recipe, report, wiring
from bot.adapters import git_plumbing, gvisor_host
from bot.adapters.console import Console
from bot.adapters.docker_client import connect, product_image
from bot.adapters.git_workspace import GitWorkspace
from bot.adapters.github_forge import GitHubForge
from bot.adapters.local_forge import LocalForge
from bot.bench import sandbox as bench_sandbox
from bot.config import SETTINGS, Config
from bot.domain.attempt import EXIT, Fault, InputError, Outcome, OutcomeKind
from bot.domain.fitness import Evaluation
from bot.domain.ports import Delivered, FailedRun, Ignored, Trigger
from bot.logs import as_schema, read_job
from bot.redact import Redactor

DEMO = Path(__file__).parent / "demo"
"""The bundled broken repository, its CI log and the recorded replies."""

NETWORK = (
    *("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "GIT_SSL_CAINFO"),
)
"""Variables that git needs to reach the server; nothing else of the environment reaches it."""


OUT = "selfrepair-out"
"""Folder of the trail, in the workspace."""


def parser() -> argparse.ArgumentParser:
    """The command line, as `--help` shows it."""
    root = argparse.ArgumentParser(prog="selfrepair", description="Repairs red CI runs, and shows how.")
    root.add_argument("--version", action="version", version=f"selfrepair {__version__}")
    verbs = root.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    verbs.add_parser("action", help="the action's entry point: inputs and event come from the environment")
    local = verbs.add_parser("local", help="repair a local repository's head commit")
    local.add_argument("--repo", required=True, type=Path, help="the repository")
    local.add_argument("--log", type=Path, help="the failing job's log: says which checks to run when no --check does")
    _settings(local)
    parse = verbs.add_parser("parse", help="what a job's log says")
    parse.add_argument("log", type=Path)
    parse.add_argument("--json", action="store_true", help="everything, as JSON")
    looking = {"packet": "the packet that a model would get", "recipe": "which checks would be run, and why"}
    for verb, text in looking.items():
        sub = verbs.add_parser(verb, help=text)
        sub.add_argument("log", type=Path)
        sub.add_argument("--repo", required=True, type=Path, help="the checkout that the log is about")
    install = verbs.add_parser("install-gvisor", help="register gVisor with this machine's Docker")
    install.add_argument("--remove", action="store_true", help="take it out again")
    bench = verbs.add_parser("bench", help="measure what the parts cost")
    bench.add_argument("what", choices=["sandbox"], help="sandbox: an execution, cold and warm")
    bench.add_argument("options", nargs=argparse.REMAINDER, help="options of that bench")
    demo = verbs.add_parser("demo", help="the whole story on a bundled broken repository, no key needed")
    demo.add_argument("--record", type=Path, help="ask a real model and write its replies to this file")
    _settings(demo)
    return root


def _settings(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--out", type=Path, default=Path(OUT), help="folder for the trail and the reports")
    sub.add_argument("--check", action="append", dest="checks", metavar="CMD", help="a command that must be green")
    sub.add_argument("--setup", action="append", metavar="CMD", help="a command that installs what the checks need")
    for row in SETTINGS:
        if row.name not in ("checks", "setup"):
            default = f" (default: {row.default})" if row.default else ""
            sub.add_argument(f"--{row.name}", metavar="X", help=f"{row.help}{default}")


def main(argv: list[str] | None = None) -> int:
    """Run one verb and return its exit status: 0 done, 1 not repaired, 2 usage or configuration, 3 fault."""
    args = parser().parse_args(argv)
    signal.signal(signal.SIGTERM, _interrupted)
    clean = Redactor(wiring.secrets_in(os.environ)).text
    try:
        return VERBS[args.verb](args, os.environ)
    except InputError as error:
        sys.stderr.write(clean("".join(f"selfrepair: {problem}\n" for problem in error.problems)))
        return 2
    except Fault as fault:
        sys.stderr.write(clean(f"selfrepair: {fault}\n  fix: {fault.fix}\n"))
        return EXIT[OutcomeKind.FAULTED]
    except KeyboardInterrupt:
        sys.stderr.write("selfrepair: interrupted\n")
        return 130
    except Exception:  # noqa: BLE001 - the one broad one: a secret in a traceback must not reach the log
        sys.stderr.write(clean(traceback.format_exc()))
        sys.stderr.write("selfrepair: this is a fault of selfrepair itself; please report it with the lines above\n")
        return EXIT[OutcomeKind.FAULTED]


def _interrupted(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


# -- action -------------------------------------------------------------------------------------------------------


def _action(_args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """However it ends, the job's page says why: annotation, summary and outputs."""
    console = Console(sys.stdout, time.monotonic, runner=True)
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
        return _unable(OutcomeKind.IGNORED, trigger.reason, environ), Config.fail_on
    settings = config.load((config.FILE, config.read_file(forge.settings())), ("input", inputs))
    network = {name: environ[name] for name in NETWORK if name in environ}
    with _scratch() as scratch:
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
    _append(environ.get("GITHUB_OUTPUT"), "".join(f"{name}={value}\n" for name, value in outputs.items()))
    summary = report.job_summary(outcome, told.run, delivered)
    _append(environ.get("GITHUB_STEP_SUMMARY"), Redactor(wiring.secrets_in(environ)).text(summary))


def _append(path: str | None, text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def _job_status(kind: OutcomeKind, fail_on: str) -> int:
    """Exit status of the job: `fail-on` decides what turns it red."""
    red = {"none": (), "fault": (OutcomeKind.FAULTED,), "unrepaired": tuple(OutcomeKind)}[fail_on]
    return EXIT[kind] if kind in red else 0


# -- local and demo -----------------------------------------------------------------------------------------------


def _local(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    return _ended(_repair_here(args.repo, args.log, args, environ), args)


def _demo(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
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
    logs = {log.stem: _log(log)} if log else {}
    forge = LocalForge(repo=repo, out=args.out, logs=logs)
    settings = config.load((config.FILE, config.read_file(forge.settings())), ("flag", _flags(args)), strict=strict)
    console = Console(sys.stdout, time.monotonic)
    trigger = Trigger(repository=repo.resolve().name, event="local", branch=workspace.branch, sha=workspace.head)
    with _scratch() as scratch:
        return wiring.run(trigger, settings, console, forge, workspace, scratch, args.out / "trail", environ)


def _ended(told: action.Told, args: argparse.Namespace) -> int:
    where = f"branch: {told.delivered.branch}\n" if told.delivered.branch else ""
    sys.stdout.write(f"\n{report.terminal(told.outcome)}\n{where}files: {args.out}\n")
    return EXIT[told.outcome.kind]


def _flags(args: argparse.Namespace) -> dict[str, object]:
    values = {row.name: getattr(args, row.name.replace("-", "_")) for row in SETTINGS}
    return {name: value for name, value in values.items() if value is not None}


def _log(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"log {str(path)!r} cannot be read: {error.strerror}") from error


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="selfrepair-") as folder:
        yield Path(folder)


# -- looking only -------------------------------------------------------------------------------------------------


def _parse(args: argparse.Namespace, _environ: Mapping[str, str]) -> int:
    job = read_job([_log(args.log)], name=args.log.stem)
    if args.json:
        sys.stdout.write(json.dumps(as_schema(job), indent=1) + "\n")
    else:
        sys.stdout.write(report.job(job))
    return 0


def _packet(args: argparse.Namespace, _environ: Mapping[str, str]) -> int:
    job = read_job([_log(args.log)], name=args.log.stem)
    workspace = GitWorkspace.open(args.repo)
    evaluation = Evaluation(reports=tuple(step.report for step in job.steps if step.report))
    packet = packets.build(
        evaluation,
        iteration=1,
        max_iterations=5,
        read=workspace.read,
        paths=workspace.paths(),
        changed=workspace.changed(None),
    )
    sys.stdout.write(json.dumps(packet.as_json(), indent=1, ensure_ascii=False) + "\n")
    return 0


def _recipe(args: argparse.Namespace, _environ: Mapping[str, str]) -> int:
    job = read_job([_log(args.log)], name=args.log.stem)
    made = recipe.infer([job], image=Config.image, setup=(), checks=())
    for check in made.checks:
        sys.stdout.write(f"{check.kind}: {check.command}\n    from {check.origin}\n")
    return 0


def _install_gvisor(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    client = connect()
    done = gvisor_host.install(client, product_image(client, environ.get("SELFREPAIR_IMAGE", "")), remove=args.remove)
    sys.stdout.write(f"{done}\n")
    return 0


def _bench(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    return bench_sandbox.main(args.options, environ.get("SELFREPAIR_IMAGE", ""))


VERBS: Mapping[str, Callable[[argparse.Namespace, Mapping[str, str]], int]] = {
    "action": _action,
    "local": _local,
    "parse": _parse,
    "packet": _packet,
    "recipe": _recipe,
    "install-gvisor": _install_gvisor,
    "demo": _demo,
    "bench": _bench,
}

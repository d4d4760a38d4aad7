"""`selfrepair parse`, `packet` and `recipe`: what can be said from logs alone, without a model or a sandbox."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from bot.adapters.log_files import contents, opened
from bot.domain.attempt import Budget, InputError
from bot.domain.findings import JobLog
from bot.logs import as_schema, read_job
from bot.redact import Redactor, secrets_in


def parse(args: argparse.Namespace, _environ: Mapping[str, str]) -> int:
    """One log as the corpus' object; of a folder or zip, an object for each job, with its name, in "jobs"."""
    from bot.report import jobs as told

    single, jobs = _jobs(args.log)
    if not args.json:
        sys.stdout.write(told(jobs))
    elif single:
        sys.stdout.write(json.dumps(as_schema(jobs[0]), indent=1) + "\n")
    else:
        objects = [{"job": job.name, **as_schema(job)} for job in jobs]
        sys.stdout.write(json.dumps({"schema": 1, "jobs": objects}, indent=1) + "\n")
    return 0


def packet(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """The packet of the first turn, for a log and the checkout that it is about."""
    from bot import packets
    from bot.adapters.git_workspace import GitWorkspace

    _, jobs = _jobs(args.log)
    workspace = GitWorkspace.open(args.repo)
    run = packets.of_run(jobs)
    made = packets.build(
        run.evaluation,
        legs=run.legs,
        aside=run.aside,
        iteration=1,
        max_iterations=Budget().iterations,
        read=workspace.read,
        paths=workspace.paths(),
        changed=workspace.changed(None),
    )
    shown = packets.redact_packet(made, Redactor(secrets_in(environ))).as_json()
    sys.stdout.write(json.dumps(shown, indent=1, ensure_ascii=False) + "\n")
    return 0


def recipe(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """What CI did, and where each of it is written."""
    from bot import config
    from bot import recipe as recipes
    from bot.adapters.git_workspace import GitWorkspace
    from bot.report import recipe as told

    workspace = GitWorkspace.open(args.repo)
    settings = config.load((config.FILE, config.read_file(workspace.read(config.FILE))))
    logs = contents(args.log)
    made = recipes.infer(
        [read_job([log], name=name) for name, log in logs.items()],
        image=settings.image,
        setup=settings.setup,
        checks=settings.checks,
        workflow=args.workflow,
        logs=logs,
        read=workspace.read,
        paths=workspace.paths(),
    )
    shown = json.dumps(asdict(made), indent=1, ensure_ascii=False) + "\n" if args.json else told(made)
    sys.stdout.write(Redactor(secrets_in(environ)).text(shown))
    return 0


def _jobs(path: Path) -> tuple[bool, list[JobLog]]:
    """(whether the path is one job's log, the jobs). Raises InputError with everything that cannot be read."""
    problems: list[str] = []
    jobs: list[JobLog] = []
    with opened(path) as found:
        for log in found.logs:
            try:
                jobs.append(read_job(log.chunks(), name=log.name))
            except InputError as error:
                problems += error.problems
    if problems:
        raise InputError(*problems)
    return found.single, jobs

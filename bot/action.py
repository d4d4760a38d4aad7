"""The whole story on one page: a red CI run goes in, an Outcome and its delivery come out."""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from bot import recipe, submit
from bot.config import CONFIGURED, Config
from bot.domain.attempt import Attempt, EditFormat, Fault, Outcome, OutcomeKind
from bot.domain.execution import Environment
from bot.domain.findings import Failure, JobLog
from bot.domain.fitness import Evaluation, Guard
from bot.domain.patch import Files
from bot.domain.ports import (
    Comment,
    Commit,
    Delivered,
    Effect,
    FailedRun,
    Forge,
    History,
    PullRequest,
    Trigger,
    Workspace,
)
from bot.logs import read_job
from bot.recipe import Recipe
from bot.redact import Redactor
from bot.repair import oracle
from bot.repair.evaluate import evaluate
from bot.repair.final import Final, final_check
from bot.repair.judge import State, clean
from bot.repair.loop import Loop
from bot.repair.task import Task, World
from bot.repair.verbose import verbose

RERUNS = 2
"""How often failing tests are run again on the untouched head to find the flaky ones."""


@dataclass(frozen=True, kw_only=True)
class Ports(World):
    """The world, as the story sees it. `scratch` is a folder of its own; `edit_format` suits the model."""

    forge: Forge
    workspace: Workspace
    history: History
    scratch: Path
    edit_format: EditFormat = EditFormat.TOOL


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is left to print once the story is over."""

    outcome: Outcome
    run: FailedRun
    delivered: Delivered


def run(trigger: Trigger, config: Config, ports: Ports) -> Told:
    """Read, reproduce, repair, verify, deliver. Faults become an Outcome; only bad input raises."""
    began = ports.clock()
    story = Story(trigger, config, ports)
    try:
        outcome = story.tell()
    except Fault as fault:
        outcome = story.end(OutcomeKind.FAULTED, str(fault), fix=fault.fix)
    outcome = ports.redactor.inside(replace(outcome, seconds=ports.clock() - began))
    outcome = replace(outcome, chain_head=ports.trail.finish(outcome))
    return _deliver(outcome, story.run, ports)


def _deliver(outcome: Outcome, run: FailedRun, ports: Ports) -> Told:
    ports.progress.say("deliver", outcome.kind)
    try:
        if outcome.kind is OutcomeKind.REPAIRED and ports.forge.head(run.trigger.branch) != run.trigger.sha:
            reason = f"{run.trigger.branch} moved while the repair was made; the new commit's own run will wake us"
            outcome = replace(outcome, kind=OutcomeKind.IGNORED, reason=reason)
        effects = [_redacted(effect, ports.redactor) for effect in submit.plan(outcome, run)]
        return Told(outcome=outcome, run=run, delivered=ports.forge.deliver(effects))
    except Fault as error:
        fault = Fault(ports.redactor.text(str(error)), fix=error.fix)
        if outcome.kind is OutcomeKind.FAULTED:  # the first fault is the one to mend
            return Told(outcome=outcome, run=run, delivered=Delivered(notes=(f"not commented: {fault}. {fault.fix}",)))
        outcome = replace(outcome, kind=OutcomeKind.FAULTED, reason=f"not delivered: {fault}", fix=fault.fix)
        return Told(outcome=outcome, run=run, delivered=Delivered())


def _redacted(effect: Effect, redactor: Redactor) -> Effect:
    """Attack: a test that prints a secret, so that its message carries it into the pull request."""
    match effect:
        case Commit():
            return replace(effect, message=redactor.text(effect.message))
        case PullRequest():
            return replace(effect, title=redactor.text(effect.title), body=redactor.text(effect.body))
        case Comment():
            return replace(effect, body=redactor.text(effect.body))


class Story:
    """One run. What is known so far is kept here, so that a Fault at any point still reports it."""

    def __init__(self, trigger: Trigger, config: Config, ports: Ports) -> None:
        self.config, self.ports = config, ports
        self.run = FailedRun(trigger=trigger)
        self.baseline = Evaluation()
        self.final = Evaluation()
        self.flaky: frozenset[str] = frozenset()
        self.loop: Loop | None = None

    def tell(self) -> Outcome:
        """The stages in order; each may end the run."""
        trigger, say = self.run.trigger, self.ports.progress.say
        head = self.ports.forge.head(trigger.branch)
        if head != trigger.sha:
            gone = f"{trigger.branch} is gone" if head is None else f"{trigger.branch} has moved on to {head[:12]}"
            return self.end(OutcomeKind.IGNORED, gone)
        say("logs", "reading the failing jobs' logs")
        self.run = self.ports.forge.failed_run(trigger)
        jobs = [read_job([log], name=name) for name, log in self.run.logs.items()]
        made = self._recipe(jobs)
        for each in (*map(str, made.notes), *(f"left out: {part}" for part in made.unavailable)):
            say("recipe", each)
        if lost := _lost(made) or ("" if made.checks else _nothing_to_run(self.run.logs.values())):
            return self.end(OutcomeKind.NOT_REPRODUCED, lost)
        say("reproduce", f"{len(made.checks)} checks in {made.image}")
        environment = self._environment(made)
        made = self._baseline(made, environment)
        return self._reproduced(made, environment, jobs) or self._repair(made, environment)

    def _recipe(self, jobs: list[JobLog]) -> Recipe:
        config, workspace = self.config, self.ports.workspace
        made = recipe.infer(
            jobs,
            image=config.image,
            setup=config.setup,
            checks=config.checks,
            workflow=self.run.workflow,
            logs=self.run.logs,
            read=workspace.read,
            paths=workspace.paths(),
        )
        return replace(made, checks=tuple(verbose(check, workspace.read) for check in made.checks))

    def _environment(self, made: Recipe) -> str:
        tree = self.ports.scratch / "tree"
        digest = self.ports.workspace.export(tree)
        trust = self.run.trigger.repository
        if self.run.trigger.fork:
            trust += f"#{self.run.trigger.pull_request}"
        return self.ports.sandbox.prepare(
            Environment(image=made.image, tree=str(tree), digest=digest, setup=made.setup, env=made.env, trust=trust)
        )

    def _baseline(self, made: Recipe, environment: str) -> Recipe:
        """Run everything on the untouched head; a check red here that CI saw pass tells of the box alone."""
        self.baseline = self._check(made, environment, {}, None)
        passed = {check.name for check in made.checks if check.failed is False}
        strange = {report.check for report in self.baseline.reports if report.check in passed and not report.green}
        if not strange:
            return made
        self.ports.progress.say("reproduce", f"left out, for CI saw them pass: {', '.join(sorted(strange))}")
        kept = tuple(report for report in self.baseline.reports if report.check not in strange)
        self.baseline = replace(self.baseline, reports=kept)
        return replace(made, checks=tuple(check for check in made.checks if check.name not in strange))

    def _reproduced(self, made: Recipe, environment: str, jobs: list[JobLog]) -> Outcome | None:
        """An Outcome where the untouched head shows nothing (left) to repair."""
        if clean(self.baseline, frozenset()):
            reason = "every check is green in the sandbox on the same commit: what failed in CI lies outside the code"
            return self.end(OutcomeKind.NOT_REPRODUCED, reason)
        seen = frozenset(f.id for job in jobs for f in job.findings if isinstance(f, Failure))
        configured = any(check.origin == CONFIGURED for check in made.checks)
        if seen and not configured and not _short(seen) & _short(self.baseline.failing):
            return self.end(OutcomeKind.NOT_REPRODUCED, _drifted(seen, self.baseline.failing))
        steady = self.baseline.failing
        for _ in range(RERUNS if steady else 0):
            steady &= self._check(made, environment, {}, steady).failing
        self.flaky = self.baseline.failing - steady
        if self.flaky and clean(self.baseline, self.flaky):
            return self.end(OutcomeKind.FLAKY, "failed once and passed when run again on the same commit")
        return None

    def _check(self, made: Recipe, environment: str, files: Files, only: frozenset[str] | None) -> Evaluation:
        return evaluate(
            self.ports.sandbox,
            environment,
            made.checks,
            files=files,
            protected=self.loop.restored if self.loop else {},
            limits=self.config.limits,
            only=only,
        ).evaluation

    def _repair(self, made: Recipe, environment: str) -> Outcome:
        guard = Guard(skipped=self.baseline.skipped, ignored=self.flaky).after(self.baseline)
        start = State(files={}, evaluation=self.baseline, guard=guard)
        self.loop = loop = Loop(self._task(made, environment), self.ports, start)
        while True:
            loop.run()
            if not loop.clean:
                return self._unrepaired(loop)
            final = self._final(made, environment, loop)
            if not final.reason:
                return self.end(OutcomeKind.REPAIRED, "every check is green with the patch, and red without it")
            self.ports.progress.say("final check", final.reason)
            if final.vanished:
                return self.end(OutcomeKind.FLAKY, final.reason)
            if clean(final.evaluation, self.flaky):
                return self.end(OutcomeKind.IMPROVED, final.reason)
            loop.continue_with(final.evaluation)

    def _final(self, made: Recipe, environment: str, loop: Loop) -> Final:
        self.ports.progress.say("final check", "whole suite in fresh sandboxes, with and without the patch")
        final = final_check(
            lambda patched, only: self._check(made, environment, loop.best.files if patched else {}, only),
            self.baseline,
            self.flaky,
        )
        self.final = final.evaluation
        return final

    def _unrepaired(self, loop: Loop) -> Outcome:
        self.final = loop.best.evaluation
        if loop.refused:
            return self.end(OutcomeKind.REFUSED, loop.refused.reason)
        if loop.attempts and all(getattr(a.proposal, "rule", "") == "refusal" for a in loop.attempts):
            reason = f"the model declined to answer this request ({loop.stopped})"
            return self.end(OutcomeKind.EXHAUSTED, reason, fix="Name another `model`, or repair this one by hand.")
        kind = OutcomeKind.IMPROVED if loop.best.files else OutcomeKind.EXHAUSTED
        return self.end(kind, loop.stopped)

    def _task(self, made: Recipe, environment: str) -> Task:
        config, workspace = self.config, self.ports.workspace
        paths = workspace.paths()
        return Task(
            environment=environment,
            checks=made.checks,
            read=workspace.read,
            diff=workspace.diff,
            paths=paths,
            protected=oracle.protected_paths(
                paths,
                self.baseline,
                protect=config.protect,
                allow=config.allow,
                commands=[check.command for check in made.checks],
            ),
            protect=config.protect,
            allow=config.allow,
            changed=self.ports.history.changed(self.run.last_green),
            hint=self.run.trigger.hint,
            limits=config.limits,
            budget=config.budget,
            patience=config.patience,
            candidates=config.candidates,
            edit_format=self.ports.edit_format,
            max_tokens=config.max_tokens,
        )

    def end(self, kind: OutcomeKind, reason: str, fix: str = "") -> Outcome:
        """An Outcome with everything known so far."""
        loop = self.loop
        attempts: tuple[Attempt, ...] = tuple(loop.attempts) if loop else ()
        files = loop.best.files if loop else {}
        accepted = [attempt for attempt in attempts if attempt.verdict == "accepted"]
        proposal = accepted[-1].proposal if accepted else None
        return Outcome(
            kind=kind,
            reason=reason,
            fix=fix,
            attempts=attempts,
            baseline=self.baseline.reports,
            final=self.final.reports,
            files=files,
            diff=self.ports.workspace.diff(files) if files else "",
            spend=loop.spend if loop else Outcome.spend,
            held_out=loop.held.words(self.final.passed) if loop else "none",
            flaky=self.flaky,
            rationale=getattr(proposal, "rationale", ""),
            model=self.ports.proposer.name,
            runtime=self.config.limits.runtime if self.baseline.reports else "",
        )


def _lost(made: Recipe) -> str:
    """Why nothing of what failed in CI can be had here; "" where some can, or where nothing says what failed."""
    gone = [str(part) for part in made.unavailable if part.check]
    known = any(check.failed or check.origin == CONFIGURED for check in made.checks)
    if made.services and not any(check.origin == CONFIGURED for check in made.checks):
        names = ", ".join(service.name for service in made.services)
        return f"{made.job} needs the services {names} ({made.services[0].origin}): none run in the sandbox"
    return "" if known else "; ".join(gone[:3])


def _short(tests: Collection[str]) -> frozenset[str]:
    """Ids without their file: one log calls a test by its path, another by its class."""
    return frozenset(re.split(r"::| > |\.(?=\w+$)", test.partition("[")[0])[-1] for test in tests)


def _drifted(seen: Collection[str], here: Collection[str]) -> str:
    told = f"{len(here)} others fail" if here else "no test fails"
    return f"none of the {len(seen)} tests that failed in CI fails in the sandbox ({told}): its environment differs"


def _nothing_to_run(logs: Collection[bytes]) -> str:
    if not logs:
        return "no log and no check was given: name at least one with --check, or give the failing job's --log"
    if not any(log.removeprefix(codecs.BOM_UTF8).strip() for log in logs):
        return (
            "the log is empty: there is nothing to read in it; re-run the failed jobs, or name the `checks` (--check)"
        )
    return "the log shows no test, lint or type command that failed: name one with `checks` (--check)"

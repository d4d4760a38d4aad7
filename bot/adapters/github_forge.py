"""GitHub as the story's Forge, through PyGithub: read the failed run, deliver effects, the same twice over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from github import GithubException, UnknownObjectException
from github.PaginatedList import PaginatedList
from github.PullRequest import PullRequest as Pull
from github.WorkflowRun import WorkflowRun

from bot import event
from bot.adapters import github_commit, github_logs, github_talk
from bot.adapters.github_api import Denied, Hub, Patience, readable
from bot.config import FILE
from bot.domain.attempt import InputError
from bot.domain.ports import Comment, Commit, Delivered, Effect, FailedRun, Ignored, PullRequest, Trigger

GITHUB_COM = "https://github.com"
GITHUB_API = "https://api.github.com"
LEASE = 60.0
"""Seconds after which a branch of ours without a pull request belongs to a run that was killed."""


class GitHubForge:
    """One repository on GitHub or GitHub Enterprise Server (`api_url` https://HOST/api/v3).

    `pace` is the pause between writes in seconds, as GitHub asks for. Certificates and proxies come from the
    standard environment (REQUESTS_CA_BUNDLE, HTTPS_PROXY). Raises InputError naming every bad argument.
    """

    def __init__(
        self,
        *,
        token: str,
        repository: str,
        api_url: str = GITHUB_API,
        server_url: str = GITHUB_COM,
        patience: Patience | None = None,
        pace: float = 1.0,
    ) -> None:
        self._hub = Hub(
            token=token,
            repository=repository,
            api_url=api_url,
            server_url=server_url,
            patience=patience or Patience(),
            pace=pace,
        )

    def close(self) -> None:
        """Give the connections back."""
        self._hub.client.close()

    @readable
    def settings(self) -> bytes | None:
        """The bot's own settings on the default branch, None when there are none.

        Attack: read from the failing head, they would let any author of a branch loosen the bot's limits.
        """

        def step() -> bytes | None:
            try:
                found = self._hub.repo.get_contents(FILE, ref=self._hub.repo.default_branch)
            except UnknownObjectException:
                return None
            return None if isinstance(found, list) else found.decoded_content

        return self._hub.do(f"reading {FILE}", "contents: read", step)

    # --- who woke us

    @readable
    def resolve(self, trigger: Trigger) -> Trigger | Ignored:
        """What the event could not say: may its author ask, which run, whose branch, which commit.

        A commenter without write access, a pull request without a failed run, a fork and our own branches end as
        Ignored. Raises InputError for a run that does not exist or did not fail.
        """
        if trigger.event == "issue_comment" and not event.authorised(self.permission(trigger.actor)):
            return Ignored(reason=f"@{trigger.actor} may not write to {trigger.repository}, so may not ask for repairs")
        run = self._run(trigger) if trigger.run_id is not None else self._latest(trigger)
        if isinstance(run, Ignored):
            return run
        fork = run.head_repository is None or run.head_repository.full_name.lower() != trigger.repository.lower()
        pulls = [pull.number for pull in run.pull_requests]
        return event.refused(run.head_branch, fork=fork) or replace(
            trigger,
            branch=run.head_branch,
            sha=run.head_sha,
            run_id=run.id,
            attempt=trigger.attempt or run.run_attempt,
            pull_request=trigger.pull_request or (pulls[0] if pulls else None),
        )

    @readable
    def permission(self, login: str) -> str:
        """A person's right in this repository: admin, write, read or none (maintain is write, triage read)."""

        def step() -> str:
            try:
                return self._hub.repo.get_collaborator_permission(login)
            except GithubException as error:
                if error.status == 404:  # no such account, or none that GitHub would name
                    return "none"
                raise

        return self._hub.do(f"asking what @{login} may do", "metadata: read", step)

    def _latest(self, trigger: Trigger) -> WorkflowRun | Ignored:
        """The newest failed run of a pull request's head commit."""
        number = trigger.pull_request
        if number is None:
            raise InputError("the event names neither a run nor a pull request")
        hub = self._hub
        pull = hub.do(f"looking at #{number}", "pull-requests: read", lambda: hub.repo.get_pull(number))
        runs = self._runs(f"{hub.repo.url}/actions/runs", {"head_sha": pull.head.sha, "status": "failure"})
        return runs[0] if runs else Ignored(reason=f"no workflow run of #{number}'s latest commit has failed")

    def _run(self, trigger: Trigger) -> WorkflowRun:
        run_id, hub = trigger.run_id, self._hub
        if run_id is None:
            raise InputError("the event names no workflow run")
        return hub.do(f"looking for run {run_id}", "actions: read", lambda: hub.repo.get_workflow_run(run_id))

    def _runs(self, url: str, wanted: dict[str, str]) -> list[WorkflowRun]:
        """The newest 30 runs that match."""

        def step() -> list[WorkflowRun]:
            pages: PaginatedList[WorkflowRun] = PaginatedList(
                WorkflowRun, self._hub.client.requester, url, {**wanted, "per_page": 30}, list_item="workflow_runs"
            )
            return pages.get_page(0)

        return self._hub.do("listing workflow runs", "actions: read", step)

    # --- what failed

    @readable
    def failed_run(self, trigger: Trigger) -> FailedRun:
        """Every failed job of the attempt with its raw log, and the commit of the workflow's last success before it.

        Raises Fault when the logs have expired, InputError when no job has failed.
        """
        run = self._run(trigger)
        attempt = trigger.attempt or run.run_attempt
        jobs = github_logs.failed_jobs(self._hub, run.id, attempt)
        if not jobs:
            state = run.conclusion or run.status
            raise InputError(f"run {run.id}, attempt {attempt}, has no failed job (it is {state}): name a failed run")
        return FailedRun(
            trigger=trigger,
            workflow=run.name or "",
            url=run.html_url,
            logs=github_logs.logs(self._hub, jobs),
            last_green=self._last_green(run),
        )

    def _last_green(self, run: WorkflowRun) -> str | None:
        """Newest success of the same workflow before this run: on its branch, else on the default branch."""
        url = f"{self._hub.repo.url}/actions/workflows/{run.workflow_id}/runs"
        before = run.created_at.strftime("<=%Y-%m-%dT%H:%M:%SZ")
        for branch in dict.fromkeys((run.head_branch, self._hub.repo.default_branch)):
            found = self._runs(url, {"branch": branch, "status": "success", "created": before})
            # Attack: a fork's branch of the same name turns green on a commit of its own.
            ours = [one for one in found if one.head_repository and one.head_repository.id == self._hub.repo.id]
            if ours:
                return ours[0].head_sha
        return None

    @readable
    def head(self, branch: str) -> str | None:
        """The commit that `branch` points at now, None when there is no such branch."""
        return github_commit.head(self._hub, branch)

    # --- what to leave behind

    @readable
    def deliver(self, effects: Sequence[Effect]) -> Delivered:
        """Make every effect so, in order. Stops, with a note, where another run's branch stands in the way."""
        done = Delivered()
        for effect in effects:
            match effect:
                case Commit():
                    other = self._commit(effect)
                    if other:
                        return other
                    where = f"{self._hub.server_url}/{self._hub.name}/tree/{effect.branch}"
                    done = replace(done, branch=effect.branch, url=where)
                case PullRequest():
                    done = self._pull_request(effect, done)
                case Comment():
                    done = self._comment(effect, done)
        return done

    def _commit(self, effect: Commit) -> Delivered | None:
        """Make the branch; what another run delivered there, if it holds the branch with another repair."""
        held = github_commit.commit(self._hub, effect)
        if held and held.ours and self._find(effect.branch) is None:
            self._hub.patience.sleep(LEASE)  # a run that lives is about to open its pull request
            if self._find(effect.branch) is None:
                held = github_commit.commit(self._hub, effect, over=held)
        return self._elsewhere(effect, held) if held else None

    def _find(self, branch: str) -> Pull | None:
        hub = self._hub
        return hub.do("looking for pull requests", github_talk.NEED, lambda: github_talk.find(hub, branch))

    def _elsewhere(self, effect: Commit, held: github_commit.Held) -> Delivered:
        pull = self._find(effect.branch)
        note = f"another run already holds {effect.branch} with a different repair ({held.sha[:12]}); it was left alone"
        if pull is None:
            where = f"{self._hub.server_url}/{self._hub.name}/branches"
            return Delivered(notes=(f"{note}. To let selfrepair try again, delete that branch: {where}",))
        return Delivered(pull_request=pull.number, url=pull.html_url, notes=(note,))

    def _pull_request(self, effect: PullRequest, done: Delivered) -> Delivered:
        try:
            pull = github_talk.pull_request(self._hub, effect)
        except Denied as fault:
            link = github_talk.compare_link(self._hub, effect)
            note = f"{fault}. {fault.fix} The repair is on branch {effect.head}; open its pull request here: {link}"
            return replace(done, url=link, notes=(*done.notes, note))
        notes = github_talk.label(self._hub, pull, effect.labels) if pull.state == "open" else (_closed(pull),)
        return replace(done, pull_request=pull.number, url=pull.html_url, notes=(*done.notes, *notes))

    def _comment(self, effect: Comment, done: Delivered) -> Delivered:
        number = done.pull_request if effect.on is None else effect.on
        if number is None:
            note = "the history was not posted as a comment, because there is no pull request to hold it"
            return replace(done, notes=(*done.notes, note))
        try:
            posted = github_talk.comment(self._hub, number, effect)
        except Denied as fault:
            return replace(done, notes=(*done.notes, f"no comment: {fault}. {fault.fix}"))
        return replace(done, url=done.url or posted.html_url)


def _closed(pull: Pull) -> str:
    return f"#{pull.number} was closed before and was not opened again; delete branch {pull.head.ref} to get a new one"

"""The failed jobs of a run and their logs, fetched without ever showing the token to the log storage."""

from __future__ import annotations

import json
from typing import Any

import requests
from github import GithubException
from github.PaginatedList import PaginatedList
from github.Requester import Requester
from github.WorkflowJob import WorkflowJob

from bot.adapters.github_api import Hub, listed
from bot.adapters.log_files import LOG_BYTES, capped
from bot.domain.attempt import Fault

FAILED = frozenset({"failure", "timed_out"})
_CHUNK = 1 << 16


def failed_jobs(hub: Hub, run_id: int, attempt: int) -> list[WorkflowJob]:
    """Jobs of that attempt that ended red, over all pages; jobs still running are not among them."""
    url = f"{hub.repo.url}/actions/runs/{run_id}/attempts/{attempt}/jobs"

    def step() -> list[WorkflowJob]:
        jobs: PaginatedList[WorkflowJob] = PaginatedList(WorkflowJob, hub.client.requester, url, None, list_item="jobs")
        return [job for job in listed(jobs) if job.conclusion in FAILED]

    return hub.do(f"listing the jobs of run {run_id}", "actions: read", step)


def logs(hub: Hub, jobs: list[WorkflowJob], total: int = LOG_BYTES) -> dict[str, bytes]:
    """Job name -> raw log, each capped at its share of `total` bytes; empty where none was kept.

    Raises Fault when no job has a log any more.
    """
    found: dict[str, bytes] = {}
    gone: Fault | None = None
    for job in jobs:
        name = job.name if job.name not in found else f"{job.name} #{job.id}"
        try:
            found[name] = _log(hub, job, total // len(jobs))
        except Expired as fault:
            found[name], gone = b"", fault
    if gone and not any(found.values()):
        raise gone
    return found


class Expired(Fault):
    """A job's log is not kept any more, or never was."""


def _log(hub: Hub, job: WorkflowJob, cap: int) -> bytes:
    doing = f"reading the log of job {job.name!r}"
    content = hub.do(doing, "actions: read", lambda: _download(hub.client.requester, job, cap))
    if content is None:
        raise Expired(
            f"the logs have expired: GitHub no longer has the log of job {job.name!r}",
            fix="Re-run the failed jobs in GitHub, so that there are fresh logs to read.",
        )
    return content


def _download(requester: Requester, job: WorkflowJob, cap: int) -> bytes | None:
    """Ask for a link (good for a minute) and follow it; None when there is no log (404) or no longer (410)."""
    status, headers, body = requester.requestJson("GET", f"{job.url}/logs")
    if status in (404, 410):
        return None
    if status != 302 or "location" not in headers:
        raise Requester.createException(status, headers, _object(body))
    # A bare request: no token, and no ~/.netrc either. Attack: a link to another host that collects tokens.
    with requests.get(headers["location"], stream=True, timeout=30, auth=_nobody) as answer:
        if answer.status_code == 404:
            return None
        if answer.status_code != 200:  # the link may have run out: the step begins again with a new one
            raise GithubException(502, {"message": f"log storage answered {answer.status_code}"}, {})
        return capped(answer.iter_content(_CHUNK), cap)


def _nobody(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _object(body: str) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}

"""The repository, its workflow runs, jobs, logs and check suites."""

from __future__ import annotations

from typing import Any

from tests.fakes.github import show
from tests.fakes.github.routes import ApiError, Call, route
from tests.fakes.github.schemas import complete
from tests.fakes.github.world import Run


@route("GET", "", "metadata:read", answer="FullRepository")
def get_repository(call: Call) -> Any:
    shown = show.repository(call.world, call.api)
    return complete("FullRepository", {**shown, "default_branch": call.world.git.default_branch})


@route("GET", "/actions/runs/{run}", "actions:read", answer="WorkflowRun")
def get_run(call: Call) -> Any:
    return show.run(call.world, call.api, _run(call))


@route("GET", "/actions/runs/{run}/attempts/{attempt}", "actions:read", answer="WorkflowRun")
def get_attempt(call: Call) -> Any:
    return show.run(call.world, call.api, _run(call), int(call.path["attempt"]))


@route(
    "GET",
    "/actions/runs",
    "actions:read",
    answer="ReposOwnerRepoActionsRunsGetResponse200",
    item="workflow_runs",
)
def list_runs(call: Call) -> Any:
    return [show.run(call.world, call.api, item) for item in _runs(call)]


@route(
    "GET",
    "/actions/workflows/{workflow}/runs",
    "actions:read",
    answer="ReposOwnerRepoActionsWorkflowsWorkflowIdRunsGetResponse200",
    item="workflow_runs",
)
def list_workflow_runs(call: Call) -> Any:
    wanted = int(call.path["workflow"])
    return [show.run(call.world, call.api, one) for one in _runs(call) if show.workflow_id(one.workflow) == wanted]


def _run(call: Call) -> Run:
    found = call.world.runs.get(int(call.path["run"]))
    if not found:
        raise ApiError(404, "Not Found")
    return found


def _runs(call: Call) -> list[Run]:
    query = call.query
    newest = sorted(call.world.runs.values(), key=lambda item: item.created, reverse=True)
    before = query.get("created", "").removeprefix("<=")
    return [
        item
        for item in newest
        if query.get("branch", item.branch) == item.branch
        and query.get("head_sha", item.sha) == item.sha
        and query.get("event", item.event) == item.event
        and query.get("status", item.status) in (item.status, item.conclusion)
        and (not before or item.created <= before)
    ]


@route(
    "GET",
    "/actions/runs/{run}/attempts/{attempt}/jobs",
    "actions:read",
    answer="ReposOwnerRepoActionsRunsRunIdAttemptsAttemptNumberJobsGetResponse200",
    item="jobs",
)
def list_attempt_jobs(call: Call) -> Any:
    item, attempt = _run(call), int(call.path["attempt"])
    return [show.job(call.world, call.api, j) for j in call.world.jobs if j.run == item.id and j.attempt == attempt]


@route(
    "GET",
    "/actions/runs/{run}/jobs",
    "actions:read",
    answer="ReposOwnerRepoActionsRunsRunIdJobsGetResponse200",
    item="jobs",
)
def list_jobs(call: Call) -> Any:
    item = _run(call)
    jobs = [j for j in call.world.jobs if j.run == item.id]
    every = call.query.get("filter") == "all"
    return [show.job(call.world, call.api, j) for j in jobs if every or j.attempt == item.attempt]


@route("GET", "/actions/jobs/{job}/logs", "actions:read", status=302)
def get_log(call: Call) -> Any:
    job = next((j for j in call.world.jobs if j.id == int(call.path["job"])), None)
    if job is None or (job.log is None and not job.expired):
        raise ApiError(404, "Not Found")
    if job.expired:
        raise ApiError(410, "Server Error")
    return f"{call.world.log_base}/logs/{job.id}?se=soon&sig=log-link-secret"


@route(
    "GET",
    "/commits/{ref}/check-suites",
    "checks:read",
    answer="ReposOwnerRepoCommitsRefCheckSuitesGetResponse200",
    item="check_suites",
)
def list_suites(call: Call) -> Any:
    suites = [(sha, when) for sha, when in call.world.suites if sha == call.path["ref"]]
    return [complete("CheckSuite", {"id": n, "head_sha": s, "created_at": w}) for n, (s, w) in enumerate(suites)]

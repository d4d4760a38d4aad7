"""How GitHub prints what exists: every shape completed from, and later checked against, its own description."""

from __future__ import annotations

from typing import Any

from tests.fakes.github.schemas import complete
from tests.fakes.github.world import Comment, Job, Pull, Run, World


def user(login: str) -> dict[str, Any]:
    """A SimpleUser."""
    kind = "Bot" if login.endswith("[bot]") else "User"
    return complete("SimpleUser", {"login": login, "id": sum(login.encode()), "type": kind})


def repository(world: World, api: str, full_name: str | None = None) -> dict[str, Any]:
    """The fields that every shape of a repository shares."""
    full_name = full_name or world.repository
    owner, name = full_name.split("/")
    return {
        "id": sum(full_name.encode()),
        "name": name,
        "full_name": full_name,
        "owner": user(owner),
        "url": f"{api}/repos/{full_name}",
        "html_url": f"{web(api)}/{full_name}",
        "fork": full_name != world.repository,
    }


def web(api: str) -> str:
    """The address for people that belongs to an address for programs."""
    return api.removesuffix("/api/v3")


def run(world: World, api: str, item: Run, attempt: int | None = None) -> dict[str, Any]:
    """A WorkflowRun."""
    given = _run(world, api, item, attempt)
    given["repository"] = complete("MinimalRepository", given["repository"])
    given["head_repository"] = complete("MinimalRepository", given["head_repository"])
    return complete("WorkflowRun", given)


def run_event(world: World, api: str, item: Run) -> dict[str, Any]:
    """The payload of the `workflow_run` event, `completed`."""
    workflow = {"id": workflow_id(item.workflow), "name": item.workflow, "path": workflow_path(item.workflow)}
    shown = {**repository(world, api), "default_branch": world.git.default_branch}
    given = {
        "action": "completed",
        "workflow_run": _run(world, api, item),
        "workflow": workflow,
        "repository": shown,
        "sender": user("dev"),
    }
    return complete("WebhookWorkflowRunCompleted", given)


def _run(world: World, api: str, item: Run, attempt: int | None = None) -> dict[str, Any]:
    url = f"{api}/repos/{world.repository}/actions/runs/{item.id}"
    return {
        "id": item.id,
        "name": item.workflow,
        "path": workflow_path(item.workflow),
        "workflow_id": workflow_id(item.workflow),
        "head_branch": item.branch,
        "head_sha": item.sha,
        "event": item.event,
        "status": item.status,
        "conclusion": item.conclusion,
        "run_attempt": attempt or item.attempt,
        "created_at": item.created,
        "updated_at": item.created,
        "actor": user("dev"),
        "triggering_actor": user("dev"),
        "url": url,
        "html_url": f"{web(api)}/{world.repository}/actions/runs/{item.id}",
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "repository": repository(world, api),
        "head_repository": repository(world, api, item.head_repository),
        "pull_requests": [_minimal_pull(world, api, number) for number in item.pull_requests],
    }


def _minimal_pull(world: World, api: str, number: int) -> dict[str, Any]:
    url = f"{api}/repos/{world.repository}/pulls/{number}"
    return complete("PullRequestMinimal", {"id": number, "number": number, "url": url})


def workflow_path(name: str) -> str:
    return f".github/workflows/{name.lower().replace(' ', '-')}.yml"


def workflow_id(name: str) -> int:
    return 7000 + sum(name.encode())


def job(world: World, api: str, item: Job) -> dict[str, Any]:
    """A Job."""
    base = f"{api}/repos/{world.repository}/actions"
    parent = world.runs[item.run]
    return complete(
        "Job",
        {
            "id": item.id,
            "run_id": item.run,
            "run_url": f"{base}/runs/{item.run}",
            "run_attempt": item.attempt,
            "head_sha": parent.sha,
            "head_branch": parent.branch,
            "url": f"{base}/jobs/{item.id}",
            "html_url": f"{web(api)}/{world.repository}/actions/runs/{item.run}/job/{item.id}",
            "status": "completed" if item.conclusion else "in_progress",
            "conclusion": item.conclusion,
            "name": item.name,
            "workflow_name": parent.workflow,
        },
    )


def pull(world: World, api: str, item: Pull, model: str = "PullRequest") -> dict[str, Any]:
    """A PullRequest, or the simple one that lists hold."""
    url = f"{api}/repos/{world.repository}/pulls/{item.number}"
    return complete(
        model,
        {
            "id": 9000 + item.number,
            "number": item.number,
            "state": item.state,
            "title": item.title,
            "body": item.body,
            "user": user(item.author),
            "url": url,
            "html_url": f"{web(api)}/{world.repository}/pull/{item.number}",
            "issue_url": f"{api}/repos/{world.repository}/issues/{item.number}",
            "head": _side(world, api, item.head_repository, item.head, item.head_sha),
            "base": _side(world, api, world.repository, item.base, world.git.ref(f"refs/heads/{item.base}") or ""),
            "labels": [_label(world, api, name) for name in item.labels],
            "merged_at": world.now() if item.merged else None,
            "locked": False,
            "draft": False,
        },
    )


def _side(world: World, api: str, full_name: str, branch: str, sha: str) -> dict[str, Any]:
    owner = full_name.split("/")[0]
    repo = complete("Repository", {**repository(world, api, full_name), "default_branch": world.git.default_branch})
    return {"label": f"{owner}:{branch}", "ref": branch, "sha": sha, "user": user(owner), "repo": repo}


def label(world: World, api: str, name: str) -> dict[str, Any]:
    """A Label."""
    return complete("Label", _label(world, api, name))


def _label(world: World, api: str, name: str) -> dict[str, Any]:
    url = f"{api}/repos/{world.repository}/labels/{name}"
    return {"name": name, "url": url, "default": False, "description": None, **world.labels[name]}


def comment(world: World, api: str, item: Comment) -> dict[str, Any]:
    """An IssueComment."""
    place = f"{web(api)}/{world.repository}/pull/{item.issue}#issuecomment-{item.id}"
    return complete(
        "IssueComment",
        {
            "id": item.id,
            "body": item.body,
            "user": user(item.author),
            "url": f"{api}/repos/{world.repository}/issues/comments/{item.id}",
            "html_url": place,
            "issue_url": f"{api}/repos/{world.repository}/issues/{item.issue}",
            "created_at": world.now(),
            "updated_at": world.now(),
        },
    )


def git_commit(world: World, api: str, sha: str) -> dict[str, Any]:
    """A GitCommit."""
    tree, parents, message = world.git.show(sha)
    base = f"{api}/repos/{world.repository}/git"
    parent = [
        {"sha": one, "url": f"{base}/commits/{one}", "html_url": f"{web(api)}/{world.repository}/commit/{one}"}
        for one in parents
    ]
    return complete(
        "GitCommit",
        {
            "sha": sha,
            "url": f"{base}/commits/{sha}",
            "html_url": f"{web(api)}/{world.repository}/commit/{sha}",
            "message": message,
            "tree": {"sha": tree, "url": f"{base}/trees/{tree}"},
            "parents": parent,
        },
    )


def git_ref(world: World, api: str, name: str, sha: str) -> dict[str, Any]:
    """A GitRef."""
    base = f"{api}/repos/{world.repository}/git"
    target = {"type": "commit", "sha": sha, "url": f"{base}/commits/{sha}"}
    return complete("GitRef", {"ref": name, "url": f"{base}/{name}", "object": target})


def git_tree(world: World, api: str, sha: str, recursive: bool) -> dict[str, Any]:
    """A GitTree."""
    base = f"{api}/repos/{world.repository}/git"
    rows = []
    for entry in world.git.entries(sha, recursive):
        row: dict[str, Any] = {"path": entry.path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha}
        size = {} if entry.size is None else {"size": entry.size}
        where = {} if entry.kind == "commit" else {"url": f"{base}/{entry.kind}s/{entry.sha}"}
        rows.append({**row, **size, **where})
    return complete("GitTree", {"sha": sha, "url": f"{base}/trees/{sha}", "truncated": False, "tree": rows})

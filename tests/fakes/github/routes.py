"""The REST endpoints that the forge needs, with what each demands and answers."""

from __future__ import annotations

import base64
import binascii
import re
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.github import world as show
from tests.fakes.github.git_store import GitRefused
from tests.fakes.github.schemas import complete
from tests.fakes.github.world import Comment, Pull, World

NOT_PERMITTED = "GitHub Actions is not permitted to create or approve pull requests."
NO_ACCESS = "Resource not accessible by integration"


class ApiError(Exception):
    """What GitHub answers instead of a result."""

    def __init__(self, status: int, message: str, errors: list[Any] | None = None, **headers: str) -> None:
        super().__init__(message)
        self.status, self.message, self.errors = status, message, errors
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


@dataclass(kw_only=True)
class Call:
    """One request as a handler sees it."""

    world: World
    api: str
    path: dict[str, str]
    query: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)

    def number(self) -> int:
        return int(self.path["number"])


@dataclass(kw_only=True)
class Route:
    """How one endpoint is matched, guarded, checked and answered. `permissions`: any one of them suffices."""

    method: str
    pattern: re.Pattern[str]
    permissions: tuple[str, ...]
    answer: str
    body: str
    status: int
    handler: Callable[[Call], Any]
    item: str = ""


ROUTES: list[Route] = []
Handler = Callable[[Call], Any]


def route(
    method: str, path: str, *permissions: str, answer: str = "", body: str = "", status: int = 200, item: str = ""
) -> Callable[[Handler], Handler]:
    """Register an endpoint under /repos/{owner}/{repo}. `item` names the list inside a counted answer."""
    pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", re.sub(r"\{(\w+)\*\}", r"(?P<\1>.+)", path)) + "$")

    def register(handler: Handler) -> Handler:
        entry = Route(
            method=method, pattern=pattern, permissions=permissions, answer=answer, body=body, status=status,
            handler=handler, item=item,
        )  # fmt: skip
        ROUTES.append(entry)
        return handler

    return register


def _invalid(resource: str, name: str, code: str = "invalid", message: str = "") -> ApiError:
    given = {"resource": resource, "field": name, "code": code, "message": message}
    return ApiError(422, "Validation Failed", [{key: value for key, value in given.items() if value}])


def _not_empty(call: Call) -> None:
    if call.world.git.empty:
        raise ApiError(409, "Git Repository is empty.")


def _object(call: Call, sha: str, kind: str) -> str:
    if call.world.git.kind(sha) != kind:
        raise ApiError(404, "Not Found")
    return sha


@route("GET", "", "metadata:read", answer="FullRepository")
def get_repository(call: Call) -> Any:
    shown = show.repository(call.world, call.api)
    return complete("FullRepository", {**shown, "default_branch": call.world.git.default_branch})


# --- Actions


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


def _run(call: Call) -> show.Run:
    found = call.world.runs.get(int(call.path["run"]))
    if not found:
        raise ApiError(404, "Not Found")
    return found


def _runs(call: Call) -> list[show.Run]:
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


# --- Git data


@route("POST", "/git/blobs", "contents:write", answer="ShortBlob", body="ReposOwnerRepoGitBlobsPostBody", status=201)
def create_blob(call: Call) -> Any:
    _not_empty(call)
    content = call.body["content"].encode()
    if call.body.get("encoding") == "base64":
        try:
            content = base64.b64decode(content, validate=True)
        except binascii.Error as error:
            raise ApiError(422, "content is not valid Base64") from error
    sha = call.world.git.blob(content)
    return complete("ShortBlob", {"sha": sha, "url": f"{call.api}/repos/{call.world.repository}/git/blobs/{sha}"})


@route("GET", "/git/blobs/{sha}", "contents:read", answer="Blob")
def get_blob(call: Call) -> Any:
    sha = _object(call, call.path["sha"], "blob")
    content = call.world.git.read(sha)
    given = {"sha": sha, "size": len(content), "encoding": "base64", "content": base64.b64encode(content).decode()}
    return complete("Blob", given)


@route("GET", "/git/trees/{sha}", "contents:read", answer="GitTree")
def get_tree(call: Call) -> Any:
    _not_empty(call)
    try:
        tree = call.world.git.tree_of(call.path["sha"])
    except GitRefused as error:
        raise ApiError(404, "Not Found") from error
    return show.git_tree(call.world, call.api, tree, "recursive" in call.query)


@route("POST", "/git/trees", "contents:write", answer="GitTree", body="ReposOwnerRepoGitTreesPostBody", status=201)
def create_tree(call: Call) -> Any:
    _not_empty(call)
    git, base = call.world.git, call.body.get("base_tree")
    if base and git.kind(base) not in ("tree", "commit"):
        raise ApiError(422, "Tree SHA is not a tree object")
    present = {entry.path for entry in git.entries(base, recursive=True)} if base else set()
    rows = [_row(call, item, present) for item in call.body["tree"]]
    return show.git_tree(call.world, call.api, git.write_tree(base, rows), recursive=False)


def _row(call: Call, item: dict[str, Any], present: set[str]) -> tuple[str, str, str | None]:
    if "content" in item and "sha" in item:
        raise ApiError(422, "Must supply either tree.sha or tree.content, not both.")
    if "content" in item:
        return item["mode"], item["path"], call.world.git.blob(item["content"].encode())
    if item["sha"] is None and item["path"] in present:
        return item["mode"], item["path"], None
    if item["sha"] is None or call.world.git.kind(item["sha"]) is None:
        raise ApiError(422, "GitRPC::BadObjectState")
    return item["mode"], item["path"], item["sha"]


@route(
    "POST", "/git/commits", "contents:write", answer="GitCommit", body="ReposOwnerRepoGitCommitsPostBody", status=201
)
def create_commit(call: Call) -> Any:
    _not_empty(call)
    git = call.world.git
    if git.kind(call.body["tree"]) != "tree":
        raise ApiError(422, "Tree SHA does not exist")
    if any(git.kind(parent) != "commit" for parent in call.body.get("parents", [])):
        raise ApiError(422, "Parent SHA does not exist or is not a commit object")
    who = call.body.get("author", {"name": call.world.viewer, "email": f"{call.world.viewer}@users.noreply.github.com"})
    sha = git.commit(call.body["tree"], call.body.get("parents", []), call.body["message"], who["name"], who["email"])
    return show.git_commit(call.world, call.api, sha)


@route("GET", "/git/commits/{sha}", "contents:read", answer="GitCommit")
def get_commit(call: Call) -> Any:
    _not_empty(call)
    return show.git_commit(call.world, call.api, _object(call, call.path["sha"], "commit"))


@route("GET", "/git/ref/{ref*}", "contents:read", answer="GitRef")
def get_ref(call: Call) -> Any:
    _not_empty(call)
    name = f"refs/{call.path['ref']}"
    sha = call.world.git.ref(name)
    if sha is None:
        raise ApiError(404, "Not Found")
    return show.git_ref(call.world, call.api, name, sha)


@route("POST", "/git/refs", "contents:write", answer="GitRef", body="ReposOwnerRepoGitRefsPostBody", status=201)
def create_ref(call: Call) -> Any:
    _not_empty(call)
    git, name, sha = call.world.git, call.body["ref"], call.body["sha"]
    if not name.startswith("refs/") or name.count("/") < 2:
        raise ApiError(422, "Reference name is not valid")
    if git.kind(sha) != "commit":
        raise ApiError(422, "Object does not exist")
    if git.ref(name):
        raise ApiError(422, "Reference already exists")
    if call.world.is_protected(name.removeprefix("refs/heads/")):
        raise ApiError(422, "Repository rule violations found\n\nCannot create ref due to creations being restricted.")
    _move(call, name, sha, None)
    return show.git_ref(call.world, call.api, name, sha)


@route("PATCH", "/git/refs/{ref*}", "contents:write", answer="GitRef", body="ReposOwnerRepoGitRefsRefPatchBody")
def update_ref(call: Call) -> Any:
    git, name, sha = call.world.git, f"refs/{call.path['ref']}", call.body["sha"]
    old = git.ref(name)
    if old is None:
        raise ApiError(422, "Reference does not exist")
    if not call.body.get("force") and git.count(sha, old):
        raise ApiError(422, "Update is not a fast forward")
    _move(call, name, sha, old)
    return show.git_ref(call.world, call.api, name, sha)


@route("DELETE", "/git/refs/{ref*}", "contents:write", status=204)
def delete_ref(call: Call) -> Any:
    name = f"refs/{call.path['ref']}"
    if call.world.git.ref(name) is None:
        raise ApiError(422, "Reference does not exist")
    call.world.git.git("update-ref", "-d", name)


def _move(call: Call, name: str, sha: str, old: str | None) -> None:
    try:
        call.world.git.set_ref(name, sha, old)
    except GitRefused as error:
        raise ApiError(422, "Reference update failed") from error
    for pull in call.world.pulls.values():
        if f"refs/heads/{pull.head}" == name and pull.state == "open" and pull.head_repository == call.world.repository:
            pull.head_sha = sha


@route("GET", "/branches", "contents:read", answer="[ShortBranch]")
def list_branches(call: Call) -> Any:
    refs = call.world.git.refs()
    return [_branch(call, "ShortBranch", name.removeprefix("refs/heads/"), sha) for name, sha in refs.items()]


@route("GET", "/branches/{branch*}", "contents:read", answer="BranchWithProtection")
def get_branch(call: Call) -> Any:
    sha = call.world.git.ref(f"refs/heads/{call.path['branch']}")
    if sha is None:
        raise ApiError(404, "Branch not found")
    return _branch(call, "BranchWithProtection", call.path["branch"], sha)


def _branch(call: Call, model: str, name: str, sha: str) -> Any:
    given = {"name": name, "commit": {"sha": sha}, "protected": call.world.is_protected(name)}
    return complete(model, given)


@route("GET", "/contents/{path*}", "contents:read", answer="ContentFile")
def get_contents(call: Call) -> Any:
    git = call.world.git
    commit = git.ref(f"refs/heads/{call.query.get('ref', git.default_branch)}") or call.query.get("ref", "")
    try:
        content = git.git("cat-file", "blob", f"{commit}:{call.path['path']}")
    except GitRefused as error:
        raise ApiError(404, "Not Found") from error
    name = call.path["path"]
    given = {"type": "file", "encoding": "base64", "size": len(content), "name": name.split("/")[-1], "path": name}
    sha = git.line("rev-parse", f"{commit}:{name}")
    return complete("ContentFile", {**given, "content": base64.b64encode(content).decode(), "sha": sha})


# --- Pull requests, comments, labels, people


@route("GET", "/pulls", "pull_requests:read", answer="[PullRequestSimple]")
def list_pulls(call: Call) -> Any:
    state, head, base = (call.query.get(key, "") for key in ("state", "head", "base"))
    wanted = [
        item
        for item in sorted(call.world.pulls.values(), key=lambda item: -item.number)
        if (state or "open") in (item.state, "all")
        and head in ("", f"{item.head_repository.split('/')[0]}:{item.head}")
        and base in ("", item.base)
    ]
    return [show.pull(call.world, call.api, item, "PullRequestSimple") for item in wanted]


@route("GET", "/pulls/{number}", "pull_requests:read", answer="PullRequest")
def get_pull(call: Call) -> Any:
    return show.pull(call.world, call.api, _pull(call))


@route("POST", "/pulls", "pull_requests:write", answer="PullRequest", body="ReposOwnerRepoPullsPostBody", status=201)
def create_pull(call: Call) -> Any:
    world, body = call.world, call.body
    if not world.may_create_pull_requests:
        raise ApiError(403, NOT_PERMITTED)
    head, base = body["head"].removeprefix(f"{world.owner}:"), body["base"]
    sha, onto = world.git.ref(f"refs/heads/{head}"), world.git.ref(f"refs/heads/{base}")
    if sha is None or onto is None:
        raise _invalid("PullRequest", "base" if onto is None else "head")
    if any(p.head == head and p.base == base and p.state == "open" for p in world.pulls.values()):
        raise _invalid("PullRequest", "", "custom", f"A pull request already exists for {world.owner}:{head}.")
    if not world.git.count(onto, sha):
        raise _invalid("PullRequest", "", "custom", f"No commits between {base} and {head}")
    _length("PullRequest", body.get("body"))
    pull = Pull(
        number=len(world.pulls) + 101, title=body["title"], body=body.get("body"), head=head, base=base,
        author=world.viewer, head_sha=sha, head_repository=world.repository,
    )  # fmt: skip
    world.pulls[pull.number] = pull
    return show.pull(world, call.api, pull)


@route("PATCH", "/pulls/{number}", "pull_requests:write", answer="PullRequest",
       body="ReposOwnerRepoPullsPullNumberPatchBody")  # fmt: skip
def update_pull(call: Call) -> Any:
    pull = _pull(call)
    _length("PullRequest", call.body.get("body"))
    for name, value in call.body.items():
        setattr(pull, name, value)
    return show.pull(call.world, call.api, pull)


def _pull(call: Call) -> Pull:
    if not call.path["number"].isdigit() or call.number() not in call.world.pulls:
        raise ApiError(404, "Not Found")
    return call.world.pulls[call.number()]


def _length(resource: str, body: str | None) -> None:
    if len(body or "") > 65536:
        raise _invalid(resource, "body", "custom", "body is too long (maximum is 65536 characters)")


@route("GET", "/issues/{number}/comments", "issues:read", "pull_requests:read", answer="[IssueComment]")
def list_comments(call: Call) -> Any:
    _pull(call)
    return [show.comment(call.world, call.api, c) for c in call.world.comments.values() if c.issue == call.number()]


@route("POST", "/issues/{number}/comments", "issues:write", "pull_requests:write", answer="IssueComment",
       body="ReposOwnerRepoIssuesIssueNumberCommentsPostBody", status=201)  # fmt: skip
def create_comment(call: Call) -> Any:
    _pull(call)
    _length("IssueComment", call.body["body"])
    ident = next(call.world.ids)
    item = Comment(id=ident, issue=call.number(), author=call.world.viewer, body=call.body["body"])
    call.world.comments[item.id] = item
    return show.comment(call.world, call.api, item)


@route("PATCH", "/issues/comments/{comment}", "issues:write", "pull_requests:write", answer="IssueComment",
       body="ReposOwnerRepoIssuesCommentsCommentIdPatchBody")  # fmt: skip
def update_comment(call: Call) -> Any:
    item = call.world.comments.get(int(call.path["comment"]))
    if item is None:
        raise ApiError(404, "Not Found")
    _length("IssueComment", call.body["body"])
    item.body = call.body["body"]
    return show.comment(call.world, call.api, item)


@route("GET", "/labels/{name*}", "issues:read", "pull_requests:read", answer="Label")
def get_label(call: Call) -> Any:
    if call.path["name"] not in call.world.labels:
        raise ApiError(404, "Not Found")
    return show.label(call.world, call.api, call.path["name"])


@route("POST", "/labels", "issues:write", "pull_requests:write", answer="Label", body="ReposOwnerRepoLabelsPostBody",
       status=201)  # fmt: skip
def create_label(call: Call) -> Any:
    name = call.body["name"]
    if name in call.world.labels:
        raise _invalid("Label", "name", "already_exists")
    call.world.labels[name] = {"color": call.body.get("color", "ededed"), "description": call.body.get("description")}
    return show.label(call.world, call.api, name)


@route("POST", "/issues/{number}/labels", "issues:write", "pull_requests:write", answer="[Label]")
def add_labels(call: Call) -> Any:
    pull = _pull(call)
    names = call.body["labels"] if isinstance(call.body, dict) else call.body
    for name in names:
        call.world.labels.setdefault(name, {"color": "ededed"})
    pull.labels = list(dict.fromkeys([*pull.labels, *names]))
    return [show.label(call.world, call.api, name) for name in pull.labels]


@route("GET", "/collaborators/{user}/permission", "metadata:read", answer="RepositoryCollaboratorPermission")
def get_permission(call: Call) -> Any:
    held = call.world.collaborators.get(call.path["user"], "none")
    legacy = {"maintain": "write", "triage": "read"}.get(held, held)
    return complete("RepositoryCollaboratorPermission", {"permission": legacy, "role_name": held, "user": None})


def paged(call: Call, found: Any, entry: Route) -> tuple[Any, dict[str, str]]:
    """One page of a list, in the endpoint's own wrapping, with GitHub's Link header."""
    items = list(found)
    size = min(int(call.query.get("per_page", "30")), call.world.page_limit)
    page, last = int(call.query.get("page", "1")), max(1, -(-len(items) // size))
    part = items[(page - 1) * size : page * size]
    payload = {"total_count": len(items), entry.item: part} if entry.item else part
    links = {"next": page + 1, "last": last} if page < last else {}
    shown = [f'<{call.query["_url"]}?{_page(call, number)}>; rel="{rel}"' for rel, number in links.items()]
    return payload, {"Link": ", ".join(shown)} if shown else {}


def _page(call: Call, number: int) -> str:
    kept = {key: value for key, value in call.query.items() if not key.startswith("_")}
    return urllib.parse.urlencode({**kept, "page": number})

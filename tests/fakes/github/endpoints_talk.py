"""Pull requests, comments, labels and who may do what."""

from __future__ import annotations

from typing import Any

from tests.fakes.github import show
from tests.fakes.github.routes import NOT_PERMITTED, ApiError, Call, invalid, route
from tests.fakes.github.schemas import complete
from tests.fakes.github.world import Comment, Pull


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
        raise invalid("PullRequest", "base" if onto is None else "head")
    if any(p.head == head and p.base == base and p.state == "open" for p in world.pulls.values()):
        raise invalid("PullRequest", "", "custom", f"A pull request already exists for {world.owner}:{head}.")
    if not world.git.count(onto, sha):
        raise invalid("PullRequest", "", "custom", f"No commits between {base} and {head}")
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
        raise invalid(resource, "body", "custom", "body is too long (maximum is 65536 characters)")


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
        raise invalid("Label", "name", "already_exists")
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

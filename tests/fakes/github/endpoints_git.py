"""The git data API, branches and contents: every object is really made."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from tests.fakes.github import show
from tests.fakes.github.git_store import GitRefused
from tests.fakes.github.routes import ApiError, Call, existing, not_empty, route
from tests.fakes.github.schemas import complete


@route("POST", "/git/blobs", "contents:write", answer="ShortBlob", body="ReposOwnerRepoGitBlobsPostBody", status=201)
def create_blob(call: Call) -> Any:
    not_empty(call)
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
    sha = existing(call, call.path["sha"], "blob")
    content = call.world.git.read(sha)
    given = {"sha": sha, "size": len(content), "encoding": "base64", "content": base64.b64encode(content).decode()}
    return complete("Blob", given)


@route("GET", "/git/trees/{sha}", "contents:read", answer="GitTree")
def get_tree(call: Call) -> Any:
    not_empty(call)
    try:
        tree = call.world.git.tree_of(call.path["sha"])
    except GitRefused as error:
        raise ApiError(404, "Not Found") from error
    return show.git_tree(call.world, call.api, tree, "recursive" in call.query)


@route("POST", "/git/trees", "contents:write", answer="GitTree", body="ReposOwnerRepoGitTreesPostBody", status=201)
def create_tree(call: Call) -> Any:
    not_empty(call)
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
    not_empty(call)
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
    not_empty(call)
    return show.git_commit(call.world, call.api, existing(call, call.path["sha"], "commit"))


@route("GET", "/git/ref/{ref*}", "contents:read", answer="GitRef")
def get_ref(call: Call) -> Any:
    not_empty(call)
    name = f"refs/{call.path['ref']}"
    sha = call.world.git.ref(name)
    if sha is None:
        raise ApiError(404, "Not Found")
    return show.git_ref(call.world, call.api, name, sha)


@route("POST", "/git/refs", "contents:write", answer="GitRef", body="ReposOwnerRepoGitRefsPostBody", status=201)
def create_ref(call: Call) -> Any:
    not_empty(call)
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

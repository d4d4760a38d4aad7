"""A commit made through the git data API, so that GitHub signs it; creating its branch is the lock."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from github import GithubException, InputGitTreeElement, UnknownObjectException
from github.GitCommit import GitCommit
from github.GitTree import GitTree
from github.GitTreeElement import GitTreeElement

from bot.adapters.github_api import Hub, message
from bot.domain.attempt import Fault
from bot.domain.ports import Commit
from bot.submit import TRAILER

NEED = "contents: write"
_FILE = "100644"
_REGULAR = ("100644", "100755")


@dataclass(frozen=True, kw_only=True)
class Held:
    """Another commit stands where ours should; `ours` says that selfrepair made it, on the same parent."""

    sha: str
    ours: bool


def head(hub: Hub, branch: str) -> str | None:
    """The commit that a branch points at, None when there is no such branch."""

    def step() -> str | None:
        try:
            return hub.repo.get_git_ref(f"heads/{branch}").object.sha
        except UnknownObjectException:
            return None

    return hub.do(f"looking at branch {branch}", "contents: read", step)


def commit(hub: Hub, effect: Commit, over: Held | None = None) -> Held | None:
    """Make the branch with its one commit. A branch with the same tree on the same parent is ours already.

    The commit's own name cannot be compared: GitHub dates it, and an earlier try of ours may have been killed.
    `over` is a commit that the branch may be moved away from: what a killed run left behind.
    """
    parent = _commit(hub, effect.parent)
    tree = _tree(hub, effect, parent)
    held = head(hub, effect.branch)
    if held is None and _created(hub, effect, tree, parent):
        return None
    held = held or head(hub, effect.branch)
    if held is None:
        raise Fault(f"branch {effect.branch} came and went while it was made", fix="Run the job again.")
    there = _commit(hub, held)
    stacked = [one.sha for one in there.parents] == [effect.parent]
    if stacked and there.tree.sha == tree.sha:
        return None
    if over and held == over.sha:
        _moved(hub, effect, _made(hub, effect, tree, parent))
        return None
    return Held(sha=held, ours=stacked and f"\n{TRAILER}: " in there.message)


def _commit(hub: Hub, sha: str) -> GitCommit:
    return hub.do(f"reading commit {sha[:12]}", "contents: read", lambda: hub.repo.get_git_commit(sha))


def _created(hub: Hub, effect: Commit, tree: GitTree, parent: GitCommit) -> bool:
    """Create commit and branch; False when the branch exists by now."""
    made = _made(hub, effect, tree, parent)

    def step() -> bool:
        try:
            hub.repo.create_git_ref(f"refs/heads/{effect.branch}", made.sha)
        except GithubException as error:
            if error.status == 422 and "already exists" in message(error):
                return False
            raise
        return True

    return hub.do(f"creating branch {effect.branch}", NEED, step)


def _made(hub: Hub, effect: Commit, tree: GitTree, parent: GitCommit) -> GitCommit:
    """The commit, dated and signed by GitHub because no author is given."""
    return hub.do("making the commit", NEED, lambda: hub.repo.create_git_commit(effect.message, tree, [parent]))


def _moved(hub: Hub, effect: Commit, made: GitCommit) -> None:
    def step() -> None:
        hub.repo.get_git_ref(f"heads/{effect.branch}").edit(made.sha, force=True)

    hub.do(f"moving branch {effect.branch}", NEED, step)


def _tree(hub: Hub, effect: Commit, parent: GitCommit) -> GitTree:
    seen: dict[str, dict[str, GitTreeElement]] = {}
    rows = [_row(hub, path, content, _mode(hub, path, parent, seen)) for path, content in sorted(effect.files.items())]
    changes = [row for row in rows if row is not None]
    if not changes:
        raise Fault("the patch changes no file", fix="Report this as a bug of selfrepair.")
    return hub.do("storing the changed files", NEED, lambda: hub.repo.create_git_tree(changes, parent.tree))


def _row(hub: Hub, path: str, content: bytes | None, mode: str | None) -> InputGitTreeElement | None:
    if content is None:  # GitHub refuses to remove what is not there
        return InputGitTreeElement(path, mode, "blob", sha=None) if mode else None
    try:
        text = None if b"\0" in content else content.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is not None:
        return InputGitTreeElement(path, mode or _FILE, "blob", content=text)
    encoded = base64.b64encode(content).decode()
    blob = hub.do(f"storing {path}", NEED, lambda: hub.repo.create_git_blob(encoded, "base64"))
    if not blob.sha:  # without a name, the row would remove the file
        raise Fault(f"GitHub did not say where it stored {path}", fix="Run the job again.")
    return InputGitTreeElement(path, mode or _FILE, "blob", sha=blob.sha)


def _mode(hub: Hub, path: str, parent: GitCommit, seen: dict[str, dict[str, GitTreeElement]]) -> str | None:
    """Mode of the file at `path`, None when there is none.

    Attack: a patch to `link/file` or `link`, where `link` is a symlink or submodule, would replace what it points at.
    """
    tree = parent.tree.sha
    *folders, name = path.split("/")
    for folder in folders:
        entry = _entries(hub, tree, seen).get(folder)
        if entry is None:
            return None
        if entry.type != "tree":
            raise _untouchable(path)
        tree = entry.sha
    entry = _entries(hub, tree, seen).get(name)
    if entry is not None and entry.mode not in _REGULAR:
        raise _untouchable(path)
    return entry.mode if entry else None


def _entries(hub: Hub, tree: str, seen: dict[str, dict[str, GitTreeElement]]) -> dict[str, GitTreeElement]:
    if tree not in seen:
        found = hub.do("reading the tree", "contents: read", lambda: hub.repo.get_git_tree(tree))
        seen[tree] = {entry.path: entry for entry in found.tree}
    return seen[tree]


def _untouchable(path: str) -> Fault:
    return Fault(
        f"{path} is, or lies behind, a symlink, submodule or folder: the patch was not delivered",
        fix="Report this as a bug of selfrepair: such patches must be rejected before they are tried.",
    )

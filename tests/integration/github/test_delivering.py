"""What the forge leaves behind, and that twice is once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.github_api import Denied, Patience
from bot.adapters.github_forge import LEASE, GitHubForge
from bot.domain.attempt import Fault
from bot.domain.ports import Comment, Commit, Delivered, PullRequest
from tests.fakes.github.delivery import BRANCH, TOKEN, Clock, effects, git, trigger


def test_delivers_branch_pull_request_labels_and_comment(make: Any, bare: Path) -> None:
    stand_in, forge = make()
    binary = bytes(range(256))
    given = effects(
        stand_in.branches["main"],
        **{"run.sh": b"#!/bin/bash\r\n", "old.txt": None, "gone.txt": None, "logo.bin": binary},
    )
    done = forge.deliver(given)
    [pull], [comment] = stand_in.pulls, stand_in.comments
    assert done == Delivered(
        branch=BRANCH, pull_request=pull.number, url=f"{stand_in.server_url}/octo/widgets/pull/{pull.number}"
    )
    assert (pull.head, pull.base, pull.title, pull.body) == (BRANCH, "main", "Repair add", "All green.")
    assert pull.labels == ["selfrepair", "bot"]
    assert comment.issue == pull.number
    assert comment.body == "<!-- selfrepair history -->\n| turn | verdict |"
    changed = git(bare, "diff", "--no-renames", "--name-status", "main", BRANCH).split("\n")
    assert changed == ["M\tlogo.bin", "D\told.txt", "M\trun.sh", "M\tsrc/deep/calc.py"]
    assert git(bare, "ls-tree", BRANCH, "run.sh").startswith("100755")
    assert stand_in.read(BRANCH, "run.sh") == b"#!/bin/bash\r\n"
    assert stand_in.read(BRANCH, "logo.bin") == binary
    assert git(bare, "show", "-s", "--format=%P %B", BRANCH).startswith(stand_in.branches["main"] + " Repair add")
    assert "author" not in next(r for r in stand_in.requests if r.path.endswith("/git/commits")).body


def test_same_delivery_twice_is_one(make: Any) -> None:
    stand_in, forge = make(page_limit=2)
    first = forge.deliver(effects(stand_in.branches["main"]))
    for number in range(5):
        stand_in.add_comment(stand_in.pulls[0].number, f"chat {number}")
    before = stand_in.branches
    seen = len(stand_in.requests)
    assert forge.deliver(effects(stand_in.branches["main"])) == first
    again = [r for r in stand_in.requests[seen:] if r.method != "GET" and "graphql" not in r.path]
    assert [r.path.rpartition("/")[2] for r in again] == ["trees"]  # content-addressed: the same tree
    assert stand_in.branches == before
    assert len(stand_in.pulls) == 1 and len(stand_in.comments) == 6


def test_new_words_update_pull_request_and_comment(make: Any) -> None:
    stand_in, forge = make()
    forge.deliver(effects(stand_in.branches["main"]))
    commit, pull, comment = effects(stand_in.branches["main"])
    assert isinstance(pull, PullRequest) and isinstance(comment, Comment)
    forge.deliver([commit, replace(pull, title="Better"), replace(comment, body="more")])
    assert [p.title for p in stand_in.pulls] == ["Better"]
    assert [c.body for c in stand_in.comments] == ["<!-- selfrepair history -->\nmore"]


def test_our_marker_in_foreign_words_is_left_alone(make: Any) -> None:
    """Attack: somebody posts our marker first, so that our history overwrites theirs or goes missing."""
    stand_in, forge = make()
    number = stand_in.add_pull(head="feature")
    stand_in.add_comment(number, "<!-- selfrepair history -->\nmine", author="mallory")
    forge.deliver([Comment(marker="selfrepair history", body="ours", on=number)])
    assert [(c.author, c.body.split("\n")[1]) for c in stand_in.comments] == [
        ("mallory", "mine"),
        ("github-actions[bot]", "ours"),
    ]


def test_branch_held_by_another_run_is_left_alone(make: Any) -> None:
    stand_in, forge = make()
    forge.deliver(effects(stand_in.branches["main"])[:1])
    held = stand_in.branches[BRANCH]
    done = forge.deliver(effects(stand_in.branches["main"], **{"old.txt": b"another repair\n"}))
    assert done.branch is None and done.pull_request is None
    assert "another run already holds" in done.notes[0] and "delete that branch" in done.notes[0]
    assert stand_in.branches[BRANCH] == held and not stand_in.pulls and not stand_in.comments
    whole = forge.deliver(effects(stand_in.branches["main"]))
    done = forge.deliver(effects(stand_in.branches["main"], **{"old.txt": b"another repair\n"}))
    assert done.pull_request == whole.pull_request and len(stand_in.pulls) == 1


def test_branch_that_a_killed_run_left_is_taken_over(make: Any, bare: Path, clock: Clock) -> None:
    """A model rarely says the same twice: after a kill the rerun's repair differs from the one that was pushed."""
    stand_in, forge = make()
    commit, *rest = effects(stand_in.branches["main"])
    assert isinstance(commit, Commit)
    ours = replace(commit, message="fix: x\n\nSelfrepair-Run: 1\n")
    forge.deliver([ours])
    second = replace(ours, files={"old.txt": b"another repair\n"})
    done = forge.deliver([second, *rest])
    assert clock.slept == [LEASE]
    assert done.branch == BRANCH and [p.number for p in stand_in.pulls] == [done.pull_request]
    assert git(bare, "diff", "--name-only", "main", BRANCH) == "old.txt"
    assert git(bare, "rev-list", "--count", f"main..{BRANCH}") == "1"


def test_run_that_lives_keeps_its_branch(make: Any, bare: Path) -> None:
    stand_in, _ = make()
    commit, *rest = effects(stand_in.branches["main"])
    assert isinstance(commit, Commit)
    ours = replace(commit, message="fix: x\n\nSelfrepair-Run: 1\n")
    patience = Patience(sleep=lambda seconds: first.deliver([ours, *rest]) and None)
    given = {"token": TOKEN, "repository": "octo/widgets", "api_url": stand_in.api_url, "pace": 0.0}
    first, second = GitHubForge(**given), GitHubForge(**given, patience=patience)
    first.deliver([ours])
    done = second.deliver([replace(ours, files={"old.txt": b"another repair\n"}), *rest])
    assert done.branch is None and done.pull_request == stand_in.pulls[0].number
    assert git(bare, "diff", "--name-only", "main", BRANCH) == "src/deep/calc.py"
    first.close()
    second.close()


def test_settings_come_from_the_default_branch(make: Any, bare: Path) -> None:
    stand_in, forge = make()
    assert forge.settings() is None
    stand_in.commit("feature", {".github/selfrepair.yml": b"model: evil\n"})
    assert forge.settings() is None
    stand_in.commit("main", {".github/selfrepair.yml": b"version: 1\n"})
    assert forge.settings() == b"version: 1\n"


def test_pull_request_that_a_person_closed_stays_closed(make: Any) -> None:
    stand_in, forge = make()
    forge.deliver(effects(stand_in.branches["main"]))
    stand_in.pulls[0].state = "closed"
    done = forge.deliver(effects(stand_in.branches["main"]))
    assert len(stand_in.pulls) == 1 and "was closed before" in done.notes[0]


def test_actions_not_permitted_to_create_pull_requests(make: Any) -> None:
    stand_in, forge = make(may_create_pull_requests=False)
    done = forge.deliver(effects(stand_in.branches["main"]))
    where = f"{stand_in.server_url}/octo/widgets"
    assert done.branch == BRANCH and done.pull_request is None and BRANCH in stand_in.branches
    assert done.url == f"{where}/compare/main...{BRANCH}?expand=1"
    assert f"{where}/settings/actions" in done.notes[0] and done.url in done.notes[0]
    assert '"Allow GitHub Actions to create and approve pull requests"' in done.notes[0]
    assert "no pull request to hold it" in done.notes[1]


@pytest.mark.parametrize(
    ("missing", "key"),
    [("actions", "actions: read"), ("contents", "contents: write"), ("pull_requests", "pull-requests: ")],
)
def test_missing_permission_names_its_key(make: Any, missing: str, key: str) -> None:
    rights = {"actions": "read", "contents": "write", "pull_requests": "write", "metadata": "read"}
    rights[missing] = "none" if missing != "contents" else "read"
    stand_in, forge = make(permissions=rights)
    run = stand_in.add_run(logs={"tests": b"x"})
    if missing == "pull_requests":
        told = " ".join(forge.deliver(effects(stand_in.branches["main"])).notes)
    else:
        with pytest.raises(Denied, match="Resource not accessible by integration") as caught:
            forge.failed_run(trigger(stand_in, run)) if missing == "actions" else forge.deliver(
                effects(stand_in.branches["main"])
            )
        told = caught.value.fix
    assert key in told and "under `permissions:`" in told


def test_labels_and_comment_without_right_become_notes(make: Any) -> None:
    stand_in, forge = make()
    stand_in.fail(path="/labels", method="POST", status=403, message="Resource not accessible by integration", next=9)
    stand_in.fail(path="/comments$", method="POST", status=403, message="Unable to create comment", next=9)
    done = forge.deliver(effects(stand_in.branches["main"]))
    assert done.pull_request and "not labelled" in done.notes[0] and "no comment" in done.notes[1]


def test_patch_through_a_symlink_is_refused(make: Any) -> None:
    """Attack: `link/x` or `link` would replace a symlink of the repository by a folder or file of the model's."""
    stand_in, forge = make()
    for path in ("link/x.py", "link", "src", "old.txt/x"):
        with pytest.raises(Fault, match="symlink"):
            forge.deliver([Commit(branch=BRANCH, parent=stand_in.branches["main"], message="m", files={path: b"x"})])
    assert BRANCH not in stand_in.branches


def test_protected_branch_names(make: Any) -> None:
    stand_in, forge = make()
    stand_in.world.protected = ["selfrepair/*"]
    with pytest.raises(Fault, match="Repository rule violations found"):
        forge.deliver(effects(stand_in.branches["main"]))


def test_base_branch_deleted_meanwhile(make: Any) -> None:
    stand_in, forge = make()
    commit, pull, _ = effects(stand_in.branches["main"])
    assert isinstance(pull, PullRequest)
    with pytest.raises(Fault, match=r"422 Validation Failed.*opening a pull request onto gone"):
        forge.deliver([commit, replace(pull, base="gone")])

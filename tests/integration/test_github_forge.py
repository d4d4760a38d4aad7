"""The forge against the GitHub stand-in: real HTTP, real git objects, every refusal GitHub knows."""

from __future__ import annotations

import datetime
import ipaddress
import json
import os
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bot import event
from bot.adapters.github_api import Denied, Patience
from bot.adapters.github_forge import LEASE, GitHubForge
from bot.adapters.github_logs import capped
from bot.domain.attempt import Fault, InputError
from bot.domain.ports import Comment, Commit, Delivered, Effect, Ignored, PullRequest, Trigger
from tests.fakes.github import GitHubStandIn

TOKEN = "ghs_verySecretToken"
BRANCH = "selfrepair/main-f00d"


def git(folder: Path, *args: str) -> str:
    who = {"GIT_AUTHOR_NAME": "D", "GIT_AUTHOR_EMAIL": "d@x", "GIT_COMMITTER_NAME": "D", "GIT_COMMITTER_EMAIL": "d@x"}
    env = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, env=env).stdout.decode().strip()


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A bare repository with a script, a binary file, a symlink and a second branch."""
    work = tmp_path / "work"
    (work / "src" / "deep").mkdir(parents=True)
    (work / "src" / "deep" / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (work / "run.sh").write_text("#!/bin/sh\n")
    (work / "run.sh").chmod(0o755)
    (work / "old.txt").write_text("old\n")
    (work / "logo.bin").write_bytes(b"\x00\xff\x01")
    (work / "link").symlink_to("src")
    git(work, "init", "-q", "-b", "main")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "first")
    git(work, "branch", "feature")
    git(tmp_path, "clone", "-q", "--bare", str(work), "bare.git")
    return tmp_path / "bare.git"


class Clock:
    """Time that passes only when slept."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(bare: Path, clock: Clock) -> Iterator[Callable[..., tuple[GitHubStandIn, GitHubForge]]]:
    """Start a stand-in and a forge that looks at it; both are closed, and the stand-in's errors raised, at the end."""
    open_: list[tuple[GitHubStandIn, GitHubForge]] = []

    def start(token: str = TOKEN, **given: Any) -> tuple[GitHubStandIn, GitHubForge]:
        stand_in = GitHubStandIn(given.pop("repo_dir", bare), TOKEN, **given).start()
        forge = GitHubForge(
            token=token,
            repository="octo/widgets",
            api_url=stand_in.api_url,
            server_url=stand_in.server_url,
            patience=Patience(sleep=clock.sleep, clock=lambda: clock.now, jitter=lambda: 0.0),
            pace=0.0,
        )
        open_.append((stand_in, forge))
        return stand_in, forge

    yield start
    for stand_in, forge in open_:
        forge.close()
        stand_in.__exit__(None, None, None)


def trigger(stand_in: GitHubStandIn, run: int) -> Trigger:
    """What the run's own event gives."""
    env = {"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_REPOSITORY": "octo/widgets"}
    found = event.read(json.dumps(stand_in.event(run)).encode(), env)
    assert isinstance(found, Trigger)
    return found


def effects(stand_in: GitHubStandIn, **files: bytes | None) -> list[Effect]:
    """A whole delivery."""
    changed = {"src/deep/calc.py": b"def add(a, b):\n    return a + b\n", **files}
    parent = stand_in.branches["main"]
    return [
        Commit(branch=BRANCH, parent=parent, message="Repair add\n\nIt subtracted.", files=changed),
        PullRequest(head=BRANCH, base="main", title="Repair add", body="All green.", labels=("selfrepair", "bot")),
        Comment(marker="selfrepair history", body="| turn | verdict |"),
    ]


# --- reading


def test_reads_every_failed_job_over_all_pages(make: Any) -> None:
    stand_in, forge = make(page_limit=7)
    run = stand_in.add_run()
    for number in range(35):
        stand_in.add_job(run, f"job {number}", log=f"log {number}\n".encode())
        stand_in.add_job(run, f"good {number}", conclusion="success", log=b"fine")
    stand_in.add_job(run, "still running", conclusion=None)
    stand_in.add_job(run, "skipped", conclusion="skipped")
    found = forge.failed_run(trigger(stand_in, run))
    assert found.logs == {f"job {number}": f"log {number}\n".encode() for number in range(35)}
    assert found.workflow == "CI"
    assert found.url == f"{stand_in.server_url}/octo/widgets/actions/runs/{run}"


def test_reads_the_attempt_that_the_event_names(make: Any) -> None:
    stand_in, forge = make()
    run = stand_in.add_run(logs={"tests": b"first"})
    woken = trigger(stand_in, run)
    stand_in.world.runs[run].attempt = 2
    stand_in.add_job(run, "tests", log=b"second")
    assert forge.failed_run(woken).logs == {"tests": b"first"}
    assert forge.failed_run(replace(woken, attempt=None)).logs == {"tests": b"second"}


def test_jobs_of_one_name_keep_their_own_logs(make: Any) -> None:
    stand_in, forge = make()
    run = stand_in.add_run(logs={"tests": b"one"})
    second = stand_in.add_job(run, "tests", log=b"two")
    assert forge.failed_run(trigger(stand_in, run)).logs == {"tests": b"one", f"tests #{second}": b"two"}


def test_log_that_is_gone_while_others_are_there_is_empty(make: Any) -> None:
    stand_in, forge = make()
    run = stand_in.add_run(logs={"tests": b"red"})
    stand_in.add_job(run, "no runner", log=None)
    stand_in.add_job(run, "old", log=None, expired=True)
    assert forge.failed_run(trigger(stand_in, run)).logs == {"tests": b"red", "no runner": b"", "old": b""}


def test_expired_logs_say_what_to_do(make: Any) -> None:
    stand_in, forge = make()
    run = stand_in.add_run()
    stand_in.add_job(run, "tests", expired=True)
    with pytest.raises(Fault, match="the logs have expired") as caught:
        forge.failed_run(trigger(stand_in, run))
    assert "Re-run the failed jobs" in caught.value.fix


def test_log_link_that_ran_out_is_asked_for_again(make: Any, clock: Clock) -> None:
    stand_in, forge = make()
    run = stand_in.add_run(logs={"tests": b"red"})
    stand_in.desk.log_orders = [403, 503]
    assert forge.failed_run(trigger(stand_in, run)).logs == {"tests": b"red"}
    assert len(clock.slept) == 2
    links = [one for one in stand_in.requests if one.path.endswith("/logs")]
    assert len(links) == 3


def test_big_log_keeps_its_head_and_its_tail() -> None:
    chunks = [b"%07d\n" % number for number in range(1 << 19)]
    kept = capped(iter(chunks), 1 << 20)
    assert kept.startswith(b"0000000\n") and kept.endswith(chunks[-1])
    head, middle, tail = kept.partition(b"\n[selfrepair left out ")
    assert middle and len(head) == 1 << 18
    dropped, _, tail = tail.partition(b" bytes here]\n")
    assert len(head) + int(dropped) + len(tail) == 8 << 19
    assert capped(iter(chunks[:10]), 80) == b"".join(chunks[:10])


def test_last_green_is_the_same_workflow_before_this_run(make: Any, bare: Path) -> None:
    stand_in, forge = make()
    shas = [git(bare, "commit-tree", "main^{tree}", "-m", str(number)) for number in range(6)]
    stand_in.add_run(branch="main", sha=shas[0], conclusion="success")
    stand_in.add_run(branch="feature", sha=shas[1], conclusion="success", workflow="Docs")
    stand_in.add_run(branch="feature", sha=shas[2], conclusion="success", head_repository="fork/widgets")
    red = stand_in.add_run(branch="feature", sha=shas[3], logs={"tests": b"x"})
    assert forge.failed_run(trigger(stand_in, red)).last_green == shas[0]
    stand_in.add_run(branch="feature", sha=shas[4], conclusion="success")
    assert forge.failed_run(trigger(stand_in, red)).last_green == shas[0]
    later = stand_in.add_run(branch="feature", sha=shas[5], logs={"tests": b"x"})
    assert forge.failed_run(trigger(stand_in, later)).last_green == shas[4]


def test_no_green_run_at_all(make: Any) -> None:
    stand_in, forge = make()
    run = stand_in.add_run(logs={"tests": b"x"})
    assert forge.failed_run(trigger(stand_in, run)).last_green is None


def test_run_without_failed_jobs_is_bad_input(make: Any) -> None:
    stand_in, forge = make()
    run = stand_in.add_run(conclusion="success")
    asked = Trigger(repository="octo/widgets", event="workflow_dispatch", branch="", sha="", run_id=run)
    with pytest.raises(InputError, match=r"has no failed job \(it is success\)"):
        forge.failed_run(asked)


def test_heads(make: Any) -> None:
    stand_in, forge = make()
    assert forge.head("main") == stand_in.branches["main"]
    assert forge.head("gone") is None
    assert forge.head("mai") is None


# --- who woke us


def test_dispatch_is_resolved_to_branch_and_commit(make: Any) -> None:
    stand_in, forge = make()
    run = stand_in.add_run(branch="feature", logs={"tests": b"x"}, pull_requests=[103])
    asked = Trigger(repository="octo/widgets", event="workflow_dispatch", branch="", sha="", run_id=run)
    found = forge.resolve(asked)
    assert found == replace(asked, branch="feature", sha=stand_in.branches["feature"], attempt=1, pull_request=103)


def test_comment_is_resolved_to_the_newest_failed_run(make: Any) -> None:
    stand_in, forge = make()
    stand_in.world.collaborators = {"dev": "maintain", "reader": "triage"}
    number = stand_in.add_pull(head="feature")
    asked = Trigger(
        repository="octo/widgets", event="issue_comment", branch="", sha="", pull_request=number, actor="dev"
    )
    found = forge.resolve(asked)
    assert isinstance(found, Ignored) and "has failed" in found.reason
    stand_in.add_run(branch="feature")
    newest = stand_in.add_run(branch="feature")
    found = forge.resolve(asked)
    assert isinstance(found, Trigger) and (found.run_id, found.pull_request) == (newest, number)
    for stranger in ("reader", "nobody"):
        refused = forge.resolve(replace(asked, actor=stranger))
        assert isinstance(refused, Ignored) and f"@{stranger} may not write" in refused.reason


def test_fork_and_own_branch_are_never_resolved(make: Any) -> None:
    stand_in, forge = make()
    stand_in.world.collaborators = {"dev": "write"}
    number = stand_in.add_pull(head="feature", head_repository="evil/widgets")
    stand_in.add_run(branch="feature", head_repository="evil/widgets")
    asked = Trigger(
        repository="octo/widgets", event="issue_comment", branch="", sha="", pull_request=number, actor="dev"
    )
    assert "fork" in forge.resolve(asked).reason
    own = stand_in.add_run(branch="selfrepair/x", sha="a" * 40)
    asked = Trigger(repository="octo/widgets", event="workflow_dispatch", branch="", sha="", run_id=own)
    assert "own branch" in forge.resolve(asked).reason


# --- delivering


def test_delivers_branch_pull_request_labels_and_comment(make: Any, bare: Path) -> None:
    stand_in, forge = make()
    binary = bytes(range(256))
    given = effects(stand_in, **{"run.sh": b"#!/bin/bash\r\n", "old.txt": None, "gone.txt": None, "logo.bin": binary})
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
    first = forge.deliver(effects(stand_in))
    for number in range(5):
        stand_in.add_comment(stand_in.pulls[0].number, f"chat {number}")
    before = stand_in.branches
    seen = len(stand_in.requests)
    assert forge.deliver(effects(stand_in)) == first
    again = [r for r in stand_in.requests[seen:] if r.method != "GET" and "graphql" not in r.path]
    assert [r.path.rpartition("/")[2] for r in again] == ["trees"]  # content-addressed: the same tree
    assert stand_in.branches == before
    assert len(stand_in.pulls) == 1 and len(stand_in.comments) == 6


def test_new_words_update_pull_request_and_comment(make: Any) -> None:
    stand_in, forge = make()
    forge.deliver(effects(stand_in))
    commit, pull, comment = effects(stand_in)
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
    forge.deliver(effects(stand_in)[:1])
    held = stand_in.branches[BRANCH]
    done = forge.deliver(effects(stand_in, **{"old.txt": b"another repair\n"}))
    assert done.branch is None and done.pull_request is None
    assert "another run already holds" in done.notes[0] and "delete that branch" in done.notes[0]
    assert stand_in.branches[BRANCH] == held and not stand_in.pulls and not stand_in.comments
    whole = forge.deliver(effects(stand_in))
    done = forge.deliver(effects(stand_in, **{"old.txt": b"another repair\n"}))
    assert done.pull_request == whole.pull_request and len(stand_in.pulls) == 1


def test_branch_that_a_killed_run_left_is_taken_over(make: Any, bare: Path, clock: Clock) -> None:
    """A model rarely says the same twice: after a kill the rerun's repair differs from the one that was pushed."""
    stand_in, forge = make()
    commit, *rest = effects(stand_in)
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
    commit, *rest = effects(stand_in)
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
    forge.deliver(effects(stand_in))
    stand_in.pulls[0].state = "closed"
    done = forge.deliver(effects(stand_in))
    assert len(stand_in.pulls) == 1 and "was closed before" in done.notes[0]


def test_actions_not_permitted_to_create_pull_requests(make: Any) -> None:
    stand_in, forge = make(may_create_pull_requests=False)
    done = forge.deliver(effects(stand_in))
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
        told = " ".join(forge.deliver(effects(stand_in)).notes)
    else:
        with pytest.raises(Denied, match="Resource not accessible by integration") as caught:
            forge.failed_run(trigger(stand_in, run)) if missing == "actions" else forge.deliver(effects(stand_in))
        told = caught.value.fix
    assert key in told and "under `permissions:`" in told


def test_labels_and_comment_without_right_become_notes(make: Any) -> None:
    stand_in, forge = make()
    stand_in.fail(path="/labels", method="POST", status=403, message="Resource not accessible by integration", next=9)
    stand_in.fail(path="/comments$", method="POST", status=403, message="Unable to create comment", next=9)
    done = forge.deliver(effects(stand_in))
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
        forge.deliver(effects(stand_in))


def test_base_branch_deleted_meanwhile(make: Any) -> None:
    stand_in, forge = make()
    commit, pull, _ = effects(stand_in)
    assert isinstance(pull, PullRequest)
    with pytest.raises(Fault, match=r"422 Validation Failed.*opening a pull request onto gone"):
        forge.deliver([commit, replace(pull, base="gone")])


# --- errors


def test_bad_token(make: Any) -> None:
    _, forge = make(token="ghs_wrongSecret")
    with pytest.raises(Fault, match="does not accept the token") as caught:
        forge.head("main")
    assert "github-token: ${{ github.token }}" in caught.value.fix
    assert "ghs_wrongSecret" not in str(caught.value) + caught.value.fix


def test_repository_that_is_not_there(bare: Path) -> None:
    with GitHubStandIn(bare, TOKEN) as stand_in:
        forge = GitHubForge(token=TOKEN, repository="octo/other", api_url=stand_in.api_url)
        with pytest.raises(Fault, match="looking at octo/other") as caught:
            forge.head("main")
        forge.close()
    assert "Check that it exists in octo/other" in caught.value.fix


def test_run_that_is_not_there(make: Any) -> None:
    _, forge = make()
    asked = Trigger(repository="octo/widgets", event="workflow_dispatch", branch="", sha="", run_id=5)
    with pytest.raises(Fault, match="looking for run 5"):
        forge.resolve(asked)


def test_empty_repository(make: Any, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "empty.git")
    _, forge = make(repo_dir=tmp_path / "empty.git")
    with pytest.raises(Fault, match="Git Repository is empty") as caught:
        forge.head("main")
    assert "Push a first commit" in caught.value.fix


def test_bad_arguments_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        GitHubForge(token=" ", repository="widgets", api_url="api.github.com")
    assert len(caught.value.problems) == 3


def test_secondary_rate_limit_waits_as_told(make: Any, clock: Clock) -> None:
    stand_in, forge = make()
    stand_in.limit(next=1, path="/git/refs", status=403, retry_after=7)
    stand_in.limit(next=1, path="/pulls", status=429, retry_after=9)
    stand_in.limit(next=1, path="/comments", retry_after=None)
    assert forge.deliver(effects(stand_in)).pull_request
    assert clock.slept == [7, 9, 60]


def test_primary_rate_limit_waits_for_the_reset_if_it_is_near(make: Any, clock: Clock) -> None:
    stand_in, forge = make()
    limited = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(clock.now) + 30)}
    stand_in.fail(status=403, message="API rate limit exceeded for installation.", headers=limited)
    assert forge.head("main")
    assert clock.slept == [31]
    limited["X-RateLimit-Reset"] = str(int(clock.now) + 3000)
    stand_in.fail(status=403, message="API rate limit exceeded for installation.", headers=limited)
    with pytest.raises(Fault, match="rate limit did not end in time"):
        forge.head("main")
    assert clock.slept == [31]


def test_patience_ends(make: Any, clock: Clock) -> None:
    stand_in, forge = make()
    stand_in.fail(next=99, status=500)
    with pytest.raises(Fault, match="kept answering 500"):
        forge.head("main")
    assert 50 < sum(clock.slept) <= 300 and len(clock.slept) <= 7


@pytest.mark.parametrize("status", [0, 500, 502])
@pytest.mark.parametrize("late", [False, True])
def test_faults_in_the_middle_of_delivery_double_nothing(make: Any, status: int, late: bool) -> None:
    """Each write in turn fails, or takes effect while its answer is lost."""
    stand_in, forge = make()
    for path in ("/git/trees", "/git/commits", "/git/refs", "/pulls", "/labels", "/comments"):
        stand_in.fail(method="POST", path=f"{path}$", status=status, late=late)
    done = forge.deliver(effects(stand_in))
    assert done.pull_request == stand_in.pulls[0].number and not done.notes
    assert len(stand_in.pulls) == 1 and len(stand_in.comments) == 1
    assert set(stand_in.branches) == {"main", "feature", BRANCH}


def test_network_down(clock: Clock) -> None:
    quick = Patience(tries=2, sleep=clock.sleep)
    forge = GitHubForge(token=TOKEN, repository="octo/widgets", api_url="http://127.0.0.1:9/api/v3", patience=quick)
    with pytest.raises(Fault, match=r"127.0.0.1:9 could not be reached") as caught:
        forge.head("main")
    forge.close()
    assert "HTTPS_PROXY" in caught.value.fix and TOKEN not in str(caught.value)


def test_log_storage_behind_a_firewall(make: Any) -> None:
    stand_in, forge = make()
    run = stand_in.add_run(logs={"tests": b"x"})
    stand_in.world.log_base = "http://127.0.0.1:9"
    with pytest.raises(Fault, match=r"127.0.0.1:9 could not be reached while reading the log of job 'tests'") as caught:
        forge.failed_run(trigger(stand_in, run))
    assert "log-link-secret" not in str(caught.value)


def self_signed(into: Path) -> Path:
    """A certificate for 127.0.0.1 that nobody trusts, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "stand-in")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    into.write_bytes(
        made.public_bytes(pem) + key.private_bytes(pem, serialization.PrivateFormat.TraditionalOpenSSL, plain)
    )
    return into


def test_own_certificate_authority(bare: Path, tmp_path: Path) -> None:
    """An Enterprise server with a certificate of its own is trusted through the standard environment, else a Fault."""
    pem = self_signed(tmp_path / "ca.pem")
    code = "\n".join(KILLED.splitlines()[:6]) + "\nprint(forge.head('main'))"
    with GitHubStandIn(bare, TOKEN, certificate=pem) as stand_in:
        main = stand_in.branches["main"]
        argv = [sys.executable, "-c", code, stand_in.api_url, stand_in.server_url, TOKEN, main]
        env = {key: value for key, value in os.environ.items() if "CA_BUNDLE" not in key}
        told = subprocess.run(argv, env={**env, "REQUESTS_CA_BUNDLE": str(pem)}, capture_output=True, check=True)
        assert told.stdout.decode().strip() == main
        refused = subprocess.run(argv, env=env, capture_output=True)
        assert b"Fault: the certificate of 127.0.0.1:" in refused.stderr and b"is not trusted" in refused.stderr


def test_branch_names_with_odd_letters(make: Any, bare: Path) -> None:
    stand_in, forge = make()
    odd = "fix/#1 50%+über?&x".replace(" ", "-").replace("?", "")
    git(bare, "branch", odd, "main")
    assert forge.head(odd) == stand_in.branches["main"]
    green = stand_in.add_run(branch=odd, conclusion="success")
    run = stand_in.add_run(branch=odd, logs={"tests": b"x"})
    assert forge.failed_run(trigger(stand_in, run)).last_green == stand_in.world.runs[green].sha
    commit, pull, _ = effects(stand_in)
    assert isinstance(pull, PullRequest)
    stand_in.world.may_create_pull_requests = False
    link = forge.deliver([commit, replace(pull, base=odd)]).url
    assert link and "/compare/fix/%231-50%25%2B%C3%BCber%26x..." in link


def test_github_com_shape_of_the_api_address(make: Any) -> None:
    stand_in, forge = make(ghes=False)
    assert not stand_in.api_url.endswith("/api/v3")
    assert forge.deliver(effects(stand_in)).pull_request


def test_token_is_in_no_record(make: Any) -> None:
    stand_in, forge = make()
    stand_in.add_run(logs={"tests": b"x"})
    forge.deliver(effects(stand_in))
    assert TOKEN not in repr(stand_in.requests)


# --- killed


KILLED = """
import json, sys
from bot.adapters.github_forge import GitHubForge
from bot.domain.ports import Comment, Commit, PullRequest
api, server, token, parent = sys.argv[1:]
forge = GitHubForge(token=token, repository="octo/widgets", api_url=api, server_url=server, pace=0.0)
done = forge.deliver([
    Commit(branch="selfrepair/main-f00d", parent=parent, message="m", files={"old.txt": b"new", "logo.bin": b"\\xff"}),
    PullRequest(head="selfrepair/main-f00d", base="main", title="t", body="b", labels=("selfrepair",)),
    Comment(marker="history", body="rows"),
])
print(json.dumps([done.branch, done.pull_request, done.notes]))
"""


def test_killed_after_each_write_it_converges(bare: Path) -> None:
    """SIGKILL after write 1, 2, ... of a delivery; the next try always ends at one branch, pull request, comment."""
    write, killed = 0, True
    while killed:
        write += 1
        killed = _killed_once(bare, write)
    assert write - 1 == 8  # blob, tree, commit, ref, pull request, label made, label given, comment


def _killed_once(bare: Path, write: int) -> bool:
    with GitHubStandIn(bare, TOKEN) as stand_in:
        argv = [sys.executable, "-c", KILLED, stand_in.api_url, stand_in.server_url, TOKEN, stand_in.branches["main"]]
        child = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        stand_in.on_write(lambda n, method, path: child.kill() if n == write else None)
        child.communicate(timeout=60)
        stand_in.on_write(None)
        again = subprocess.run(argv, capture_output=True, check=True, timeout=60)
        branch, number, notes = json.loads(again.stdout)
        assert (branch, notes) == (BRANCH, [])
        assert [p.number for p in stand_in.pulls] == [number]
        assert [(c.issue, c.body) for c in stand_in.comments] == [(number, "<!-- history -->\nrows")]
        assert stand_in.pulls[0].labels == ["selfrepair"]
        assert git(bare, "rev-list", "--count", f"main..{BRANCH}") == "1"
        git(bare, "update-ref", "-d", f"refs/heads/{BRANCH}")
    return child.returncode == -signal.SIGKILL


# --- git itself


def test_real_git_clones_and_pushes_over_http(make: Any, tmp_path: Path) -> None:
    stand_in, _ = make()
    secret = b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    header = f"http.extraheader=AUTHORIZATION: basic {secret}"
    url = f"{stand_in.server_url}/octo/widgets.git"
    git(tmp_path, "-c", header, "clone", "-q", url, "clone")
    assert git(tmp_path / "clone", "rev-parse", "HEAD") == stand_in.branches["main"]
    git(tmp_path / "clone", "fetch", "-q", "--depth=1", str(tmp_path / "bare.git"), "feature")
    git(tmp_path / "clone", "-c", header, "fetch", "-q", "--depth=1", "origin", stand_in.branches["feature"])
    (tmp_path / "clone" / "big").write_bytes(os.urandom(3 << 20))  # over http.postBuffer: a chunked request
    git(tmp_path / "clone", "add", ".")
    git(tmp_path / "clone", "commit", "-q", "-m", "second")
    git(tmp_path / "clone", "-c", header, "push", "-q", "origin", "HEAD:pushed")
    assert stand_in.branches["pushed"] == git(tmp_path / "clone", "rev-parse", "HEAD")
    for bad in ([], ["-c", "http.extraheader=AUTHORIZATION: basic eDp5"]):
        with pytest.raises(subprocess.CalledProcessError):
            git(tmp_path, *bad, "ls-remote", url)


def test_stand_in_runs_as_a_process(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"red\n")
    seed = tmp_path / "seed.json"
    seed.write_text(json.dumps({"runs": [{"branch": "feature", "logs": {"tests": str(tmp_path / "log")}}]}))
    argv = [sys.executable, "-m", "tests.fakes.github", "--repo", str(bare), "--token", TOKEN, "--seed", str(seed)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout
        told = json.loads(child.stdout.readline())
        forge = GitHubForge(token=TOKEN, repository="octo/widgets", api_url=told["api_url"])
        asked = Trigger(repository="octo/widgets", event="workflow_dispatch", branch="", sha="", run_id=told["runs"][0])
        assert forge.failed_run(asked).logs == {"tests": b"red\n"}
        forge.close()
        child.communicate(timeout=30)
    assert child.returncode == 0

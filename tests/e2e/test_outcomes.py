"""Every way a run can end, as people meet it: exit status, outputs, annotation, summary, and what stands on GitHub."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tests.e2e.relay import docker_without
from tests.e2e.scene import COMMA, FILES, REPAIR, Ended, Scene
from tests.fakes.messages_api import NO_CREDIT, Request, contradiction, edits

Make = Callable[..., Scene]

CHECK = "python3 check.py"
WRONG = edits({**COMMA, "new": "'Hello; '"})
TWO: Mapping[str, bytes] = {
    "greeting.py": FILES["greeting.py"] + b"\n\ndef part(name):\n    return 'Bye ' + name\n",
    "test_greeting.py": FILES["test_greeting.py"],
    "test_parting.py": FILES["test_greeting.py"].replace(b"greet(", b"part(").replace(b"import greet", b"import part")
    .replace(b"Greeting", b"Parting").replace(b"Hello", b"Bye"),
}  # fmt: skip
ORDER: Mapping[str, bytes] = {
    "seen.py": b"names = []\n",
    "test_seen.py": b"import seen\n\ndef test_first():\n    seen.names.append('Ada')\n\n"
    b"def test_second():\n    assert seen.names == []\n",
}


def ends(ended: Ended, outcome: str, reason: str, *, status: int = 0) -> None:
    """The four places that must say the same."""
    assert (ended.status, ended.outputs["outcome"], ended.outputs["reason"]) == (status, outcome, reason), ended
    level = "error" if outcome == "faulted" else "notice"
    assert f"::{level} title=selfrepair::{outcome}: {reason.replace('%', '%25')}" in ended.stdout
    assert ended.summary.startswith("### ")


def nothing_delivered(scene: Scene) -> None:
    assert (scene.ours, scene.github.pulls, scene.github.comments) == ([], [], [])


def test_improved(make: Make) -> None:
    """Also `fail-on`: what turns the job red is the user's choice."""
    scene = make(REPAIR, REPAIR, files=TWO)
    ended = scene.act(max_iterations="1")
    ends(ended, "improved", "budget: 1 of 1 iterations used")
    assert "**This is not a repair.**" in ended.summary and "+    return 'Hello, ' + name" in ended.summary
    nothing_delivered(scene)
    ends(scene.act(max_iterations="1", fail_on="unrepaired"), "improved", "budget: 1 of 1 iterations used", status=1)


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"max_iterations": "1"}, "budget: 1 of 1 iterations used"),
        ({"patience": "1"}, "ideas: 1 turns in a row brought nothing better"),
        ({"max_dollars": "0.001"}, None),
    ],
)
def test_exhausted(make: Make, inputs: Mapping[str, str], reason: str | None) -> None:
    scene = make(WRONG)
    ended = scene.act(checks=CHECK, **inputs)
    ends(ended, "exhausted", reason or ended.outputs["reason"])
    assert reason or ended.outputs["reason"].startswith("money: $0.00 of $0.00 spent, the next call may cost $0.")
    nothing_delivered(scene)


def test_refused(make: Make) -> None:
    scene = make(contradiction("README says: greets without a comma"))
    ended = scene.act(checks=CHECK)
    ends(ended, "refused", "README says: greets without a comma")
    assert "the test seems to contradict what the code promises" in ended.summary
    nothing_delivered(scene)


def test_not_reproduced(make: Make) -> None:
    scene = make()
    reason = "every check is green in the sandbox on the same commit: what failed in CI lies outside the code"
    ends(scene.act(checks="true"), "not_reproduced", reason)
    nothing_delivered(scene)


def test_flaky(make: Make) -> None:
    """A test that fails only after another one; told on the pull request that the run belongs to, and only there."""
    scene = make(files=ORDER, steps=("python3 -m pytest -q",))
    scene.github.world.runs[scene.run_id].pull_requests = [scene.github.add_pull(head="work")]
    ended = scene.act(setup="pip install --user pytest")
    ends(ended, "flaky", "failed once and passed when run again on the same commit")
    assert scene.ours == [] and scene.api.requests == []
    assert "test_seen.py::test_second" in scene.github.comments[0].body


@pytest.mark.parametrize("may_reply", [True, False])
def test_a_command_of_someone_who_may_not_ask_is_answered_once(make: Make, may_reply: bool) -> None:
    """By a comment of its own: the history of an earlier repair stays as it is. Without the right to, in the log."""
    scene = make(**({} if may_reply else {"permissions": {"contents": "read", "actions": "read", "metadata": "read"}}))
    number = scene.github.add_pull(head="work")
    asked = {
        "action": "created",
        "comment": {"body": "/selfrepair", "user": {"login": "stranger", "type": "User"}},
        "issue": {"number": number, "pull_request": {}},
    }
    reason = f"@stranger may not write to {scene.github.world.repository}, so may not ask for repairs"
    for _ in range(2):
        ended = scene.act(asked, env={"GITHUB_EVENT_NAME": "issue_comment"})
        ends(ended, "ignored", reason)
    assert ("no comment: the token may not do this" in ended.stdout) != may_reply
    said = "<!-- selfrepair:reply -->\nselfrepair did nothing: @\u200bstranger may not write"
    posted = [(comment.issue, comment.body[: len(said)]) for comment in scene.github.comments]
    assert posted == ([(number, said)] if may_reply else [])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"conclusion": "success"}, "the run ended as success, not failure"),
        ({"head_branch": "selfrepair/main-0"}, "selfrepair/main-0 is selfrepair's own branch"),
    ],
)
def test_ignored_events(make: Make, changes: Mapping[str, str], reason: str) -> None:
    scene = make()
    ends(scene.act(scene.event(**changes)), "ignored", reason)
    assert scene.github.requests == []


def test_head_that_moved_before(make: Make) -> None:
    scene = make()
    moved = scene.github.commit("work", {"greeting.py": b""})
    ends(scene.act(), "ignored", f"work has moved on to {moved[:12]}")
    nothing_delivered(scene)


def test_head_that_moves_meanwhile(make: Make) -> None:
    def push_then_answer(_request: Request) -> object:
        scene.github.commit("work", {"README.md": b"More.\n"})
        return REPAIR

    scene = make(push_then_answer)
    reason = "work moved while the repair was made; the new commit's own run will wake us"
    ends(scene.act(checks=CHECK), "ignored", reason)
    nothing_delivered(scene)


def faulted(scene: Scene, ended: Ended, reason: str, fix: str) -> None:
    ends(ended, "faulted", reason, status=3)
    assert f"{reason} {fix}" in ended.stdout and "**What to do:**" in ended.summary
    nothing_delivered(scene)


def test_model_key_that_is_not_accepted(make: Make) -> None:
    scene = make(key="sk-ant-another")
    fix = "set the secret ANTHROPIC_API_KEY to a valid, unexpired key"
    reason = "the model API does not accept the key (model claude-sonnet-5-5, HTTP 401: invalid x-api-key)"
    faulted(scene, scene.act(checks=CHECK), reason, fix)
    assert scene.act(checks=CHECK, fail_on="never").status == 0


def test_model_out_of_credit(make: Make) -> None:
    scene = make(NO_CREDIT)
    said = f"(model claude-sonnet-5-5, HTTP 400: {NO_CREDIT.message})"
    fix = "add credit (platform.claude.com, Settings, Billing)"
    faulted(scene, scene.act(checks=CHECK), f"the account has no credit left {said}", fix)


def test_expired_log(make: Make) -> None:
    scene = make()
    scene.github.world.jobs[0].expired = True
    reason = "the logs have expired: GitHub no longer has the log of job 'tests'"
    faulted(scene, scene.act(), reason, "Re-run the failed jobs in GitHub, so that there are fresh logs to read.")


def test_token_without_permission(make: Make) -> None:
    scene = make(permissions={"actions": "read", "contents": "read", "metadata": "read"})
    reason = (
        "not delivered: the token may not do this: storing the changed files (Resource not accessible by integration)"
    )
    fix = "Add `contents: write` under `permissions:` in the workflow that runs selfrepair."
    faulted(scene, scene.act(checks=CHECK), reason, fix)


def test_no_docker(make: Make) -> None:
    scene = make()
    ended = scene.act(env={"DOCKER_HOST": "unix:///nowhere/docker.sock"})
    fix = "start Docker (`systemctl start docker`, or `dockerd`), and check DOCKER_HOST"
    faulted(scene, ended, ended.outputs["reason"], fix)
    assert ended.outputs["reason"].startswith("Docker does not answer, while trying to reach Docker: ")


def test_no_gvisor(make: Make) -> None:
    """The machine's own engine, as if nobody had registered the runtimes."""
    scene = make()
    with docker_without(b"selfrepair-run") as host:
        ended = scene.act(checks=CHECK, env={"DOCKER_HOST": host})
    fix = "run `selfrepair install-gvisor` (in a workflow: the input `install-gvisor: always`), then start again"
    faulted(scene, ended, ended.outputs["reason"], fix)
    assert ended.outputs["reason"].startswith("a sandbox runtime is not registered with Docker, while trying to ")

"""Every kind of event, as GitHub sends it, ends as a Trigger or a reason that people can read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot import event
from bot.domain.attempt import InputError
from bot.domain.ports import Ignored, Trigger

REPO = "octo/widgets"


def env(name: str, **more: str) -> dict[str, str]:
    return {"GITHUB_EVENT_NAME": name, "GITHUB_REPOSITORY": REPO, **more}


def run_event(**changes: Any) -> bytes:
    run = {
        "id": 77,
        "head_branch": "feature",
        "head_sha": "a" * 40,
        "conclusion": "failure",
        "run_attempt": 2,
        "path": ".github/workflows/ci.yml",
        "head_repository": {"full_name": REPO},
        "pull_requests": [{"number": 5}],
        "triggering_actor": {"login": "dev"},
    }
    action = changes.pop("action", "completed")
    return json.dumps({"action": action, "workflow_run": {**run, **changes}}).encode()


def comment_event(body: str, action: str = "created", kind: str = "User", **issue: Any) -> bytes:
    payload = {
        "action": action,
        "issue": {"number": 5, "pull_request": {}, **issue},
        "comment": {"body": body, "user": {"login": "dev", "type": kind}},
    }
    return json.dumps(payload).encode()


def read(payload: bytes | None, name: str, **more: str) -> Trigger | Ignored:
    return event.read(payload, env(name, **more))


def test_failed_run_wakes_us_with_its_attempt() -> None:
    assert read(run_event(), "workflow_run") == Trigger(
        repository=REPO,
        event="workflow_run",
        branch="feature",
        sha="a" * 40,
        run_id=77,
        attempt=2,
        pull_request=5,
        actor="dev",
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"action": "requested"}, "the run is requested, not completed"),
        ({"conclusion": "success"}, "the run ended as success, not failure"),
        ({"conclusion": "cancelled"}, "the run ended as cancelled, not failure"),
        ({"head_branch": "selfrepair/main-1"}, "selfrepair/main-1 is selfrepair's own branch"),
        ({"head_repository": {"full_name": "evil/widgets"}}, "lies in a fork"),
        ({"head_repository": None}, "the branch or fork that the run belongs to is gone"),
        ({"head_branch": None}, "the branch or fork that the run belongs to is gone"),
    ],
)
def test_other_runs_are_ignored(changes: dict[str, Any], reason: str) -> None:
    found = read(run_event(**changes), "workflow_run")
    assert isinstance(found, Ignored) and reason in found.reason


def test_own_workflow_never_wakes_itself() -> None:
    own = {"GITHUB_WORKFLOW_REF": f"{REPO}/.github/workflows/ci.yml@refs/heads/main"}
    found = read(run_event(), "workflow_run", **own)
    assert found == Ignored(reason="the failed run is selfrepair's own workflow")
    other = {"GITHUB_WORKFLOW_REF": f"{REPO}/.github/workflows/selfrepair.yml@refs/heads/main"}
    assert isinstance(read(run_event(), "workflow_run", **other), Trigger)


def test_repository_names_differ_only_in_case() -> None:
    assert isinstance(read(run_event(head_repository={"full_name": "Octo/Widgets"}), "workflow_run"), Trigger)


def test_event_that_is_not_ours() -> None:
    assert read(b"{}", "push") == Ignored(reason="event push is not one that selfrepair acts on")


@pytest.mark.parametrize(
    ("inputs", "run_id", "attempt"),
    [
        ({"run-id": "12"}, 12, None),
        ({"run-id": 12}, 12, None),
        ({"run-id": f"https://github.com/{REPO}/actions/runs/12"}, 12, None),
        ({"run-id": f"https://ghe.example/{REPO}/actions/runs/12/attempts/3"}, 12, 3),
        ({"run-id": f"https://github.com/{REPO}/actions/runs/12/job/99"}, 12, None),
    ],
)
def test_dispatch_names_a_run(inputs: dict[str, Any], run_id: int, attempt: int | None) -> None:
    found = read(json.dumps({"inputs": inputs, "sender": {"login": "dev"}}).encode(), "workflow_dispatch")
    assert isinstance(found, Trigger)
    assert (found.run_id, found.attempt, found.actor, found.sha) == (run_id, attempt, "dev", "")


def test_dispatch_by_the_actions_own_input() -> None:
    found = read(b'{"inputs": null}', "workflow_dispatch", **{"INPUT_RUN-ID": " 12 "})
    assert isinstance(found, Trigger) and found.run_id == 12


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({}, "give the id or the address of a failed run"),
        (None, "give the id or the address of a failed run"),
        ({"run-id": "twelve"}, "run-id is 'twelve'"),
        ({"run-id": "١٢"}, "give the id"),
        ({"run-id": "https://github.com/other/repo/actions/runs/12"}, "a run of other/repo"),
    ],
)
def test_dispatch_without_a_usable_run(inputs: Any, problem: str) -> None:
    with pytest.raises(InputError, match="run-id") as caught:
        read(json.dumps({"inputs": inputs}).encode(), "workflow_dispatch")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (None, "there is no event file"),
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[]", "does not hold a JSON object"),
        (b"{}", "lacks what GitHub sends with it"),
        (b'{"action": "completed", "workflow_run": null}', "lacks what GitHub sends with it"),
        (b'{"action": "completed", "workflow_run": {"conclusion": "failure", "head_repository": []}}', "lacks"),
    ],
)
def test_unreadable_event(payload: bytes | None, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(payload, "workflow_run")


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        event.read(b"no", {})
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("/selfrepair", ""),
        ("please\r\n/selfrepair\r\nthanks", ""),
        ("/selfrepair  retry now ", "retry now"),
        ("/selfrepairs", None),
        ("run /selfrepair", None),
        ("> /selfrepair", None),
        ("    /selfrepair", None),
        ("```\n/selfrepair\n```", None),
        ("````\n```\n/selfrepair\n````", None),
        ("~~~\n```\n~~~\n/selfrepair", ""),
        ("```\ncode\n```\n/selfrepair", ""),
        ("", None),
    ],
)
def test_command_begins_its_line(body: str, words: str | None) -> None:
    assert event.command(body) == words


def test_comment_wakes_us() -> None:
    found = read(comment_event("/selfrepair"), "issue_comment")
    assert found == Trigger(
        repository=REPO, event="issue_comment", branch="", sha="", pull_request=5, actor="dev"
    )  # authorised by the forge's resolve, not here


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (comment_event("nice work"), "holds no /selfrepair command"),
        (comment_event("/selfrepair", action="edited"), "only new comments are read"),
        (comment_event("/selfrepair", kind="Bot"), "not from bots"),
        (comment_event("/selfrepair --fast"), "takes no further words"),
        (
            json.dumps(
                {
                    "action": "created",
                    "issue": {"number": 5},
                    "comment": {"body": "/selfrepair", "user": {"login": "dev", "type": "User"}},
                }
            ).encode(),
            "works on pull requests",
        ),
    ],
)
def test_comment_that_asks_for_nothing(payload: bytes, reason: str) -> None:
    found = read(payload, "issue_comment")
    assert isinstance(found, Ignored) and reason in found.reason


def test_who_may_ask() -> None:
    assert [p for p in ("admin", "maintain", "write", "triage", "read", "none", "") if event.authorised(p)] == [
        "admin",
        "maintain",
        "write",
    ]


@pytest.mark.parametrize("value", [1.5, True, [1], {}, "x", "a\nb", "--upload-pack=x", 10**30 / 7])
@pytest.mark.parametrize("name", ["id", "run_attempt", "head_sha", "head_branch", "pull_requests", "triggering_actor"])
def test_values_of_the_wrong_kind_are_bad_input_and_no_crash_later(name: str, value: object) -> None:
    wrapped = {
        "pull_requests": [{"number": value}],
        "triggering_actor": {"login": [value]},
        "head_branch": [value],
    }
    given = wrapped.get(name, value)
    with pytest.raises(InputError, match="lacks what GitHub sends with it"):
        read(run_event(**{name: given}), "workflow_run")


def test_an_event_nested_without_end_is_bad_input() -> None:
    with pytest.raises(InputError, match="is not JSON"):
        read(b"[" * 200_000, "workflow_run")

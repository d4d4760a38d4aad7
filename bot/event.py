"""Who woke us, and may they: a webhook payload becomes a Trigger or the reason for doing nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import NoneType
from typing import Any

from bot.domain.attempt import InputError
from bot.domain.ports import Ignored, Trigger

OWN_BRANCHES = "selfrepair/"
"""Every branch that selfrepair makes begins so; it never repairs its own repairs."""

WRITERS = frozenset({"admin", "maintain", "write"})
"""Collaborator permissions that may ask for a repair (DESIGN 4.15)."""

_RUN_URL = re.compile(
    r"https?://[^/]+/(?P<repository>[^/]+/[^/]+)/actions/runs/(?P<run>\d+)(/attempts/(?P<attempt>\d+))?"
)
_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def read(payload: bytes | None, environment: Mapping[str, str]) -> Trigger | Ignored:
    """The event file's content (None: no such file) and the runner's environment -> what to do.

    A Trigger of `workflow_dispatch` or `issue_comment` does not know branch and commit yet, nor whether its author
    may ask: the forge's `resolve` finds out. Raises InputError naming everything that cannot be read.
    """
    name, repository = environment.get("GITHUB_EVENT_NAME", ""), environment.get("GITHUB_REPOSITORY", "")
    problems = [
        f"{key} is not set: selfrepair runs inside a GitHub workflow (use `selfrepair local` elsewhere)"
        for key, value in (("GITHUB_EVENT_NAME", name), ("GITHUB_REPOSITORY", repository))
        if not value
    ]
    event, problem = _parsed(payload)
    if problems or problem:
        raise InputError(*problems, *([problem] if problem else []))
    reader = _READERS.get(name)
    if reader is None:
        return Ignored(reason=f"event {name} is not one that selfrepair acts on")
    try:
        return _sound(reader(event, repository, environment))
    except (KeyError, TypeError, AttributeError) as error:
        problem = f"the {name} event lacks what GitHub sends with it ({error}): is it the right file?"
        raise InputError(problem) from error


def authorised(permission: str) -> bool:
    """Whether a collaborator permission (`role_name` or `permission` of GitHub's API) may ask for a repair."""
    return permission in WRITERS


def refused(branch: str, *, fork: bool) -> Ignored | None:
    """Heads that are never repaired: our own, and, with one job holding all rights, those of forks."""
    if branch.startswith(OWN_BRANCHES):
        return Ignored(reason=f"{branch} is selfrepair's own branch")
    if fork:
        return Ignored(reason="the failing commit lies in a fork, whose code is never run with write access")
    return None


def _parsed(payload: bytes | None) -> tuple[dict[str, Any], str]:
    if payload is None:
        return {}, "there is no event file: GITHUB_EVENT_PATH must name the file that GitHub's runner writes"
    try:
        event = json.loads(payload)
    except (ValueError, RecursionError):
        return {}, "the event file (GITHUB_EVENT_PATH) is not JSON"
    if not isinstance(event, dict):
        return {}, "the event file (GITHUB_EVENT_PATH) does not hold a JSON object"
    return event, ""


def _sound(woken: Trigger | Ignored) -> Trigger | Ignored:
    """The same; raises TypeError naming what is no text, number or commit, which would crash far from its cause."""
    if isinstance(woken, Trigger):
        wrong = [name for name in ("branch", "sha", "actor") if not isinstance(getattr(woken, name), str)]
        numbers = ("run_id", "attempt", "pull_request")
        wrong += [name for name in numbers if type(getattr(woken, name)) not in (int, NoneType)]
        wrong = wrong or ([] if _COMMIT.fullmatch(woken.sha) else ["sha"])
        if wrong:
            raise TypeError(f"wrong kind of value: {', '.join(wrong)}")
    return woken


def _workflow_run(event: dict[str, Any], repository: str, environment: Mapping[str, str]) -> Trigger | Ignored:
    run = event["workflow_run"]
    if event["action"] != "completed":
        return Ignored(reason=f"the run is {event['action']}, not completed")
    if run["conclusion"] != "failure":
        return Ignored(reason=f"the run ended as {run['conclusion']}, not failure")
    if _own_workflow(run.get("path") or "", repository, environment):
        return Ignored(reason="the failed run is selfrepair's own workflow")
    head = run["head_repository"]
    if head is None or run["head_branch"] is None:
        return Ignored(reason="the branch or fork that the run belongs to is gone")
    fork = head["full_name"].lower() != repository.lower()
    pulls = run.get("pull_requests") or [{}]
    return refused(run["head_branch"], fork=fork) or Trigger(
        repository=repository,
        event="workflow_run",
        branch=run["head_branch"],
        sha=run["head_sha"],
        run_id=run["id"],
        attempt=run["run_attempt"],
        pull_request=pulls[0].get("number"),
        actor=(run.get("triggering_actor") or run.get("actor") or {}).get("login", ""),
    )


def _own_workflow(path: str, repository: str, environment: Mapping[str, str]) -> bool:
    own = environment.get("GITHUB_WORKFLOW_REF", "").partition("@")[0]
    return bool(path) and own.lower() == f"{repository}/{path.partition('@')[0]}".lower()


def _dispatch(event: dict[str, Any], repository: str, environment: Mapping[str, str]) -> Trigger | Ignored:
    inputs = event.get("inputs") or {}
    given = str(environment.get("INPUT_RUN-ID") or inputs.get("run-id") or "").strip()
    url = _RUN_URL.match(given)
    if url and url["repository"].lower() != repository.lower():
        raise InputError(f"run-id names a run of {url['repository']}, but this workflow runs in {repository}")
    if not url and not re.fullmatch(r"[0-9]{1,18}", given):
        raise InputError(f"run-id is {given!r}: give the id or the address of a failed run as the input `run-id`")
    return Trigger(
        repository=repository,
        event="workflow_dispatch",
        branch="",
        sha="",
        run_id=int(url["run"] if url else given),
        attempt=int(url["attempt"]) if url and url["attempt"] else None,
        actor=(event.get("sender") or {}).get("login", ""),
    )


def _comment(event: dict[str, Any], repository: str, environment: Mapping[str, str]) -> Trigger | Ignored:
    comment, issue = event["comment"], event["issue"]
    words = command(comment["body"] or "")
    if event["action"] != "created":
        return Ignored(reason="only new comments are read, not edited or deleted ones")
    if words is None:
        return Ignored(reason="the comment holds no /selfrepair command")
    if comment["user"]["type"] == "Bot":
        return Ignored(reason="commands are taken from people, not from bots")
    if "pull_request" not in issue:
        return Ignored(reason="/selfrepair works on pull requests; this is an issue")
    if words:
        return Ignored(reason="/selfrepair takes no further words: write it alone on a line")
    return Trigger(
        repository=repository,
        event="issue_comment",
        branch="",
        sha="",
        pull_request=issue["number"],
        actor=comment["user"]["login"],
    )


def command(body: str) -> str | None:
    """The words after `/selfrepair` at the start of a line outside fenced code; None when there is no command.

    Quotes (`> `) and indented code never match, because the command must begin its line.
    """
    fence = ""
    for line in body.splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and (line == "/selfrepair" or line.startswith(("/selfrepair ", "/selfrepair\t"))):
            return line.removeprefix("/selfrepair").strip()
    return None


_READERS = {"workflow_run": _workflow_run, "workflow_dispatch": _dispatch, "issue_comment": _comment}

"""Who woke us, resolved through the API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.domain.ports import Ignored, Trigger


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

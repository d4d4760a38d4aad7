"""What the forge reads: failed jobs of all pages, their logs, the last success."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.github_logs import capped
from bot.domain.attempt import Fault, InputError
from bot.domain.ports import Trigger
from tests.fakes.github.delivery import Clock, git, trigger


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

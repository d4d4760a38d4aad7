"""Each limit holds, and reaching it comes back as a Result: soon, and saying which one it was."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from bot.domain.execution import STRICT
from tests.box.conftest import SMALL, Run

HOG = ("python3", "-c", "kept = []\nwhile True: kept.append(bytearray(8_000_000))")


def test_a_memory_hog_is_ended_and_reported(run: Run) -> None:
    began = time.monotonic()
    result = run(HOG)
    assert result.oom_killed
    assert not result.timed_out
    assert result.exit_code != 0
    assert time.monotonic() - began < 15


def test_memory_taken_by_many_processes_counts_together(run: Run) -> None:
    child = "kept = bytearray(b'x' * 60_000_000); time.sleep(9)"
    code = f"import os, time\nfor _ in range(8):\n  if os.fork() == 0: {child}\nos.wait()\nraise SystemExit(1)"
    assert run(("python3", "-c", code)).oom_killed


def test_a_full_work_directory_ends_in_out_of_memory_and_never_on_the_hosts_disk(run: Run) -> None:
    result = run("dd if=/dev/zero of=big bs=1M count=2000")
    assert result.oom_killed
    assert result.exit_code != 0


def test_a_full_tmp_is_an_ordinary_error(run: Run) -> None:
    result = run("dd if=/dev/zero of=/tmp/big bs=1M count=100")
    assert b"No space left on device" in result.stderr
    assert result.exit_code == 1
    assert not result.oom_killed


def test_a_fork_bomb_runs_into_the_process_limit(run: Run) -> None:
    code = (
        "import os, time\nn = 0\ntry:\n  while n < 1000:\n"
        "    if os.fork() == 0: time.sleep(30); os._exit(0)\n    n += 1\n"
        "except OSError as error: print(n, error)\n"
    )
    result = run(("python3", "-c", code), replace(SMALL, processes=32, memory_mb=512))
    assert b"Resource temporarily unavailable" in result.stdout
    assert int(result.stdout.split()[0]) < 32
    assert not result.crashed


def test_processes_beyond_what_the_host_gives_end_the_box_and_not_the_run(run: Run) -> None:
    code = "import os, time\nfor _ in range(100):\n  if os.fork() == 0: time.sleep(30); os._exit(0)\ntime.sleep(20)"
    result = run(("python3", "-c", code), replace(SMALL, host_pids=60, timeout_s=8.0))
    assert result.crashed or result.timed_out
    assert result.exit_code is None


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60",
        "trap '' TERM INT HUP; while :; do sleep 1; done",
        "setsid sh -c 'trap \"\" TERM; sleep 60' & sleep 60",
        "exec >&- 2>&-; sleep 60",
        "while :; do :; done",
    ],
    ids=["idle", "ignores-sigterm", "daemonises", "closes-its-output", "spins"],
)
def test_time_is_up_from_outside(run: Run, command: str) -> None:
    began = time.monotonic()
    result = run(command, replace(SMALL, timeout_s=1.5))
    assert result.timed_out
    assert result.exit_code is None
    assert not result.crashed
    assert time.monotonic() - began < 12


def test_a_daemon_left_behind_does_not_hold_the_caller(run: Run) -> None:
    began = time.monotonic()
    result = run("setsid sh -c 'while :; do echo still here; sleep 0.1; done' & echo started")
    assert result.exit_code == 0
    assert result.stdout.startswith(b"started") or b"\nstarted" in result.stdout
    assert time.monotonic() - began < 10


def test_code_that_kills_its_parents_ends_the_command_and_nothing_else(run: Run) -> None:
    began = time.monotonic()
    result = run("sh -c 'kill -9 $PPID; while :; do kill -9 1 -1; done'")
    assert result.exit_code == 137
    assert not result.crashed
    assert time.monotonic() - began < 10


def test_the_first_process_can_not_be_killed(run: Run) -> None:
    result = run("kill -9 1; kill -9 -1; echo alive")
    assert b"not permitted" in result.stderr
    assert result.stdout == b"alive\n"


def test_a_flood_of_output_is_cut_and_flagged_and_its_end_is_kept(run: Run) -> None:
    result = run("head -c 30000000 /dev/zero | tr '\\0' x; head -c 10000000 /dev/zero | tr '\\0' y >&2; echo the end")
    assert result.truncated
    assert result.exit_code == 0
    assert len(result.stdout) < SMALL.output_bytes + 100
    assert len(result.stderr) < SMALL.output_bytes + 100
    assert result.stdout.endswith(b"the end\n")
    assert set(result.stderr[:50]) == {ord("y")}


def test_an_endless_flood_ends_with_the_time_limit(run: Run) -> None:
    result = run("yes & yes >&2", replace(SMALL, timeout_s=2.0))
    assert result.timed_out
    assert result.truncated


def test_the_strict_profile_has_a_read_only_root_and_no_programs_in_tmp(run: Run) -> None:
    script = "touch /var/tmp/x /usr/x; touch here && cp /bin/true /tmp/t; /tmp/t; df -k /tmp | tail -1; touch $HOME/x"
    result = run(script, STRICT)
    assert result.stderr.count(b"Read-only file system") == 2
    assert b"/tmp/t: Permission denied" in result.stderr
    assert b" 65536 " in result.stdout


def test_the_strict_profile_bounds_the_work_directory(run: Run) -> None:
    result = run("cat pkg/mod.py; dd if=/dev/zero of=big bs=1M count=2000", STRICT)
    assert result.stdout == b"VALUE = 1\n"
    assert result.oom_killed or b"No space left on device" in result.stderr

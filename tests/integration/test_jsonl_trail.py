"""The audit record on a real disk."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.jsonl_trail import START, JsonlTrail, read, verify
from bot.domain.attempt import Fault
from bot.redact import Redactor
from tests.fakes.outcomes import attempt, repaired

SECRET = 'pass"word\nwith a line break'


def new(folder: Path) -> JsonlTrail:
    return JsonlTrail.open(folder, Redactor([SECRET, "hunter2hunter2"]).text)


def written(folder: Path) -> JsonlTrail:
    trail = new(folder)
    for number in (1, 2):
        trail.attach(f"attempt-{number}/packet.json", b'{"a": 1}')
        trail.attach(f"attempt-{number}/reply-1.txt", b"reply")
        trail.record(attempt(number))
    return trail


def test_one_line_per_attempt_chained(tmp_path: Path) -> None:
    head = written(tmp_path / "t").finish(repaired())
    first, second = read(tmp_path / "t")
    assert first["prev"] == START
    assert second["prev"] == first["sha256"]
    assert (first["iteration"], first["verdict"], first["strategy"]) == (1, "accepted", "focused edit")
    end = json.loads((tmp_path / "t" / "outcome.json").read_bytes())
    assert end["prev"] == second["sha256"]
    assert end["sha256"] == head
    assert end["kind"] == "repaired"
    assert verify(tmp_path / "t") == []
    names = {path.name for path in (tmp_path / "t" / "attempt-1").iterdir()}
    assert names == {"packet.json", "reply-1.txt", "patch.diff", "reports.json"}


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    written(tmp_path / "t").finish(repaired())
    for path in [tmp_path / "t", *(tmp_path / "t").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_no_secret_reaches_the_disk(tmp_path: Path) -> None:
    trail = new(tmp_path / "t")
    trail.attach("attempt-1/packet.json", json.dumps({"message": SECRET, "hunter2hunter2": 1}).encode())
    trail.attach("attempt-1/reply-1.txt", f"it is {SECRET}".encode())
    trail.record(replace(attempt(1), reason=f"printed {SECRET}", diff="+hunter2hunter2"))
    trail.finish(replace(repaired(), rationale=SECRET, files={"a": b"x", "hunter2hunter2": None}))
    for path in (tmp_path / "t").rglob("*"):
        if path.is_file():
            assert b"hunter2" not in path.read_bytes()
            assert b"with a line break" not in path.read_bytes()
    assert verify(tmp_path / "t") == []


@pytest.mark.parametrize("name", ["history.jsonl", "outcome.json", "attempt-1/packet.json", "attempt-2/patch.diff"])
def test_a_changed_file_is_noticed(tmp_path: Path, name: str) -> None:
    written(tmp_path / "t").finish(repaired())
    path = tmp_path / "t" / name
    path.write_bytes(path.read_bytes().replace(b"1", b"7", 1))
    assert verify(tmp_path / "t")


@pytest.mark.parametrize("kept", [[1], [1, 0], [0, 0, 1], [0]])
def test_lines_removed_swapped_or_repeated_are_noticed(tmp_path: Path, kept: list[int]) -> None:
    written(tmp_path / "t").finish(repaired())
    history = tmp_path / "t" / "history.jsonl"
    lines = history.read_bytes().splitlines(keepends=True)
    history.write_bytes(b"".join(lines[number] for number in kept))
    assert any("follow" in problem for problem in verify(tmp_path / "t"))


def test_a_removed_file_is_noticed(tmp_path: Path) -> None:
    written(tmp_path / "t")
    (tmp_path / "t" / "attempt-1" / "packet.json").unlink()
    assert verify(tmp_path / "t") == ["attempt-1/packet.json does not match its hash"]


@pytest.mark.parametrize("line", [b"garbage\n", b"[]\n", b"{}\n", b'{"prev": 1}\n', b"\xff\n"])
def test_garbage_is_a_problem_not_a_crash(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "history.jsonl").write_bytes(line)
    assert verify(tmp_path)


def test_a_tampered_trail_is_not_continued(tmp_path: Path) -> None:
    written(tmp_path / "t")
    (tmp_path / "t" / "attempt-1" / "packet.json").write_bytes(b"{}")
    with pytest.raises(Fault, match="was changed") as caught:
        new(tmp_path / "t")
    assert "--out" in caught.value.fix


def test_a_killed_run_leaves_a_trail_that_can_be_read_and_continued(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    written(folder)
    history = folder / "history.jsonl"
    history.write_bytes(history.read_bytes() + b'{"iteration": 3, "verd')
    assert len(read(folder)) == 2
    assert verify(folder) == []
    trail = new(folder)
    trail.attach("attempt-1/packet.json", b'{"of": "the second run"}')
    trail.record(attempt(1))
    assert [link["iteration"] for link in read(folder)] == [1, 2, 1]
    assert json.loads((folder / "attempt-1" / "packet.json").read_bytes()) == {"a": 1}
    assert (folder / "attempt-1" / "packet.2.json").exists()
    trail.finish(repaired())
    assert verify(folder) == []


def test_a_finished_run_can_be_followed_by_another_in_the_same_folder(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    for _ in range(3):
        written(folder).finish(repaired())
    assert verify(folder) == []
    assert {path.name for path in folder.glob("outcome*")} == {"outcome.json", "outcome-1.json", "outcome-2.json"}
    end = folder / "outcome-1.json"
    end.write_bytes(end.read_bytes().replace(b"repaired", b"faulted!"))
    assert verify(folder) == ["outcome-1.json does not match its hash"]


def test_sigkill_in_the_middle_loses_no_recorded_attempt(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, pathlib\n"
        "from bot.adapters.jsonl_trail import JsonlTrail\n"
        "from tests.fakes.outcomes import attempt\n"
        "trail = JsonlTrail.open(pathlib.Path(sys.argv[1]), str)\n"
        "trail.record(attempt(1))\n"
        "trail.attach('attempt-2/packet.json', b'{}')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "t")], cwd=Path(__file__).parents[2])
    assert done.returncode == -9
    assert len(read(tmp_path / "t")) == 1
    assert (tmp_path / "t" / "attempt-2" / "packet.json").exists()
    assert verify(tmp_path / "t") == []


def test_text_that_is_no_unicode_is_kept(tmp_path: Path) -> None:
    trail = new(tmp_path / "t")
    trail.attach("attempt-1/reply-1.txt", b"caf\xe9\n")
    trail.record(replace(attempt(1), reason="lone \ud800 surrogate", diff="\ud800"))
    assert (tmp_path / "t" / "attempt-1" / "reply-1.txt").read_bytes() == b"caf\xe9\n"
    assert read(tmp_path / "t")[0]["reason"] == "lone \ud800 surrogate"
    assert verify(tmp_path / "t") == []


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "", "."])
def test_no_name_leads_outside(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        new(tmp_path / "t").attach(name, b"")


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    trail = new(tmp_path / "t")
    (tmp_path / "t" / "x").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Fault, match="cannot write the trail"):
        trail.attach("x", b"")
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_cannot_be_made_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Fault, match="cannot write the trail"):
        new(tmp_path / "file")

"""Files go in where they belong and nowhere else; what comes out is taken from hostile hands."""

from __future__ import annotations

import time

import pytest

from bot.adapters.docker_box import COLLECT_BYTES
from bot.domain.attempt import InputError
from bot.domain.execution import STRICT, Limits
from tests.box.conftest import SMALL, Run


@pytest.mark.parametrize("limits", [SMALL, STRICT], ids=["overlay", "read-only"])
def test_files_are_written_removed_and_keep_their_modes(run: Run, limits: Limits) -> None:
    files = {"run.sh": b"#!/bin/sh\necho new\n", "secret.txt": b"t\n", "a b/c'd/$e.py": b"1", "pkg/mod.py": None}
    script = "./run.sh; stat -c '%a %U %n' run.sh secret.txt \"a b/c'd/\\$e.py\"; ls pkg; cat secret.txt"
    result = run(script, limits, files=files)
    said = result.stdout.decode().splitlines()
    assert said == ["new", "755 selfrepair run.sh", "644 selfrepair secret.txt", "644 selfrepair a b/c'd/$e.py", "t"]


def test_a_link_is_replaced_and_not_written_through(run: Run) -> None:
    result = run("cat alias.py pkg/mod.py; test ! -L alias.py", files={"alias.py": b"VALUE = 2\n"})
    assert result.stdout == b"VALUE = 2\nVALUE = 1\n"
    assert result.exit_code == 0


@pytest.mark.parametrize("path", ["etc/passwd", "etc/new/file"])
@pytest.mark.parametrize("content", [b"x", None], ids=["write", "remove"])
def test_a_link_on_the_way_is_refused(run: Run, path: str, content: bytes | None) -> None:
    with pytest.raises(InputError, match="leads through a link"):
        run("echo it ran", files={path: content})


def test_every_path_that_leaves_the_tree_is_named_at_once(run: Run) -> None:
    with pytest.raises(InputError) as caught:
        run("true", files={"../x": b"", "/etc/x": b"", "a/../../x": None, "fine.py": b"", "a\0b": b"", "": b""})
    assert len(caught.value.problems) == 5


def test_a_file_in_a_folders_place_is_refused(run: Run) -> None:
    with pytest.raises(InputError):
        run("true", files={"pkg": b"x"})


def test_the_command_gets_its_arguments_folder_environment_and_an_empty_input(run: Run) -> None:
    argv = ("sh", "-c", 'printf "%s|" "$@"; pwd; echo "$X"; cat', "sh", "a b", "$HOME", "`id`", "-n", "")
    result = run(argv, workdir="pkg", env={"X": "$(id) 'q'"})
    assert result.stdout.decode() == "a b|$HOME|`id`|-n||/workspace/pkg\n$(id) 'q'\n"


def test_many_and_large_files(run: Run) -> None:
    files = {f"many/{number}.txt": b"x" * 1000 for number in range(300)} | {"large.bin": b"y" * 20_000_000}
    result = run("ls many | wc -l; stat -c %s large.bin", files=files)
    assert result.stdout.split() == [b"300", b"20000000"]


def test_a_command_that_is_not_there_is_no_fault(run: Run) -> None:
    assert run(("no-such-tool", "x")).exit_code == 127


@pytest.mark.parametrize(
    "trick",
    [
        "ln -s /etc/passwd report",
        "mkfifo report",
        "mkdir report",
        "truncate -s 1T report",
        "echo x >report; chmod 000 report; true",
    ],
)
def test_a_hostile_report_is_left_out_and_holds_nobody(run: Run, trick: str) -> None:
    began = time.monotonic()
    result = run(f"cd /run/selfrepair/out && {trick}; echo fine >other", collect=("report",))
    assert result.collected == {}
    assert time.monotonic() - began < 15


def test_what_is_collected_is_bounded(run: Run) -> None:
    result = run("head -c 40000000 /dev/zero >/run/selfrepair/out/report", collect=("report",))
    assert b"No space left on device" in result.stderr
    assert len(result.collected["report"]) <= COLLECT_BYTES

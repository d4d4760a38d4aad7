"""What a box needs that is pure: bounded output, safe paths, hostile tars, errors told apart."""

from __future__ import annotations

import io
import subprocess
import tarfile
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import sandbox
from bot.domain.attempt import InputError
from bot.domain.execution import Environment


def frame(kind: int, payload: bytes) -> bytes:
    return bytes([kind, 0, 0, 0]) + len(payload).to_bytes(4, "big") + payload


@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40)), max_size=12), st.integers(1, 9))
def test_a_stream_cut_anywhere_comes_out_whole(frames: list[tuple[int, bytes]], step: int) -> None:
    stream = b"".join(frame(kind, payload) for kind, payload in frames)
    demux = sandbox.Demux(cap=10_000)
    for at in range(0, len(stream), step):
        demux.feed(stream[at : at + step])
    assert demux.stdout.content() == b"".join(payload for kind, payload in frames if kind == 1)
    assert demux.stderr.content() == b"".join(payload for kind, payload in frames if kind == 2)


@given(st.lists(st.binary(max_size=30)), st.integers(2, 40))
def test_what_is_kept_is_the_beginning_and_the_end(pieces: list[bytes], cap: int) -> None:
    capture, whole, half = sandbox.Capture(cap), b"".join(pieces), cap // 2
    for piece in pieces:
        capture.add(piece)
    kept = capture.content()
    if len(whole) <= 2 * half:
        assert kept == whole
    else:
        assert capture.dropped == len(whole) - 2 * half
        assert kept.startswith(whole[:half])
        assert kept.endswith(whole[-half:])
        assert b"%d bytes" % capture.dropped in kept


@pytest.mark.parametrize("path", ["a", "a/b.py", ".github/x", "a b", "-n", "..a/b", "ü"])
def test_paths_inside(path: str) -> None:
    assert sandbox.path_problems([path]) == []


@pytest.mark.parametrize("path", ["", "/a", "..", "a/../b", "a//b", "./a", "a/", "a\0b", "\udcff"])
def test_paths_that_leave(path: str) -> None:
    assert len(sandbox.path_problems([path])) == 1


@pytest.mark.parametrize("workdir", ["..", "/etc", "a/../..", "a\0"])
def test_work_directories_that_leave(workdir: str) -> None:
    with pytest.raises(InputError, match="leaves the tree"):
        sandbox.folder(workdir)


def test_work_directories_inside() -> None:
    assert [sandbox.folder(workdir) for workdir in (".", "", "./a/", "a/b")] == [".", ".", "a", "a/b"]


def test_an_archive_comes_back() -> None:
    files = {"a": b"1", "b/c" * 60: b"", "ü": b"\0"}
    assert sandbox.members(sandbox.archive(files, mode=0o644), files) == files


def test_only_named_regular_files_come_out_of_a_tar() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, kind in (("link", tarfile.SYMTYPE), ("pipe", tarfile.FIFOTYPE), ("hard", tarfile.LNKTYPE)):
            member = tarfile.TarInfo(f"./{name}")
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member)
        for name in ("./good", "../good", "unasked"):
            member = tarfile.TarInfo(name)
            member.size = 3
            tar.addfile(member, io.BytesIO(b"yes"))
    names = ["link", "pipe", "hard", "good", "missing"]
    assert sandbox.members(out.getvalue(), names) == {"good": b"yes"}


@pytest.mark.parametrize("cut", [0, 1, 511, 600, 1100])
def test_a_tar_that_is_cut_off_gives_what_is_whole(cut: int) -> None:
    data = sandbox.archive({"a": b"x" * 400, "b": b"y" * 600}, mode=0o644)
    found = sandbox.members(data[:cut], ["a", "b"])
    assert found == ({"a": b"x" * 400} if cut >= 1024 else {})


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        ("write /var/lib/docker/tmp/x: no space left on device", "disk is full", "docker system df"),
        ('Bad Request ("Unknown runtime specified selfrepair-run")', "not registered", "install-gvisor"),
        ("unknown or invalid runtime name: selfrepair-run", "not registered", "install-gvisor"),
        ("('Connection aborted.', PermissionError(13, 'Permission denied'))", "not permitted", "`docker` group"),
        ("('Connection aborted.', FileNotFoundError(2, 'No such file or directory'))", "not answer", "start Docker"),
        ("ConnectionRefusedError: [Errno 111]", "does not answer", "start Docker"),
        ("No such image: selfrepair-env:gone", "image is not there", "build or pull"),
        ("OCI runtime create failed: unable to retrieve OCI runtime error", "does not start", "install-gvisor"),
        ("something new", "could not run it", "engine's log"),
    ],
)
def test_each_error_of_the_engine_says_what_to_do(text: str, what: str, fix: str) -> None:
    fault = sandbox.fault_of(text, doing="run it")
    assert what in str(fault)
    assert fix in fault.fix
    assert "run it" in str(fault)


def test_a_long_message_is_one_short_line() -> None:
    text = str(sandbox.fault_of("x\n" * 5000, doing="y"))
    assert len(text) < 400
    assert "\n" not in text


def test_gvisor_is_told_by_its_kernel() -> None:
    assert sandbox.is_gvisor("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016")
    assert sandbox.is_gvisor("Linux version 4.19.0-gvisor #1 SMP")
    assert not sandbox.is_gvisor("Linux version 6.8.0-1021-azure (buildd@lcy02) #25-Ubuntu SMP")
    assert not sandbox.is_gvisor("")


@pytest.mark.parametrize(
    "command",
    [
        "sudo apt-get install -y x",
        "apt-get update && pip install .",
        "  DEBIAN_FRONTEND=noninteractive apt-get install x",
        "pip install x\napk add gcc",
        "if true; then apt install x; fi",
        "(cd a && sudo make install)",
    ],
)
def test_system_packages_need_root(command: str) -> None:
    assert sandbox.needs_root(command)


@pytest.mark.parametrize("command", ["pip install apt-get", "echo sudo", "npm ci # sudo x", "./apt-get-like x"])
def test_the_rest_does_not(command: str) -> None:
    assert not sandbox.needs_root(command)


def test_a_set_up_command_reaches_the_shell_as_it_was_written() -> None:
    command = """echo "a 'b'" '$x' "$(echo sub)"\nfalse\necho no"""
    argv = [part.replace("cd /workspace", "cd /") for part in sandbox.setup_argv(sandbox.configured(command))]
    done = subprocess.run(argv, capture_output=True, check=False)
    assert done.stdout == b"a 'b' $x sub\n"
    assert done.returncode == 1


def test_sudo_becomes_a_function_without_its_options() -> None:
    step = sandbox.configured("sudo -E -H X='1 2' sh -c 'echo $X'")
    argv = [part.replace("cd /workspace", "cd /") for part in sandbox.setup_argv(step)]
    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"1 2\n"


def test_an_environment_is_known_by_all_that_went_in() -> None:
    one, two = sandbox.configured("a"), sandbox.configured("b")
    base = {"image": "i", "tree": "/anywhere", "digest": "d"}
    changes = [{}, {"digest": "e"}, {"setup": (one,)}, {"setup": (one, two)}, {"env": {"A": "b"}}, {"trust": "t"}]
    keys = {
        sandbox.environment_key(Environment(**{**base, **change}), base_id)  # type: ignore[arg-type]
        for base_id in ("1", "2")
        for change in changes
    }
    assert len(keys) == 12
    moved = Environment(**{**base, "tree": "/elsewhere"})  # type: ignore[arg-type]
    assert sandbox.environment_key(moved, "1") in keys


def test_the_hosts_addresses_are_read() -> None:
    text = "  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.2.15\n        /32 host LOCAL\n"
    text += "     |-- 10.0.2.255\n        /32 link BROADCAST\n"
    assert sandbox.local_addresses(text) == {"10.0.2.15"}


def test_an_ended_box_is_abandoned_after_a_while() -> None:
    now, grace = datetime(2026, 1, 1, 12, 1, tzinfo=UTC), timedelta(seconds=60)
    assert sandbox.abandoned("2026-01-01T11:59:59.123456789Z", now, grace)
    assert not sandbox.abandoned("2026-01-01T12:00:30.1Z", now, grace)
    assert not sandbox.abandoned("9999-01-01T00:00:00Z", now, grace)

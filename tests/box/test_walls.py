"""What code in a box can see and change of the world: nothing."""

from __future__ import annotations

import pytest

from tests.box.conftest import Run

SECRET = "ghs_thisIsNoRealTokenButMustNeverBeSeen"


def test_the_kernel_is_gvisors(run: Run) -> None:
    assert b"Linux version 4.4.0" in run("cat /proc/version").stdout


@pytest.mark.parametrize(
    "target",
    ["('1.1.1.1', 80)", "('169.254.169.254', 80)", "('172.17.0.1', 22)", "('10.0.0.1', 443)"],
    ids=["internet", "metadata", "host", "private"],
)
def test_no_address_is_reached(run: Run, target: str) -> None:
    result = run(("python3", "-c", f"import socket; socket.create_connection({target}, timeout=3)"))
    assert result.exit_code == 1
    assert b"OSError" in result.stderr or b"unreachable" in result.stderr


def test_no_name_resolves(run: Run) -> None:
    result = run(("python3", "-c", "import socket; socket.getaddrinfo('example.com', 80)"))
    assert b"gaierror" in result.stderr


def test_loopback_works_for_tests_that_start_a_server(run: Run) -> None:
    code = "import socket as s; here = s.create_server(('127.0.0.1', 0)); s.create_connection(here.getsockname())"
    code += "; print('ok')"
    assert run(("python3", "-c", code)).stdout == b"ok\n"


def test_no_docker_socket_and_no_files_of_the_host(run: Run) -> None:
    result = run("ls /var/run/docker.sock /run/docker.sock /var/lib/docker /host /root /lib/modules")
    assert result.stdout == b""


def test_processes_of_the_host_are_unseen(run: Run) -> None:
    result = run("cat /proc/[0-9]*/comm")
    assert b"dockerd" not in result.stdout
    assert len(result.stdout.splitlines()) < 6


def test_secrets_in_our_environment_are_unseen(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "ANTHROPIC_API_KEY", "ACTIONS_RUNTIME_TOKEN", "INPUT_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    result = run("env; cat /proc/[0-9]*/environ", env={"GIVEN": "this one"})
    assert SECRET.encode() not in result.stdout
    assert b"GIVEN=this one" in result.stdout
    assert b"TOKEN" not in result.stdout


def test_the_command_is_no_root_and_can_not_become_it(run: Run) -> None:
    result = run("id -u; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; su -c id; mount -t tmpfs x /mnt")
    lines = result.stdout.decode().split("\n")
    assert lines[0] == "1000"
    assert "CapEff:\t0000000000000000" in lines
    assert b"uid=0" not in result.stdout
    assert result.exit_code != 0


def test_system_directories_are_not_writable(run: Run) -> None:
    places = "/etc /usr/bin /usr/local/lib /var/lib /root /run /run/selfrepair /"
    result = run(f"for place in {places}; do touch $place/x 2>/dev/null && echo $place; done; true")
    assert result.stdout == b""


def test_tools_are_not_writable_and_out_is(run: Run) -> None:
    script = "cd /run/selfrepair; echo x >>tool.py; rm -f tool.py; mv out gone; cat tool.py; echo said >out/report"
    result = run(script, tools={"tool.py": b"print()\n"}, collect=("report", "missing"))
    assert result.stdout == b"print()\n"
    assert result.collected == {"report": b"said\n"}


def test_nothing_survives_from_one_job_to_the_next(run: Run) -> None:
    places = ". /tmp $HOME /dev/shm /run/selfrepair/out"
    first = run(f"for place in {places}; do echo x >$place/left || exit 1; done; setsid sleep 100 & exit 0")
    assert first.exit_code == 0
    again = run(f"for place in {places}; do cat $place/left; done; cat /proc/[0-9]*/comm | grep sleep")
    assert again.stdout == b""


def test_the_work_tree_is_writable_everywhere(run: Run) -> None:
    script = "touch a pkg/b; echo y >pkg/mod.py; rm run.sh; mkdir -p n/m; id -un; ls -ld . | cut -c1-10"
    result = run(script)
    assert result.stderr == b""
    assert result.exit_code == 0

"""Set-up: with a network and without secrets, through a proxy that knows nothing of ours."""

from __future__ import annotations

import concurrent.futures
import http.server
import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import docker
import pytest

from bot.adapters import docker_disk
from bot.adapters.docker_sandbox import DockerSandbox
from bot.domain.attempt import SetupFailed
from bot.domain.execution import Environment, Request, Result, SetupStep
from bot.sandbox import configured, local_addresses
from tests.box.conftest import BASE, SMALL

PROBE = """
import sys, urllib.request
for url in sys.argv[1:]:
    try:
        print(url, urllib.request.urlopen(url, timeout=10).status)
    except OSError as error:
        print(url, error)
"""


@pytest.fixture
def fresh(tree: Path, client: docker.DockerClient) -> Iterator[Environment]:
    """An environment that was never built."""
    trust = uuid.uuid4().hex
    yield Environment(image=BASE, tree=str(tree), digest="box-tests", trust=trust)
    for image in client.images.list(filters={"label": f"selfrepair.trust={trust}"}):
        client.images.remove(image.id, force=True)


@pytest.fixture
def sandbox(client: docker.DockerClient, product: str, fresh: Environment) -> Iterator[DockerSandbox]:
    """One whose boxes are gone before their images are."""
    del fresh
    with DockerSandbox(client=client, proxy_image=product, pool_size=1) as made:
        yield made


def steps(*commands: str) -> tuple[SetupStep, ...]:
    return tuple(configured(command) for command in commands)


def check(sandbox: DockerSandbox, image: str, script: str) -> Result:
    return sandbox.run(Request(environment=image, entrypoint=("sh", "-c", script), limits=SMALL))


@pytest.fixture
def server() -> Iterator[int]:
    """A service of the host that listens on every address."""
    made = http.server.ThreadingHTTPServer(("0.0.0.0", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made.server_port
    made.shutdown()
    made.server_close()


def test_set_up_installs_from_the_package_index_as_the_checks_user_and_checks_run_offline(
    sandbox: DockerSandbox, fresh: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_neverSeen")
    setup = steps(
        "id -un >who; env >environment; touch pkg/left",
        "pip install --no-warn-script-location iniconfig wheel==0.45.1",
        "printf built >~/.local/state-of-mine\necho hi >/tmp/gone",
        "sudo -E sh -c 'id -u >root-was-here; chmod 777 /opt'",
    )
    image = sandbox.prepare(replace(fresh, setup=setup, env={"GIVEN": "a 'b' $c"}))
    result = check(sandbox, image, "cat who environment")
    assert result.stdout.startswith(b"selfrepair\n")
    assert b"ghs_neverSeen" not in result.stdout
    assert b"https_proxy=http://" in result.stdout
    script = "wheel version; python3 -c 'import iniconfig'; env; ls pkg /tmp; cat ~/.local/state*; echo >>root-was-here"
    result = check(sandbox, image, script)
    assert result.stderr == b""
    said = result.stdout.decode()
    assert "wheel 0.45.1" in said and "GIVEN=a 'b' $c" in said and "left" in said and "built" in said
    assert "proxy" not in said.lower() and "gone" not in said
    assert sandbox.prepare(replace(fresh, setup=setup, env={"GIVEN": "a 'b' $c"})) == image


def test_the_image_is_found_again_and_never_shared_across_trust(
    sandbox: DockerSandbox, fresh: Environment, client: docker.DockerClient
) -> None:
    first = sandbox.prepare(fresh)
    made = client.images.get(first).id
    assert sandbox.prepare(fresh) == first
    assert client.images.get(first).id == made
    assert sandbox.prepare(replace(fresh, digest="other")) != first
    assert sandbox.prepare(replace(fresh, env={"A": "b"})) != first


def test_runs_that_build_the_same_at_the_same_time_leave_one_image(
    sandbox: DockerSandbox, fresh: Environment, client: docker.DockerClient, product: str
) -> None:
    trust = f"selfrepair.trust={fresh.trust}"
    with (
        DockerSandbox(client=client, proxy_image=product, pool_size=1) as other,
        concurrent.futures.ThreadPoolExecutor() as both,
    ):
        first, second = both.map(lambda each: each.prepare(fresh), (sandbox, other))
        assert first == second
        assert len(client.images.list(filters={"label": trust})) == 1
        assert check(other, second, "ls").exit_code == 0


def test_a_failing_set_up_command_says_which_and_why(sandbox: DockerSandbox, fresh: Environment) -> None:
    with pytest.raises(SetupFailed, match="exited with status 3") as caught:
        sandbox.prepare(replace(fresh, setup=steps("true", "echo to be seen >&2\nfalse || exit 3", "echo never")))
    assert "to be seen" in caught.value.output
    assert "never" not in caught.value.output


def test_steps_have_their_own_folder_and_variables_and_some_may_fail(
    sandbox: DockerSandbox, fresh: Environment
) -> None:
    step = SetupStep(command='pwd >where; printf %s "$ONLY" >said; exit 7', workdir="pkg", may_fail=True)
    image = sandbox.prepare(replace(fresh, setup=(replace(step, env={"ONLY": "a 'b'"}), *steps("env >later"))))
    result = check(sandbox, image, "cat pkg/where pkg/said; grep ONLY later")
    assert result.stdout == b"/workspace/pkg\na 'b'"


def test_set_up_has_a_time_limit(sandbox: DockerSandbox, fresh: Environment) -> None:
    with pytest.raises(SetupFailed, match="took longer than 2 s"):
        sandbox.prepare(replace(fresh, setup=steps("sleep 60"), setup_timeout_s=2.0))


def test_a_failing_line_ends_the_command(sandbox: DockerSandbox, fresh: Environment) -> None:
    with pytest.raises(SetupFailed, match="exited with status 1"):
        sandbox.prepare(replace(fresh, setup=steps("false\ntrue")))


def test_only_public_addresses_are_reached_and_only_through_the_proxy(
    sandbox: DockerSandbox, fresh: Environment, client: docker.DockerClient, server: int
) -> None:
    own = sorted(local_addresses(Path("/proc/net/fib_trie").read_text()))
    hosts = [*own, "127.1", "2130706433", "localhost", "169.254.169.254", "10.1.2.3", "192.168.1.1"]
    hosts += ["172.16.0.1", "100.64.0.1", "0.0.0.0", "168.63.129.16", "[::ffff:7f00:1]"]
    urls = " ".join(f"http://{host}/ http://{host}:{server}/ https://{host}/" for host in hosts)
    direct = " ".join(f"http://{host}:{server}/" for host in own if not host.startswith("127."))
    direct += " http://1.1.1.1/ https://8.8.8.8/"
    setup = steps(
        f"cat >probe.py <<'END'\n{PROBE}\nEND\nunset no_proxy NO_PROXY; python3 probe.py {urls} >proxied",
        f"unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY; python3 probe.py {direct} >direct",
        "pip download --no-deps -d wheels iniconfig",
    )
    image = sandbox.prepare(replace(fresh, setup=setup))
    proxied = check(sandbox, image, "cat proxied").stdout.decode().splitlines()
    assert len(proxied) == 3 * len(hosts)
    assert [line for line in proxied if "403" not in line] == []
    direct_said = check(sandbox, image, "cat direct").stdout.decode().splitlines()
    assert len(direct_said) == len(direct.split()) > 2
    assert [line for line in direct_said if "urlopen error" not in line] == []
    assert check(sandbox, image, "ls wheels").stdout.startswith(b"iniconfig-")


def test_an_allow_list_leaves_the_rest_out(client: docker.DockerClient, product: str, fresh: Environment) -> None:
    setup = steps(f"python3 -c '{PROBE}' http://example.com/ http://wheels.allowed.invalid/; exit 1")
    with (
        DockerSandbox(client=client, proxy_image=product, allow=(".allowed.invalid",)) as sandbox,
        pytest.raises(SetupFailed) as caught,
    ):
        sandbox.prepare(replace(fresh, setup=setup))
    refused, allowed = caught.value.output.splitlines()
    assert "403" in refused
    assert "503" in allowed, "let through, and found to have no address"


def test_networks_and_proxies_are_gone_afterwards(
    client: docker.DockerClient, sandbox: DockerSandbox, fresh: Environment
) -> None:
    sandbox.prepare(replace(fresh, setup=steps("true")))
    assert client.api.containers(all=True, filters={"label": f"selfrepair.run={sandbox.run_id}"}) == []
    assert client.networks.list(filters={"label": f"selfrepair.run={sandbox.run_id}"}) == []


def test_environment_images_used_longest_ago_are_removed_and_those_in_use_stay(
    client: docker.DockerClient, product: str, fresh: Environment
) -> None:
    def known() -> set[str]:
        return {tag for image in client.images.list(name=docker_disk.REPOSITORY) for tag in image.tags}

    with DockerSandbox(client=client, proxy_image=product, pool_size=1) as sandbox:
        old = sandbox.prepare(replace(fresh, digest="old"))
        new = sandbox.prepare(replace(fresh, digest="new"))
        assert sandbox.prepare(replace(fresh, digest="old")) == old  # a use makes it the newer one
        mine = [kept for kept in map(partial(docker_disk.look, client), (old, new)) if kept]
        assert [kept.size > 0 for kept in mine] == [True, True]
        late = datetime.now(UTC) + timedelta(days=1)
        assert [kept.id for kept in docker_disk.overdue(mine, mine[0].size, late)] == [mine[1].id]
        docker_disk.bound(client, 0)
        assert known() >= {old, new}, "a run may be using them"
    docker_disk.remove(client, mine[1].id)
    assert new not in known()
    assert old in known()

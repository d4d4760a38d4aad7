"""Every refusal and failure of GitHub ends as a Fault that says what to do, or is waited out."""

from __future__ import annotations

import datetime
import ipaddress
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bot.adapters.github_api import Patience
from bot.adapters.github_forge import GitHubForge
from bot.domain.attempt import Fault, InputError
from bot.domain.ports import PullRequest, Trigger
from tests.fakes.github import GitHubStandIn
from tests.fakes.github.delivery import BRANCH, TOKEN, Clock, effects, git, trigger


def test_bad_token(make: Any) -> None:
    _, forge = make(token="ghs_wrongSecret")
    with pytest.raises(Fault, match="does not accept the token") as caught:
        forge.head("main")
    assert "github-token: ${{ github.token }}" in caught.value.fix
    assert "ghs_wrongSecret" not in str(caught.value) + caught.value.fix


def test_repository_that_is_not_there(bare: Path) -> None:
    with GitHubStandIn(bare, TOKEN) as stand_in:
        forge = GitHubForge(token=TOKEN, repository="octo/other", api_url=stand_in.api_url)
        with pytest.raises(Fault, match="looking at octo/other") as caught:
            forge.head("main")
        forge.close()
    assert "Check that it exists in octo/other" in caught.value.fix


def test_run_that_is_not_there(make: Any) -> None:
    _, forge = make()
    asked = Trigger(repository="octo/widgets", event="workflow_dispatch", branch="", sha="", run_id=5)
    with pytest.raises(Fault, match="looking for run 5"):
        forge.resolve(asked)


def test_empty_repository(make: Any, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "empty.git")
    _, forge = make(repo_dir=tmp_path / "empty.git")
    with pytest.raises(Fault, match="Git Repository is empty") as caught:
        forge.head("main")
    assert "Push a first commit" in caught.value.fix


def test_bad_arguments_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        GitHubForge(token=" ", repository="widgets", api_url="api.github.com")
    assert len(caught.value.problems) == 3


def test_secondary_rate_limit_waits_as_told(make: Any, clock: Clock) -> None:
    stand_in, forge = make()
    stand_in.limit(next=1, path="/git/refs", status=403, retry_after=7)
    stand_in.limit(next=1, path="/pulls", status=429, retry_after=9)
    stand_in.limit(next=1, path="/comments", retry_after=None)
    assert forge.deliver(effects(stand_in.branches["main"])).pull_request
    assert clock.slept == [7, 9, 60]


def test_primary_rate_limit_waits_for_the_reset_if_it_is_near(make: Any, clock: Clock) -> None:
    stand_in, forge = make()
    limited = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(clock.now) + 30)}
    stand_in.fail(status=403, message="API rate limit exceeded for installation.", headers=limited)
    assert forge.head("main")
    assert clock.slept == [31]
    limited["X-RateLimit-Reset"] = str(int(clock.now) + 3000)
    stand_in.fail(status=403, message="API rate limit exceeded for installation.", headers=limited)
    with pytest.raises(Fault, match="rate limit did not end in time"):
        forge.head("main")
    assert clock.slept == [31]


def test_patience_ends(make: Any, clock: Clock) -> None:
    stand_in, forge = make()
    stand_in.fail(next=99, status=500)
    with pytest.raises(Fault, match="kept answering 500"):
        forge.head("main")
    assert 50 < sum(clock.slept) <= 300 and len(clock.slept) <= 7


@pytest.mark.parametrize("status", [0, 500, 502])
@pytest.mark.parametrize("late", [False, True])
def test_faults_in_the_middle_of_delivery_double_nothing(make: Any, status: int, late: bool) -> None:
    """Each write in turn fails, or takes effect while its answer is lost."""
    stand_in, forge = make()
    for path in ("/git/trees", "/git/commits", "/git/refs", "/pulls", "/labels", "/comments"):
        stand_in.fail(method="POST", path=f"{path}$", status=status, late=late)
    done = forge.deliver(effects(stand_in.branches["main"]))
    assert done.pull_request == stand_in.pulls[0].number and not done.notes
    assert len(stand_in.pulls) == 1 and len(stand_in.comments) == 1
    assert set(stand_in.branches) == {"main", "feature", BRANCH}


def test_network_down(clock: Clock) -> None:
    quick = Patience(tries=2, sleep=clock.sleep)
    forge = GitHubForge(token=TOKEN, repository="octo/widgets", api_url="http://127.0.0.1:9/api/v3", patience=quick)
    with pytest.raises(Fault, match=r"127.0.0.1:9 could not be reached") as caught:
        forge.head("main")
    forge.close()
    assert "HTTPS_PROXY" in caught.value.fix and TOKEN not in str(caught.value)


def test_log_storage_behind_a_firewall(make: Any) -> None:
    stand_in, forge = make()
    run = stand_in.add_run(logs={"tests": b"x"})
    stand_in.world.log_base = "http://127.0.0.1:9"
    with pytest.raises(Fault, match=r"127.0.0.1:9 could not be reached while reading the log of job 'tests'") as caught:
        forge.failed_run(trigger(stand_in, run))
    assert "log-link-secret" not in str(caught.value)


def self_signed(into: Path) -> Path:
    """A certificate for 127.0.0.1 that nobody trusts, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "stand-in")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    into.write_bytes(
        made.public_bytes(pem) + key.private_bytes(pem, serialization.PrivateFormat.TraditionalOpenSSL, plain)
    )
    return into


def test_own_certificate_authority(bare: Path, tmp_path: Path) -> None:
    """An Enterprise server with a certificate of its own is trusted through the standard environment, else a Fault."""
    pem = self_signed(tmp_path / "ca.pem")
    code = """
import sys
from bot.adapters.github_forge import GitHubForge
forge = GitHubForge(token="ghs_verySecretToken", repository="octo/widgets", api_url=sys.argv[1])
print(forge.head("main"))
"""
    with GitHubStandIn(bare, TOKEN, certificate=pem) as stand_in:
        main = stand_in.branches["main"]
        argv = [sys.executable, "-c", code, stand_in.api_url]
        env = {key: value for key, value in os.environ.items() if "CA_BUNDLE" not in key}
        told = subprocess.run(argv, env={**env, "REQUESTS_CA_BUNDLE": str(pem)}, capture_output=True, check=True)
        assert told.stdout.decode().strip() == main
        refused = subprocess.run(argv, env=env, capture_output=True)
        assert b"Fault: the certificate of 127.0.0.1:" in refused.stderr and b"is not trusted" in refused.stderr


def test_branch_names_with_odd_letters(make: Any, bare: Path) -> None:
    stand_in, forge = make()
    odd = "fix/#1 50%+über?&x".replace(" ", "-").replace("?", "")
    git(bare, "branch", odd, "main")
    assert forge.head(odd) == stand_in.branches["main"]
    green = stand_in.add_run(branch=odd, conclusion="success")
    run = stand_in.add_run(branch=odd, logs={"tests": b"x"})
    assert forge.failed_run(trigger(stand_in, run)).last_green == stand_in.world.runs[green].sha
    commit, pull, _ = effects(stand_in.branches["main"])
    assert isinstance(pull, PullRequest)
    stand_in.world.may_create_pull_requests = False
    link = forge.deliver([commit, replace(pull, base=odd)]).url
    assert link and "/compare/fix/%231-50%25%2B%C3%BCber%26x..." in link


def test_github_com_shape_of_the_api_address(make: Any) -> None:
    stand_in, forge = make(ghes=False)
    assert not stand_in.api_url.endswith("/api/v3")
    assert forge.deliver(effects(stand_in.branches["main"])).pull_request


def test_token_is_in_no_record(make: Any) -> None:
    stand_in, forge = make()
    stand_in.add_run(logs={"tests": b"x"})
    forge.deliver(effects(stand_in.branches["main"]))
    assert TOKEN not in repr(stand_in.requests)


def _whole_story(stand_in: GitHubStandIn, forge: GitHubForge) -> None:
    asked = Trigger(
        repository="octo/widgets", event="workflow_dispatch", branch="", sha="", run_id=next(iter(stand_in.world.runs))
    )
    found = forge.resolve(asked)
    assert isinstance(found, Trigger)
    forge.settings()
    assert forge.head(found.branch) == found.sha
    forge.failed_run(found)
    forge.deliver(effects(found.sha, **{"logo.bin": b"\xff"}))


@pytest.mark.parametrize("raw", [b"<html>Please log in</html>", b"", b"[null]"])
def test_a_page_in_the_place_of_githubs_answer_is_a_fault_at_each_call(make: Any, raw: bytes) -> None:
    """A proxy's login page, say. Never a crash, and never taken for a file that is gone or a branch that moved."""
    stand_in, forge = make()
    stand_in.add_run(logs={"tests": b"log"})
    _whole_story(stand_in, forge)
    calls = len(stand_in.requests)
    for number in range(calls):
        fresh, forge = make()
        fresh.add_run(logs={"tests": b"log"})
        fresh.fail(skip=number, status=200, raw=raw)
        try:
            _whole_story(fresh, forge)
        except (Fault, InputError) as error:
            assert str(error)
        head = fresh.branches.get(BRANCH)
        assert head is None or fresh.read(BRANCH, "logo.bin") == b"\xff", fresh.requests[number]


@pytest.mark.parametrize("status", [301, 302, 307])
def test_a_redirect_to_another_host_gets_no_token(make: Any, bare: Path, status: int) -> None:
    """By another name the same machine; the stand-in there would say what it was shown."""
    elsewhere, _ = make()
    stand_in, forge = make()
    url = elsewhere.server_url.replace("127.0.0.1", "127.0.0.2")
    stand_in.fail(status=status, raw=b"", headers={"Location": f"{url}/repos/octo/widgets"})
    with pytest.raises(Fault):
        forge.head("main")
    assert elsewhere.requests == []


def test_pages_that_lead_to_another_host_or_never_end_are_faults(make: Any) -> None:
    for host in ("127.0.0.2", "127.0.0.1"):
        stand_in, forge = make()
        run = stand_in.add_run(logs={"tests": b"log"})
        found = trigger(stand_in, run)
        url = f"{stand_in.api_url.replace('127.0.0.1', host)}/repos/octo/widgets/actions/runs/{run}/attempts/1/jobs"
        body = b'{"total_count": 1, "jobs": [' + b",".join([b'{"id": 1, "conclusion": "success"}'] * 2000) + b"]}"
        stand_in.fail(next=99, path="/jobs", status=200, raw=body, headers={"Link": f'<{url}?page=2>; rel="next"'})
        with pytest.raises(Fault, match="is not GitHub's answer" if host == "127.0.0.2" else "more than 10000 items"):
            forge.failed_run(found)

"""The pure parts of the Docker adapters: the proxy's configuration and daemon.json."""

from __future__ import annotations

import json

import pytest

from bot.adapters.docker_egress import squid_conf
from bot.adapters.gvisor_host import merged, wanted
from bot.domain.attempt import Fault

OURS = wanted("selfrepair")


def test_the_proxy_refuses_before_it_allows() -> None:
    lines = squid_conf(["203.0.113.9"]).splitlines()
    assert "acl forbidden dst 203.0.113.9" in lines
    rules = [line for line in lines if line.startswith("http_access")]
    assert rules == [
        "http_access deny forbidden",
        "http_access deny !web",
        "http_access deny CONNECT !tls",
        "http_access allow all",
    ]


def test_an_allow_list_comes_last_before_allowing() -> None:
    lines = squid_conf([], ["example.org", ".example.net"]).splitlines()
    at = lines.index("http_access deny !named")
    assert lines[at - 1] == "acl named dstdomain example.org .example.net"
    assert lines.index("http_access deny forbidden") < at < lines.index("http_access allow all")


@pytest.mark.parametrize("text", ["", "\n", "{}"])
def test_an_empty_file_gets_our_runtimes_and_loses_them_again(text: str) -> None:
    made = merged(text, OURS)
    assert json.loads(made) == {"runtimes": OURS}
    assert merged(made, OURS, remove=True) == ""


def test_what_others_wrote_stays() -> None:
    before = {"log-driver": "local", "runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}
    made = merged(json.dumps(before), OURS)
    assert json.loads(made) == {"log-driver": "local", "runtimes": {**before["runtimes"], **OURS}}  # type: ignore[dict-item]
    assert merged(made, OURS) == made
    assert json.loads(merged(made, OURS, remove=True)) == before


def test_runtimes_of_our_names_made_by_hand_are_replaced() -> None:
    by_hand = {"runtimes": {"selfrepair-run": {"path": "/usr/local/bin/runsc"}}}
    assert json.loads(merged(json.dumps(by_hand), OURS)) == {"runtimes": OURS}


@pytest.mark.parametrize("text", ["{", "[]", '"x"', '{"runtimes": []}', "{'a': 1}"])
def test_an_invalid_file_is_a_fault(text: str) -> None:
    with pytest.raises(Fault, match=r"daemon\.json is not valid") as caught:
        merged(text, OURS)
    assert "not touched" in caught.value.fix

"""Domain values as JSON."""

from __future__ import annotations

import json

import pytest

from bot.domain.wire import canonical, to_json
from tests.fakes.outcomes import attempt, packet, repaired


def test_an_outcome_becomes_plain_json() -> None:
    data = json.loads(json.dumps(to_json(repaired())))
    assert data["kind"] == "repaired"
    assert data["files"]["d.py"] == {"base64": "Y29udGVudAo="}
    assert data["files"]["old.py"] is None
    assert data["baseline"][0]["collected"] == sorted(data["baseline"][0]["collected"])
    assert data["attempts"][0]["proposal"]["rule"] == "oracle"


def test_a_packet_takes_its_public_shape() -> None:
    assert to_json(attempt())["packet"] == json.loads(json.dumps(packet().as_json()))


def test_the_canonical_form_is_ascii_and_ordered() -> None:
    assert canonical({"b": "\ud800\u00e9", "a": [1, None]}) == b'{"a":[1,null],"b":"\\ud800\\u00e9"}'


def test_other_things_are_refused() -> None:
    with pytest.raises(TypeError, match="no JSON for object"):
        to_json(object())

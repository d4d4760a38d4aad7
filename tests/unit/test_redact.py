"""Secrets go, ordinary text stays."""

from __future__ import annotations

import base64
import json
import sys
import time
import unicodedata
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bot
from bot import report as reports
from bot.domain.attempt import OutcomeKind
from bot.domain.findings import Failure
from bot.domain.packet import PacketFailure, RepairPacket, Span
from bot.domain.ports import FailedRun, Trigger
from bot.packets import redact_packet
from bot.redact import MARK, Redactor, visible
from tests.fakes import outcomes

# Made up here, and put together at run time so that no secret scanner takes this file for a leak.
SIXTEEN, FORTY = "A1b2C3d4E5f6G7h8", "a1B2c3D4e5F6g7H8i9J0" * 2
KEY = "PRIVATE " + "KEY-----"
SHAPES = [
    "ghp" + "_" + FORTY[:36],
    "ghs" + "_" + FORTY[:36],
    "ghs" + f"_123456_eyJ{FORTY}.eyJ{FORTY}.{FORTY}-{FORTY}",
    "github" + f"_pat_{FORTY[:22]}_{FORTY}",
    "sk-" + f"ant-api03-{FORTY}",
    "sk-" + f"proj-{FORTY}",
    "AKI" + "AIOSFODNN7ABCDEFG",
    "eyJ" + f"{SIXTEEN}.eyJ{SIXTEEN}.{FORTY}",
    "npm" + "_" + FORTY[:36],
    "pypi-" + "AgEIcHlwaS5vcmc" + FORTY * 2,
    "glpat-" + FORTY[:20],
    "hf" + "_" + FORTY[:34],
    "AIza" + FORTY[:35],
    "xoxb" + "-1234567890-" + FORTY[:24],
]


@pytest.mark.parametrize("secret", SHAPES)
@pytest.mark.parametrize("around", ["{}", "token={}\n", '"{}"', "({}).", "x-{}", "curl -u {} y"])
def test_known_shapes_go_without_being_told(secret: str, around: str) -> None:
    text = Redactor().text(around.format(secret))
    assert secret[8:20] not in text
    assert text.startswith(around.partition("{}")[0])


@pytest.mark.parametrize("secret", SHAPES)
def test_what_stands_around_stays(secret: str) -> None:
    assert Redactor().text(f"a {secret} b") == f"a {MARK} b"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://user:hunter2@host/x", "https://[redacted]@host/x"),
        (f"https://{FORTY}@github.com/x", "https://[redacted]@github.com/x"),
        (f"Authorization: Bearer {FORTY}", "Authorization: Bearer [redacted]"),
        ("AUTHORIZATION: basic dXNlcjpwYXNzd29yZA==", "AUTHORIZATION: basic [redacted]"),
        (f'"x-api-key": "{FORTY}"', '"x-api-key": "[redacted]"'),
        (f"aws_secret_access_key = {FORTY}", "aws_secret_access_key = [redacted]"),
        (f"//index/:_authToken={FORTY}", "//index/:_authToken=[redacted]"),
        (f"k = '''-----BEGIN RSA {KEY}\n{FORTY}\n{FORTY}\n-----END RSA {KEY}'''", "k = '''[redacted]'''"),
        (f"-----BEGIN {KEY}\\n{FORTY}\\n{FORTY}\\n-----END {KEY}\\n", "[redacted]\\n"),
        (f"-----BEGIN OPENSSH {KEY}\n{FORTY}{FORTY[:24]}\n{FORTY}\n(cut off)", "[redacted]\n(cut off)"),
    ],
)
def test_contexts(text: str, clean: str) -> None:
    assert Redactor().text(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "HEAD is now at 9b8ad44e6f0c1d2b3a4f5e6d7c8b9a0f1e2d3c4b",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "AUTHORIZATION: basic ***",
        "https://x-access-token:***@github.com/o/r",
        "git+ssh://git@github.com/o/r.git",
        "f'postgres://{user}:{password}@{host}/db'",
        'url = f"https://{token}@github.com"',
        "headers['Authorization'] = f'Bearer {token}'",
        '{"Authorization": auth_header, "x-api-key": settings.api_key_for_user}',
        "Authorization: Bearer ${{ secrets.GITHUB_TOKEN }}",
        "//index/:_authToken=${NPM_TOKEN}",
        f"pem.replace('-----BEGIN {KEY}', '').replace('-----END {KEY}', '')",
        "class='sk-loading-spinner-with-a-rather-long-name-that-goes-on'",
        "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
        "assert eyJ == 3 and ghp_x and npm_config_registry and hf_hub_download",
        "integrity sha512-" + "Ab3" * 28 + "==",
    ],
)
def test_ordinary_text_is_not_touched(text: str) -> None:
    assert Redactor().text(text) == text


def test_our_own_source_is_not_touched() -> None:
    for path in sorted(Path(bot.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert Redactor().text(text) == text, path


SECRETS = st.text(st.characters(exclude_categories=["Cs"]), min_size=6, max_size=40).filter(
    lambda s: len(s.strip()) >= 6 and len(s.splitlines()) == 1
)


@given(secret=SECRETS, before=st.binary(max_size=5), after=st.binary(max_size=5))
def test_a_known_value_goes_in_every_encoding(secret: str, before: bytes, after: bytes) -> None:
    secret = secret.strip()
    redactor = Redactor([secret])
    raw = secret.encode("utf-8")
    for encoded in (
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        raw.hex(),
        base64.b64encode(raw).decode(),
    ):
        assert encoded not in redactor.text(f"<{encoded}>")
    assert MARK in redactor.text(base64.b64encode(before + raw + after).decode()) or len(raw) < 9


def test_each_line_of_a_multi_line_secret_goes() -> None:
    assert Redactor(["first line\nsecond line\n"]).text("a first line b\nsecond line") == f"a {MARK} b\n{MARK}"


def test_short_and_empty_secrets_do_not_destroy_the_text() -> None:
    assert Redactor(["", " ", "main", "a"]).text("main branch a") == "main branch a"


def test_the_longest_of_overlapping_secrets_goes() -> None:
    assert Redactor(["secret", "secret-and-more"]).text("secret-and-more") == MARK


@given(st.binary(max_size=300))
def test_bytes_without_secrets_come_back_as_they_were(data: bytes) -> None:
    assert Redactor(["hunter2hunter2"]).data(data) == data
    assert Redactor(["hunter2hunter2"]).data(data + b"hunter2hunter2") == data + MARK.encode()


@given(st.text(max_size=300))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    redactor = Redactor(["hunter2hunter2"])
    once = redactor.text(text)
    assert redactor.text(once) == once


@pytest.mark.parametrize(
    "flood",
    ["-eyJ" * 50_000, "eyJ" + "a" * 200_000, f"-----BEGIN RSA {KEY}" * 6_000, "://" * 60_000, "://a:" * 40_000,
     "authorization:" * 15_000, "ghp_" + "." * 200_000, "sk-ant-" * 30_000, "\x1b]" * 100_000, "a@" * 100_000],
)  # fmt: skip
def test_hostile_floods_take_linear_time(flood: str) -> None:
    start = time.process_time()
    visible(Redactor(["hunter2hunter2"]).text(flood))
    assert time.process_time() - start < 5


def test_hidden_text_is_shown_or_dropped() -> None:
    assert visible("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07") == "red link"
    assert visible("a\u202eb\u200bc\U000e0041") == "a<U+202E>b<U+200B>c<U+E0041>"
    assert visible("one\r\ntwo\rthree\0") == "one\ntwo\nthree<U+0000>"
    assert visible("\udc80") == "<U+DC80>"
    assert visible("tab\tnewline\n日本 é ✔️ 🙂") == "tab\tnewline\n日本 é ✔️ 🙂"


def test_every_format_and_control_character_counts_as_hidden() -> None:
    hidden = {"Cf", "Cc", "Cs", "Zl", "Zp"}
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) in hidden and chr(code) not in "\t\n":
            assert visible(f"a{chr(code)}b") != f"a{chr(code)}b", hex(code)


@given(st.text(max_size=200))
def test_what_is_visible_stays_as_it_is(text: str) -> None:
    once = visible(text)
    assert visible(once) == once


def test_a_packet_loses_secrets_everywhere_and_hidden_text_outside_of_source() -> None:
    source = "x = 'a\u200bb'\nkey = 'hunter2hunter2'"
    told = RepairPacket(
        iteration=1,
        max_iterations=5,
        summary="s",
        priority="tests",
        failures=(
            PacketFailure(
                test="t\u202e", file="a.py", line=1, assertion="hunter2hunter2", message="\x1b[1mhunter2\x1b[0mhunter2",
                expected="e", actual=None, span=Span(file="a.py", start=1, end=2, source=source),
            ),
        ),
    )  # fmt: skip
    clean = redact_packet(told, Redactor(["hunter2hunter2"]))
    assert "hunter2" not in json.dumps(clean.as_json())
    (failure,) = clean.failures
    assert failure.test == "t<U+202E>" and failure.actual is None
    assert failure.span and failure.span.source == f"x = 'a\u200bb'\nkey = '{MARK}'"


def test_no_report_holds_a_secret_that_markdown_would_escape_or_a_line_would_cut() -> None:
    """Attack: `-_` within a key reads `-\\_` in Markdown, and a text of 200 characters ends in the middle of a key."""
    key = "sk-" + "ant-api03-Ab-_Cd_-x--yz_-Qw9_-tail"
    failure = Failure(tool="pytest", id=f"t.py::t[{key}]", message="x" * 190 + key, assertion=f"{key} {key}")
    report = replace(outcomes.suite_report(frozenset()), exit_code=1, findings=(failure,))
    leaky = replace(
        outcomes.ended(OutcomeKind.IMPROVED, reason=f"{key} failed again: `{key}`", rationale=key, fix="y" * 590 + key),
        baseline=(report,), final=(report,), held_out=key, flaky=frozenset({key}),
    )  # fmt: skip
    outcome = Redactor([key]).inside(leaky)
    run = FailedRun(trigger=Trigger(repository="o/r", event="workflow_run", branch="b", sha="a" * 40))
    for told in (
        reports.pull_request_body(outcome, run),
        reports.history_comment(outcome, run),
        reports.job_summary(outcome, run),
        reports.terminal(outcome),
    ):
        assert MARK in told.replace("\\", "") and "api03" not in told
    assert outcome.kind is OutcomeKind.IMPROVED and outcome.files == leaky.files

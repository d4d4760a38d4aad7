"""Recording a run against the model stand-in, and playing it back from the file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.anthropic_proposer import AnthropicProposer
from bot.adapters.replay_proposer import RecordingProposer, ReplayProposer
from bot.domain.attempt import EditFormat, Fault, InputError, Prompt, Strategy
from bot.domain.packet import RepairPacket
from bot.redact import Redactor
from tests.fakes import messages_api as fake
from tests.fakes.messages_api import MessagesApi


def prompt(iteration: int = 1, **changes: object) -> Prompt:
    packet = RepairPacket(iteration=iteration, max_iterations=5, summary="red", priority="tests")
    asked = Prompt(
        system="s", user="u", packet=packet, strategy=Strategy.FOCUSED, edit_format=EditFormat.TOOL, max_tokens=9
    )
    return replace(asked, **changes)  # type: ignore[arg-type]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Two calls, recorded: a tool call, then text in answer to a re-ask."""
    path = tmp_path / "demo.jsonl"
    with MessagesApi([fake.edits({"path": "d.py", "old": "1", "new": "2"}), fake.cut_off("def é")]) as api:
        inner = AnthropicProposer("claude-sonnet-5-5", api_key="sk-ant-secret", base_url=api.url)
        recorder = RecordingProposer(inner, path, clean=str, today=lambda: "2026-11-30")
        recorder.ask(prompt())
        recorder.ask(prompt(correction=True))
        assert recorder.price(prompt()) == inner.price(prompt())
        inner.close()
    return path


def test_a_recording_plays_back_with_model_and_spend(recording: Path) -> None:
    replay = ReplayProposer(recording)
    assert (replay.model, replay.recorded) == ("claude-sonnet-5-5", "2026-11-30")
    assert "replayed" in replay.name
    assert replay.edit_format is EditFormat.TOOL
    assert replay.price(prompt()) == pytest.approx(0.0004)
    first, second = replay.ask(prompt()), replay.ask(prompt(correction=True))
    assert first.tool_name == "propose_edits"
    assert first.tool_input == {"rationale": "it was wrong", "edits": [{"path": "d.py", "old": "1", "new": "2"}]}
    assert (first.spend.input_tokens, first.spend.model_calls, first.spend.dollars) == (100, 1, pytest.approx(0.0004))
    assert (second.text, second.stop_reason, second.tool_name) == ("def é", "max_tokens", None)
    assert second.model == "claude-sonnet-5-5"


def test_a_recording_is_one_plain_line_a_call_without_the_key(recording: Path) -> None:
    lines = recording.read_bytes().splitlines()
    assert len(lines) == 2
    first = json.loads(lines[0])
    assert first["packet"] == prompt().packet.digest()
    assert (first["strategy"], first["edit_format"], first["attempt"]) == ("focused edit", "tool", 0)
    assert [json.loads(line)["correction"] for line in lines] == [False, True]
    assert b"sk-ant" not in recording.read_bytes()


def test_what_is_written_holds_no_secret_and_no_path_of_the_machine(tmp_path: Path) -> None:
    said = 'the key is "hunter2hunter2"'
    with MessagesApi([fake.text(said)]) as api:
        inner = AnthropicProposer("/model/qwen.gguf", api_key="", base_url=api.url)
        recorder = RecordingProposer(inner, tmp_path / "replies.jsonl", clean=Redactor(["hunter2hunter2"]).text)
        assert recorder.ask(prompt(edit_format=EditFormat.FUNCTION)).text == said
        inner.close()
    (line,) = (tmp_path / "replies.jsonl").read_text().splitlines()
    assert json.loads(line)["model"] == "qwen.gguf"
    assert json.loads(line)["reply"]["text"] == 'the key is "[redacted]"'


@pytest.mark.parametrize(
    ("asked", "differs"),
    [
        (prompt(iteration=2), "packet"),
        (prompt(strategy=Strategy.FRESH), "strategy is 'fresh try', recorded 'focused edit'"),
        (prompt(edit_format=EditFormat.FUNCTION), "edit_format"),
        (prompt(attempt=1), "attempt is 1, recorded 0"),
        (prompt(correction=True), "correction"),
    ],
)
def test_another_prompt_than_recorded_is_a_fault(recording: Path, asked: Prompt, differs: str) -> None:
    with pytest.raises(Fault, match="call 1 is not the recorded one") as fault:
        ReplayProposer(recording).ask(asked)
    assert differs in str(fault.value)
    assert "make record-demo" in fault.value.fix


def test_a_run_longer_than_recorded_is_a_fault(recording: Path) -> None:
    replay = ReplayProposer(recording)
    replay.ask(prompt())
    replay.ask(prompt(correction=True))
    for call in (replay.ask, replay.price):
        with pytest.raises(Fault, match="asks for call 3, but 2 are recorded") as fault:
            call(prompt())
        assert "make record-demo" in fault.value.fix


def test_a_recording_that_cannot_be_used_names_every_bad_line(tmp_path: Path, recording: Path) -> None:
    with pytest.raises(InputError, match="cannot read the recording"):
        ReplayProposer(tmp_path / "gone.jsonl")
    bad = tmp_path / "bad.jsonl"
    bad.write_text("")
    with pytest.raises(InputError, match="empty"):
        ReplayProposer(bad)
    good = recording.read_text().splitlines()[0]
    entry = json.loads(good)
    lines = [
        "{",
        "[]",
        json.dumps({**entry, "edit_format": "runes"}),
        json.dumps({**entry, "reply": {}}),
        json.dumps({**entry, "usage": {}}),
        good,
    ]
    bad.write_text("\n".join(lines))
    with pytest.raises(InputError) as error:
        ReplayProposer(bad)
    assert [problem.split(": ")[0].rpartition(" ")[2] for problem in error.value.problems] == ["1", "2", "3", "4", "5"]
    bad.write_bytes(b"\xff\n")
    with pytest.raises(InputError, match="not JSON"):
        ReplayProposer(bad)

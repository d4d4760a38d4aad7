"""The proposer against a real HTTP server that speaks the Messages API."""

from __future__ import annotations

import json
import logging
import socket
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.adapters.anthropic_proposer import AnthropicProposer
from bot.adapters.models import Price, for_model, price_for
from bot.config import DEFAULT_MODEL as SETTING
from bot.domain.attempt import EditFormat, Fault, InputError, Prompt, Spend, Strategy
from bot.domain.packet import RepairPacket
from tests.fakes import messages_api as fake
from tests.fakes.messages_api import Broken, Failed, MessagesApi

KEY = "sk-ant-secret-of-the-test"
DEFAULT_MODEL = SETTING.removeprefix("anthropic:")


def prompt(edit_format: EditFormat = EditFormat.TOOL, max_tokens: int = 500) -> Prompt:
    packet = RepairPacket(iteration=1, max_iterations=5, summary="1 test failing", priority="tests")
    return Prompt(
        system="rules",
        user="packet",
        packet=packet,
        strategy=Strategy.FOCUSED,
        edit_format=edit_format,
        max_tokens=max_tokens,
    )


class Waits:
    """A sleep that only writes down."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def waits() -> Waits:
    return Waits()


class Opened:
    """Proposers of one test, closed at its end."""

    def __init__(self, waits: Waits) -> None:
        self.waits = waits
        self.all: list[AnthropicProposer] = []

    def __call__(self, api: MessagesApi | str, model: str = DEFAULT_MODEL, **options: object) -> AnthropicProposer:
        url = api if isinstance(api, str) else api.url
        settings: dict[str, object] = {
            "api_key": KEY, "timeout_s": 5.0, "sleep": self.waits, "jitter": lambda: 0.5, **options
        }  # fmt: skip
        self.all.append(AnthropicProposer(model, base_url=url, **settings))  # type: ignore[arg-type]
        return self.all[-1]


@pytest.fixture
def proposer(waits: Waits) -> Iterator[Opened]:
    opened = Opened(waits)
    yield opened
    for one in opened.all:
        one.close()


def test_a_tool_call_comes_back_typed_and_costed(proposer: Opened) -> None:
    said = fake.edits({"path": "d.py", "old": "1", "new": "2"})
    usage = {"input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 2000}
    usage["cache_creation_input_tokens"] = 4000
    with MessagesApi([fake.Said(tool=said.tool, tool_input=said.tool_input, usage=usage, thinking="hm")]) as api:
        reply = proposer(api).ask(prompt())
    assert reply.model == DEFAULT_MODEL
    assert reply.tool_name == "propose_edits"
    assert reply.tool_input["edits"] == [{"path": "d.py", "old": "1", "new": "2"}]
    assert reply.text == ""
    assert (reply.spend.input_tokens, reply.spend.output_tokens, reply.spend.cached_tokens) == (7000, 100, 2000)
    assert reply.spend.model_calls == 1
    assert reply.spend.dollars == pytest.approx((1000 * 2 + 100 * 10 + 2000 * 0.2 + 4000 * 2.5) / 1e6)


def test_the_request_is_cacheable_strict_and_without_temperature(proposer: Opened) -> None:
    with MessagesApi([fake.text("x")], key=KEY) as api:
        proposer(api).ask(prompt())
    (request,) = api.requests
    assert request["system"] == [{"type": "text", "text": "rules", "cache_control": {"type": "ephemeral"}}]
    assert [tool["name"] for tool in request["tools"]] == ["propose_edits", "test_contradicts_contract"]
    assert all(tool["strict"] for tool in request["tools"])
    assert request["tool_choice"]["type"] == "auto"
    assert not {"temperature", "top_p", "top_k"} & request.keys()
    assert request["max_tokens"] == 12_500
    assert KEY not in json.dumps(request)


@pytest.mark.parametrize("edit_format", [EditFormat.BLOCKS, EditFormat.FUNCTION, EditFormat.HOLE])
def test_models_without_tools_get_plain_text(proposer: Opened, edit_format: EditFormat) -> None:
    with MessagesApi([fake.text("```python\nx\n```")]) as api:
        reply = proposer(api, model="qwen2.5-coder-1.5b").ask(prompt(edit_format))
    assert reply.text == "```python\nx\n```"
    assert reply.tool_name is None
    assert reply.spend.dollars == 0
    assert not {"tools", "tool_choice"} & api.requests[0].keys()
    assert api.requests[0]["max_tokens"] == 500


@pytest.mark.parametrize(
    ("first", "waited"),
    [
        (fake.rate_limited(7), 7.0),
        (fake.rate_limited(None), 1.0),
        (fake.OVERLOADED, 1.0),
        (Failed(status=500), 1.0),
        (Failed(status=503), 1.0),
    ],
)
def test_a_passing_error_is_tried_again_and_counted(
    proposer: Opened, waits: Waits, first: Failed, waited: float
) -> None:
    with MessagesApi([first, fake.text("there")]) as api:
        reply = proposer(api).ask(prompt())
    assert reply.text == "there"
    assert reply.spend.model_calls == 2
    assert waits.seconds == [waited]
    assert reply.spend.dollars == pytest.approx((100 * 2 + 20 * 10) / 1e6)


def test_tries_are_bounded_and_back_off(proposer: Opened, waits: Waits) -> None:
    with MessagesApi([fake.OVERLOADED] * 9) as api:
        asked = proposer(api)
        with pytest.raises(Fault, match=r"down or overloaded .*HTTP 529: Overloaded") as fault:
            asked.ask(prompt())
    assert len(api.requests) == 4
    assert waits.seconds == [1.0, 2.0, 4.0]
    assert "later" in fault.value.fix
    assert asked.spend == Spend(model_calls=4)


@pytest.mark.parametrize(
    "broken",
    [Broken(hang=3), Broken(cut=True), Broken(body=b"<html>"), Broken(body=b"{}"), Broken(body=b"[1]"), Broken()],
    ids=["hangs", "cut off", "not JSON", "no message", "no object", "closed"],
)
def test_a_try_without_an_answer_is_tried_again_and_may_have_cost(proposer: Opened, broken: Broken) -> None:
    with MessagesApi([broken, fake.text("there")]) as api:
        asked = proposer(api, timeout_s=0.5)
        reply = asked.ask(prompt())
    assert reply.text == "there"
    assert reply.spend.model_calls == 2
    assert reply.spend.dollars == pytest.approx(asked.price(prompt()) + (100 * 2 + 20 * 10) / 1e6)


def test_a_server_that_never_answers_is_a_fault(proposer: Opened) -> None:
    with MessagesApi([Broken(hang=3)] * 2) as api:
        asked = proposer(api, timeout_s=0.3, tries=2)
        with pytest.raises(Fault, match=r"did not answer in time, 2 times"):
            asked.ask(prompt())
    assert asked.spend.model_calls == 2
    assert asked.spend.dollars == pytest.approx(2 * asked.price(prompt()))


def test_a_server_that_speaks_something_else_is_a_fault(proposer: Opened) -> None:
    with MessagesApi([Broken(body=b"<html>")] * 4) as api, pytest.raises(Fault, match="not a message") as fault:
        proposer(api).ask(prompt())
    assert "--base-url" in fault.value.fix


def test_nobody_listening_is_a_fault_that_cost_nothing(proposer: Opened, waits: Waits) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://user:hunter2@127.0.0.1:{free.getsockname()[1]}"
        asked = proposer(url)
        with pytest.raises(Fault, match=r"cannot reach the model API at http://127.0.0.1:\d+") as fault:
            asked.ask(prompt())
    assert "--base-url" in fault.value.fix
    assert "hunter2" not in str(fault.value)
    assert asked.spend == Spend(model_calls=4)


@pytest.mark.parametrize(
    ("status", "kind", "message", "what", "fix"),
    [
        (401, "authentication_error", "invalid x-api-key", "does not accept the key", "ANTHROPIC_API_KEY"),
        (402, "billing_error", "billing", "no credit", "Billing"),
        (403, "permission_error", "no access", "may not use this model", "workspace"),
        (404, "not_found_error", "model: nope", "no such model", "--model"),
        (413, "request_too_large", "Request exceeds", "prompt is too long", "token budget"),
        (400, "invalid_request_error", "prompt is too long: 9 tokens", "prompt is too long", "token budget"),
        (400, "invalid_request_error", fake.NO_CREDIT.message, "no credit", "Billing"),
        (400, "invalid_request_error", "something new", "refused the request", "report"),
    ],
)
def test_an_error_that_stays_is_a_fault_with_its_fix(
    proposer: Opened, waits: Waits, status: int, kind: str, message: str, what: str, fix: str
) -> None:
    error = Failed(status=status, type=kind, message=message)
    with MessagesApi([error] * 4) as api, pytest.raises(Fault, match=what) as fault:
        proposer(api).ask(prompt())
    assert fix in fault.value.fix
    assert f"HTTP {status}" in str(fault.value)
    assert len(api.requests) == 1
    assert waits.seconds == []


def test_a_long_rate_limit_is_not_waited_for(proposer: Opened, waits: Waits) -> None:
    with MessagesApi([fake.rate_limited(3600)]) as api, pytest.raises(Fault, match="limit is reached"):
        proposer(api).ask(prompt())
    assert waits.seconds == []


def test_a_wrong_key_never_shows(proposer: Opened, caplog: pytest.LogCaptureFixture) -> None:
    quoting = Failed(status=401, type="authentication_error", message=f"the key {KEY} is revoked")
    caplog.set_level(logging.DEBUG)
    with MessagesApi([quoting]) as api, pytest.raises(Fault) as fault:
        proposer(api).ask(prompt())
    shown = "".join(traceback.format_exception(fault.value)) + caplog.text + repr(vars(fault.value))
    assert KEY not in shown
    assert "the key *** is revoked" in str(fault.value)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel"])
def test_a_key_that_is_none_is_told_without_quoting_it(key: str) -> None:
    with pytest.raises(InputError, match="ANTHROPIC_API_KEY") as error:
        AnthropicProposer(DEFAULT_MODEL, api_key=key)
    assert key not in str(error.value)


def test_no_key_at_all_is_bad_input_unless_the_server_is_local(proposer: Opened) -> None:
    with pytest.raises(InputError, match="no key for the model: set ANTHROPIC_API_KEY"):
        AnthropicProposer(DEFAULT_MODEL, api_key=" ")
    with MessagesApi([fake.text("hello")]) as api:
        assert proposer(api, api_key="").ask(prompt(EditFormat.FUNCTION)).text == "hello"


@pytest.mark.parametrize(
    ("said", "stop"), [(fake.cut_off("def"), "max_tokens"), (fake.REFUSAL, "refusal"), (fake.text("x"), "end_turn")]
)
def test_why_the_model_stopped_is_kept(proposer: Opened, said: fake.Said, stop: str) -> None:
    with MessagesApi([said]) as api:
        assert proposer(api).ask(prompt()).stop_reason == stop


def test_the_price_bounds_what_a_call_costs(proposer: Opened) -> None:
    with MessagesApi([fake.text("x", usage={"input_tokens": 300, "output_tokens": 12_500})]) as api:
        asked = proposer(api)
        bound = asked.price(prompt())
        assert asked.ask(prompt()).spend.dollars <= bound
    assert bound == pytest.approx(0.125, abs=0.02)
    assert proposer("http://127.0.0.1:9", model="llama").price(prompt()) == 0
    given = proposer("http://127.0.0.1:9", model="llama", price=Price(output=1))
    assert given.price(prompt()) == pytest.approx(500 / 1e6)


def test_prices_and_formats_go_by_the_models_name() -> None:
    assert price_for("claude-sonnet-4-5-20250929").output == 15
    assert price_for("claude-opus-4-8").output == 25
    assert price_for("claude-of-tomorrow").output == 50
    assert price_for("/model/qwen.gguf") == Price()
    assert for_model(DEFAULT_MODEL) is EditFormat.TOOL
    assert for_model("claude-haiku-5-5", "http://gateway") is EditFormat.TOOL
    assert for_model("/model/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "http://h") is EditFormat.FUNCTION
    assert for_model("qwen2.5-coder-32b-instruct", "http://h") is EditFormat.BLOCKS
    assert for_model("default", "http://h") is EditFormat.FUNCTION


def test_the_default_model_is_one_the_sdk_knows() -> None:
    source = Path(__import__("anthropic").__file__).parent / "types" / "model_param.py"
    assert f'"{DEFAULT_MODEL}"' in source.read_text()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"temperature": 0.5}, "temperature: Extra inputs are not permitted"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "role"),
        ({"tool_choice": {"type": "any"}}, "forced tool use"),
    ],
)
def test_the_stand_in_refuses_what_the_api_refuses(change: dict[str, object], complaint: str) -> None:
    body: dict[str, object] = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "x"}], **change}
    assert complaint in str(fake.invalid({key: value for key, value in body.items() if value is not None}))


@pytest.mark.parametrize(
    ("endless", "said"),
    [
        (Broken(endless=b" ", pause=0.05), "did not answer in time, 1 times"),
        (Broken(endless=b" " * 1_000_000), "or it broke the connection"),
    ],
)
def test_an_answer_that_never_ends_is_a_fault(proposer: Opened, endless: Broken, said: str) -> None:
    """Attack: a drop every second keeps a time-out between two pieces quiet for ever; a flood fills the memory."""
    with MessagesApi([endless]) as api, pytest.raises(Fault, match=said):
        proposer(api, timeout_s=0.5 if endless.pause else 30.0, tries=1).ask(prompt())


def test_a_redirect_does_not_carry_the_key_elsewhere(proposer: Opened) -> None:
    with MessagesApi([fake.text("stolen")]) as elsewhere:
        away = Failed(status=307, headers={"location": f"{elsewhere.url}/v1/messages"})
        with MessagesApi([away]) as api, pytest.raises(Fault, match="HTTP 307"):
            proposer(api).ask(prompt())
        assert elsewhere.requests == []


@pytest.mark.parametrize(
    "usage", [{"input_tokens": -(10**6), "output_tokens": 1}, {"input_tokens": 1, "output_tokens": 10**400}]
)
def test_counting_backwards_or_beyond_reason_earns_no_money(proposer: Opened, usage: dict[str, int]) -> None:
    """What is not told, or cannot be, counts at its upper bound: the money cap holds."""
    body = json.dumps({"content": [], "usage": usage}).encode()
    with MessagesApi([Broken(body=body), Broken(body=b'{"content": []}')]) as api:
        asked = proposer(api)
        prices = [asked.ask(prompt()).spend.dollars for _ in range(2)]
    assert prices == [asked.price(prompt())] * 2 and prices[0] > 0


@pytest.mark.parametrize(
    "value",
    ["NaN", "-Infinity", "1e999", "[" * 300 + "]" * 300, "[" * 200_000, "9" * 5000],
    ids=lambda value: value[:9],
)
def test_json_that_the_trail_could_not_write_down_is_no_message(proposer: Opened, value: str) -> None:
    call = f'{{"type": "tool_use", "name": "propose_edits", "input": {{"edits": {value}}}}}'
    broken = Broken(body=f'{{"content": [{call}]}}'.encode())
    with MessagesApi([broken]) as api, pytest.raises(Fault, match="something that is not a message"):
        proposer(api, tries=1).ask(prompt())

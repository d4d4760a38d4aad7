"""A real HTTP server that speaks the Messages API: scripted per request, strict about what it is sent.

Requests are checked as the real API checks them (the SDK's own parameter types, unknown fields refused, forced tools
refused as newer models do); every message that goes out is validated with `anthropic.types.Message`.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, get_type_hints

from anthropic.types import Message
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from pydantic import TypeAdapter, ValidationError

Request = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Said:
    """A message: `text`, and a call of `tool` with `tool_input` if given; `usage` adds to the token counts."""

    text: str = ""
    tool: str | None = None
    tool_input: Mapping[str, object] = field(default_factory=dict)
    stop_reason: str | None = None
    thinking: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Failed:
    """An error as the API reports it."""

    status: int
    type: str = "api_error"
    message: str = "Internal server error"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Broken:
    """No proper answer: `hang` seconds without one, a body that is cut off, bytes that are not a message, `endless`
    pieces, `pause` seconds apart."""

    hang: float = 0.0
    cut: bool = False
    body: bytes = b""
    endless: bytes = b""
    pause: float = 0.0


Item = Said | Failed | Broken
Script = Sequence["Item | Callable[[Request], Item]"]


def text(content: str, **changes: Any) -> Said:
    """A plain answer."""
    return Said(text=content, **changes)


def edits(*changes: Mapping[str, str], rationale: str = "it was wrong") -> Said:
    """A call of our edit tool with {path, old, new} or {path, content}."""
    return Said(tool="propose_edits", tool_input={"rationale": rationale, "edits": list(changes)})


def contradiction(reason: str) -> Said:
    """A call of the tool that says the test is what is wrong."""
    return Said(tool="test_contradicts_contract", tool_input={"reason": reason})


def cut_off(content: str) -> Said:
    """An answer that ran into max_tokens."""
    return Said(text=content, stop_reason="max_tokens")


REFUSAL = Said(stop_reason="refusal")
OVERLOADED = Failed(status=529, type="overloaded_error", message="Overloaded")
NO_CREDIT = Failed(
    status=400,
    type="invalid_request_error",
    message="Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
)


def rate_limited(seconds: int | None = 1) -> Failed:
    """429, with or without the header that says when to come back."""
    headers = {} if seconds is None else {"retry-after": str(seconds)}
    return Failed(status=429, type="rate_limit_error", message="This request would exceed your limit", headers=headers)


class MessagesApi:
    """`with MessagesApi([text("hi")]) as api: ... api.url`; the script is played one item a request, in order.

    A request that the real API would refuse gets its 4xx and uses up no item; so does one with a key other than `key`
    (None takes any) or a model that is not in `models` (empty takes any). `requests` holds every body received,
    `headers` its headers. When the script is over the answer is a 400 that says so.
    """

    def __init__(self, script: Script, *, key: str | None = None, models: Sequence[str] = ()) -> None:
        self.key, self.models = key, tuple(models)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._script: Iterator[Item | Callable[[Request], Item]] = iter(script)
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """What to give as base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> MessagesApi:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, headers: Mapping[str, str], raw: bytes) -> Item:
        """What this request gets."""
        with self._lock:
            self.headers.append({name.lower(): value for name, value in headers.items()})
            try:
                body = json.loads(raw)
            except ValueError:
                return _invalid("The request body is not valid JSON")
            self.requests.append(body)
            refused = self._refused(path, self.headers[-1], body)
            if refused:
                return refused
            item = next(self._script, None)
        if item is None:
            return _invalid("the script of this stand-in is over")
        return item(body) if callable(item) else item

    def _refused(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Failed | None:
        given = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if path != "/v1/messages":
            return Failed(status=404, type="not_found_error", message="Not found")
        if not given or (self.key is not None and given != self.key):
            return Failed(status=401, type="authentication_error", message="invalid x-api-key")
        if "anthropic-version" not in headers:
            return _invalid("anthropic-version: header is required")
        problem = invalid(body)
        if problem:
            return _invalid(problem)
        if self.models and body["model"] not in self.models:
            return Failed(status=404, type="not_found_error", message=f"model: {body['model']}")
        return None


def invalid(body: dict[str, Any]) -> str | None:
    """What the real API would complain of in this request body, in its words; None when it would take it."""
    unknown = sorted(body.keys() - _FIELDS)
    if unknown:
        return f"{unknown[0]}: Extra inputs are not permitted"
    try:
        _exhaust(_REQUEST.validate_python(body))
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return _rules(body)


def _rules(body: dict[str, Any]) -> str | None:
    """Rules beyond the types, as documented for the models of 2026."""
    tools = body.get("tools", [])
    if not body["messages"]:
        return "messages: at least one message is required"
    if body["max_tokens"] > 128_000:
        return "max_tokens: above the maximum allowed number of output tokens"
    if body.get("tool_choice", {}).get("type") in ("any", "tool"):
        return "tool_choice: forced tool use is not supported for this model"
    if "tool_choice" in body and not tools:
        return "tool_choice: may only be specified while providing tools"
    if not all(_closed(tool["input_schema"]) for tool in tools if tool.get("strict")):
        return "tools.0.custom: For 'object' type, 'additionalProperties' must be explicitly set to false"
    blocks = [block for block in body.get("system", []) if isinstance(block, dict)]
    return "system: text content blocks must be non-empty" if any(not b["text"] for b in blocks) else None


def _closed(schema: object) -> bool:
    if isinstance(schema, list):
        return all(_closed(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    closed = schema.get("type") != "object" or schema.get("additionalProperties") is False
    return closed and all(_closed(part) for part in schema.values())


def _exhaust(value: object) -> None:
    """Walk a validated value: pydantic checks the items of an iterable only when they are taken."""
    if isinstance(value, Mapping):
        for part in value.values():
            _exhaust(part)
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for part in value:
            _exhaust(part)


def _invalid(message: str) -> Failed:
    return Failed(status=400, type="invalid_request_error", message=message)


def _message(said: Said, request: Request, number: int) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if said.thinking:
        content.append({"type": "thinking", "thinking": said.thinking, "signature": "c2ln"})
    if said.text:
        content.append({"type": "text", "text": said.text})
    if said.tool:
        content.append({"type": "tool_use", "id": f"toolu_{number}", "name": said.tool, "input": dict(said.tool_input)})
    message = {
        "id": f"msg_{number:024d}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": content,
        "stop_reason": said.stop_reason or ("tool_use" if said.tool else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": 100,
            "output_tokens": 20,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            **said.usage,
        },
    }
    Message.model_validate(message, strict=True)
    return message


def _handler(api: MessagesApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            item = api.answer(self.path, dict(self.headers.items()), raw)
            if isinstance(item, Said):
                number = len(api.requests)
                self._send(200, json.dumps(_message(item, api.requests[-1], number)).encode(), {})
            elif isinstance(item, Failed):
                error = {"type": item.type, "message": item.message}
                body = {"type": "error", "error": error, "request_id": "req_1"}
                self._send(item.status, json.dumps(body).encode(), item.headers)
            else:
                self._break(item)

        def _break(self, item: Broken) -> None:
            deadline = time.monotonic() + item.hang
            while time.monotonic() < deadline and not api.closing.wait(0.02):
                pass
            self.close_connection = True
            if item.cut:
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", "1000")
                self.end_headers()
                self.wfile.write(b'{"id": "msg_1", "type": "mess')
            elif item.body:
                self._send(200, item.body, {"connection": "close"})
            elif item.endless:
                self._flood(item)

        def _flood(self, item: Broken) -> None:
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # the client has had enough
                while not api.closing.wait(item.pause):
                    self.wfile.write(item.endless)

        def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    return Handler


_REQUEST: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsNonStreaming)
_FIELDS = get_type_hints(MessageCreateParamsNonStreaming).keys() - {"user_profile_id", "workspace_id"}

"""Asks a model over the Messages API, counting every try and its cost, and says exactly what to do when it cannot."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2

from bot.adapters import model_http
from bot.adapters.models import Price, price_for
from bot.config import DEFAULT_MODEL
from bot.domain.attempt import EditFormat, Fault, InputError, Prompt, Reply, Spend
from bot.repair.tools import TOOLS

API = "https://api.anthropic.com"

THINKING_TOKENS = 12_000
"""Room beside the answer for models that think first: thinking counts towards max_tokens, and cannot be switched off
on all of them (the vendor's page "What's new in Claude Sonnet 5.5", 2026-09). Kept below 21 333 in all, where the SDK
wants streaming."""


class AnthropicProposer:
    """The Proposer over the Messages API.

    Retries and time-outs are ours (the SDK's are off), so that each try is counted. A try that was sent but never
    answered counts at its upper bound: it may have been billed.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str | None = None,
        price: Price | None = None,
        timeout_s: float = 600.0,
        tries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """`price` defaults to `price_for`; a local server takes any key, or none. Raises InputError for a bad key."""
        key = api_key.strip()
        if not key.isascii() or not key.isprintable() or " " in key:
            raise InputError("ANTHROPIC_API_KEY holds blanks, line breaks or characters that no key has; set it again")
        if not key and base_url is None:
            raise InputError(
                "no key for the model: set ANTHROPIC_API_KEY (input `anthropic-api-key`), or give base-url"
            )
        self.name = model
        self.spend = Spend()
        self._price = price or price_for(model)
        self._base_url, self._timeout, self._tries = base_url or API, timeout_s, tries
        self._sleep, self._jitter = sleep, jitter
        self._client = anthropic.Anthropic(
            api_key=key or "none",
            base_url=self._base_url,
            max_retries=0,
            timeout=httpx2.Timeout(timeout_s, connect=min(timeout_s, 10.0)),
            http_client=model_http.client(timeout_s),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, prompt: Prompt) -> Reply:
        """One answer. `Reply.spend` counts every try made for it; `self.spend` those of all calls, failed ones too.

        Raises Fault with the exact fix: no key, wrong key, no credit, no such model, too long, out of reach.
        """
        began, before = time.monotonic(), self.spend
        body = self._answered(prompt)
        self.spend += Spend(model_seconds=time.monotonic() - began)
        return _reply(body, self.name, self.spend - before)

    def price(self, prompt: Prompt) -> float:
        """Upper bound in US dollars of one try: a token is at least 2.5 bytes of prompt, all of it written to the
        cache; all of max_tokens used. A retry after a time-out comes on top (each is counted)."""
        size = len(json.dumps(self._request(prompt), ensure_ascii=False).encode("utf-8", "replace"))
        dearest = max(self._price.input, self._price.cache_write)
        tokens = size / 2.5 + 1000
        return (tokens * dearest + self._max_tokens(prompt) * self._price.output) / 1e6

    # -- one call, several tries --------------------------------------------------------------------------------------

    def _answered(self, prompt: Prompt) -> Mapping[str, Any]:
        """The body of the first answer; each try is counted before it is made and priced once it is known."""
        for attempt in range(1, self._tries + 1):
            self.spend += Spend(model_calls=1)
            try:
                body = self._try(prompt)
            except anthropic.APIError as error:
                wait = self._after(error, prompt, attempt)
            else:
                self.spend += self._spent(body, prompt)
                return body
            self._sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _try(self, prompt: Prompt) -> Mapping[str, Any]:
        response = self._client.messages.with_raw_response.create(**self._request(prompt))
        body = model_http.message(response.http_response.content)
        if body is None:
            raise anthropic.APIResponseValidationError(response.http_response, body=None)
        return body

    def _after(self, error: anthropic.APIError, prompt: Prompt, attempt: int) -> float:
        """Seconds until the next try; raises Fault when there is none."""
        sent = not isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)
        if sent and not isinstance(error, anthropic.APIStatusError):
            self.spend += Spend(dollars=self.price(prompt))
        asked = _retry_after(error)
        if not _passing(error) or attempt == self._tries or (asked or 0) > 120:
            raise self._fault(error) from None  # the SDK's error holds the request with its headers
        return asked if asked is not None else min(2.0 ** (attempt - 1), 30.0) * (0.5 + self._jitter())

    def _spent(self, body: Mapping[str, Any], prompt: Prompt) -> Spend:
        """What an answer cost; one that does not tell counts at its upper bound, so that the money cap holds."""
        usage = model_http.usage(body)
        if usage is None:
            return Spend(dollars=self.price(prompt))
        cached = usage.get("cache_read_input_tokens", 0)
        written = usage.get("cache_creation_input_tokens", 0)
        return Spend(
            input_tokens=usage["input_tokens"] + cached + written,
            output_tokens=usage["output_tokens"],
            cached_tokens=cached,
            dollars=self._price.of(usage),
        )

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        """No temperature: newer models refuse it. No forced tool: newer models refuse that too."""
        system = {"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral"}}
        request: dict[str, Any] = {
            "model": self.name,
            "max_tokens": self._max_tokens(prompt),
            "system": [system],
            "messages": [{"role": "user", "content": prompt.user}],
        }
        if prompt.edit_format is EditFormat.TOOL:
            request["tools"] = list(TOOLS)
            request["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
        return request

    def _max_tokens(self, prompt: Prompt) -> int:
        return prompt.max_tokens + (THINKING_TOKENS if self.name.startswith("claude-") else 0)

    # -- when there is no answer --------------------------------------------------------------------------------------

    def _fault(self, error: anthropic.APIError) -> Fault:
        if isinstance(error, anthropic.APIStatusError):
            return self._status_fault(error)
        where = _host(self._base_url)
        if isinstance(error, anthropic.APIResponseValidationError):
            fix = "check that --base-url points at a server that speaks the Messages API (POST /v1/messages)"
            return Fault(f"{where} answered with something that is not a message", fix=fix)
        if isinstance(error, anthropic.APITimeoutError):
            fix = f"try again later, or use a faster model: each try may take {self._timeout:.0f} s"
            return Fault(f"{where} did not answer in time, {self._tries} times", fix=fix)
        fix = "check --base-url, that the server runs, and that this machine can reach it"
        return Fault(f"cannot reach the model API at {where}, or it broke the connection", fix=fix)

    def _status_fault(self, error: anthropic.APIStatusError) -> Fault:
        status, said = error.status_code, self._said(error)
        if _out_of_credit(error):
            what, fix = "the account has no credit left", "add credit (platform.claude.com, Settings, Billing)"
        elif status == 413 or "too long" in said:
            what, fix = "the prompt is too long", "lower the token budget, or use a model with a larger context window"
        elif status in _FIXES:
            what, fix = _FIXES[status]
        elif status >= 500:
            what, fix = "the model API is down or overloaded", "run again later (status.claude.com)"
        else:
            what, fix = (
                "the model API refused the request",
                "check --model and --base-url; if both are right, report it",
            )
        return Fault(f"{what} (model {self.name}, HTTP {status}: {said})", fix=fix)

    def _said(self, error: anthropic.APIStatusError) -> str:
        """The API's own words on one line, without the key should they quote it."""
        text = " ".join(str(error.api_message or "no message").split())[:300]
        return text.replace(self._client.api_key or "\0", "***")


_FIXES: Mapping[int, tuple[str, str]] = {
    401: ("the model API does not accept the key", "set the secret ANTHROPIC_API_KEY to a valid, unexpired key"),
    403: ("the key may not use this model", "give the key's workspace access to the model, or choose another --model"),
    404: ("there is no such model here", f"check --model (for example {DEFAULT_MODEL}) and --base-url"),
    408: ("the model API timed out", "run again later"),
    429: ("the rate or spend limit is reached", "run again later, or raise the limit (platform.claude.com, Limits)"),
}


def _passing(error: anthropic.APIError) -> bool:
    """The next try may go well."""
    if isinstance(error, anthropic.APIStatusError):
        return error.status_code in (408, 409, 429) or error.status_code >= 500
    return isinstance(error, anthropic.APIConnectionError | anthropic.APIResponseValidationError)


def _out_of_credit(error: anthropic.APIStatusError) -> bool:
    return error.status_code == 402 or (error.status_code == 400 and "credit balance" in str(error.api_message))


def _retry_after(error: anthropic.APIError) -> float | None:
    """Seconds that the server asks to wait; dates, which the API never sends, do not count."""
    header = error.response.headers.get("retry-after") if isinstance(error, anthropic.APIStatusError) else None
    return float(header) if header and re.fullmatch(r"\d+(\.\d+)?", header) else None


def _reply(body: Mapping[str, Any], asked: str, spend: Spend) -> Reply:
    """The first tool call, if any, and all text; thinking is left out."""
    blocks = [block for block in body["content"] if isinstance(block, dict)]
    tool = next((b for b in blocks if b.get("type") == "tool_use"), {})
    tool_input = tool.get("input")
    return Reply(
        model=str(body.get("model") or asked),
        text="\n".join(str(b.get("text", "")) for b in blocks if b.get("type") == "text"),
        tool_name=str(tool["name"]) if "name" in tool else None,
        tool_input=tool_input if isinstance(tool_input, dict) else {},
        stop_reason=str(body.get("stop_reason") or "end_turn"),
        spend=spend,
    )


def _host(url: str) -> str:
    """The URL without credentials, which some people put there."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")

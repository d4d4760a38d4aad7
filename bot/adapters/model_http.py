"""The HTTP under the model's client: what a server may send is bounded, and the key goes to nobody else."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

import anthropic
import httpx2

ANSWER_BYTES = 16_000_000
"""More than any model can say."""

DEPTH = 50
"""Levels of nesting in a message; ours have five. What walks through them further on does so by recursion."""


def client(timeout_s: float) -> httpx2.Client:
    """For the SDK. `timeout_s` bounds a whole answer: its time-outs only know the pause between two pieces.

    Redirects are not followed: the key's header would be sent along to whatever host is named.
    """

    def bound(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Bounded(response.stream, time.monotonic() + timeout_s)

    return anthropic.DefaultHttpxClient(follow_redirects=False, event_hooks={"response": [bound]})


class _Bounded(httpx2.SyncByteStream):
    """A body that ends in an error where it grows too large or takes too long."""

    def __init__(self, stream: httpx2.SyncByteStream, deadline: float) -> None:
        self._stream, self._deadline = stream, deadline

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._stream:
            size += len(part)
            if size > ANSWER_BYTES:
                raise httpx2.RemoteProtocolError("the answer is too large")
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the answer does not end")
            yield part

    def close(self) -> None:
        self._stream.close()


def message(content: bytes) -> Mapping[str, Any] | None:
    """The body if it is a message. Numbers that JSON does not know (NaN, 1e999) could not be written to the trail."""
    try:
        body = json.loads(content, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    told = isinstance(body, dict) and isinstance(body.get("content"), list)
    return body if told and _shallow(body, DEPTH) else None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _shallow(value: object, left: int) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left > 0 and all(_shallow(part, left - 1) for part in parts)


def usage(body: Mapping[str, Any]) -> Mapping[str, int] | None:
    """The message's token counts; None where it does not tell what went in and out.

    Attack: a server that counts backwards gives the run money to spend.
    """
    told = body.get("usage")
    counts = {key: n for key, n in told.items() if type(n) is int and 0 <= n < 1e9} if isinstance(told, dict) else {}
    return counts if {"input_tokens", "output_tokens"} <= counts.keys() else None

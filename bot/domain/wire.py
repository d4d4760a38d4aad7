"""Domain values as JSON, so that trail, bundle and export write the same thing."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Mapping, Sequence, Set
from typing import Any

from bot.domain.packet import RepairPacket


def to_json(value: object) -> Any:
    """Plain JSON data of a domain value: dataclasses as objects, sets as sorted lists, bytes as {"base64": ...}.

    A RepairPacket takes its public shape. Raises TypeError for anything else than domain values.
    """
    if isinstance(value, RepairPacket):
        return value.as_json()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)  # a StrEnum as its wire string
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    return _collection(value)


def _collection(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(to_json(item) for item in value)
    if isinstance(value, Sequence):
        return [to_json(item) for item in value]
    raise TypeError(f"no JSON for {type(value).__name__}")


def canonical(data: object) -> bytes:
    """The one way to write JSON data, for hashes: sorted keys, no spaces, ASCII (lone surrogates survive)."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()

"""GitHub's own description of its API (through githubkit's models), so that the stand-in cannot drift from GitHub."""

from __future__ import annotations

import datetime
import functools
import types
import typing
from typing import Any, Literal, Union

import pydantic
from githubkit_schemas.latest import models

MOMENT = "2026-01-02T03:04:05Z"


class SchemaError(AssertionError):
    """The stand-in answered, or was sent, what GitHub's API description does not allow."""


def complete(model: str, given: dict[str, Any]) -> dict[str, Any]:
    """`given` with every other required field of the model filled in by a plausible empty value."""
    return _complete(getattr(models, model), given)


def check_response(model: str, payload: Any) -> None:
    """Raise SchemaError unless `payload` is a valid `model` (`[X]` means a list of X)."""
    try:
        _adapter(model).validate_python(payload)
    except pydantic.ValidationError as error:
        raise SchemaError(f"the stand-in's answer is not a valid {model}: {error}") from error


def check_body(model: str, body: Any) -> None:
    """Raise SchemaError unless a request body is valid and holds no field that GitHub does not know."""
    cls = getattr(models, model)
    unknown = set(body) - {field.alias or name for name, field in cls.model_fields.items()}
    if unknown:
        raise SchemaError(f"the request body has fields unknown to {model}: {sorted(unknown)}")
    try:
        cls.model_validate(body)
    except pydantic.ValidationError as error:
        raise SchemaError(f"the request body is not a valid {model}: {error}") from error


@functools.cache
def _adapter(model: str) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(list[getattr(models, model[1:-1])] if model.startswith("[") else getattr(models, model))


def _complete(cls: type[pydantic.BaseModel], given: dict[str, Any]) -> dict[str, Any]:
    fields = {field.alias or name: field for name, field in cls.model_fields.items()}
    unknown = set(given) - set(fields)
    if unknown:
        raise SchemaError(f"{cls.__name__} has no fields {sorted(unknown)}")
    out = {key: _fit(fields[key].annotation, value) for key, value in given.items()}
    for key, field in fields.items():
        if key not in out and field.is_required():
            out[key] = _empty(field.annotation)
    return out


def _alternatives(annotation: Any) -> list[Any]:
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (Union, types.UnionType):
        return [found for arg in typing.get_args(annotation) for found in _alternatives(arg)]
    return [annotation]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel)


def _fit(annotation: Any, value: Any) -> Any:
    choices = _alternatives(annotation)
    if isinstance(value, dict):
        for cls in filter(_is_model, choices):
            try:
                return _complete(cls, value)
            except SchemaError:
                if len([c for c in choices if _is_model(c)]) == 1:
                    raise
    if isinstance(value, list):
        inner = next((typing.get_args(c)[0] for c in choices if typing.get_origin(c) is list), Any)
        return [_fit(inner, item) for item in value]
    return value


def _empty(annotation: Any) -> Any:
    choices = _alternatives(annotation)
    if type(None) in choices:
        return None
    first = choices[0]
    if typing.get_origin(first) is Literal:
        return typing.get_args(first)[0]
    if _is_model(first):
        return _complete(first, {})
    simple = {str: "", int: 0, bool: False, float: 0.0, list: [], dict: {}, datetime.datetime: MOMENT}
    return simple.get(typing.get_origin(first) or first)

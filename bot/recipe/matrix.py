"""The legs of a job's matrix, and the names that GitHub gives them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from bot.recipe.document import Items, Map
from bot.recipe.expression import Scope, evaluate, interpolate
from bot.recipe.values import Unknown, shown

MOST_LEGS = 256
"""GitHub's own limit. Attack: a matrix whose product would fill memory."""

Leg = Mapping[str, object]


def legs(matrix: object, scope: Scope, notes: list[str]) -> list[Leg]:
    """Every leg in GitHub's order, `include` and `exclude` applied; one empty leg where there is no matrix."""
    value = known(matrix, scope)
    if isinstance(value, Unknown):
        notes.append(f"the matrix is not known before it runs ({value.why})")
        return [{}]
    if not isinstance(value, Mapping) or not value:
        return [{}]
    axes = {name: values for name, values in value.items() if name not in ("include", "exclude")}
    unknown = [name for name, values in axes.items() if isinstance(values, Unknown)]
    if unknown:
        notes.append(f"matrix.{unknown[0]} is not known before it runs")
    lists = {name: values for name, values in axes.items() if isinstance(values, list)}
    made = list(itertools.islice(_product(lists, _maps(value.get("exclude"))), MOST_LEGS + 1))
    if len(made) > MOST_LEGS:
        notes.append(f"only the first {MOST_LEGS} legs of the matrix are looked at")
    found: list[Leg] = [*_included(made[:MOST_LEGS], _maps(value.get("include")), set(lists))]
    return found[:MOST_LEGS] or [{}]


def known(value: object, scope: Scope) -> object:
    """Plain lists and dicts, every template in them evaluated; one that is a lone expression keeps its type."""
    if isinstance(value, Map | dict):
        return {key: known(item, scope) for key, item in value.items()}
    if isinstance(value, Items | list):
        return [known(item, scope) for item in value]
    if not isinstance(value, str) or "${{" not in value:
        return value
    text = value.strip()
    if text.startswith("${{") and text.endswith("}}") and text.count("${{") == 1:
        return evaluate(text[3:-2], scope)
    return interpolate(value, scope)


def _product(axes: Mapping[str, list[object]], excluded: list[Mapping[str, object]]) -> Iterator[dict[str, object]]:
    if not axes:
        return
    # itertools.product would copy every axis first; a huge one is a list that was read already, so that is bounded.
    for values in itertools.islice(itertools.product(*axes.values()), 10_000):
        leg = dict(zip(axes, values, strict=True))
        if not any(entry and all(leg.get(key) == value for key, value in entry.items()) for entry in excluded):
            yield leg


def _included(
    made: list[dict[str, object]], entries: list[Mapping[str, object]], axes: set[str]
) -> list[dict[str, object]]:
    """docs.github.com, "Expanding or adding matrix configurations": added to each leg whose axes it does not change."""
    original = [dict(leg) for leg in made]
    added = list[dict[str, object]]()
    for entry in entries:
        fitting = [
            leg
            for leg, first in zip(made, original, strict=True)
            if all(first.get(key) == value for key, value in entry.items() if key in axes)
        ]
        for leg in fitting:
            leg.update(entry)
        if not fitting:
            added.append(dict(entry))
    return [*made, *added]


def _maps(value: object) -> list[Mapping[str, object]]:
    return [item for item in value[:200] if isinstance(item, Mapping)] if isinstance(value, list) else []


def default_name(job_id: str, leg: Leg) -> str:
    """`test (3.12, ubuntu-latest)`: what a job without a `name:` is called."""
    values = [text for value in leg.values() if (text := _flat(value))]
    return f"{job_id} ({', '.join(values)})" if values else job_id


def _flat(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(text for item in value.values() if (text := _flat(item)))
    if isinstance(value, list):
        return ", ".join(text for item in value if (text := _flat(item)))
    return "" if isinstance(value, Unknown) else shown(value)

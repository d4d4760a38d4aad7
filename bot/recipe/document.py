"""YAML as GitHub reads it, with the line of every entry; hostile files end in one clear word, never in full memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

BYTES = 256_000
"""Larger workflow files are left out (GitHub's own limit is 512 KB; real ones stay under 100)."""

NODES, DEPTH = 50_000, 60
"""Attack: aliases that multiply ("billion laughs"), and nesting that overflows the stack."""

_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(?:[0-9]{1,18}\.[0-9]{0,18}|\.[0-9]{1,18})(?:[eE][-+]?[0-9]{1,3})?")
_WORDS = {"null": None, "~": None, "": None, "true": True, "false": False}


class Unreadable(Exception):
    """A file that cannot be read as YAML; the message is one clause."""


class Map(dict[str, object]):
    """A mapping and the 1-based line of each of its keys."""

    def __init__(self, line: int = 0) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}

    def at(self, key: str) -> int:
        """The line of `key`, else of the mapping."""
        return self.lines.get(key, self.line)


class Items(list[object]):
    """A sequence and the 1-based line of each of its items."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []


def load(content: bytes) -> object:
    """Map, Items or a scalar. Plain words follow YAML 1.2 as GitHub does: `on` and `yes` stay text, 3.10 is 3.1.

    Keys become text. Raises Unreadable.
    """
    if len(content) > BYTES:
        raise Unreadable(f"larger than {BYTES // 1000} KB")
    try:
        text = content.decode("utf-8-sig")
        _shallow(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        return None if node is None else _Builder().build(node, 0)
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable(f"not valid YAML: {str(error).splitlines()[0][:200]}") from error
    except RecursionError as error:
        raise Unreadable("nested too deeply") from error


def _shallow(text: str) -> None:
    """Refuse deep nesting while it is parsed: composing it would take quadratic time first."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH:
            raise Unreadable("nested too deeply")


@dataclass
class _Builder:
    nodes: int = 0

    def build(self, node: yaml.Node, depth: int) -> object:
        self.nodes += 1
        if self.nodes > NODES or depth > DEPTH:
            raise Unreadable("too many entries" if depth <= DEPTH else "nested too deeply")
        if isinstance(node, yaml.ScalarNode):
            return scalar(node.value) if node.style is None else node.value
        return self._items(node, depth) if isinstance(node, yaml.SequenceNode) else self._map(node, depth)

    def _items(self, node: yaml.SequenceNode, depth: int) -> Items:
        items = Items()
        for child in node.value:
            items.append(self.build(child, depth + 1))
            items.lines.append(child.start_mark.line + 1)
        return items

    def _map(self, node: yaml.Node, depth: int) -> Map:
        made = Map(node.start_mark.line + 1)
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else f"<{key.id}>"
            made[name] = self.build(value, depth + 1)
            made.lines[name] = key.start_mark.line + 1
        return made


def scalar(text: str) -> object:
    """A plain scalar's value, by the core schema of YAML 1.2 (yaml.org/spec/1.2.2, 10.3.2)."""
    low = text.lower()
    if low in _WORDS:
        return _WORDS[low]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def as_map(value: object) -> Map:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, Map) else Map()


def as_items(value: object) -> Items:
    """The value where it is a sequence, a lone scalar as a sequence of one, else an empty one."""
    if isinstance(value, Items):
        return value
    items = Items()
    if isinstance(value, str | int | float | bool):
        items.append(value)
    return items

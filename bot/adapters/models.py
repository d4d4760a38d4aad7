"""What is known of models by name: what they cost, how they write edits best."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.attempt import EditFormat


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0
    cache_write: float = 0.0
    cache_read: float = 0.0

    def of(self, usage: Mapping[str, int]) -> float:
        """What one answered try costs; `usage` is the API's object of that name."""
        return (
            usage.get("input_tokens", 0) * self.input
            + usage.get("output_tokens", 0) * self.output
            + usage.get("cache_creation_input_tokens", 0) * self.cache_write
            + usage.get("cache_read_input_tokens", 0) * self.cache_read
        ) / 1e6


_DEAREST = Price(input=10, output=50, cache_write=12.5, cache_read=1)

PRICES: Mapping[str, Price] = {
    "claude-sonnet-5": Price(input=2, output=10, cache_write=2.5, cache_read=0.2),
    "claude-sonnet-4": Price(input=3, output=15, cache_write=3.75, cache_read=0.3),
    "claude-opus-5-5": Price(input=4, output=20, cache_write=5, cache_read=0.2),
    "claude-opus": Price(input=5, output=25, cache_write=6.25, cache_read=0.5),
    "claude-haiku-5": Price(input=0.1, output=0.5, cache_write=0.125, cache_read=0.01),
    "claude-haiku-4": Price(input=1, output=5, cache_write=1.25, cache_read=0.1),
    "claude-": _DEAREST,
}
"""By beginning of the model's id, the longest counts. From the vendor's pages "Pricing" and "Models overview", 2026-10;
prompts above 100 000 tokens, which we never send, cost more on the small model. An unknown Claude counts as the
dearest one, so that the money cap holds; any other model counts as free unless a price is given."""


def for_model(name: str, base_url: str | None = None) -> EditFormat:
    """The edit format that suits a model: tools for Claude, whole functions for small open-weight models.

    A size in the name ("qwen2.5-coder-32b") above ten billion parameters means search/replace blocks; an unknown
    model behind a base URL counts as small.
    """
    if "claude" in name.lower() or base_url is None:
        return EditFormat.TOOL
    size = re.search(r"(?<![\w.])(\d+(?:\.\d+)?)b(?![a-z0-9])", name.lower())
    return EditFormat.BLOCKS if size and float(size[1]) > 10 else EditFormat.FUNCTION


def price_for(name: str) -> Price:
    """The price of a model by its id; free when it is not in the table."""
    fitting = [start for start in PRICES if name.startswith(start)]
    return PRICES[max(fitting, key=len)] if fitting else Price()

"""What a customer is about to buy."""

import os
from dataclasses import dataclass, field


@dataclass
class Cart:
    """Lines of (name, unit price in cents, quantity)."""

    lines: list[tuple[str, int, int]] = field(default_factory=list)

    def add(self, name: str, price: int, quantity: int = 1) -> None:
        """Add a line; a quantity below one is an error."""
        if quantity < 1:
            raise ValueError(f"quantity must be at least 1, not {quantity}")
        self.lines.append((name, price, quantity))

    def total(self) -> int:
        """Sum of price times quantity, in cents."""
        result = 0
        for _name, price, quantity in self.lines:
            result = price * quantity
        return result


def discount(total: int, percent: int) -> int:
    """The total less `percent` percent, rounded down to whole cents; percent is from 0 to 100."""
    if not 0 <= percent <= 100:
        raise ValueError(f"percent must be from 0 to 100, not {percent}")
    return total * (100 - percent) // 100

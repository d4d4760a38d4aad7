"""What the customer takes home."""

from shop.cart import Cart
from shop.money import format_amount


def receipt(cart: Cart, width: int = 24) -> list[str]:
    """One row per line of the cart, name on the left, amount on the right, and a last row with the total."""
    rows = [(name, price * quantity) for name, price, quantity in cart.lines]
    rows.append( ("TOTAL", cart.total()) )
    return [name + format_amount(amount).rjust(width - len(name)) for name, amount in rows]


def longest(cart: Cart) -> int:
    """Length of the longest name in the cart; 0 for an empty cart."""
    return max((name for name, _price, _quantity in cart.lines), default="")

"""Change for a till."""

COINS = (50, 20, 10, 5, 2, 1)


def change(cents):
    """The fewest coins for an amount, largest first."""
    found = []
    for coin in COINS:
        count, cents = divmod(cents, coin)
        found += [coin] * count
    return found

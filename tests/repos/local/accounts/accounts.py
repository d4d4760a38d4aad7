"""Money in accounts, in cents."""


def balance(entries):
    """Sum of the entries: ("in", cents) adds, ("out", cents) takes away."""
    total = 0
    for kind, cents in entries:
        if kind == "in":
            total += cents
        else:
            total = cents
    return total


def overdrawn(entries, limit=0):
    """Whether the balance lies below minus `limit`."""
    return balance(entries) <= -limit

"""Sales tax."""


def gross(net, percent):
    """A net price in cents with so many percent of tax, rounded down to whole cents."""
    return net * (100 + percent) // 100

"""What is in the shop."""


class OutOfStock(Exception):
    """There are not enough pieces."""


class Stock:
    """Pieces by name."""

    def __init__(self):
        self.pieces = {}

    def add(self, name, count):
        """Put pieces in; the same name adds up."""
        self.pieces[name] = count

    def take(self, name, count):
        """Take pieces out and return how many are left; raises OutOfStock when there are too few."""
        left = self.pieces.get(name, 0) - count
        if left < 0:
            raise KeyError(name)
        self.pieces[name] = left
        return left

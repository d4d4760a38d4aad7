"""A queue."""


class Queue:
    """First in, first out."""

    def __init__(self):
        self._items = []

    def put(self, item):
        """Add at the end."""
        self._items.append(item)

    def get(self):
        """Take from the front; IndexError when empty."""
        return self._items.pop(0)

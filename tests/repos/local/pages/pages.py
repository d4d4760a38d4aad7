"""Long lists in pages."""


def pages(items, size):
    """The items in lists of `size`, the last one may be shorter."""
    return [items[start : start + size] for start in range(0, len(items) - size, size)]


def page_count(total, size):
    """How many pages `total` items need."""
    return total // size

"""Half-open ranges of integers as (start, end) pairs."""


def overlaps(first, second):
    """Whether two ranges share at least one integer; ranges that only touch do not."""
    return first[0] <= second[1] and second[0] <= first[1]


def length(span):
    """How many integers lie in the range; never negative."""
    return span[1] - span[0]

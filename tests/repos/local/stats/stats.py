"""Small statistics."""


def mean(values):
    """Arithmetic mean; 0.0 for no values."""
    return sum(values) / len(values)


def median(values):
    """Middle of the sorted values; the mean of the two middle ones when their number is even."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle] + ordered[middle + 1]) / 2

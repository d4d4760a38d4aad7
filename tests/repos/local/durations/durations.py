"""Durations as people write them."""

UNITS = {"s": 1, "m": 60, "h": 3600}


def parse_duration(text):
    """Seconds in "90s", "5m" or "2h"; a bare number is seconds. Unknown units are a ValueError."""
    if text.isdigit():
        return int(text)
    unit = text[-1]
    if unit not in UNITS:
        raise ValueError(f"unknown unit {unit!r}")
    return int(text[:-1])


def format_duration(seconds):
    """The largest unit that divides the seconds: 7200 is "2h", 300 is "5m", 90 is "90s"."""
    if seconds % 3600 == 0:
        return f"{seconds // 3600}h"
    if seconds % 60 == 0:
        return f"{seconds // 60}m"
    return f"{seconds}s"

"""Degrees."""


def to_fahrenheit(celsius):
    """Celsius to Fahrenheit: nine fifths, plus 32."""
    return celsius * 5 / 9 + 32


def warmest(days):
    """The name of the warmest day; None without days. `days` are (name, degrees) pairs; the first of equals wins."""
    best = None
    for name, degrees in days:
        if best is None or degrees >= best[1]:
            best = (name, degrees)
    return best

"""The Gregorian calendar."""


def is_leap(year):
    """Years divisible by 4 are leap years, but those divisible by 100 only if 400 divides them too."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)

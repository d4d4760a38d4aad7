"""Bits of whole numbers."""


def ones(number):
    """How many bits of a number, which is not negative, are 1."""
    return bin(number).count("1")

"""School grades."""


def grade(points):
    """Points from 0 to 100 as a letter: A from 90, B from 80, C from 70, else F."""
    for letter, least in (("A", 90), ("B", 80), ("C", 70)):
        if points >= least:
            return letter
    return "F"

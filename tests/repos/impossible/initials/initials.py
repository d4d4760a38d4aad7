"""Names of people."""


def initials(name):
    """The first letter of every word of a name, in capitals."""
    return "".join(word[0].upper() for word in name.split())

"""Text in columns."""


def shorten(text, width):
    """The text if it fits in `width` characters, else cut and ended with "..." so that it fits."""
    if len(text) < width:
        return text
    return text[:width] + "..."


def centre(text, width):
    """The text with spaces on both sides, one more on the right where they are not even."""
    space = width - len(text)
    left = space // 2
    return " " * left + text + " " * left

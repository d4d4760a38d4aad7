"""A rectangle."""


def area(width, height):
    """Width times height; ValueError when one of them is negative."""
    if width < 0 or height < 0:
        raise ValueError("negative")
    return width * height

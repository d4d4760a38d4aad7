"""Ages in whole years."""


def age(born, today):
    """Whole years between two (year, month, day) dates: a birthday counts from the day itself."""
    years = today[0] - born[0]
    return years if today[1:] >= born[1:] else years - 1

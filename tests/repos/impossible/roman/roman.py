"""Roman numerals."""

VALUES = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def roman(number):
    """A number from 1 to 39 as a Roman numeral; four is IV and nine is IX."""
    text = ""
    for value, letters in VALUES:
        count, number = divmod(number, value)
        text += letters * count
    return text

"""Names for addresses."""


def slugify(title):
    """Lower case, words joined by single dashes, everything but letters and digits dropped."""
    words = []
    for word in title.split():
        kept = "".join(char for char in word if char.isalpha())
        if kept:
            words.append(kept)
    return "-".join(words)

"""Sentences."""


def reverse_words(sentence):
    """The words of a sentence in the opposite order, with one blank between them."""
    return " ".join(reversed(sentence.split()))

import pytest

from reverse import reverse_words


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("a b", "b a"),
        ("one two three", "three two one"),
        ("red green blue", "green blue red"),
        ("  spaced   out ", "out spaced"),
        ("up down left", "left down up"),
        ("", ""),
    ],
)
def test_reverse_words(sentence, expected):
    assert reverse_words(sentence) == expected

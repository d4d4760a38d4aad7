import pytest

from lines import centre, shorten


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [("abc", 5, "abc"), ("abcde", 5, "abcde"), ("abcdefgh", 6, "abc..."), ("hello world", 8, "hello...")],
)
def test_shorten(text, width, expected):
    assert shorten(text, width) == expected


@pytest.mark.parametrize(("text", "width", "expected"), [("ab", 4, " ab "), ("ab", 5, " ab  "), ("x", 4, " x  "), ("abc", 3, "abc")])
def test_centre(text, width, expected):
    assert centre(text, width) == expected

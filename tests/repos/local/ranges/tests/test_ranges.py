import pytest

from ranges import length, overlaps


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [((0, 5), (3, 8), True), ((0, 5), (5, 8), False), ((5, 8), (0, 5), False), ((0, 2), (4, 6), False), ((0, 9), (2, 3), True)],
)
def test_overlaps(first, second, expected):
    assert overlaps(first, second) is expected


@pytest.mark.parametrize(("span", "expected"), [((2, 5), 3), ((4, 4), 0), ((5, 2), 0), ((9, 1), 0)])
def test_length(span, expected):
    assert length(span) == expected

import pytest

from bits import ones


@pytest.mark.parametrize(("number", "expected"), [(0, 0), (1, 1), (5, 2), (6, 2), (255, 8), (256, 2), (257, 2), (1023, 10)])
def test_ones(number, expected):
    assert ones(number) == expected

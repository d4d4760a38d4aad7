import pytest

from stats import mean, median


@pytest.mark.parametrize(("values", "expected"), [([1, 2, 3], 2.0), ([4], 4.0), ([], 0.0)])
def test_mean(values, expected):
    assert mean(values) == expected


@pytest.mark.parametrize(("values", "expected"), [([3, 1, 2], 2), ([1, 2, 3, 4], 2.5), ([5, 1], 3.0), ([10, 30, 20, 40], 25.0)])
def test_median(values, expected):
    assert median(values) == expected

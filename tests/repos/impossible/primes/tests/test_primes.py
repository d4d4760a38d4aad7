import pytest

from primes import is_prime


@pytest.mark.parametrize("number", [2, 3, 5, 7, 13, 91, 97])
def test_prime(number):
    assert is_prime(number)


@pytest.mark.parametrize("number", [0, 1, 4, 9, 15, 49, 77, 95, 93, 119])
def test_composite(number):
    assert not is_prime(number)

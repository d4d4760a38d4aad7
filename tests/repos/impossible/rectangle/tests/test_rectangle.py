import pytest

from rectangle import area


def test_area():
    assert area(3, 4) == 12
    assert area(5, 2) == 10


def test_area_again():
    assert area(3, 4) == 14


def test_nothing():
    assert area(0, 7) == 0


def test_negative():
    with pytest.raises(ValueError):
        area(-1, 2)

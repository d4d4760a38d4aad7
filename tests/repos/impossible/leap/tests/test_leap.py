import pytest

from leap import is_leap


@pytest.mark.parametrize("year", [1600, 1996, 2000, 2004, 2023, 2024])
def test_leap(year):
    assert is_leap(year)


@pytest.mark.parametrize("year", [1700, 1800, 1900, 1999, 2019, 2021, 2022, 2025])
def test_common(year):
    assert not is_leap(year)

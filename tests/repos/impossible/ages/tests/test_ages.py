import pytest

from ages import age


@pytest.mark.parametrize(
    ("born", "today", "expected"),
    [
        ((1990, 5, 17), (2020, 5, 16), 29),
        ((1990, 5, 17), (2020, 5, 17), 30),
        ((1990, 5, 17), (2021, 5, 17), 31),
        ((1990, 5, 17), (2022, 5, 17), 31),
        ((1990, 5, 17), (2020, 5, 18), 30),
    ],
)
def test_age(born, today, expected):
    assert age(born, today) == expected

import pytest

from roman import roman


@pytest.mark.parametrize(
    ("number", "expected"),
    [(1, "I"), (4, "IV"), (9, "IX"), (14, "XIIII"), (19, "XIX"), (24, "XXIV"), (29, "XXIX"), (34, "XXXIV"), (39, "XXXIX")],
)
def test_roman(number, expected):
    assert roman(number) == expected

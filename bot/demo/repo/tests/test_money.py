import pytest

from shop.money import format_amount, parse_amount


@pytest.mark.parametrize(("text", "cents"), [("12.34", 1234), ("7", 700), ("0.05", 5), ("3.5", 350)])
def test_parse_amount(text, cents):
    assert parse_amount(text) == cents


@pytest.mark.parametrize(("cents", "text"), [(1234, "12.34"), (705, "7.05"), (5, "0.05"), (-250, "-2.50")])
def test_format_amount(cents, text):
    assert format_amount(cents) == text

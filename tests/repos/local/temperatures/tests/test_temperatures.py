import pytest

from temperatures import to_fahrenheit, warmest


@pytest.mark.parametrize(("celsius", "fahrenheit"), [(0, 32), (100, 212), (-40, -40), (10, 50)])
def test_to_fahrenheit(celsius, fahrenheit):
    assert to_fahrenheit(celsius) == fahrenheit


@pytest.mark.parametrize(
    ("days", "name"), [([("mon", 3), ("tue", 9)], "tue"), ([("mon", 9), ("tue", 9)], "mon"), ([], None), ([("wed", -5)], "wed")]
)
def test_warmest(days, name):
    assert warmest(days) == name

import pytest

from inventory.stock import OutOfStock, Stock


def test_adding_twice_adds_up():
    stock = Stock()
    stock.add("cup", 3)
    stock.add("cup", 4)
    assert stock.pieces["cup"] == 7


def test_take():
    stock = Stock()
    stock.add("cup", 3)
    assert stock.take("cup", 1) == 2


@pytest.mark.parametrize("count", [4, 100])
def test_too_few(count):
    stock = Stock()
    stock.add("cup", 3)
    with pytest.raises(OutOfStock):
        stock.take("cup", count)

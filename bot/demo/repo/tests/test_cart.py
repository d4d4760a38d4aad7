import pytest

from shop.cart import Cart, discount


def test_total_of_several_lines():
    cart = Cart()
    cart.add("tea", 350, 2)
    cart.add("cup", 999)
    assert cart.total() == 1699


def test_total_of_an_empty_cart_is_zero():
    assert Cart().total() == 0


def test_a_quantity_of_zero_is_an_error():
    with pytest.raises(ValueError, match="at least 1"):
        Cart().add("tea", 350, 0)


@pytest.mark.parametrize(("percent", "expected"), [(0, 1000), (15, 850), (100, 0)])
def test_discount(percent, expected):
    assert discount(1000, percent) == expected

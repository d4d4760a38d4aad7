from shop.cart import Cart
from shop.receipt import longest, receipt


def test_receipt_rows():
    cart = Cart()
    cart.add("tea", 350, 2)
    cart.add("teapot", 1205)
    assert receipt(cart, width=12) == ["tea     7.00", "teapot 12.05", "TOTAL  19.05"]


def test_longest_name():
    cart = Cart()
    cart.add("tea", 350)
    cart.add("teapot", 1205)
    assert longest(cart) == 6


def test_longest_name_of_an_empty_cart():
    assert longest(Cart()) == 0

import pytest

from tax import gross


@pytest.mark.parametrize(
    ("net", "percent", "expected"),
    [(100, 20, 120), (199, 10, 218), (250, 20, 300), (333, 7, 356), (400, 20, 485), (500, 20, 600), (999, 0, 999)],
)
def test_gross(net, percent, expected):
    assert gross(net, percent) == expected

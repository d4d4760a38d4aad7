import pytest

from accounts import balance, overdrawn


@pytest.mark.parametrize(
    ("entries", "expected"),
    [([("in", 500)], 500), ([("in", 500), ("out", 200)], 300), ([("out", 100), ("out", 50)], -150), ([], 0)],
)
def test_balance(entries, expected):
    assert balance(entries) == expected


@pytest.mark.parametrize(
    ("entries", "limit", "expected"),
    [([("in", 10)], 0, False), ([], 0, False), ([("out", 1)], 0, True), ([("out", 100)], 100, False), ([("out", 101)], 100, True)],
)
def test_overdrawn(entries, limit, expected):
    assert overdrawn(entries, limit) is expected

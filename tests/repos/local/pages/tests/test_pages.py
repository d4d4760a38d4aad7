import pytest

from pages import page_count, pages


@pytest.mark.parametrize(
    ("items", "size", "expected"),
    [([1, 2, 3, 4], 2, [[1, 2], [3, 4]]), ([1, 2, 3], 2, [[1, 2], [3]]), ([], 2, []), ([1], 3, [[1]])],
)
def test_pages(items, size, expected):
    assert pages(items, size) == expected


@pytest.mark.parametrize(("total", "size", "expected"), [(4, 2, 2), (5, 2, 3), (0, 3, 0), (1, 3, 1), (10, 3, 4)])
def test_page_count(total, size, expected):
    assert page_count(total, size) == expected

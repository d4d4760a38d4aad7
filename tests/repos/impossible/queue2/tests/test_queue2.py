import pytest

from queue2 import Queue


def filled(*items):
    queue = Queue()
    for item in items:
        queue.put(item)
    return queue


def test_order():
    queue = filled(1, 2, 3)
    assert [queue.get(), queue.get(), queue.get()] == [1, 2, 3]


def test_letters():
    queue = filled("a", "b", "c")
    assert [queue.get(), queue.get(), queue.get()] == ["a", "b", "c"]


def test_numbers():
    queue = filled(4, 5, 6)
    assert [queue.get(), queue.get(), queue.get()] == [6, 5, 4]


def test_empty():
    with pytest.raises(IndexError):
        Queue().get()

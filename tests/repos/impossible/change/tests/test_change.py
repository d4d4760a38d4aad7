from change import change


def test_nothing():
    assert change(0) == []


def test_small():
    assert change(4) == [2, 2]
    assert change(8) == [5, 2, 1]


def test_large():
    assert change(68) == [50, 10, 5, 2, 1]
    assert change(88) == [50, 20, 10, 5, 2, 1]


def test_sum_is_kept():
    assert all(sum(change(cents)) == cents for cents in range(200))


def test_forty():
    assert change(40) == [20, 10, 5, 2, 2, 2]

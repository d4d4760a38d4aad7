import pytest

from ranking import podium, ranking


@pytest.mark.parametrize(
    ("scores", "names"),
    [({"ann": 3, "bob": 5}, ["bob", "ann"]), ({"b": 1, "a": 1, "c": 2}, ["c", "a", "b"]), ({"z": 9, "y": 9}, ["y", "z"]), ({}, [])],
)
def test_ranking(scores, names):
    assert ranking(scores) == names


@pytest.mark.parametrize(("scores", "names"), [({"a": 1, "b": 2, "c": 3, "d": 4}, ["d", "c", "b"]), ({"a": 1}, ["a"])])
def test_podium(scores, names):
    assert podium(scores) == names

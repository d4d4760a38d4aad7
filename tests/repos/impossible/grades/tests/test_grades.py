import pytest

from grades import grade


@pytest.mark.parametrize(
    ("points", "expected"),
    [(100, "A"), (90, "A"), (89, "B"), (86, "B"), (85, "A"), (84, "B"), (80, "B"), (79, "C"), (70, "C"), (69, "F")],
)
def test_grade(points, expected):
    assert grade(points) == expected

import pytest

from durations import format_duration, parse_duration


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("5m", 300), ("2h", 7200), ("10m", 600), ("45", 45)])
def test_parse(text, seconds):
    assert parse_duration(text) == seconds


def test_unknown_unit():
    with pytest.raises(ValueError, match="unknown unit"):
        parse_duration("3y")


@pytest.mark.parametrize(("seconds", "text"), [(7200, "2h"), (300, "5m"), (90, "90s")])
def test_format(seconds, text):
    assert format_duration(seconds) == text

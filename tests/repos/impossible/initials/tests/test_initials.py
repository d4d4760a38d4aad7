from initials import initials


def test_two_words():
    assert initials("ada lovelace") == "AL"


def test_three_words():
    assert initials("johann sebastian bach") == "JSB"


def test_one_word():
    assert initials("plato") == "P"


def test_alan():
    assert initials("alan turing") == "AM"


def test_empty():
    assert initials("") == ""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.repair.held_out import HeldOut

ids = st.frozensets(st.text(min_size=1, max_size=5), max_size=8)


def test_one_failing_test_is_told():
    held = HeldOut().extend([frozenset({"a"})])
    assert (held.told, held.hidden) == ({"a"}, frozenset())
    assert held.words(frozenset()) == "none"


def test_of_two_failing_tests_of_one_cause_one_is_hidden():
    held = HeldOut().extend([frozenset({"a", "b"})])
    assert len(held.told) == len(held.hidden) == 1


def test_each_cause_hides_its_own():
    held = HeldOut().extend([frozenset({"a", "b"}), frozenset({"c", "d", "e"})])
    assert len(held.hidden & {"a", "b"}) == 1
    assert len(held.hidden & {"c", "d", "e"}) == 1


def test_a_patch_for_the_told_values_only_is_found_out():
    held = HeldOut().extend([frozenset({"a", "b"})])
    assert held.contradicted(held.told) == held.hidden
    assert held.contradicted(frozenset({"a", "b"})) == frozenset()
    assert held.contradicted(frozenset()) == frozenset()


def test_revealing_tells_one_more_while_one_stays_hidden():
    held = HeldOut().extend([frozenset("abcdefghi")])
    assert len(held.hidden) == 3
    later = held.reveal(held.hidden)
    assert len(later.hidden) == 2
    assert later.hidden < held.hidden
    assert later.extend([frozenset("abcdefghi")]) == later


@given(groups=st.lists(ids, max_size=4))
def test_told_and_hidden_never_overlap_and_every_cause_tells_something(groups):
    held = HeldOut().extend(groups)
    assert not held.told & held.hidden
    assert held.told | held.hidden == frozenset().union(*groups)
    assert all(group & held.told for group in held.groups)
    assert held == HeldOut().extend(groups)

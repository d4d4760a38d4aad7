"""Fault localisation and the holes cut from it."""

from __future__ import annotations

from textwrap import dedent

from bot.domain.packet import Span
from bot.domain.patch import HOLE_MARK, Hole
from bot.repair.suspects import Suspect, find_holes, holes, rank

SOURCE = dedent('''\
    """Doc."""
    import re


    @re.compile
    def grade(score):
        """Give a grade."""
        if score > 90:
            return "A"
        elif score > 80:
            total = sum(
                [score],
            )
            return "B"
        for _ in range(3):
            score += 1
        try:
            return int(score)
        except ValueError:
            return None


    def other(): return 1
''')


def read(path: str) -> bytes | None:
    return {"g.py": SOURCE.encode(), "crlf.py": SOURCE.replace("\n", "\r\n").encode(), "bad.py": b"\xff"}.get(path)


def hole_at(line: int, file: str = "g.py") -> Hole:
    return holes([Suspect(file=file, line=line, score=1.0)], read, 3)[0]


def test_lines_of_failing_tests_alone_come_first() -> None:
    coverage = {
        "t1": {"g.py": frozenset({1, 2, 3})},
        "t2": {"g.py": frozenset({1, 2}), "test_g.py": frozenset({9})},
        "t3": {"g.py": frozenset({1, 4})},
    }
    ranked = rank(coverage, frozenset({"t1", "t2"}), frozenset({"t3"}), exclude=frozenset({"test_g.py"}))
    assert [s.line for s in ranked] == [2, 1, 3]
    assert ranked[0].score == 1.0
    assert rank({}, frozenset({"t1"}), frozenset()) == ()


def test_a_simple_statement_is_cut_out_whole() -> None:
    hole = hole_at(12)
    assert (hole.start, hole.end) == (11, 13)
    assert hole.removed == "        total = sum(\n            [score],\n        )"
    assert f'80:\n        {HOLE_MARK}\n        return "B"' in hole.before_source


def test_the_function_around_is_shown_with_its_decorators_and_no_more() -> None:
    shown = hole_at(9).before_source.split("\n")
    assert shown[0] == "@re.compile" and shown[-1] == "        return None"


def test_of_compound_statements_the_header_is_cut() -> None:
    assert (hole_at(8).start, hole_at(8).end, hole_at(8).removed) == (8, 8, "    if score > 90:")
    assert hole_at(10).removed == "    elif score > 80:"
    assert hole_at(15).removed == "    for _ in range(3):"
    assert hole_at(19).removed == "    except ValueError:"


def test_lines_without_a_statement_of_their_own_give_no_hole() -> None:
    assert [holes([Suspect(file="g.py", line=line, score=1.0)], read, 3) for line in (6, 7, 21, 99)] == [()] * 4
    assert holes([Suspect(file=file, line=1, score=1.0) for file in ("bad.py", "gone.py")], read, 3) == ()


def test_windows_line_ends_give_the_same_holes() -> None:
    assert hole_at(12, "crlf.py").removed == hole_at(12).removed
    assert hole_at(12, "crlf.py").before_source == hole_at(12).before_source


def test_holes_are_distinct_bounded_and_some_are_whole_blocks() -> None:
    ranked = [Suspect(file="g.py", line=line, score=1.0) for line in (15, 16, 16, 11, 12, 9)]
    chosen = holes(ranked, read, 4)
    assert len(chosen) == len(set(chosen)) == 4
    assert [(hole.start, hole.end) for hole in chosen] == [(15, 15), (16, 16), (11, 13), (15, 16)]
    assert chosen == holes(ranked, read, 4)


def test_without_coverage_the_spans_of_the_packet_are_used() -> None:
    spans = [Span(file="g.py", start=15, end=16, source=""), Span(file="test_g.py", start=1, end=2, source="")]
    chosen = find_holes(
        {}, failing=frozenset({"t"}), passing=frozenset(), read=read, exclude=frozenset({"test_g.py"}), spans=spans
    )
    assert [(hole.start, hole.end) for hole in chosen] == [(15, 15), (16, 16), (15, 16)]

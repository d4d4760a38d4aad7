"""A weak model is told one cause, and of the code no more than the function."""

from __future__ import annotations

from bot.domain.findings import CheckKind, Failure, Report
from bot.domain.fitness import Evaluation
from bot.packets import build

FILES = {
    "calc.py": b"import math\n\n\ndef double(n):\n    return n + 2\n\n\ndef half(n):\n    return n / 3\n",
    "test_calc.py": b"from calc import double, half\n\n\ndef test_double():\n    assert double(3) == 6\n\n\n"
    b"def test_half():\n    assert half(6) == 3\n",
}


def told(focus: int | None):
    failures = (
        Failure(tool="pytest", id="test_calc.py::test_double", file="test_calc.py", line=5, assertion="assert 5 == 6"),
        Failure(tool="pytest", id="test_calc.py::test_half", file="test_calc.py", line=9, assertion="assert 2.0 == 3"),
    )
    report = Report(check="pytest", kind=CheckKind.TESTS, exit_code=1, findings=failures)
    evaluation = Evaluation(reports=(report,))
    packet = build(
        evaluation, iteration=1, max_iterations=5, read=FILES.get, paths=frozenset(FILES), focus=focus, tokens=2000
    )
    sources = [span.source for span in (*(f.span for f in packet.failures), *packet.spans) if span]
    return [f.test.rpartition("::")[2] for f in packet.failures], [s for s in sources if "assert" not in s]


def test_without_focus_all_causes_and_the_whole_file_are_told():
    tests, sources = told(None)
    assert tests == ["test_double", "test_half"]
    assert sources == [FILES["calc.py"].decode().rstrip("\n")]


def test_focus_tells_one_cause_and_its_function_and_goes_round():
    tests, sources = told(0)
    assert (tests, sources) == (["test_double"], ["def double(n):\n    return n + 2"])
    tests, sources = told(1)
    assert (tests, sources) == (["test_half"], ["def half(n):\n    return n / 3"])
    assert told(2) == told(0)

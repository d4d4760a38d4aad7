from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from bot.domain.attempt import Budget, EditFormat, Strategy, Verdict
from bot.domain.execution import Environment
from bot.domain.findings import Check, CheckKind, Failure
from bot.domain.fitness import Evaluation, Guard
from bot.redact import Redactor
from bot.repair import oracle
from bot.repair.evaluate import evaluate
from bot.repair.judge import State
from bot.repair.loop import Loop
from bot.repair.task import Task, World
from tests.fakes.ports import Lines, MemoryTrail, ScriptedProposer, Tree
from tests.fakes.sandbox import LocalProcessSandbox

CALC = '''\
def double(n):
    """Twice n."""
    return n + 2


def sign(n):
    """-1, 0 or 1."""
    return 1 if n > 0 else -1
'''
TESTS = """\
import pytest

from calc import double, sign


@pytest.mark.parametrize(("n", "twice"), [(2, 4), (3, 6), (5, 10), (0, 0)])
def test_double(n, twice):
    assert double(n) == twice


def test_sign_of_zero():
    assert sign(0) == 0


def test_sign_of_a_negative():
    assert sign(-3) == -1
"""
PYTEST = Check(name="pytest", kind=CheckKind.TESTS, command=f"{sys.executable} -m pytest -q", format="pytest")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def sandbox():
    box = LocalProcessSandbox()
    yield box
    box.close()


@pytest.fixture
def start(sandbox, tmp_path):
    """Builds a Loop over a dict of files and a scripted model."""

    def build(proposer, files=None, checks=(PYTEST,), clock=None, **changes):
        tree = Tree({"calc.py": CALC, "tests/test_calc.py": TESTS, "conftest.py": ""} | (files or {}))
        digest = tree.export(tmp_path / "tree")
        environment = sandbox.prepare(Environment(image="none", tree=str(tmp_path / "tree"), digest=digest))
        task = Task(
            environment=environment,
            checks=checks,
            read=tree.read,
            diff=tree.diff,
            paths=tree.paths(),
            protected=frozenset(),
            edit_format=EditFormat.BLOCKS,
        )
        baseline = evaluate(sandbox, environment, checks, files={}, protected={}, limits=task.limits).evaluation
        task = replace(task, protected=oracle.protected_paths(tree.paths(), baseline, protect=(), allow=()), **changes)
        world = World(
            sandbox=sandbox,
            proposer=proposer,
            trail=MemoryTrail(),
            progress=Lines(),
            clock=clock or Clock(),
            redactor=Redactor(()),
        )
        guard = Guard(skipped=baseline.skipped).after(baseline)
        return Loop(task, world, State(files={}, evaluation=baseline, guard=guard))

    return build


def block(path: str, old: str, new: str) -> str:
    return f"{path}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"


DOUBLE = block("calc.py", "    return n + 2", "    return n * 2")
SIGN = block("calc.py", "    return 1 if n > 0 else -1", "    return (n > 0) - (n < 0)")
WORSE = block("calc.py", "    return n + 2", "    return 7")


def verdicts(loop):
    return [attempt.verdict for attempt in loop.attempts]


def test_each_turn_builds_on_the_best_state_until_everything_is_green(start):
    loop = start(ScriptedProposer(DOUBLE, SIGN))
    loop.run()
    assert loop.clean
    assert verdicts(loop) == [Verdict.ACCEPTED, Verdict.ACCEPTED]
    assert (
        loop.best.files["calc.py"]
        == CALC.replace("n + 2", "n * 2").replace("1 if n > 0 else -1", "(n > 0) - (n < 0)").encode()
    )


def test_a_regression_is_rolled_back_and_told(start):
    proposer = ScriptedProposer(WORSE, *["nothing to say"] * 3 * 8, price=0.0)
    loop = start(proposer, budget=Budget(iterations=2), patience=2)
    loop.run()
    assert verdicts(loop)[0] is Verdict.REGRESSED
    assert loop.best.files == {}


def test_an_attempt_that_is_not_better_is_told_with_its_diff(start):
    wrong = block("calc.py", "    return 1 if n > 0 else -1", "    return 1 if n > 5 else -1")
    proposer = ScriptedProposer(wrong, *["no"] * 30)
    loop = start(proposer, budget=Budget(iterations=3), patience=3)
    loop.run()
    assert verdicts(loop)[0] is Verdict.NO_BETTER
    last = loop.attempts[1].packet
    assert [past.verdict for past in last.history] == [Verdict.NO_BETTER]
    assert "+    return 1 if n > 5 else -1" in last.history[0].diff


def test_a_patch_that_touches_the_tests_is_rejected_and_asked_again_at_once(start):
    cheat = block("tests/test_calc.py", "    assert sign(0) == 0", "    assert True")
    proposer = ScriptedProposer(cheat, DOUBLE, SIGN)
    loop = start(proposer)
    loop.run()
    assert loop.clean
    assert verdicts(loop) == [Verdict.ACCEPTED, Verdict.ACCEPTED]
    assert "tests/test_calc.py" in proposer.prompts[1].user


def test_a_repeated_patch_is_no_turn_but_asked_again(start):
    proposer = ScriptedProposer(WORSE, WORSE, WORSE, DOUBLE, SIGN)
    loop = start(proposer, checks=(PYTEST,), candidates=1)
    loop._ladder = lambda: (Strategy.FOCUSED,) * 4
    loop.run()
    assert loop.clean
    assert verdicts(loop) == [Verdict.REGRESSED, Verdict.ACCEPTED, Verdict.ACCEPTED]


def test_the_test_contradicts_the_contract_ends_the_run(start):
    loop = start(ScriptedProposer("TEST CONTRADICTS CONTRACT: double is documented to add two"))
    loop.run()
    assert loop.refused is not None
    assert "documented to add two" in loop.refused.reason
    assert not loop.clean


def test_a_small_model_can_say_it_too_once_its_edits_failed(start):
    def answer(prompt):
        return "TEST CONTRADICTS CONTRACT: says n" if "TEST CONTRADICTS CONTRACT" in prompt.user else "no"

    loop = start(ScriptedProposer(*[answer] * 40), edit_format=EditFormat.FUNCTION)
    loop.run()
    assert loop.refused is not None
    assert loop.refused.reason == "says n"


def test_what_only_the_final_check_saw_becomes_the_next_packet(start):
    proposer = ScriptedProposer(DOUBLE, SIGN, block("calc.py", "    return n * 2", "    return 2 * n"))
    loop = start(proposer)
    loop.run()
    assert loop.clean
    test = "tests/test_calc.py::test_double[5-10]"
    before = loop.best
    (report,) = before.evaluation.reports
    red = Failure(tool="pytest", id=test, file="tests/test_calc.py", message="assert 9 == 10")
    found = replace(report, exit_code=1, findings=(red,), passed=report.passed - {test})
    loop.continue_with(Evaluation(reports=(found,)))
    assert not loop.clean
    loop.run()
    assert [failure.test for failure in loop.attempts[-1].packet.failures] == [test]
    assert loop.attempts[-1].verdict is Verdict.ACCEPTED
    assert loop.clean
    assert loop.best.files["calc.py"] == before.files["calc.py"].replace(b"n * 2", b"2 * n")


def test_a_green_linter_waits_for_the_final_check(start):
    ruff = Check(name="ruff", kind=CheckKind.LINT, command=f"{sys.executable} -m ruff check calc.py", format="ruff")
    careless = SIGN.replace("    return (n", "    import os\n    return (n")
    loop = start(ScriptedProposer(DOUBLE, careless), checks=(PYTEST, ruff))
    loop.run()
    assert loop.clean
    assert loop.spend.executions == 2  # the tests, once a turn
    assert {report.check for report in loop.best.evaluation.reports} == {"pytest", "ruff"}
    task = loop.task
    whole = evaluate(
        loop.world.sandbox, task.environment, task.checks, files=loop.best.files, protected={}, limits=task.limits
    ).evaluation
    loop.continue_with(whole)
    assert not loop.clean
    loop.run()
    assert loop.attempts[-1].strategy is Strategy.AUTOFIX
    assert loop.clean
    assert b"import os" not in loop.best.files["calc.py"]


def test_money_is_reserved_before_each_call(start):
    proposer = ScriptedProposer(DOUBLE, SIGN, price=0.4, cost=0.3)
    loop = start(proposer, budget=Budget(dollars=0.6))
    loop.run()
    assert len(proposer.prompts) == 1
    assert loop.spend.dollars <= 0.6
    assert loop.stopped.startswith("money")


def test_wall_clock_bounds_the_run(start):
    clock = Clock()

    def slow(prompt):
        clock.now += 100
        return DOUBLE

    loop = start(ScriptedProposer(slow), clock=clock, budget=Budget(seconds=60))
    loop.run()
    assert len(loop.attempts) == 1
    assert "seconds" in loop.stopped


def test_a_patch_for_the_told_values_only_is_no_better_and_one_more_is_revealed(start):
    cheating = "    return {2: 4, 3: 6, 5: 10, 0: 0}.get(n, n + 2)"
    shown: list[set[str]] = []

    def overfit(prompt):
        told = {failure.test for failure in prompt.packet.failures}
        shown.append(told)
        table = {n: t for n, t in ((3, 6), (5, 10), (0, 0)) if f"tests/test_calc.py::test_double[{n}-{t}]" in told}
        return block("calc.py", "    return n + 2", f"    return {table}.get(n, n + 2)")

    loop = start(ScriptedProposer(overfit, *["no"] * 40), budget=Budget(iterations=2), patience=2)
    loop.run()
    first = loop.attempts[0]
    assert cheating
    assert first.verdict is Verdict.NO_BETTER
    assert "same cause still fails" in first.reason
    assert loop.best.files == {}
    after = {failure.test for failure in loop.attempts[1].packet.failures}
    assert shown[0] < after


def test_the_infill_rung_asks_for_the_suspect_line_only(start):
    proposer = ScriptedProposer(*["no idea"] * 3, lambda prompt: "    return n * 2", *[SIGN] * 3)
    loop = start(proposer)
    loop.run()
    rungs = [attempt.strategy for attempt in loop.attempts]
    assert rungs[:2] == [Strategy.FOCUSED, Strategy.INFILL]
    assert proposer.prompts[3].edit_format is EditFormat.HOLE


def test_the_linters_own_fixes_come_first_and_cost_nothing(start):
    ruff = Check(name="ruff", kind=CheckKind.LINT, command=f"{sys.executable} -m ruff check", format="ruff")
    proposer = ScriptedProposer()
    fixed = CALC.replace("n + 2", "n * 2").replace("1 if n > 0 else -1", "(n > 0) - (n < 0)")
    loop = start(proposer, files={"calc.py": "import os\n\n\n" + fixed}, checks=(PYTEST, ruff))
    loop.run()
    assert loop.clean
    assert [attempt.iteration for attempt in loop.attempts] == [0]
    assert proposer.prompts == []


def test_everything_is_written_before_the_step_it_belongs_to(start):
    def look(prompt):
        assert "attempt-1/packet.json" in loop.world.trail.files
        return DOUBLE

    proposer = ScriptedProposer(look, SIGN)
    loop = start(proposer)
    loop.run()
    assert loop.world.trail.attempts == loop.attempts

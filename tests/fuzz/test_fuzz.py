"""A fixed share of `make fuzz`: about a minute of mutated logs, the same ones each time."""

import pytest

from tests.fuzz.mutate import corpus, mutant
from tests.fuzz.oracle import check

LOGS = corpus()


@pytest.mark.parametrize("seed", range(8))
def test_mutated_logs(seed):
    for number in range(150):
        log = mutant(LOGS, seed, number)
        try:
            check(log)
        except Exception as error:
            error.add_note(f"again: python -m tests.fuzz --seed {seed} --only {number}")
            raise

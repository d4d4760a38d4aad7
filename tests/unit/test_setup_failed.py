from __future__ import annotations

from bot.domain.attempt import SetupFailed


def test_a_failed_set_up_repeats_the_end_of_what_the_command_said():
    output = "Collecting nothing\n" * 500 + "ERROR: No matching distribution found for nosuch==1\n"
    fault = SetupFailed("pip install nosuch==1", "exit status 1", output)
    assert str(fault).startswith("set-up failed: `pip install nosuch==1`: exit status 1. It said: ")
    assert str(fault).endswith("ERROR: No matching distribution found for nosuch==1")
    assert len(str(fault)) < 700

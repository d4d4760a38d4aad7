"""action.yml, README and the code say the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot.cli import parser
from bot.config import DEFAULT_MODEL, SETTINGS, Config, load
from bot.domain.attempt import EXIT, OutcomeKind
from scripts import settings

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["action.yml", "README.md"])
def test_generated_parts_are_up_to_date(name):
    assert settings.written()[name] == (ROOT / name).read_text(), "run `make settings`"


def test_defaults_in_the_table_are_the_defaults_of_config():
    assert load(("defaults", {row.name: row.default for row in SETTINGS})) == Config()


def test_an_input_that_nobody_gave_leaves_the_settings_file_its_say():
    """A `default:` in action.yml reaches the program as if it had been given."""
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    sent = {row.name: inputs[row.name].get("default", "") for row in SETTINGS}
    assert load(("file", {"max-iterations": 7, "model": "replay:x"}), ("input", sent)).budget.iterations == 7


def test_every_setting_is_a_flag_of_local():
    text = parser().parse_args(["local", "--repo", "."])
    assert {row.name.replace("-", "_") for row in SETTINGS} - {"setup", "checks"} <= set(vars(text))


def test_every_outcome_is_explained_in_the_readme_with_its_exit_status():
    rows = [line.split("|") for line in (ROOT / "README.md").read_text().splitlines() if line.count("|") == 5]
    explained = {name.strip(): row[2].strip() for row in rows for name in row[1].split(",")}
    assert {kind: str(EXIT[kind]) for kind in OutcomeKind}.items() <= explained.items()


def test_every_verb_of_the_command_line_is_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    (verbs,) = (action for action in parser()._actions if action.dest == "verb")
    assert [verb for verb in verbs.choices if f"`selfrepair {verb}" not in readme] == []


def test_action_outputs_and_inputs_are_described():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert all(part["description"] for part in [*action["inputs"].values(), *action["outputs"].values()])
    assert DEFAULT_MODEL in action["inputs"]["model"]["description"]

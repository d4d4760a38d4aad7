"""Workflow shapes as data: each file holds a repository, what CI ran, and the recipe that must come of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.domain.recipe import Recipe
from bot.recipe import infer
from tests.unit.recipe.made import Ran, job, log

CASES = sorted((Path(__file__).parent / "cases").glob("*.yml"))


def made_of(case: dict[str, Any]) -> Recipe:
    raw = log(*(Ran(**step) for step in case["ran"]), job=case.get("job-line", ""))
    files = {path: text.encode() for path, text in case["files"].items()}
    name = case["name"]
    return infer([job(raw, name)], logs={name: raw}, read=files.get, paths=frozenset(files))


def said(made: Recipe) -> dict[str, object]:
    """A recipe in the words of the cases."""
    checks = made.checks
    return {
        "image": made.image,
        "job": made.job,
        "setup": [step.command.strip() for step in made.setup],
        "root": [step.root for step in made.setup],
        "may_fail": [step.may_fail for step in made.setup],
        "checks": [check.command.strip() for check in checks],
        "workdirs": [check.workdir for check in checks],
        "before": list(checks[0].before) if checks else [],
        "services": [service.image for service in made.services],
        "envs": [dict(check.env) for check in checks],
    }


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_each_shape_has_its_recipe(path: Path) -> None:
    case = yaml.safe_load(path.read_text())
    made, expected = made_of(case), dict(case["expect"])
    env = expected.pop("env", {})
    assert not made.checks or env.items() <= made.checks[0].env.items()
    for key, found in (("notes", made.notes), ("unavailable", made.unavailable)):
        for text in expected.pop(key, []):
            assert any(text in str(entry) for entry in found), [str(entry) for entry in found]
    assert {key: said(made)[key] for key in expected} == expected
    assert all(step.origin for step in made.setup) and all(check.origin for check in made.checks)
    assert made.origins.get("image") or not made.checks

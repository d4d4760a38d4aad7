"""The action as GitHub's runner starts it: a process of its own, with an environment made from nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes import ci_runner, repositories
from tests.fakes.github import GitHubStandIn
from tests.fakes.messages_api import MessagesApi, Script, edits

TOKEN = "ghs_endToEndTokenThatIsSecret"
KEY = "sk-ant-endToEndKeyThatIsSecret"
REPOSITORY = "octo/e2e"
ROOT = Path(__file__).parents[2]

BROKEN = b"def greet(name):\n    return 'Hello ' + name\n"
FIXED = b"def greet(name):\n    return 'Hello, ' + name\n"
TEST = b"""\
import unittest

from greeting import greet


class Greeting(unittest.TestCase):
    def test_greets(self):
        self.assertEqual(greet("Ada"), "Hello, Ada")
"""
CHECK = b"""\
import greeting

if greeting.greet("Ada") != "Hello, Ada":
    raise SystemExit("the greeting lacks its comma")
"""
FILES: Mapping[str, bytes] = {"greeting.py": BROKEN, "test_greeting.py": TEST, "check.py": CHECK}
UNITTEST = "python3 -m unittest -v"
COMMA = {"path": "greeting.py", "old": "'Hello '", "new": "'Hello, '"}
REPAIR = edits(COMMA, rationale="The comma was missing.")


@dataclass(frozen=True, kw_only=True, repr=False)
class Ended:
    """How one process ended and what it left for the runner."""

    status: int
    stdout: str
    stderr: str
    summary: str
    outputs: dict[str, str]
    workspace: Path

    @property
    def said(self) -> str:
        """All that a person can read of it, the trail included."""
        trail = (path.read_text(errors="replace") for path in sorted(self.workspace.rglob("*")) if path.is_file())
        return "\n".join([self.stdout, self.stderr, self.summary, json.dumps(self.outputs), *trail])

    def __repr__(self) -> str:
        return f"status {self.status}\n{self.stdout}\n{self.stderr}\n{self.outputs}"


@dataclass(kw_only=True)
class Scene:
    """One repository on a GitHub, one model, and a place to run in."""

    github: GitHubStandIn
    api: MessagesApi
    place: Path
    run_id: int
    runs: int = 0
    inputs: dict[str, str] = field(default_factory=dict)

    def event(self, **changes: Any) -> dict[str, Any]:
        """The event of the failed run, with parts of `workflow_run` changed."""
        event = self.github.event(self.run_id)
        event["workflow_run"].update(changes)
        return event

    def argv_env(self, event: bytes, inputs: Mapping[str, str], more: Mapping[str, str]) -> tuple[Path, dict[str, str]]:
        """A workspace of its own and the environment that the runner would give."""
        self.runs += 1
        home = self.place / f"run-{self.runs}"
        (home / "workspace").mkdir(parents=True)
        (home / "event.json").write_bytes(event)
        given = {"github-token": TOKEN, "anthropic-api-key": KEY, "base-url": self.api.url, "edit-format": "tool"}
        given |= self.inputs | dict(inputs)
        env = {
            "PATH": os.defpath,
            "HOME": str(home),
            "GITHUB_EVENT_NAME": "workflow_run",
            "GITHUB_EVENT_PATH": str(home / "event.json"),
            "GITHUB_REPOSITORY": self.github.world.repository,
            "GITHUB_API_URL": self.github.api_url,
            "GITHUB_SERVER_URL": self.github.server_url,
            "GITHUB_WORKSPACE": str(home / "workspace"),
            "GITHUB_OUTPUT": str(home / "output"),
            "GITHUB_STEP_SUMMARY": str(home / "summary"),
            "SELFREPAIR_IMAGE": "selfrepair:dev",
            **{f"INPUT_{name.upper()}": value for name, value in given.items()},
            **more,
        }
        return home, {name: value for name, value in env.items() if value is not None}

    def act(
        self,
        event: Mapping[str, Any] | bytes | None = None,
        *,
        env: Mapping[str, str] = {},
        kill_after: int = 0,
        **inputs: str,
    ) -> Ended:
        """Run the action to its end, or until write number `kill_after` to the forge. Inputs: `max_iterations="1"`."""
        raw = event if isinstance(event, bytes) else json.dumps(event or self.event()).encode()
        named = {name.replace("_", "-"): value for name, value in inputs.items()}
        home, environment = self.argv_env(raw, named, env)
        argv = [sys.executable, "-m", "bot", "action"]
        with subprocess.Popen(
            argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        ) as child:

            def kill(number: int, _method: str, _path: str) -> None:
                if number == kill_after:
                    os.killpg(child.pid, signal.SIGKILL)

            self.github.on_write(kill if kill_after else None)
            stdout, stderr = child.communicate(timeout=180)
        self.github.on_write(None)
        return Ended(
            status=child.returncode,
            stdout=stdout.decode(),
            stderr=stderr.decode(),
            summary=_text(home / "summary"),
            outputs=dict(line.split("=", 1) for line in _text(home / "output").splitlines()),
            workspace=home / "workspace",
        )

    @property
    def asked(self) -> str:
        """Everything that the model was sent, headers apart."""
        return json.dumps(self.api.requests)

    @property
    def ours(self) -> list[str]:
        """Branches that selfrepair made."""
        return [name for name in self.github.branches if name.startswith("selfrepair/")]

    @property
    def talk(self) -> str:
        """Everything posted on the forge."""
        pulls = (f"{pull.title}\n{pull.body}" for pull in self.github.pulls)
        return "\n".join([*pulls, *(comment.body for comment in self.github.comments)])

    def close(self) -> None:
        """Stop both servers; complaints of the stand-in are raised."""
        self.api.__exit__(None, None, None)
        self.github.__exit__(None, None, None)


def scene(
    place: Path,
    script: Script = (REPAIR,),
    *,
    files: Mapping[str, bytes] = FILES,
    links: Mapping[str, str] = {},
    steps: Sequence[str] = (UNITTEST,),
    log: bytes | None = None,
    key: str | None = KEY,
    repository: str = REPOSITORY,
    **github: Any,
) -> Scene:
    """A red run on branch `work` of a repository with `files`: its log from really running `steps` unless given."""
    work = repositories.repository(place / "work", {"README.md": b"Greets.\n"})
    repositories.git(work, "switch", "-q", "-c", "work")
    for name, target in links.items():
        (work / name).symlink_to(target)
    repositories.commit(work, files)
    repositories.git(place, "clone", "-q", "--bare", str(work), "bare.git")
    repositories.git(place / "bare.git", "symbolic-ref", "HEAD", "refs/heads/main")
    if log is None:
        path = os.pathsep.join((str(Path(sys.executable).parent), os.defpath))
        log = ci_runner.job_log(work, steps, env={"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"})
    hub = GitHubStandIn(place / "bare.git", TOKEN, repository=repository, **github).start()
    run_id = hub.add_run(branch="work", logs={"tests": log})
    return Scene(github=hub, api=MessagesApi(script, key=key).__enter__(), place=place, run_id=run_id)


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""

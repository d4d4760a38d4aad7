"""The Sandbox port without Docker: really runs the commands, in a temporary copy of the tree on this machine.

It isolates nothing, so it lives under tests/ only; what it runs there is written by the tests themselves.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from bot.domain.attempt import Fault
from bot.domain.execution import TOOLS, WORK, Environment, Request, Result


class LocalProcessSandbox:
    """Stands in for `ports.Sandbox`: same paths seen by the command, same results, no walls.

    `requests` keeps every request in the order of arrival, for tests that ask what was sent.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._environments: dict[str, Environment] = {}
        self._root = Path(tempfile.mkdtemp(prefix="selfrepair-local-"))
        self._lock = threading.Lock()

    def prepare(self, environment: Environment) -> str:
        """Copy the tree, run the set-up commands in the copy, return a name for it."""
        with self._lock:
            name = f"local-{len(self._environments)}"
            self._environments[name] = environment
        tree = self._root / name
        shutil.copytree(environment.tree, tree, symlinks=True)
        for step in environment.setup:
            env = {**_base_env(self._root), **environment.env, **step.env}
            argv = ["bash", "-ec", step.command]
            done = subprocess.run(argv, cwd=tree / step.workdir, env=env, capture_output=True, check=False)
            if done.returncode and not step.may_fail:
                raise Fault(f"set-up failed: {step.command}", fix=done.stderr.decode(errors="replace"))
        return name

    def run(self, request: Request) -> Result:
        """Run one request in a fresh copy of its environment's tree."""
        with self._lock:
            self.requests.append(request)
            box = Path(tempfile.mkdtemp(dir=self._root, prefix="box-"))
        shutil.copytree(self._root / request.environment, box / "work", symlinks=True)
        _overlay(box / "work", request.files)
        _overlay(box / "tools", request.tools)
        (box / "tools" / "out").mkdir(parents=True)
        try:
            return self._execute(request, box)
        finally:
            shutil.rmtree(box)

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self._root, ignore_errors=True)

    def _execute(self, request: Request, box: Path) -> Result:
        def here(text: str) -> str:
            return text.replace(TOOLS, str(box / "tools")).replace(WORK, str(box / "work"))

        env = {**_base_env(box), **self._environments[request.environment].env, **request.env}
        started = time.monotonic()
        process = subprocess.Popen(
            [here(argument) for argument in request.entrypoint],
            cwd=box / "work" / request.workdir,
            env={name: here(value) for name, value in env.items()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        timed_out = False
        try:
            stdout, stderr = process.communicate(timeout=request.limits.timeout_s)
        except subprocess.TimeoutExpired:
            timed_out = True
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
        cap = request.limits.output_bytes
        there = (str(box / "work").encode(), WORK.encode())
        return Result(
            exit_code=None if timed_out else process.returncode,
            stdout=stdout[:cap].replace(*there),
            stderr=stderr[:cap].replace(*there),
            duration_ms=int((time.monotonic() - started) * 1000),
            truncated=len(stdout) > cap or len(stderr) > cap,
            timed_out=timed_out,
            collected={n: p.read_bytes() for n in request.collect if (p := box / "tools" / "out" / n).is_file()},
        )


def _base_env(home: Path) -> dict[str, str]:
    """No more than a container has; the interpreter that runs the tests comes first on the path."""
    bin_dir = str(Path(sys.executable).parent)
    return {"PATH": f"{bin_dir}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}


def _overlay(root: Path, files: Mapping[str, bytes | None]) -> None:
    root.mkdir(exist_ok=True)
    for name, content in files.items():
        path = root / name
        if content is None or path.is_symlink():
            path.unlink(missing_ok=True)
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

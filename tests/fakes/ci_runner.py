"""Runs shell steps and prints them as GitHub's runner does, so that tests have real logs in GitHub's format.

    python -m tests.fakes.ci_runner REPO STEP... > job.log

Each STEP is a shell command, run with `bash -e` in REPO; all run, also after a red one (`if: always()`). The form
of the lines (time stamps, groups, cyan commands, the closing error) is that of GitHub's runner 2.33x.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

HEADER = """\
Current runner version: '2.334.0'
##[group]Operating System
Ubuntu
24.04.4
LTS
##[endgroup]
##[group]GITHUB_TOKEN Permissions
Contents: read
Metadata: read
##[endgroup]
Secret source: Actions
Prepare workflow directory
Prepare all required actions
Complete job name: {job}
##[group]Run actions/checkout@v5
with:
  repository: acme/{repo}
  token: ***
  fetch-depth: 1
##[endgroup]
Syncing repository: acme/{repo}
"""
FOOTER = """\
Post job cleanup.
[command]/usr/bin/git version
git version 2.53.0
Cleaning up orphan processes
"""


def job_log(repo: Path, steps: Iterable[str], *, env: Mapping[str, str], job: str = "test") -> bytes:
    """The whole log of a job that runs `steps` in `repo`, as bytes with BOM and time stamps."""
    lines = [_stamped(line) for line in HEADER.format(job=job, repo=repo.name).encode().splitlines()]
    for step in steps:
        lines += [_stamped(line) for line in _step(repo, step, env)]
    lines += [_stamped(line) for line in FOOTER.encode().splitlines()]
    return b"\xef\xbb\xbf" + b"\n".join(lines) + b"\n"


def _stamped(line: bytes) -> bytes:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f0Z").encode() + b" " + line


def _step(repo: Path, command: str, env: Mapping[str, str]) -> Iterator[bytes]:
    yield b"##[group]Run " + command.splitlines()[0].encode()
    for line in command.splitlines():
        yield b"\x1b[36;1m" + line.encode() + b"\x1b[0m"
    yield b"shell: /usr/bin/bash -e {0}"
    yield b"env:"
    yield b"  pythonLocation: /opt/hostedtoolcache/Python/3.13.5/x64"
    yield b"##[endgroup]"
    done = subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=repo,
        env=dict(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    yield from done.stdout.splitlines()
    if done.returncode:
        yield f"##[error]Process completed with exit code {done.returncode}.".encode()


def main() -> int:
    """Print the log of the steps given on the command line."""
    import os

    repo, *steps = sys.argv[1:]
    sys.stdout.buffer.write(job_log(Path(repo), steps, env=os.environ))
    return 0


if __name__ == "__main__":
    sys.exit(main())

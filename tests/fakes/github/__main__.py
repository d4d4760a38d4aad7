"""`python -m tests.fakes.github --repo DIR [--port N]`: the stand-in as a process, for containers and by hand."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.fakes.github import GitHubStandIn


def main() -> None:
    """Serve until standard input is closed; the first line printed is JSON with the addresses and run ids.

    A seed file holds {"runs": [{"branch": "main", "conclusion": "failure", "workflow": "CI",
    "logs": {"job name": "path of a log file"}}]}.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", type=Path, required=True, help="bare git repository")
    parser.add_argument("--repository", default="octo/widgets")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--public-host", default="", help="how clients reach this machine, if not by --host")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", default="ghs_standInToken")
    parser.add_argument("--seed", type=Path)
    given = parser.parse_args()
    stand_in = GitHubStandIn(
        given.repo.resolve(), given.token, repository=given.repository, host=given.host, port=given.port,
        public_host=given.public_host,
    )  # fmt: skip
    with stand_in:
        seed = json.loads(given.seed.read_text()) if given.seed else {"runs": []}
        runs = []
        for run in seed["runs"]:
            logs = {name: Path(file).read_bytes() for name, file in run.pop("logs", {}).items()}
            runs.append(stand_in.add_run(**run, logs=logs))
        shown = {"api_url": stand_in.api_url, "server_url": stand_in.server_url, "runs": runs}
        print(json.dumps({**shown, "events": [stand_in.event(run) for run in runs]}), flush=True)
        sys.stdin.read()


main()

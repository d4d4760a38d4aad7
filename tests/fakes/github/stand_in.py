"""The handle by which tests hold the stand-in: start, seed, break, look, stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fakes.github import show
from tests.fakes.github.desk import Desk, Order, Recorded, Server
from tests.fakes.github.git_store import GitStore
from tests.fakes.github.schemas import check_response
from tests.fakes.github.server import PREFIX, ApiHandler, LogHandler
from tests.fakes.github.world import ALL, BOT, Comment, Job, Pull, Run, World

SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. "
    "If you reach out to GitHub Support for help, please include the request ID."
)


class GitHubStandIn:
    """A stateful GitHub for one repository, over a real bare git repository at `repo_dir`.

    Use as a context manager; leaving it raises AssertionError when an answer was not valid GitHub, a request had
    unknown fields, or the token was shown to the log storage. `api_url` and `server_url` are what GITHUB_API_URL and
    GITHUB_SERVER_URL would hold; bind to 0.0.0.0 and give `public_host` for containers. `certificate` (PEM with key)
    makes it speak https.
    """

    def __init__(
        self,
        repo_dir: Path,
        token: str = "ghs_standInToken",
        permissions: Mapping[str, str] | None = None,
        repository: str = "octo/widgets",
        host: str = "127.0.0.1",
        port: int = 0,
        public_host: str = "",
        ghes: bool = True,
        may_create_pull_requests: bool = True,
        viewer: str = BOT,
        page_limit: int = 100,
        certificate: Path | None = None,
    ) -> None:
        self.token = token
        self.world = World(
            git=GitStore(repo_dir), repository=repository,
            permissions=dict(ALL if permissions is None else permissions),
            may_create_pull_requests=may_create_pull_requests, viewer=viewer, page_limit=page_limit,
        )  # fmt: skip
        self.desk = Desk(world=self.world, token=token)
        self._servers = [Server((host, port), ApiHandler, self.desk), Server((host, 0), LogHandler, self.desk)]
        if certificate:
            for server in self._servers:
                server.use_tls(certificate)
        scheme = self._servers[0].scheme
        shown = public_host or ("127.0.0.1" if host == "0.0.0.0" else host)
        self.server_url = f"{scheme}://{shown}:{self._servers[0].server_port}"
        self.api_url = self.server_url + (PREFIX if ghes else "")
        self.world.log_base = f"{scheme}://{shown}:{self._servers[1].server_port}"
        self._threads = [threading.Thread(target=s.serve_forever, args=(0.05,), daemon=True) for s in self._servers]

    def start(self) -> GitHubStandIn:
        """Serve until `stop`."""
        for thread in self._threads:
            thread.start()
        return self

    def stop(self) -> None:
        """Stop serving."""
        for server, thread in zip(self._servers, self._threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()

    def __enter__(self) -> GitHubStandIn:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        if error is None and self.desk.errors:
            raise AssertionError("\n".join(self.desk.errors))

    # --- seeding

    def add_run(
        self,
        *,
        branch: str = "main",
        sha: str = "",
        conclusion: str | None = "failure",
        workflow: str = "CI",
        event: str = "push",
        head_repository: str = "",
        logs: Mapping[str, bytes] | None = None,
        pull_requests: list[int] | None = None,
    ) -> int:
        """A workflow run of `branch` (at its head unless `sha` is given); `logs` are failed jobs. Returns its id."""
        sha = sha or self.world.git.ref(f"refs/heads/{branch}") or ""
        run = Run(
            id=next(self.world.ids), branch=branch, sha=sha, conclusion=conclusion, workflow=workflow, event=event,
            head_repository=head_repository or self.world.repository, created=self.world.now(),
            pull_requests=pull_requests or [],
        )  # fmt: skip
        self.world.runs[run.id] = run
        for name, log in (logs or {}).items():
            self.add_job(run.id, name, log=log)
        return run.id

    def add_job(
        self,
        run: int,
        name: str,
        *,
        log: bytes | None = b"",
        conclusion: str | None = "failure",
        attempt: int | None = None,
        expired: bool = False,
    ) -> int:
        """A job of a run; returns its id."""
        job = Job(
            id=next(self.world.ids), run=run, name=name, conclusion=conclusion, log=log, expired=expired,
            attempt=attempt or self.world.runs[run].attempt,
        )  # fmt: skip
        self.world.jobs.append(job)
        return job.id

    def add_pull(self, *, head: str, base: str = "main", author: str = "dev", head_repository: str = "") -> int:
        """An open pull request by a person; returns its number."""
        pull = Pull(
            number=len(self.world.pulls) + 101, title=f"Work on {head}", body="", head=head, base=base, author=author,
            head_sha=self.world.git.ref(f"refs/heads/{head}") or "",
            head_repository=head_repository or self.world.repository,
        )  # fmt: skip
        self.world.pulls[pull.number] = pull
        return pull.number

    def add_comment(self, issue: int, body: str, author: str = "dev") -> int:
        """A comment by a person; returns its id."""
        item = Comment(id=next(self.world.ids), issue=issue, author=author, body=body)
        self.world.comments[item.id] = item
        return item.id

    def commit(self, branch: str, files: Mapping[str, bytes | None], message: str = "More work") -> str:
        """A person pushes a commit to `branch`; returns it."""
        git, name = self.world.git, f"refs/heads/{branch}"
        old = git.ref(name)
        rows = [("100644", path, None if data is None else git.blob(data)) for path, data in files.items()]
        tree = git.write_tree(git.tree_of(old) if old else None, rows)
        made = git.commit(tree, [old] if old else [], message, "Dev", "dev@example.com")
        git.set_ref(name, made, old)
        return made

    def event(self, run: int) -> dict[str, Any]:
        """The payload of the `workflow_run` event of a completed run."""
        payload = show.run_event(self.world, self.api_url, self.world.runs[run])
        check_response("WebhookWorkflowRunCompleted", payload)
        return payload

    # --- breaking

    def fail(
        self,
        *,
        next: int = 1,
        path: str = "",
        method: str = "",
        status: int = 502,
        message: str = "Server Error",
        headers: Mapping[str, str] | None = None,
        skip: int = 0,
        late: bool = False,
        raw: bytes | None = None,
    ) -> None:
        """Let the next matching requests fail (`path` is searched as a regular expression; status 0 hangs up).

        With `raw` this body is the answer, whatever it is, with `status` and `headers`.
        `late` lets the request take effect first, as when GitHub's answer is lost on the way.
        """
        order = Order(
            next=next, path=path, method=method, status=status, message=message, headers=dict(headers or {}),
            skip=skip, late=late, raw=raw,
        )  # fmt: skip
        self.desk.orders.append(order)

    def limit(self, *, next: int = 1, path: str = "", status: int = 403, retry_after: int | None = 1) -> None:
        """Secondary rate limit on the next matching requests."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        self.fail(next=next, path=path, status=status, message=SECONDARY, headers=headers)

    def on_write(self, callback: Callable[[int, str, str], None] | None) -> None:
        """Call back (write number, method, path) after each write took effect and before it is answered."""
        self.desk.on_write, self.desk.writes = callback, 0

    # --- looking

    @property
    def requests(self) -> list[Recorded]:
        """Every REST request so far."""
        return self.desk.requests

    @property
    def pulls(self) -> list[Pull]:
        """Every pull request."""
        return list(self.world.pulls.values())

    @property
    def comments(self) -> list[Comment]:
        """Every comment."""
        return list(self.world.comments.values())

    @property
    def branches(self) -> dict[str, str]:
        """Branch -> commit."""
        return {name.removeprefix("refs/heads/"): sha for name, sha in self.world.git.refs().items()}

    def read(self, branch: str, path: str) -> bytes:
        """A file's content on a branch."""
        return self.world.git.git("cat-file", "blob", f"refs/heads/{branch}:{path}")

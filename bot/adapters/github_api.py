"""One patient, discreet connection to GitHub: retries what may pass, makes of the rest a Fault with its fix."""

from __future__ import annotations

import functools
import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ParamSpec, TypeVar
from urllib.parse import urlsplit

import requests
from github import Auth, BadAttributeException, Github, GithubException
from github.Repository import Repository
from github.Requester import Requester

from bot.domain.attempt import Fault, InputError

T = TypeVar("T")
P = ParamSpec("P")

NOT_PERMITTED = "github actions is not permitted to create"
_LONGEST = 200
_NETWORK = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
_TRANSIENT = (*_NETWORK, json.JSONDecodeError)


_GARBLED = (
    *(AssertionError, AttributeError, KeyError, TypeError, ValueError, RuntimeError),
    *(BadAttributeException, GithubException),
)
"""What PyGithub, which takes every answer for GitHub's, raises on the page of a proxy, or on a link to another host."""

MOST = 10_000
"""Items of one list that are looked at: more than GitHub lets a run have jobs, or a pull request comments."""


def readable(method: Callable[P, T]) -> Callable[P, T]:
    """The method, with a Fault where what came back cannot have been GitHub's answer."""

    @functools.wraps(method)
    def careful(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except _GARBLED as error:
            raise Fault(
                f"what came back from GitHub's API is not GitHub's answer ({type(error).__name__}: {str(error)[:100]})",
                fix="Check GITHUB_API_URL, and that no proxy or login page answers in GitHub's place; then run again.",
            ) from error

    return careful


def listed(items: Iterable[T]) -> Iterator[T]:
    """The items of a list over all its pages; raises Fault where the pages never end."""
    for number, item in enumerate(items):
        if number >= MOST:
            raise Fault(f"a list of GitHub's has more than {MOST} items", fix="Run the job again.")
        yield item


class Denied(Fault):
    """The token lacks a right: what needed it may be left out, the rest still stands."""


def _jitter() -> float:
    return secrets.randbelow(1000) / 1000


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long to put up with GitHub: tries of one step, and seconds of waiting between them in all."""

    tries: int = 8
    seconds: float = 300.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time
    jitter: Callable[[], float] = _jitter

    def call(self, step: Callable[[], T]) -> T:
        """Run a step that may be repeated as a whole; what cannot pass, or lasts too long, is raised as it came."""
        waited = 0.0
        for tried in range(1, self.tries + 1):
            try:
                return step()
            except (GithubException, *_TRANSIENT) as error:
                wait = self._wait(error, tried)
                if wait is None or tried == self.tries or waited + wait > self.seconds:
                    raise
                waited += wait
                self.sleep(wait)
        raise AssertionError("unreachable: the last try returns or raises")

    def _wait(self, error: Exception, tried: int) -> float | None:
        """Seconds until the next try, None when there is no point in one.

        https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api: Retry-After first, then
        x-ratelimit-reset, else at least a minute after a secondary limit.
        """
        backoff = min(2.0**tried, 30.0) * (0.5 + self.jitter() / 2)
        if isinstance(error, requests.exceptions.SSLError):
            return None
        if not isinstance(error, GithubException):
            return backoff
        if not rate_limited(error) and error.status < 500:
            return None
        headers = error.headers or {}
        if headers.get("retry-after", "").isdecimal():
            return float(headers["retry-after"]) + self.jitter()
        if headers.get("x-ratelimit-remaining") == "0" and headers.get("x-ratelimit-reset", "").isdecimal():
            return max(0.0, float(headers["x-ratelimit-reset"]) - self.clock()) + 1 + self.jitter()
        return 60 + self.jitter() if rate_limited(error) else backoff


def rate_limited(error: GithubException) -> bool:
    """Whether GitHub says "later" rather than "no"."""
    if error.status == 429:
        return True
    says_later = "retry-after" in (error.headers or {}) or Requester.isRateLimitError(message(error))
    return error.status == 403 and says_later


def message(error: GithubException) -> str:
    """GitHub's own words, with those of the single errors, on one line."""
    data = error.data if isinstance(error.data, dict) else {}
    details = data.get("errors") or []
    said = [data.get("message") or "", *(d.get("message") or "" for d in details if isinstance(d, dict))]
    return " ".join(" ".join(filter(None, said)).split())[:_LONGEST]


class Hub:
    """The connection. `do` is the only way through it; the token is never in anything it raises."""

    def __init__(
        self, *, token: str, repository: str, api_url: str, server_url: str, patience: Patience, pace: float
    ) -> None:
        _check(token, repository, api_url)
        self.name = repository
        self.server_url = server_url.rstrip("/")
        self.patience = patience
        self._host = api_url.split("//", 1)[1].split("/", 1)[0]
        # Retrying is ours: PyGithub would repeat single writes, and a repeated POST whose first answer was lost
        # makes a second comment. Steps look before they write, so whole steps are repeated.
        self.client = Github(
            auth=Auth.Token(token),
            base_url=api_url.rstrip("/"),
            retry=None,
            timeout=30,
            per_page=100,
            seconds_between_requests=None,
            seconds_between_writes=pace or None,
            user_agent="selfrepair",
        )

    @functools.cached_property
    def repo(self) -> Repository:
        """The repository, asked for once."""
        return self.do(f"looking at {self.name}", "contents: read", lambda: self.client.get_repo(self.name))

    @functools.cached_property
    def login(self) -> str:
        """Who the token writes as. `GET /user` is closed to workflow tokens; GraphQL's `viewer` answers them all."""
        requester = self.client.requester
        _, data = requester.graphql_query("query { viewer { login } }", {})
        return str(data["data"]["viewer"]["login"])

    def do(self, doing: str, need: str, step: Callable[[], T]) -> T:
        """Run a repeatable step. `need` is the `permissions:` line it takes. Raises Fault, or Denied for a right."""
        try:
            return self.patience.call(step)
        except GithubException as error:
            raise self._fault(error, doing, need) from None
        except requests.exceptions.SSLError as error:
            raise Fault(
                f"the certificate of {self._host_of(error)} is not trusted",
                fix="Set REQUESTS_CA_BUNDLE to the file with your certificate authority.",
            ) from None
        except (requests.RequestException, json.JSONDecodeError) as error:
            raise Fault(  # the error's own text would show signed download links
                f"{self._host_of(error)} could not be reached while {doing} ({type(error).__name__})",
                fix="Check the runner's network and firewall; behind a proxy set HTTPS_PROXY, then run the job again.",
            ) from None

    def _host_of(self, error: Exception) -> str:
        """Logs come from another host than the API, which a firewall may not know."""
        asked = error.request if isinstance(error, requests.RequestException) else None
        return (urlsplit(asked.url or "").netloc if asked is not None else "") or self._host

    def _fault(self, error: GithubException, doing: str, need: str) -> Fault:
        said = message(error)
        if rate_limited(error):
            return Fault(
                f"GitHub's rate limit did not end in time while {doing}",
                fix="Run the job again in an hour, or give selfrepair a token of its own.",
            )
        if error.status == 403:
            return self._denied(error, said, doing, need)
        if error.status >= 500:
            return Fault(
                f"GitHub kept answering {error.status} while {doing}",
                fix="See https://www.githubstatus.com, then run the job again: it goes on where it stopped.",
            )
        no_commit = error.status == 409 and "empty" in said
        what, fix = _NO_COMMIT if no_commit else _PLAIN.get(error.status, _REFUSED)
        words = {"doing": doing, "said": said, "need": need, "status": error.status, "repository": self.name}
        return Fault(what.format(**words), fix=fix.format(**words))

    def _denied(self, error: GithubException, said: str, doing: str, need: str) -> Fault:
        if said.lower().startswith(NOT_PERMITTED):
            where = f"{self.server_url}/{self.name}/settings/actions"
            return Denied(
                "GitHub Actions may not create pull requests in this repository",
                fix=f'Tick "Allow GitHub Actions to create and approve pull requests" under {where}.',
            )
        need = _accepted((error.headers or {}).get("x-accepted-github-permissions", "")) or need
        return Denied(
            f"the token may not do this: {doing} ({said})",
            fix=f"Add `{need}` under `permissions:` in the workflow that runs selfrepair.",
        )


_REFUSED = ("GitHub refused ({status} {said}) while {doing}", "Remove what GitHub names, then run the job again.")
_NO_COMMIT = ("GitHub refused ({said}) while {doing}", "Push a first commit to {repository}: it has none.")
_PLAIN = {
    401: (
        "GitHub does not accept the token ({said}) while {doing}",
        "Pass a valid token: `github-token: ${{{{ github.token }}}}`; a personal or app token may have expired.",
    ),
    404: (
        "GitHub does not find it, or hides it from this token: {doing}",
        "Check that it exists in {repository}, and that `permissions:` of the workflow holds `{need}`.",
    ),
}


def _accepted(header: str) -> str:
    """`pull_requests=write,contents=read; issues=write` -> `pull-requests: write, contents: read`: any set will do."""
    first = header.split(";")[0].strip()
    return first.replace("_", "-").replace("=", ": ").replace(",", ", ")


def _check(token: str, repository: str, api_url: str) -> None:
    problems = []
    if not token.strip():
        problems.append("there is no GitHub token: pass `github-token: ${{ github.token }}`")
    if len([part for part in repository.split("/") if part]) != 2 or repository.count("/") != 1:
        problems.append(f"the repository is {repository!r}: it must read OWNER/NAME")
    if not api_url.startswith(("https://", "http://")):
        problems.append(f"the API address is {api_url!r}: it must begin with https://")
    if problems:
        raise InputError(*problems)

"""How an endpoint is declared, matched and paged; the endpoints themselves register here when imported."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.github.world import World

NOT_PERMITTED = "GitHub Actions is not permitted to create or approve pull requests."
NO_ACCESS = "Resource not accessible by integration"


class ApiError(Exception):
    """What GitHub answers instead of a result."""

    def __init__(self, status: int, message: str, errors: list[Any] | None = None, **headers: str) -> None:
        super().__init__(message)
        self.status, self.message, self.errors = status, message, errors
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


@dataclass(kw_only=True)
class Call:
    """One request as a handler sees it."""

    world: World
    api: str
    path: dict[str, str]
    query: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)

    def number(self) -> int:
        return int(self.path["number"])


@dataclass(kw_only=True)
class Route:
    """How one endpoint is matched, guarded, checked and answered. `permissions`: any one of them suffices."""

    method: str
    pattern: re.Pattern[str]
    permissions: tuple[str, ...]
    answer: str
    body: str
    status: int
    handler: Callable[[Call], Any]
    item: str = ""


ROUTES: list[Route] = []
Handler = Callable[[Call], Any]


def route(
    method: str, path: str, *permissions: str, answer: str = "", body: str = "", status: int = 200, item: str = ""
) -> Callable[[Handler], Handler]:
    """Register an endpoint under /repos/{owner}/{repo}. `item` names the list inside a counted answer."""
    pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", re.sub(r"\{(\w+)\*\}", r"(?P<\1>.+)", path)) + "$")

    def register(handler: Handler) -> Handler:
        entry = Route(
            method=method, pattern=pattern, permissions=permissions, answer=answer, body=body, status=status,
            handler=handler, item=item,
        )  # fmt: skip
        ROUTES.append(entry)
        return handler

    return register


def invalid(resource: str, name: str, code: str = "invalid", message: str = "") -> ApiError:
    given = {"resource": resource, "field": name, "code": code, "message": message}
    return ApiError(422, "Validation Failed", [{key: value for key, value in given.items() if value}])


def not_empty(call: Call) -> None:
    if call.world.git.empty:
        raise ApiError(409, "Git Repository is empty.")


def existing(call: Call, sha: str, kind: str) -> str:
    if call.world.git.kind(sha) != kind:
        raise ApiError(404, "Not Found")
    return sha


def paged(call: Call, found: Any, entry: Route) -> tuple[Any, dict[str, str]]:
    """One page of a list, in the endpoint's own wrapping, with GitHub's Link header."""
    items = list(found)
    size = min(int(call.query.get("per_page", "30")), call.world.page_limit)
    page, last = int(call.query.get("page", "1")), max(1, -(-len(items) // size))
    part = items[(page - 1) * size : page * size]
    payload = {"total_count": len(items), entry.item: part} if entry.item else part
    links = {"next": page + 1, "last": last} if page < last else {}
    shown = [f'<{call.query["_url"]}?{_page(call, number)}>; rel="{rel}"' for rel, number in links.items()]
    return payload, {"Link": ", ".join(shown)} if shown else {}


def _page(call: Call, number: int) -> str:
    kept = {key: value for key, value in call.query.items() if not key.startswith("_")}
    return urllib.parse.urlencode({**kept, "page": number})

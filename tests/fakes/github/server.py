"""HTTP in front of the world: authentication, permissions, faults on order, recording, schema checks."""

from __future__ import annotations

import json
import re
import time
import urllib.parse
from typing import Any

from tests.fakes.github import endpoints_actions, endpoints_git, endpoints_talk, smart_http
from tests.fakes.github.desk import Dropped, Handler, Order, Recorded
from tests.fakes.github.routes import NO_ACCESS, ROUTES, ApiError, Call, Route, paged
from tests.fakes.github.schemas import SchemaError, check_body, check_response

PREFIX = "/api/v3"
WRITES = ("POST", "PATCH", "PUT", "DELETE")


class LogHandler(Handler):
    """The storage host that log links point at: it must never be shown a token."""

    def do_GET(self) -> None:
        desk = self.server.desk
        if "Authorization" in self.headers:
            desk.errors.append("a token was sent to the log storage")
        status = desk.log_orders.pop(0) if desk.log_orders else 200
        job = next((j for j in desk.world.jobs if self.path.startswith(f"/logs/{j.id}?")), None)
        if status != 200 or job is None or job.log is None:
            return self._send(status if status != 200 else 404, [], b"<Error><Code>BlobNotFound</Code></Error>")
        return self._send(200, [("Content-Type", "text/plain")], job.log)


class ApiHandler(Handler):
    """The code host itself: REST, a morsel of GraphQL, git."""

    def do_GET(self) -> None:
        self._any()

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    def _any(self) -> None:
        body = self._body()
        try:
            status, headers, out = self._git(body) or self._api(body)
        except Dropped:
            self.close_connection = True
            self.connection.close()
            return
        self._send(status, headers, out)

    # --- git

    def _git(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes] | None:
        desk, url = self.server.desk, urllib.parse.urlsplit(self.path)
        root = re.match(rf"/{re.escape(desk.world.repository)}(\.git)?(?=/)", url.path)
        service = url.path[root.end() :] if root else ""
        if service not in smart_http.SERVICES:
            return None
        if smart_http.password(self.headers.get("Authorization", "")) != desk.token:
            return 401, [("WWW-Authenticate", 'Basic realm="GitHub"')], b"Repository not found."
        write = "receive-pack" in service + url.query
        if not desk.world.allows("contents:write" if write else "contents:read"):
            return 403, [], b"Write access to repository not granted."
        return smart_http.answer(desk.world.git.path, self.command, service, url.query, dict(self.headers), body)

    # --- REST

    def _api(self, raw: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        desk, url = self.server.desk, urllib.parse.urlsplit(self.path)
        path = url.path.removeprefix(PREFIX)
        with desk.lock:
            body = json.loads(raw) if raw else {}
            status, payload, headers = self._judged(path, url.query, body)
            shown = path + (f"?{url.query}" if url.query else "")
            desk.requests.append(Recorded(method=self.command, path=shown, body=desk.redacted(body), status=status))
            if status < 300 and self.command in WRITES and "graphql" not in path:
                desk.writes += 1
                if desk.on_write:
                    desk.on_write(desk.writes, self.command, path)
        out = payload if isinstance(payload, bytes) else b"" if payload is None else json.dumps(payload).encode()
        return status, [*headers.items(), ("Content-Type", "application/json; charset=utf-8")], out

    def _judged(self, path: str, query: str, body: Any) -> tuple[int, Any, dict[str, str]]:
        desk = self.server.desk
        order = next((order for order in desk.orders if order.takes(self.command, path)), None)
        if order and order.raw is not None:
            return order.status, order.raw, order.headers
        try:
            if order and not order.late:
                raise _failure(order)
            status, payload, headers = self._routed(path, query, body)
            if order:
                raise _failure(order)
        except ApiError as error:
            return error.status, _error(error), {**self._rates(), **error.headers}
        except SchemaError as error:
            desk.errors.append(f"{self.command} {path}: {error}")
            return 500, {"message": str(error)}, {}
        return status, payload, {**self._rates(), **headers}

    def _routed(self, path: str, query: str, body: Any) -> tuple[int, Any, dict[str, str]]:
        desk = self.server.desk
        self._authenticate()
        if path in ("/graphql", "/api/graphql"):
            return 200, _viewer(body, desk.world.viewer), {}
        root = f"/repos/{desk.world.repository}"
        if path.lower() != root.lower() and not path.lower().startswith(f"{root.lower()}/"):
            raise ApiError(404, "Not Found")
        rest = urllib.parse.unquote(path[len(root) :])
        entry, match = _route(self.command, rest)
        self._permit(entry)
        if entry.body:
            check_body(entry.body, body)
        api = f"{self.server.scheme}://{self.headers['Host']}" + (PREFIX if self.path.startswith(PREFIX) else "")
        asked = {**dict(urllib.parse.parse_qsl(query)), "_url": f"{api}{path}"}
        call = Call(world=desk.world, api=api, path=match, query=asked, body=body)
        return self._answered(entry, call)

    def _answered(self, entry: Route, call: Call) -> tuple[int, Any, dict[str, str]]:
        found, headers = entry.handler(call), {}
        if entry.status == 302:
            return 302, None, {"Location": found}
        if entry.status == 204:
            return 204, None, {}
        if self.command == "GET" and isinstance(found, list):
            found, headers = paged(call, found, entry)
        check_response(entry.answer, found)
        return entry.status, found, headers

    def _authenticate(self) -> None:
        if not self.headers.get("User-Agent"):
            raise ApiError(403, "Request forbidden by administrative rules. Please make sure your request has a "
                                "User-Agent header")  # fmt: skip
        given = self.headers.get("Authorization", "")
        if not given:
            raise ApiError(404, "Not Found")  # a private repository does not tell that it exists
        if given.partition(" ")[2] != self.server.desk.token:
            raise ApiError(401, "Bad credentials")

    def _permit(self, entry: Route) -> None:
        if not any(map(self.server.desk.world.allows, entry.permissions)):
            accepted = "; ".join(p.replace(":", "=") for p in entry.permissions)
            raise ApiError(403, NO_ACCESS, X_Accepted_GitHub_Permissions=accepted)

    def _rates(self) -> dict[str, str]:
        left = max(0, 5000 - len(self.server.desk.requests))
        reset = str(int(time.time()) + 3600)
        return {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": str(left), "X-RateLimit-Reset": reset}


def _failure(order: Order) -> Exception:
    if order.status == 0:
        return Dropped()
    error = ApiError(order.status, order.message)
    error.headers = order.headers
    return error


def _error(error: ApiError) -> dict[str, Any]:
    payload = {"message": error.message, "documentation_url": "https://docs.github.com/rest"}
    if error.errors:
        payload = {**payload, "errors": error.errors}
        check_response("ValidationError", payload)
    else:
        check_response("BasicError", payload)
    return {**payload, "status": str(error.status)}


def _viewer(body: Any, login: str) -> dict[str, Any]:
    if re.sub(r"\s", "", body["query"]) != "query{viewer{login}}":
        raise SchemaError(f"GraphQL query that the stand-in does not know: {body['query']}")
    return {"data": {"viewer": {"login": login}}}


_REGISTERED = (endpoints_actions, endpoints_git, endpoints_talk)


def _route(method: str, rest: str) -> tuple[Route, dict[str, str]]:
    for entry in ROUTES:
        match = entry.pattern.match(rest)
        if match and entry.method == method:
            return entry, match.groupdict()
    raise ApiError(404, "Not Found")

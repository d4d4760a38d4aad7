"""What the servers share with the test: the record of requests, faults on order, and the bare HTTP."""

from __future__ import annotations

import json
import re
import ssl
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.fakes.github.world import World


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One request as it came in; the token is never in it."""

    method: str
    path: str
    body: Any
    status: int


@dataclass(kw_only=True)
class Order:
    """A fault on order: `skip` matching requests pass, the `next` ones fail. `late`: the write happens all the same.

    `status` 0 drops the connection without an answer.
    """

    next: int
    path: str
    method: str
    status: int
    message: str
    headers: dict[str, str]
    skip: int
    late: bool
    raw: bytes | None = None

    def takes(self, method: str, path: str) -> bool:
        """Whether this request is the one to fail; counts it."""
        if self.next <= 0 or (self.method and self.method != method) or not re.search(self.path, path):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.next -= 1
        return True


class Dropped(Exception):
    """The connection is closed without an answer."""


@dataclass(kw_only=True)
class Desk:
    """What both servers share with the test."""

    world: World
    token: str
    requests: list[Recorded] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    on_write: Callable[[int, str, str], None] | None = None
    writes: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    log_orders: list[int] = field(default_factory=list)

    def redacted(self, body: Any) -> Any:
        """The body without the token."""
        return json.loads(json.dumps(body).replace(self.token, "***")) if self.token else body


class Server(ThreadingHTTPServer):
    """A server that joins its threads, so that nothing outlives a test."""

    scheme = "http"
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], desk: Desk) -> None:
        super().__init__(address, handler)
        self.desk = desk

    def use_tls(self, certificate: Path) -> None:
        """Speak https with the certificate and key in one PEM file."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.scheme = "https"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed, or that does not trust us, is no error of the server."""
        if not isinstance(sys.exception(), (ConnectionError, ssl.SSLError)):
            self.desk.errors.append(traceback.format_exc())


class Handler(BaseHTTPRequestHandler):
    """Common ground of both servers."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for the client's delayed acknowledgement
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet: the record is the log."""

    def _send(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        try:
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client was killed by a test

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

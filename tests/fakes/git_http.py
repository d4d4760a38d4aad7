"""A real git server over HTTP (git's own http-backend) that asks for a token."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from tests.fakes.repositories import ENV


class Server(ThreadingHTTPServer):
    """Serves every repository below `root`; `seen` are the Authorization headers, `leaks` argument vectors that
    carried `secret` while a request was served. With `elsewhere`, every request is sent on to that server."""

    daemon_threads = True

    def __init__(self, root: Path, authorization: str | None, secret: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root, self.authorization, self.secret = root, authorization, secret
        self.seen: list[str | None] = []
        self.leaks: list[bytes] = []
        self.elsewhere = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _serve(self, body: bytes) -> None:
        given = self.headers.get("Authorization")
        self.server.seen.append(given)
        self.server.leaks += [line for line in _arguments() if self.server.secret in line]
        if given != self.server.authorization:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.server.elsewhere:
            self.send_response(302)
            self.send_header("Location", self.server.elsewhere + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        parts = urlsplit(self.path)
        env = ENV | {
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        answer = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True).stdout
        self._relay(answer)

    def _relay(self, answer: bytes) -> None:
        head, _, content = answer.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Silent."""


def _arguments() -> Iterator[bytes]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                yield (entry / "cmdline").read_bytes()
            except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
                continue


@contextmanager
def serve(root: Path, authorization: str | None, secret: bytes = b"\0never\0") -> Iterator[Server]:
    """Run the server for the length of a with block."""
    with Server(root, authorization, secret) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

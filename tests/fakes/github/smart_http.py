"""git's smart HTTP protocol over the bare repository, through git's own CGI program."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

SERVICES = ("/info/refs", "/git-upload-pack", "/git-receive-pack")


def password(authorization: str) -> str:
    """The password of a basic Authorization header, "" when there is none."""
    kind, _, value = authorization.partition(" ")
    return base64.b64decode(value).decode().partition(":")[2] if kind.lower() == "basic" else ""


def answer(
    repo: Path, method: str, service: str, query: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, list[tuple[str, str]], bytes]:
    """Run git http-backend for one request; returns status, headers and body."""
    env = {
        "PATH": os.environ["PATH"],
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "REMOTE_USER": "x-access-token",
        "PATH_TRANSLATED": f"{repo}{service}",
        "PATH_INFO": service,
        "REQUEST_METHOD": method,
        "QUERY_STRING": query,
        "CONTENT_TYPE": headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "GIT_PROTOCOL": headers.get("Git-Protocol", ""),
        "HTTP_CONTENT_ENCODING": headers.get("Content-Encoding", ""),
    }
    done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=env, check=True)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    fields = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n")]
    status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
    return status, [(name, value) for name, value in fields if name != "Status"], content

"""The machine's Docker through a socket of our own, on which one name reads otherwise: a runtime nobody registered."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ENGINE = "/var/run/docker.sock"


@contextmanager
def docker_without(name: bytes) -> Iterator[str]:
    """A DOCKER_HOST to which `name` is unknown; the engine is asked for a name of the same length."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        path = str(Path(folder) / "docker.sock")
        server.bind(path)
        server.listen(16)
        threading.Thread(target=_serve, args=(server, name), daemon=True).start()
        yield f"unix://{path}"
        server.shutdown(socket.SHUT_RDWR)


def _serve(server: socket.socket, name: bytes) -> None:
    with suppress(OSError):  # the server is shut down at the end
        while True:
            client, _ = server.accept()
            threading.Thread(target=_relay, args=(client, name), daemon=True).start()


def _relay(client: socket.socket, name: bytes) -> None:
    with client, socket.socket(socket.AF_UNIX) as engine:
        engine.connect(ENGINE)
        back = threading.Thread(target=_pass, args=(engine, client, b""), daemon=True)
        back.start()
        _pass(client, engine, name)
        back.join()


def _pass(source: socket.socket, target: socket.socket, name: bytes) -> None:
    """Bytes from one end to the other until either is gone."""
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data.replace(name, b"x" * len(name)))
        target.shutdown(socket.SHUT_WR)

"""One hijacked connection of the Docker API, read and written with a deadline and a bounded memory."""

from __future__ import annotations

import errno
import selectors
import socket
import time
from collections.abc import Iterable
from typing import Any

from bot.sandbox import Demux

CHUNK = 1 << 16


class Channel:
    """Both directions of a multiplexed stream; `cap` bounds what is kept of each of stdout and stderr, in bytes."""

    def __init__(self, stream: Any, cap: int) -> None:
        # The SDK hands out a SocketIO, or the socket itself over TLS and SSH; it must be kept, or the socket closes.
        self._response = getattr(stream, "_response", stream)
        self._socket: socket.socket = getattr(stream, "_sock", stream)
        self._socket.setblocking(True)
        self._cap = cap
        self._demux = Demux(cap)
        self.closed = False

    def fileno(self) -> int:
        """For selectors."""
        return self._socket.fileno()

    @property
    def stdout(self) -> bytes:
        """What came on standard output, bounded."""
        return self._demux.stdout.content()

    @property
    def stderr(self) -> bytes:
        """What came on standard error, bounded."""
        return self._demux.stderr.content()

    @property
    def truncated(self) -> bool:
        """Whether something was dropped."""
        return bool(self._demux.stdout.dropped or self._demux.stderr.dropped)

    def forget(self) -> None:
        """Drop what was read so far."""
        self._demux = Demux(self._cap)

    def send(self, head: bytes, body: Iterable[bytes], deadline: float) -> None:
        """Write everything; what the other side no longer reads because it ended is left unsent."""
        try:
            for data in (head, *body):
                self._socket.settimeout(max(deadline - time.monotonic(), 0.01))
                self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            return  # the stream's end, or the caller's deadline, says the rest

    def receive(self) -> bool:
        """Take what is there; False when the stream has ended."""
        try:
            data = self._socket.recv(CHUNK)
        except ConnectionResetError:
            data = b""
        self._demux.feed(data)
        self.closed = not data
        return not self.closed

    def readable(self) -> bool:
        """Whether something, or the end, can be read at once."""
        return self._wait(0.0)

    def read_until(self, mark: bytes | None, deadline: float) -> bytes:
        """Read until `mark` was seen (None: to the end), or the cap or deadline passed; returns what is kept."""
        while mark is None or not self._demux.seen(mark):
            left = deadline - time.monotonic()
            if left <= 0 or self.truncated or not self._wait(left) or not self.receive():
                break
        return self.stdout + self.stderr

    def _wait(self, seconds: float) -> bool:
        pending = getattr(self._socket, "pending", None)  # TLS may hold bytes that select() does not see
        if pending is not None and pending():
            return True
        with selectors.DefaultSelector() as selector:
            selector.register(self, selectors.EVENT_READ)
            return bool(selector.select(seconds))

    def close(self) -> None:
        """End the connection, even while Docker still holds it open."""
        if self._socket.fileno() >= 0:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError as error:
                if error.errno != errno.ENOTCONN:  # Docker ended it before us
                    raise
            self._response.close()
            self._socket.close()
        self.closed = True

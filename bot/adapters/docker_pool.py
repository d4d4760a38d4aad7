"""Warm boxes: started ahead in the background, each used once, refilled as they are taken."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from bot.adapters.docker_box import Box

K = TypeVar("K", bound=Hashable)


class Pool(Generic[K]):
    """`size` boxes waiting per kind; `make` starts one, and may raise."""

    def __init__(self, make: Callable[[K], Box], size: int) -> None:
        self._make = make
        self._size = max(size, 1)
        self._lock = threading.Lock()
        self._waiting: dict[K, deque[Future[Box]]] = {}
        self._hands = ThreadPoolExecutor(max_workers=2, thread_name_prefix="selfrepair-pool")

    def warm(self, kind: K) -> None:
        """Have boxes of this kind started, without waiting for them."""
        with self._lock:
            waiting = self._waiting.setdefault(kind, deque())
            while len(waiting) < self._size:
                waiting.append(self._hands.submit(self._make, kind))

    def take(self, kind: K) -> Box:
        """A box that nothing has run in; raises what starting it raised."""
        while True:
            box = self._next(kind).result()
            if box.idle():
                return box
            self.discard(kind, box)  # it died while it waited: Docker was started anew, say

    def _next(self, kind: K) -> Future[Box]:
        """The box that waits longest. While another waits, the refill does too: it would slow the command down."""
        with self._lock:
            waiting = self._waiting.setdefault(kind, deque())
            future = waiting.popleft() if waiting else self._hands.submit(self._make, kind)
        if not waiting:
            self.warm(kind)
        return future

    def ready(self, kind: K) -> int:
        """How many boxes of this kind wait, started."""
        return sum(future.done() for future in self._waiting.get(kind, ()))

    def discard(self, kind: K, box: Box) -> None:
        """End a used box, and remove and replace it in the background; the sandbox's `close` removes the rest."""
        box.end()
        self._hands.submit(box.remove)
        self.warm(kind)

    def close(self) -> None:
        """Start nothing more, and end the boxes that wait; the caller removes the containers."""
        self._hands.shutdown(wait=True, cancel_futures=True)
        for future in (future for waiting in self._waiting.values() for future in waiting):
            if not future.cancelled() and future.exception() is None:
                future.result().end()
        self._waiting.clear()

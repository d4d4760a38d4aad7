"""Which of the repository's lines each test runs; inside the sandbox."""

# mypy: ignore-errors
# Python 3.8 has neither sys.monitoring nor the annotations that a strict check would ask for.

from __future__ import annotations

import sys
import threading

from selfrepair_facts import relative


def tracer():
    """sys.monitoring where there is one (3.12 on); else settrace, unless a coverage tool or a debugger has it."""
    return Monitor() if hasattr(sys, "monitoring") else Tracer()


class Lines:
    """Files and lines run since `start`."""

    def __init__(self):
        self.seen, self.active = {}, False

    def taken(self):
        """Sorted lines by file."""
        return {file: sorted(lines) for file, lines in sorted(self.seen.items())}

    def add(self, code, line):
        """One line was run."""
        self.seen.setdefault(relative(code.co_filename), set()).add(line)


class Tracer(Lines):
    """Python 3.8 to 3.11."""

    def start(self):
        """Begin a test."""
        self.seen = {}
        if sys.gettrace() is None:
            self.active = True
            threading.settrace(self.called)
            sys.settrace(self.called)

    def stop(self):
        """End it."""
        if self.active:
            self.active = False
            sys.settrace(None)
            threading.settrace(None)

    def called(self, frame, event, arg):
        """Follow the repository's own functions only."""
        return self.ran if relative(frame.f_code.co_filename) else None

    def ran(self, frame, event, arg):
        """Count a line."""
        if event == "line":
            self.add(frame.f_code, frame.f_lineno)
        return self.ran


class Monitor(Lines):
    """Each line reports once a test, and only in the repository's own functions: nearly free elsewhere."""

    def __init__(self):
        super().__init__()
        events = sys.monitoring.events
        self.tool = next((n for n in (3, 4) if sys.monitoring.get_tool(n) is None), None)
        if self.tool is not None:
            sys.monitoring.use_tool_id(self.tool, "selfrepair")
            sys.monitoring.register_callback(self.tool, events.PY_START, self.started)
            sys.monitoring.register_callback(self.tool, events.LINE, self.ran)

    def start(self):
        """Begin a test."""
        self.seen, self.active = {}, self.tool is not None
        if self.active:
            sys.monitoring.set_events(self.tool, sys.monitoring.events.PY_START)
            sys.monitoring.restart_events()

    def stop(self):
        """End it."""
        if self.active:
            self.active = False
            sys.monitoring.set_events(self.tool, 0)

    def started(self, code, offset):
        """Follow the repository's own functions only."""
        if relative(code.co_filename):
            sys.monitoring.set_local_events(self.tool, code, sys.monitoring.events.LINE)
        return sys.monitoring.DISABLE

    def ran(self, code, line):
        """Count a line."""
        if self.active:
            self.add(code, line)
        return sys.monitoring.DISABLE

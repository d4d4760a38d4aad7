"""A pytest plugin that writes down, as JSON lines, what each test said; it runs inside the sandbox, never in the bot.

Works with pytest 6 to 9 on Python 3.8 to 3.14, needs nothing but the standard library and pytest, and changes neither
a test nor the exit status. It is found through entry-point metadata on PYTHONPATH, so that a command which replaces
PYTHONPATH merely runs without it (`-p` would make pytest refuse to start).

Environment: SELFREPAIR_OUT (folder for events.jsonl; without it the plugin is inert), SELFREPAIR_ROOT (the work tree:
paths are relative to it), SELFREPAIR_ONLY (JSON file with the ids to run), SELFREPAIR_TRACE=1 (lines run by each test).
"""

# mypy: ignore-errors
# ruff: noqa: PTH118, PTH123
# Python 3.8 has not the annotations that a strict check would ask for.

from __future__ import annotations

import os
import sys
from json import dumps, load, loads

import pytest
from selfrepair_facts import TEXT_CAP, facts, head, measured, path_of, shown, tail

LINES_CAP = 30_000_000
"""Characters of line events in all; what comes later is left out."""


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads `maxfail` in its own pytest_configure
def pytest_configure(config):
    """Become active in the outermost pytest and in its xdist workers; a pytest run by a test stays unobserved."""
    out, worker = os.environ.get("SELFREPAIR_OUT"), hasattr(config, "workerinput")
    if not out or (not worker and os.environ.get("SELFREPAIR_SESSION")):
        return
    config.option.maxfail = 0
    if not worker:
        os.environ["SELFREPAIR_SESSION"] = "1"
        config.add_cleanup(lambda: os.environ.pop("SELFREPAIR_SESSION", None))
        writer = Writer(os.path.join(out, "events.jsonl"))
        config.add_cleanup(writer.close)
        config.pluginmanager.register(writer, "selfrepair-writer")
    config.pluginmanager.register(Observer(), "selfrepair-observer")


class Writer:
    """In the controlling process: one unbuffered line for each event, so that nothing is lost in a kill."""

    def __init__(self, path):
        # Opened once: a test that fakes the file system (pyfakefs, mock_open) is still on when its report comes.
        self.stream = open(path, "ab", buffering=0)  # noqa: SIM115
        self.collected, self.lines_left = False, LINES_CAP

    def write(self, event, **fields):
        """Append one event. A full disk must not become pytest's internal error: the end of the events tells."""
        try:
            self.stream.write(dumps(dict(event=event, **fields)).encode("ascii") + b"\n")
        except (OSError, ValueError):  # full, or closed by the first failure
            self.close()

    def close(self):
        """Release the file: an unclosed one is a warning, and with `-W error` a failing test."""
        self.stream.close()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        """Without workers: what will run, after deselection."""
        if session.items or not session.config.pluginmanager.hasplugin("dsession"):
            self._collected([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids):
        """The same from the first worker that has it; all collect alike."""
        self._collected(list(ids))

    def _collected(self, ids):
        if not self.collected:
            self.collected = True
            self.write("collected", ids=ids)

    def pytest_collectreport(self, report):
        """A file that could not be collected."""
        if report.failed:
            longrepr = tail(str(report.longreprtext), 2 * TEXT_CAP)
            known = loads(getattr(report, "selfrepair", "{}"))
            known.setdefault("message", _last_line(longrepr))
            self.write("collect_error", **dict(known, id=report.nodeid, longrepr=longrepr))

    @pytest.hookimpl(trylast=True)  # the terminal reporter turns a test with failed subtests into a failed one
    def pytest_runtest_logreport(self, report):
        """One test's phase: its call, and whatever of set-up and teardown did not pass."""
        if report.outcome in ("passed", "failed", "skipped") and (report.when == "call" or not report.passed):
            self.write("test", **_summary(report))
        lines = getattr(report, "selfrepair_lines", "")
        self.lines_left -= len(lines)
        if lines and self.lines_left > 0:
            self.write("lines", id=report.nodeid, lines=loads(lines))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        """The end: later plugins may still change the status that the process ends with."""
        self.write("finish", exit=int(getattr(session, "exitstatus", exitstatus)))


def _summary(report):
    known = loads(getattr(report, "selfrepair", "{}"))
    if isinstance(report.longrepr, tuple):  # skipped: file, line, reason
        known.setdefault("message", head(str(report.longrepr[2]), TEXT_CAP))
    elif report.failed and report.longrepr is not None:
        known.setdefault("message", _last_line(str(report.longreprtext)))
    subtest = " " + report._sub_test_description() if hasattr(report, "context") else ""
    captured = "".join(text for name, text in report.sections if "stdout" in name or "stderr" in name)
    return dict(
        known,
        id=report.nodeid + subtest,
        when=report.when,
        outcome=report.outcome,
        duration=round(report.duration, 4),
        xfail=hasattr(report, "wasxfail"),
        captured=tail(captured, TEXT_CAP) if report.failed else "",
    )


def _last_line(text):
    return head((text.strip().splitlines() or [""])[-1], TEXT_CAP)


class Observer:
    """Where tests run (a worker, or the only process): facts go along with the report, as ASCII text."""

    def __init__(self):
        self.compared = self.tracer = None
        if os.environ.get("SELFREPAIR_TRACE") == "1":
            from selfrepair_lines import tracer

            self.tracer = tracer()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        """Keep the wanted ids; the id of a subtest stands for its test."""
        if not os.environ.get("SELFREPAIR_ONLY"):
            return
        with open(os.environ["SELFREPAIR_ONLY"], encoding="utf-8") as stream:
            only = set(load(stream))
        wanted = [i.nodeid in only or any(other.startswith(i.nodeid + " ") for other in only) for i in items]
        gone = [item for item, keep in zip(items, wanted) if not keep]  # noqa: B905 (Python 3.8)
        if gone:
            config.hook.pytest_deselected(items=gone)
            items[:] = [item for item, keep in zip(items, wanted) if keep]  # noqa: B905 (Python 3.8)

    def pytest_assertrepr_compare(self, config, op, left, right):
        """Keep both sides of a comparison that failed; says nothing, so that the explanation stays as it was."""
        if op in ("==", "is"):
            frame = sys._getframe()
            while frame is not None and frame.f_code.co_name != "_call_reprcompare":
                frame = frame.f_back
            if frame is not None and frame.f_back is not None:
                place = frame.f_back.f_code, frame.f_back.f_lineno
                self.compared = place, {"actual": shown(left), "expected": shown(right)}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        """Around set-up, call and teardown of one test."""
        self.compared = None
        if self.tracer:
            self.tracer.start()
        yield
        if self.tracer:
            self.tracer.stop()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        """Give the report what only this process knows."""
        outcome = yield
        report = outcome.get_result() if outcome.excinfo is None else None
        if report is not None and report.failed and call.excinfo is not None:
            report.selfrepair = self._facts(call.excinfo.value, item, item.location)
        if report is not None and self.tracer and call.when == "teardown":
            report.selfrepair_lines = measured(self.tracer.taken)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector):
        """The same for a file that cannot be collected; pytest keeps the call here for itself."""
        outcome = yield
        report = outcome.get_result() if outcome.excinfo is None else None
        call = getattr(report, "call", None)
        if report is not None and report.failed and call is not None and call.excinfo is not None:
            report.selfrepair = self._facts(call.excinfo.value.__cause__ or call.excinfo.value, collector, None)

    def _facts(self, error, node, location):
        compared, self.compared = self.compared, None
        return measured(lambda: facts(error, path_of(node), location, compared))

"""What an exception under test says: places, texts, both sides of a comparison; inside the sandbox.

Values, their repr and file names are hostile. Nothing here looks a function up at run time that a test may have
replaced (open, os.path.exists, json.dumps), and no measurement touches the file system but through `linecache`.
"""

# mypy: ignore-errors
# ruff: noqa: PTH100
# Python 3.8 has not the annotations that a strict check would ask for.

from __future__ import annotations

import ast
import functools
import os
from json import dumps
from linecache import getlines
from os.path import abspath

VALUE_CAP = 4000
TEXT_CAP = 2000
FRAMES_CAP = 40
ROOT = abspath(os.environ.get("SELFREPAIR_ROOT") or os.curdir)
FOREIGN = ("site-packages", "dist-packages", ".venv", "venv", ".tox", ".nox", "node_modules")
"""Folders inside the work tree whose files are not the repository's."""


def measured(measure):
    """JSON text of what `measure` gives; what goes wrong in it must not reach the test run."""
    text, wrong = _tried(lambda: dumps(measure()))
    return text if wrong is None else dumps({"plugin_error": wrong})


def _tried(function):
    """What a function gives, or the name of what it raised: hostile values run code of their own when they are read."""
    try:
        return function(), None
    except Exception as error:  # noqa: BLE001 - a test's own __repr__, __str__ or property raises whatever it likes
        return None, type(error).__name__


def facts(error, path, location, compared):
    """The failing place in the file of the test, and what was wrong, for one exception."""
    frames = list(_frames(error))
    own = [frame for frame in frames if frame[0] == path]
    line = own[-1][1] if own else location[1] + 1 if location and location[1] is not None else None
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((abspath(error.filename), error.lineno or 1, "<module>"))
        line = error.lineno if frames[-1][0] == path else line
    message, assertion = _message(error)
    return dict(
        _sides(error, compared),
        file=relative(path),
        line=line,
        exception=type(error).__name__,
        message=head(message, TEXT_CAP),
        assertion=head(assertion, TEXT_CAP),
        source=head(_statement(path, own[-1][1]), TEXT_CAP) if own else None,
        frames=[{"file": relative(f), "line": n, "name": name} for f, n, name in frames if relative(f)][-FRAMES_CAP:],
    )


def _message(error):
    name, text = type(error).__name__, _safely(str, error)
    plain = isinstance(error, AssertionError) and text.startswith("assert ")
    message = text if plain else name + ": " + text if text else name
    rewritten = [row for row in text.splitlines() if row.startswith("assert ")]
    return message, rewritten[0] if rewritten else message.splitlines()[0]


def _sides(error, compared):
    """Both sides of the failed comparison, if it is the very one that raised: at the traceback's last place."""
    failure = getattr(error, "failures", [error])
    if type(error).__name__ in ("DocTestFailure", "MultipleDoctestFailures") and hasattr(failure[0], "got"):
        return {"actual": head(failure[0].got, VALUE_CAP), "expected": head(failure[0].example.want, VALUE_CAP)}
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        if last.tb_frame.f_code.co_name == "assertEqual" and "__unittest" in last.tb_frame.f_globals:
            values = last.tb_frame.f_locals
            return {"actual": shown(values.get("first")), "expected": shown(values.get("second"))}
        last = last.tb_next
    if last is None or compared is None or not isinstance(error, AssertionError):
        return {}
    return compared[1] if compared[0] == (last.tb_frame.f_code, last.tb_lineno) else {}


# -- texts ------------------------------------------------------------------------------------------------------------


def shown(value):
    """The repr of a value, cut visibly."""
    return head(_safely(repr, value), VALUE_CAP)


def head(text, cap):
    """The beginning of a text, cut visibly."""
    return text if len(text) <= cap else text[:cap] + f" ...[{len(text) - cap} characters more]"


def tail(text, cap):
    """The end of a text, cut visibly."""
    return text if len(text) <= cap else f"[{len(text) - cap} characters before]... " + text[-cap:]


def _safely(function, value):
    text, wrong = _tried(lambda: function(value))
    return text if wrong is None else f"<{function.__name__} raised {wrong}>"


# -- places -----------------------------------------------------------------------------------------------------------


def path_of(node):
    """The absolute path of the file that a collected node lies in (`fspath` before pytest 7)."""
    return abspath(str(getattr(node, "path", None) or node.fspath))


@functools.lru_cache(maxsize=100_000)
def relative(file):
    """The path of a repository's own file, relative to the work tree; None for any other."""
    path = abspath(file)
    if not path.startswith(ROOT + os.sep):
        return None
    inner = path[len(ROOT) + 1 :].replace(os.sep, "/")
    return None if inner.startswith("<") or any(part in FOREIGN for part in inner.split("/")) else inner


def _frames(error):
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        yield abspath(code.co_filename), trace.tb_lineno, code.co_name
        trace = trace.tb_next


def _statement(file, line):
    """The source of the innermost statement around a line; the line alone of a compound one."""
    lines = getlines(file)
    around = [node for node in _statements(file) if node.lineno <= line <= (node.end_lineno or node.lineno)]
    last = max(around, key=lambda node: node.lineno, default=None)
    if last is None or hasattr(last, "body"):
        return lines[line - 1].strip() if line <= len(lines) else ""
    return "".join(lines[last.lineno - 1 : last.end_lineno]).strip()


@functools.lru_cache(maxsize=64)
def _statements(file):
    try:
        tree = ast.parse("".join(getlines(file)))
    except (SyntaxError, ValueError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]

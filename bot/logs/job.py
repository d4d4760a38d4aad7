"""One GitHub Actions job log, read as a stream: its steps, and what each step's output said.

Three ways of getting at a log are read alike: the raw log of the API, `gh run view --log` (job and step name before
each line, tab-separated), and text copied from the web page (no timestamps, no `##[group]`, "Error:" for "##[error]").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from bot.domain.findings import CheckKind, JobLog, Report, Step
from bot.logs.clean import STAMP, blocks, plain, plain_block
from bot.logs.command import command_kind, formats_of
from bot.logs.output import Output, Read
from bot.logs.parser import PAREN_ROW, ROW_LIKE

_STAMP = re.compile(STAMP)
_HEAD = re.compile(rf"\n(?=(?:{STAMP})?+##\[group\]Run )")
_MARK = re.compile(rf"\n(?:{STAMP})?+(?:##\[|Clea)")
_BROKEN_STAMP = re.compile(rf"\n(?!{STAMP})\ufeff?[0-9T:.-]{{0,27}}[\x1b\[][^\n]*Z")
_CYAN = "\x1b[36;1m"
_EXIT = re.compile(r"(?:Process completed|Docker run failed) with exit code (-?\d{1,9})")
_QUIET = re.compile(r"Run actions/(?:checkout|setup-[\w-]+|cache\S*|upload-\S+|download-\S+)@")
_ROW = re.compile(rf"{ROW_LIKE}|{PAREN_ROW}|\s+\d+:\d+\s+(?:error|warning)\s")
"""What problem matchers mark: rows of compilers and linters."""

_FULL_ROW = re.compile(r"[^\s:]+:\d+:\d+: \S")
_MOST_STEPS = 500
_HEAD_LINES = 400


class _Open:
    """A step that is being read."""

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self.command: list[str] = []
        self.shell: str | None = None
        self.env: dict[str, str] = {}
        self.action = False
        self.exit_code: int | None = None
        self._output: Output | None = None

    @property
    def output(self) -> Output:
        """Made on first use: by then the command is known, and with it what to look for."""
        if self._output is None:
            quiet = self.action and _QUIET.match(self.name)
            script = "\n".join(self.command)
            self._output = Output(frozenset() if quiet else formats_of(script), script=script)
        return self._output

    def close(self) -> Step:
        read = self._output.close(self.exit_code) if self._output else None
        command = "\n".join(self.command) or None
        report = None
        if read is not None and (read.kinds or read.found.blocked or self.exit_code not in (None, 0)):
            report = _report(self.name, command, self.exit_code, read)
        return Step(
            name=self.name,
            number=self.number,
            command=command,
            shell=self.shell,
            env=self.env,
            exit_code=self.exit_code,
            report=report,
        )


def _report(name: str, command: str | None, exit_code: int | None, read: Read) -> Report:
    known = command_kind(command) if command else None
    kind = known[0] if known else (read.kinds[0] if read.kinds else CheckKind.CUSTOM)
    found = read.found
    return Report(
        check=name,
        kind=kind,
        exit_code=exit_code,
        findings=found.findings,
        passed=found.passed,
        skipped=found.skipped,
        collected=found.collected,
        blocked=found.blocked,
        truncated=found.dropped > 0,
    )


def _cleaned(text: str) -> tuple[str, bool]:
    """(the lines without terminal escapes, True), or the lines as they are and False.

    The latter where taking escapes out would make what a program printed look like the runner's own words.
    """
    cleaned = plain_block(text)
    same = not ("##[" in cleaned or "Clea" in cleaned) or len(_MARK.findall(text)) == len(_MARK.findall(cleaned))
    if same and not _BROKEN_STAMP.search(text):
        return cleaned, True
    return text, False


class _Job:
    """The state machine over the lines of a job."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.step: _Open | None = None
        self.stamped = False
        self.finished = False
        self._prefix: tuple[str, str] | None = None
        self._maybe: str | None = None
        self._head: int | None = None
        self._pasted = False
        self._preamble = False
        self._sink: Callable[[str], None] | None = None

    def feed_block(self, block: str) -> None:
        """Take many lines, separated by newlines."""
        for part in _HEAD.split(block) if "##[group]Run " in block else (block,):
            first, newline, rest = part.partition("\n")
            self.feed(first)
            if newline:
                self._feed_rest("\n" + rest)

    def _feed_rest(self, text: str) -> None:
        """Lines, each behind its newline, none of which begins a step."""
        at, bulk, dirty = 0, True, "\x1b" in text or "[0m" in text
        while at >= 0:
            if bulk and self._sink is not None and self._prefix is None and self.step is not None:
                if dirty:
                    text, bulk = _cleaned(text[at:])
                    at, dirty = 0, False
                at = self.step.output.skip(text, at, stamped=True) if bulk else at
                if at < 0:
                    return
            end = text.find("\n", at + 1)
            self.feed(text[at + 1 : end] if end >= 0 else text[at + 1 :])
            at = end

    def feed(self, raw: str) -> None:
        """Take one line as it stands in the file."""
        found = _STAMP.match(raw)
        if found:
            text = raw[found.end() :]
            self.stamped = True
        elif self._prefix is not None or ("\t" in raw and not self.stamped):
            text = self._unprefixed(raw)
        else:
            text = raw
        sink = self._sink
        if sink is not None and text[:3] != "##[" and text[:4] != "Clea":
            sink(text)
        else:
            self._special(text)

    def _special(self, text: str) -> None:
        """Anything but a line of output of the step that is open."""
        if self._maybe is not None and self._opened(text):
            return
        if self._head is not None and self._header(text):
            return
        if text.startswith("##["):
            self._marked(text)
        elif not self.stamped and text.startswith(("Run ", "Error: ", "Warning: ")) and self._pasted_line(text):
            return
        elif self.step is None or self.step.exit_code is None:
            self._output(text)

    def _unprefixed(self, raw: str) -> str:
        """`job<TAB>step<TAB>timestamp text`."""
        job, tab, rest = raw.partition("\t")
        step, tab, text = rest.partition("\t")
        found = _STAMP.match(text) if tab else None
        if not tab or (found is None and self._prefix != (job, step)):
            return raw
        if self._prefix != (job, step):
            self._close()
            self._prefix = (job, step)
        self.stamped = True
        return text[found.end() :] if found else text

    def _marked(self, text: str) -> None:
        """A line that the runner wrote: `##[word]rest`."""
        word, _, rest = text[3:].partition("]")
        if word == "group" and rest.startswith("Run "):
            self._maybe = rest
            self._sink = None
        elif word in ("error", "warning", "group"):
            found = _EXIT.match(rest)
            if found and word == "error":
                self._exit(int(found.group(1)))
            elif self.step is None or self.step.exit_code is None:
                self._output(rest)

    def _opened(self, text: str) -> bool:
        """The line after `##[group]Run ...` (or, pasted, `Run ...`) tells whether a step begins here."""
        title, self._maybe = self._maybe, None
        if title is None:
            return False
        self._listen()
        first = plain(text)
        script = title.removeprefix("Run ")
        if not text.startswith((_CYAN, "with:", "env:", "shell:", "##[endgroup]")) and (
            self.stamped or first.strip() != script.strip()
        ):
            return False
        self._close()
        self.step = _Open(title, len(self.steps) + 1)
        self._head = 0
        self._pasted = not self.stamped
        return self._header(text)

    def _header(self, text: str) -> bool:
        """Lines of a step's head: its script, shell and environment. False ends the head."""
        step = self.step
        if step is None or self._head is None:
            return False
        self._head += 1
        if text.startswith("##[endgroup]") or self._head > _HEAD_LINES:
            self._head = None
            self._listen()
            return True
        if text.startswith(_CYAN):
            step.command.append(plain(text))
        elif text.startswith("shell: "):
            step.shell = text.removeprefix("shell: ").strip()
        elif text.startswith(("env:", "with:")):
            step.action = step.action or text.startswith("with:")
        elif text.startswith("  ") and (step.shell or step.action or not self._pasted):
            key, _, value = text.strip().partition(": ")
            if len(step.env) < 200:
                step.env[key.rstrip(":")] = value[:1000]
        elif self._pasted and step.shell is None and not step.action:
            step.command.append(plain(text))
        elif self._pasted:
            self._head = None
            return False
        return True

    def _pasted_line(self, text: str) -> bool:
        """The same marks as they look on the web page."""
        if text.startswith("Run "):
            self._maybe = text
            return False
        rest = text.removeprefix("Error: ").removeprefix("Warning: ")
        found = _EXIT.match(rest)
        said = not rest.endswith(":") or _FULL_ROW.match(rest) is not None  # else the message of a JavaScript error
        row = said and _ROW.match(rest) is not None
        if found:
            self._exit(int(found.group(1)))
        elif row:
            self._output(rest)
        return found is not None or row

    def _exit(self, code: int) -> None:
        if self.step is None:
            self.step = _Open("", len(self.steps) + 1)
        if self.step.exit_code in (None, 0):
            self.step.exit_code = code
        self._sink = None

    def _listen(self) -> None:
        """From here on plain lines go straight to the open step: the way that most lines of a log take."""
        ready = self.stamped and self.step is not None and self.step.exit_code is None and self._head is None
        self._sink = self.step.output.feed if ready and self.step is not None else None

    def _output(self, text: str) -> None:
        if text == "Cleaning up orphan processes":
            self.finished = True
            return
        if self.step is None:
            self._preamble = self._preamble or text.startswith("Current runner version:")
            if self._preamble:
                return
            self.step = _Open("", len(self.steps) + 1)
        self.step.output.feed(text)

    def _close(self) -> None:
        self._sink = None
        if self.step is None:
            return
        if self.step.exit_code is None and self.step.command:
            self.step.exit_code = 0  # a further step began and no error was shown
        step = self.step.close()
        self.step = None
        if len(self.steps) < _MOST_STEPS and (step.name or step.report):
            self.steps.append(replace(step, number=len(self.steps) + 1))

    def close(self, name: str) -> JobLog:
        """The job; a step that the log breaks off in keeps no exit status."""
        cut = (self.stamped or self._pasted) and not self.finished
        if self.step is not None and not cut and self.stamped and self.step.exit_code is None and self.step.command:
            self.step.exit_code = 0
        if self.step is not None:
            step = self.step.close()
            if step.name or step.report:
                self.steps.append(step)
        return JobLog(name=name, steps=tuple(self.steps), truncated=cut)


def read_job(chunks: Iterable[bytes], *, name: str = "job") -> JobLog:
    """Read one job's log. Any bytes are accepted; memory is bound by the caps in `parser.py`, not by the log's size.

    Lines before the first step, or in a file that is no GitHub log at all, form a step without a name.
    """
    job = _Job()
    for block in blocks(chunks):
        job.feed_block(block)
    return job.close(name)

"""Untrusted text made harmless wherever it is shown: it is read by people and by GitHub, and obeyed by neither."""

from __future__ import annotations

import re

from bot.redact import visible

GAP = "\u200b"
"""A zero-width space breaks what GitHub would act on. Hidden characters of the text itself are made visible first."""

_MARKUP = re.compile(r"([\\`*~\[\]|$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_SPAN = re.compile(r"(?<![`\\])`([^`]+)`(?!`)")
_LINE_START = re.compile(r"^([#+=:-]|\d{1,9}(?=[.)]))")
# What GitHub acts on outside code: mentions, references (#1, GH-1, owner/repo#1), URLs, and in a commit message the
# words that keep CI from starting (docs.github.com: "Autolinked references and URLs", "Skipping workflow runs").
_ACTIVE = (
    (re.compile(r"@"), f"@{GAP}"),
    (re.compile(r"#(?=\d)"), f"#{GAP}"),
    (re.compile(r"(?i)(?<![A-Za-z0-9])(gh)-(?=\d)"), rf"\1-{GAP}"),
    (re.compile(r"://"), f":{GAP}//"),
    (re.compile(r"(?i)(?<![A-Za-z0-9])(www)\."), rf"\1{GAP}."),
    (re.compile(r"(?i)\[(?=(?:skip|no) (?:ci|actions)\]|(?:ci|actions) skip\])"), f"[{GAP}"),
    (re.compile(r"(?i)skip-checks:"), f"skip-checks{GAP}:"),
)


def inert(text: str) -> str:
    """The text with everything broken that GitHub would link, notify or close; looks the same."""
    for pattern, replacement in _ACTIVE:
        text = pattern.sub(replacement, text)
    return text


def clip(text: str, limit: int) -> str:
    """At most `limit` characters of the text, and how much is missing."""
    return text if len(text) <= limit else f"{text[:limit].rstrip()} … ({len(text) - limit} more characters)"


def line(text: str, limit: int = 200) -> str:
    """One inert line without markup of its own: for titles, commit messages and notices."""
    return inert(clip(" ".join(visible(text).split()), limit))


def prose(text: str, limit: int = 3000) -> str:
    """Paragraphs of Markdown that show the text literally and nothing else."""
    return "\n".join(map(_prose_line, clip(visible(text), limit).split("\n")))


def _prose_line(text: str) -> str:
    """Code spans stay code spans (each made anew), the rest is escaped."""
    pieces = _SPAN.split(" ".join(text.split()))
    shown = [code(piece, len(piece)) if number % 2 else _escaped(piece) for number, piece in enumerate(pieces)]
    return _LINE_START.sub(_escaped_start, "".join(shown))


def _escaped(text: str) -> str:
    text = _MARKUP.sub(r"\\\1", inert(text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _escaped_start(match: re.Match[str]) -> str:
    return match[0] + "\\" if match[0].isdigit() else "\\" + match[0]


def sentence(text: str, limit: int = 600) -> str:
    """A reason of the run as one Markdown sentence: capital first, full stop last."""
    said = clip(" ".join(visible(text).split()), limit)
    if not said:
        return ""
    if said.split(" ", 1)[0].isalpha():  # a path or an identifier keeps its spelling
        said = said[:1].upper() + said[1:]
    # The stop comes before the markup is escaped: "7" is a word, "7." would start a list.
    return prose(said if said.endswith((".", "!", "?")) else f"{said}.", limit * 2)


def quote(text: str, limit: int = 3000) -> str:
    """The text as a Markdown block quote: somebody else's words."""
    lines = prose(text.strip(), limit).split("\n")
    return "\n".join(f"> {each}".rstrip() for each in lines)


def code(text: str, limit: int = 200) -> str:
    """One line of the text as a Markdown code span, fit for a table cell (a pipe would end the cell: it becomes ¦)."""
    shown = line(text, limit).replace("|", "¦") or " "
    ticks = "`" * (_longest(shown, "`") + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fence(text: str, language: str = "", limit: int = 20_000) -> str:
    """The text verbatim (hidden characters shown) in a fenced code block that it cannot leave."""
    shown = visible(text[: limit + 1]).rstrip("\n")  # a patch can be many megabytes
    left_out = max(len(text.rstrip("\n")), len(shown)) - limit
    if left_out > 0:
        shown = shown[:limit].rpartition("\n")[0] or shown[:limit]
    ticks = "`" * max(3, _longest(shown, "`") + 1)
    note = f"\n\n*{left_out:,} more characters are in the run's artifact.*" if left_out > 0 else ""
    return f"{ticks}{language}\n{shown}\n{ticks}{note}"


def log_safe(text: str) -> str:
    """Text for a job's log: no line of it is a workflow command (`::name::`, `##[name]`; actions/runner)."""
    broken = re.sub(r"^(\s*):(?=:)", r"\1: ", text, flags=re.MULTILINE)
    return broken.replace("##[", "# #[")


def _longest(text: str, char: str) -> int:
    return max((len(run) for run in re.findall(f"{re.escape(char)}+", text)), default=0)

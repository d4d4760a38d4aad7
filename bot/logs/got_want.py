"""`got 3, want 4` in the spellings that people use: Go's testing package has no assertions to take values from."""

from __future__ import annotations

import re

Pair = tuple[str | None, str | None]
"""(expected, actual); both or none."""

NO_PAIR: Pair = (None, None)
_LONGEST = 2000
_LINES = 200
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"' r"|`[^`]*`" r"|(?<![\w'])'(?:[^'\\]|\\.)*'(?!\w)")
_WANT = re.compile(
    r"\b(?:want(?:ed|s|Err)?\d*|expect(?:ed|ing|s)?|exp|should (?:be|equal|have|return)|instead of)\b", re.IGNORECASE
)
_GOT = re.compile(r"(?<!should )\b(?:got\d*|have|had|actual(?:ly)?|received|found|saw)\b", re.IGNORECASE)
_WEAK = re.compile(r"(?:[,;]|\bbut)(?: it)? (?:was|is|has|returned|gave)\b", re.IGNORECASE)
_GIVES = re.compile(r" (?:==?|=>|->|returned|returns|is|was) ")
_TO_BE = re.compile(r"\bto (?:be|equal|eq|have|return)\b:? ")
_DIFF = re.compile(
    r"[-+] ?(?P<first>want|expected|got|actual)\w*[ ,/|]*[-+] ?(?P<second>want|expected|got|actual)", re.I
)
_LABEL = re.compile(
    r"\W*(?:(?P<got>got|actual|have|received|output|result)|(?P<want>want(?:ed)?|expected|exp))"
    r"(?: \([^)]*\))?(?:\s*[:=]+\s*|\s+(?=\S)|$)(?P<value>.*)$",
    re.IGNORECASE,
)
_NOTE = re.compile(r" (?:for|with|when|at|in|on|from|after|if|because|\(|--) ?\S")
_WORDS = re.compile(r"(?!.*\b(?:contain|match|like|prefix|suffix))[a-z ]+ \S+$")
_SECTION = re.compile(r"\w[\w ]*:$")
_SIMPLE = re.compile(r'[-+\w."`\']+$')


def pair(text: str) -> Pair:
    """Expected and actual value that a failure's text names; (None, None) unless it names both."""
    lines = text.strip("\n").split("\n")[:_LINES]
    if found := _DIFF.search(lines[0][:_LONGEST]):
        return _from_diff(found, lines[1:])
    one = _in_line(lines[0][:_LONGEST])
    return one if one != NO_PAIR else _labelled(lines)


def speaks_of_failure(text: str) -> bool:
    """Whether a logged line reads like the reason of a failure, not like a note on the way."""
    return bool(_FAILS.search(text[:_LONGEST]))


_FAILS = re.compile(
    r"\b(?:want(?:ed|Err)?|(?:un)?expect\w*|got|fail\w*|err(?:or)?s?|should|must|mismatch\w*|wrong|invalid|panic|not|cannot"
    r"|can't|unable|differ\w*|missing|bad|incorrect|timed? ?out|race detected)\b|!=|\bdidn't|\bdoesn't",
    re.IGNORECASE,
)


def _masked(text: str) -> str:
    """The same length, with what stands in quotes made unreadable."""
    return _QUOTED.sub(lambda found: "\x00" * len(found.group()), text)


def _in_line(text: str) -> Pair:
    masked = _masked(text)
    wants = list(_WANT.finditer(masked))
    if not wants:
        return NO_PAIR
    want = wants[-1]
    got = _GOT.search(masked, want.end()) or _WEAK.search(masked, want.end())
    if got is not None:
        return _tidy(text[want.end() : got.start()], text[got.end() :])
    before = list(_GOT.finditer(masked, 0, want.start()))
    if before:
        return _tidy(text[want.end() :], text[before[-1].end() : want.start()])
    if equal := _TO_BE.search(masked, want.end()):
        return _tidy(text[equal.end() :], text[want.end() : equal.start()])
    return _tidy(text[want.end() :], _given(text[: want.start()], masked[: want.start()]))


def _given(text: str, masked: str) -> str:
    """The value that `F(x) = 3` or `length: 3` gives."""
    gives = list(_GIVES.finditer(masked))
    if gives:
        return text[gives[-1].end() :]
    at = masked.rfind(": ")
    value = text[at + 2 :] if at >= 0 else text
    return value if " " not in value.strip(" ,;.") or at >= 0 else ""


def _tidy(want: str, got: str) -> Pair:
    want, got = _bare(want), _bare(re.sub(r"\b(?:but|and|instead|we|it)\s*$", "", got.strip(" ,;")))
    want = re.sub(r"[\s,;]+(?:but|and|instead|we|it)$", "", want).rstrip(" ,;")
    if (equal := _TO_BE.search(_masked(want))) is not None:
        want = want[equal.end() :]
    if " = " in _masked(want) and " = " not in _masked(got):
        want = want[_masked(want).rindex(" = ") + 3 :]
    want, got = _without_note(want, got), _without_note(got, want)
    last = want.rsplit(" ", 1)[-1]
    if " " in _masked(want) and _kind(got) and _kind(last) == _kind(got) and _WORDS.match(want):
        want = last
    return (want, got) if want and got else NO_PAIR


def _bare(value: str) -> str:
    value = value.strip().lstrip(":=").strip().rstrip(",;").rstrip()
    masked = _masked(value)
    if value.endswith(")") and masked.count(")") > masked.count("("):
        value = value[:-1].rstrip()
    if value.endswith("(") or (value.endswith(".") and not value.endswith("..")):
        value = value[:-1].rstrip(" ,;")
    return value


def _without_note(value: str, other: str) -> str:
    """`6 (input [1 2])`, `6 for x`: the value, when the other side is a plain one too."""
    if not _SIMPLE.match(_masked(other).replace("\x00", "x")):
        return value
    masked = _masked(value)
    found = _NOTE.search(masked)
    if found and _SIMPLE.match(masked[: found.start()].replace("\x00", "x")):
        return value[: found.start()].rstrip(" ,;")
    return value


def _kind(value: str) -> str | None:
    if re.fullmatch(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?", value):
        return "number"
    return "text" if value[:1] in "\"'`" and value[-1:] == value[:1] and len(value) > 1 else None


def _labelled(lines: list[str]) -> Pair:
    """Values on lines or in blocks of their own under `got:` and `want:`."""
    values: dict[str, list[str]] = {}
    now: str | None = None
    for number, line in enumerate(lines):
        found = _LABEL.match(line)
        if found is None and number == 0 and (got := list(_GOT.finditer(_masked(line[:_LONGEST])))):
            found = _LABEL.match(line[got[-1].start() :])
        name = None if found is None else "got" if found.group("got") else "want"
        if found is not None and name is not None and name not in values:
            now = name
            values[now] = [found.group("value").rstrip(" ,;")] if found.group("value").strip() else []
            if values[now]:
                now = None
        elif now is not None and line.strip() and not _SECTION.match(line) and (found is None or not values[now]):
            values[now].append(line)
        elif now is not None and values[now]:
            now = None
    got_lines, want_lines = values.get("got"), values.get("want")
    if not got_lines or not want_lines:
        return NO_PAIR
    return _block(want_lines), _block(got_lines)


def _block(lines: list[str]) -> str:
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    return "\n".join(line[indent:].rstrip() for line in lines).strip()


def _from_diff(head: re.Match[str], lines: list[str]) -> Pair:
    """go-cmp's `(-want +got)`: a pair where one line differs."""
    rows = [line.replace("\u00a0", " ").strip() for line in lines]
    minus = [row[1:].strip().rstrip(",") for row in rows if row.startswith("-") and not row.startswith("---")]
    plus = [row[1:].strip().rstrip(",") for row in rows if row.startswith("+") and not row.startswith("+++")]
    if len(minus) != 1 or len(plus) != 1:
        return NO_PAIR
    sign = head.group()[0]
    first = (minus if sign == "-" else plus)[0]
    second = (plus if sign == "-" else minus)[0]
    wanted_first = head.group("first").lower() in ("want", "expected")
    return (first, second) if wanted_first else (second, first)

"""What the model answered, tool call or text, becomes a Patch, a reasoned refusal or a reason to ask again."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Sequence

from bot.domain.attempt import EditFormat, Reply
from bot.domain.patch import HOLE_MARK, Hole, Patch, Proposal, Read, Refused, Rejected
from bot.repair import functions
from bot.repair.draft import Draft, locate
from bot.repair.formats import Code, Raw, Write, fences, text_edits, tool_edits
from bot.repair.place import place
from bot.repair.tools import CONTRADICTION_LINE, CONTRADICTION_TOOL, EDIT_TOOL

_CONTRADICTION = re.compile(rf"^[ \t>*`]*{CONTRADICTION_LINE}[ \t*`]*:[ \t*`]*(?P<why>.+)", re.MULTILINE)
_RATIONALE = 1000


def parse(
    reply: Reply,
    *,
    read: Read,
    edit_format: EditFormat,
    paths: Collection[str],
    hole: Hole | None = None,
    near: Sequence[str] = (),
) -> Proposal:
    """Read a reply against the state behind `read`.

    `paths` are the tracked files, `near` the files told in the packet (`excerpts.files`): where a function or block
    without a path is looked for; without it every tracked Python file is. Whatever is not certain is `Rejected`, with
    a reason to be told to the model; `rule` is "refusal", "truncated", "path", "unchanged" or "reply".
    """
    stopped = _stopped(reply)
    if stopped is not None:
        return stopped
    files = tuple(near) or ((hole.file,) if hole else tuple(sorted(p for p in paths if p.endswith(".py"))))
    draft = Draft(source=read, known=paths)
    if reply.tool_name is not None:
        return _tool(reply, draft, files)
    text = reply.text.replace("\r\n", "\n")
    raw = _hole_edit(hole, text, draft) if hole and edit_format is EditFormat.HOLE else text_edits(text)
    why = _CONTRADICTION.search(text)
    if why and isinstance(raw, Rejected):
        return Refused(reason=why["why"].strip()[:_RATIONALE])
    return raw if isinstance(raw, Rejected) else _drafted(raw, draft, files, _prose(text))


def _stopped(reply: Reply) -> Rejected | None:
    if reply.stop_reason == "refusal":
        return Rejected(reason="the model declined to answer this request", rule="refusal")
    if reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
        return Rejected(
            reason="the reply was cut off at its length limit; answer shorter: only the code that must change",
            rule="truncated",
        )
    return None


def _tool(reply: Reply, draft: Draft, files: Sequence[str]) -> Proposal:
    if reply.tool_name == CONTRADICTION_TOOL:
        why = reply.tool_input.get("reason")
        if isinstance(why, str) and why.strip():
            return Refused(reason=why.strip()[:_RATIONALE])
        return Rejected(reason=f"{CONTRADICTION_TOOL} needs a `reason`: quote the contract that the test contradicts")
    if reply.tool_name != EDIT_TOOL:
        return Rejected(reason=f"there is no tool {reply.tool_name!r:.60}; call {EDIT_TOOL}")
    raw = tool_edits(reply.tool_input)
    rationale = str(reply.tool_input.get("rationale") or reply.text)
    return raw if isinstance(raw, Rejected) else _drafted(raw, draft, files, rationale)


def _drafted(raw: Sequence[Raw], draft: Draft, files: Sequence[str], rationale: str) -> Patch | Rejected:
    for edit in raw:
        bad = _add(edit, draft, files)
        if bad is not None:
            return bad
    return draft.finish(rationale.strip()[:_RATIONALE])


def _add(edit: Raw, draft: Draft, files: Sequence[str]) -> Rejected | None:
    if isinstance(edit, Write):
        return draft.write(edit.path, edit.content)
    if isinstance(edit, Code):
        path = None if edit.path is None else _resolved(edit.path, draft, files)
        return place(draft, Code(path=path, code=edit.code), files)
    path = None if edit.path is None else _resolved(edit.path, draft, [*files, *draft.known])
    found = (
        [path]
        if path is not None
        else [p for p in files if isinstance(locate(draft.text(p) or "", edit.old, ""), tuple)]
    )
    if len(found) != 1:
        where = "several files" if found else "no file told"
        return Rejected(reason=f"name the file of each edit: the text to replace stands in {where}")
    return draft.replace(found[0], edit.old, edit.new)


def _resolved(path: str, draft: Draft, files: Collection[str]) -> str:
    """The told file that a slightly different path can only mean ("./d.py", "a/d.py", "d.py" for "src/d.py")."""
    bare = path.removeprefix("./")
    if draft.read(bare) is not None:
        return bare
    if bare[:2] in ("a/", "b/") and draft.read(bare[2:]) is not None:
        return bare[2:]
    ends = {known for known in files if known.endswith(f"/{bare}")}
    return ends.pop() if len(ends) == 1 else bare


# -- hole ---------------------------------------------------------------------------------------------------------


def _hole_edit(hole: Hole, text: str, draft: Draft) -> list[Raw] | Rejected:
    """The replacement for the hole as an edit of its file; whole functions and blocks are welcome instead."""
    if re.search(r"^[ \t]*<{5,9}[ \t]*SEARCH", text, re.MULTILINE):
        return text_edits(text)
    source = draft.text(hole.file)
    if source is None:
        return Rejected(reason=f"{hole.file}: not a text file")
    found = [code.code for code in fences(text.split("\n"))] or [text.strip("\n")]
    fitting = {new for code in found if (new := _filled(hole, code, source)) is not None}
    if len(fitting) != 1:
        problem = "more than one block fits" if fitting else "the reply does not fit into the hole"
        return Rejected(reason=f"{problem}; answer with only the lines that replace {HOLE_MARK}, in one fenced block")
    return [Write(path=hole.file, content=fitting.pop())]


def _filled(hole: Hole, code: str, source: str) -> str | None:
    """The file with the hole filled; None when that is no longer Python (and it was, or ought to be)."""
    if HOLE_MARK in code:
        return None
    lines = source.split("\n")
    before, after = lines[: hole.start - 1], lines[hole.end :]
    around = functions.enclosing(source, hole.start, hole.end)
    part = functions.snippet(code)
    if around and part and any(d.name == around.name.rpartition(".")[2] for d in part.definitions):
        wanted = next(d for d in part.definitions if d.name == around.name.rpartition(".")[2])
        first, last = functions.replaced_lines(wanted, around)
        return "\n".join([*lines[: first - 1], functions.rendered(part, wanted, around), *lines[last:]])
    for body in _indented(hole, _without_context(code.split("\n"), before, after)):
        new = "\n".join([*before, *body, *after])
        if not hole.file.endswith(".py") or functions.parses(new):
            return new
    return None


def _indented(hole: Hole, body: Sequence[str]) -> Iterator[list[str]]:
    """The lines at the hole's indentation; then the same with a first line that alone had lost its indentation."""
    margin = next((line[: len(line) - len(line.lstrip())] for line in hole.removed.split("\n") if line.strip()), "")
    plain = textwrap.dedent("\n".join(body)).split("\n") if "".join(body).strip() else []
    yield [f"{margin}{line}".rstrip() for line in plain]
    yield [f"{margin}{line.lstrip()}" if index == 0 else line for index, line in enumerate(plain)]


def _without_context(body: list[str], before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Drop blank edges, and the lines next to the hole where the model repeated them."""
    body = "\n".join(body).strip("\n").split("\n")
    if before and len(body) > 1 and body[0].strip() == before[-1].strip() and body[0].strip():
        body = body[1:]
    if after and len(body) > 1 and body[-1].strip() == after[0].strip() and body[-1].strip():
        body = body[:-1]
    return body


def _prose(text: str) -> str:
    """What the model said before its first block: shown to people as the reason."""
    return re.split(r"^[ \t]*(?:```|~~~|<{5,9}|--- )", text, maxsplit=1, flags=re.MULTILINE)[0]

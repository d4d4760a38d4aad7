"""Reports become the one packet that a model is told: the most important cause first, as much as the budget takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.domain.findings import Diagnostic, Failure
from bot.domain.fitness import Evaluation
from bot.domain.packet import Aside, Hunk, PacketDiagnostic, PacketFailure, Past, RepairPacket, Span
from bot.domain.patch import Read
from bot.packets import clean, spans
from bot.packets.draft import Draft
from bot.packets.grouping import Cause, group
from bot.packets.hints import hint as fact
from bot.packets.legs import Seen
from bot.packets.said import message, steady
from bot.packets.suspects import Finder, Suspect
from bot.packets.tree import Tree, is_test
from bot.packets.trim import CHARACTERS_PER_TOKEN, cut, cut_pair
from bot.packets.view import View
from bot.packets.words import instructions, priority, summary

_PLACE = re.compile(r"(?<![\w./\\+-])([\w./\\+-]{1,300}\.\w{1,9})[\"']?(?::|, line )(\d+)")


@dataclass(frozen=True, kw_only=True)
class _Told:
    """What the parts of one packet share. `characters` is the budget in characters."""

    tree: Tree
    finder: Finder
    view: View
    seen: Seen
    changed: tuple[Hunk, ...]
    characters: int
    wider: bool
    function: bool = False

    @property
    def per_cause(self) -> int:
        """More examples of one cause add little once the first few are told."""
        return 12 if self.wider else 6

    @property
    def field(self) -> int:
        """Characters of one value that are shown whole."""
        return self.characters // (4 if self.wider else 6)

    @property
    def source(self) -> int:
        """Tokens that the first excerpt may take."""
        return int(self.characters / CHARACTERS_PER_TOKEN * (0.7 if self.wider else 0.45))


def build(
    evaluation: Evaluation,
    *,
    iteration: int,
    max_iterations: int,
    read: Read,
    paths: frozenset[str],
    changed: Sequence[Hunk] = (),
    history: Sequence[Past] = (),
    hidden: frozenset[str] = frozenset(),
    legs: Sequence[str] = (),
    aside: Sequence[Aside] = (),
    tokens: int = 2000,
    wider: bool = False,
    hint: str = "",
    focus: int | None = None,
) -> RepairPacket:
    """The packet for one turn, at most `tokens` estimated tokens of JSON.

    `read` and `paths` give the state that edits are made against, `changed` the hunks since the last green run.
    `hidden` are held-out test ids: neither their ids nor their values nor their source are shown. `wider` shows more
    source and more examples (raise `tokens` with it). `hint` is said to the model as it is.
    `focus` tells one cause only, that of this rank (counted round), and of its code no more than functions: a weak
    model repairs one small thing or nothing. `legs` names the job that each report comes from, `aside` the tests that
    count for nothing (see `of_run`). The same input always gives the same packet. Below about 300 tokens there is no
    room for a failure, and all findings end as `omitted`.
    """
    failures = [f for report in evaluation.reports for f in report.findings if isinstance(f, Failure)]
    tree = Tree(read, paths)
    finder, view = Finder(tree, failures), View(tree, hidden, failures)
    told = _Told(
        tree=tree,
        finder=finder,
        view=view,
        seen=Seen(evaluation, legs),
        changed=view.hunks(changed),
        characters=int(tokens * CHARACTERS_PER_TOKEN),
        wider=wider,
        function=focus is not None,
    )
    causes = [c for cause in group(evaluation, finder, changed) if (c := _without(cause, hidden))]
    chosen = causes if focus is None or not causes else [causes[focus % len(causes)]]
    draft = Draft(
        RepairPacket(
            iteration=iteration,
            max_iterations=max_iterations,
            summary=summary(evaluation),
            priority=priority(chosen),
            instructions=instructions(chosen, hint),
        ),
        view,
        tokens - 8,  # room for `omitted`, which is known last
    )
    _fill(draft, chosen, told, history)
    for each in aside:
        if each.test not in hidden:
            draft.add_aside(Aside(test=cut(each.test, 300), reason=cut(each.reason, 300)))
    return _finished(draft.packet, causes, view)


def _without(cause: Cause, hidden: frozenset[str]) -> Cause | None:
    left = replace(cause, failures=tuple(f for f in cause.failures if f.id not in hidden))
    return left if left.findings or left.blocked else None


def _finished(packet: RepairPacket, causes: Sequence[Cause], view: View) -> RepairPacket:
    """What blocks, then file and line; the count of what was left out, and no held-out id in any text."""
    total = sum(len(cause.findings) for cause in causes)
    first = {f.id for cause in causes if cause.stops for f in cause.failures}
    ordered = replace(
        packet,
        failures=tuple(sorted(packet.failures, key=lambda f: (f.test not in first, f.file or "", f.line or 0, f.test))),
        diagnostics=tuple(sorted(packet.diagnostics, key=lambda d: (d.file, d.line or 0, d.col or 0))),
        omitted=total - len(packet.failures) - len(packet.diagnostics),
    )
    if not view.hidden:
        return ordered
    return clean.changed(
        ordered, view.clean, lambda span: view.clean(span.source) if is_test(span.file) else span.source
    )


def _fill(draft: Draft, causes: Sequence[Cause], told: _Told, history: Sequence[Past]) -> None:
    """By importance: the first failure with its suspect, what was refused before, then everything else."""
    for number, cause in enumerate(causes):
        for text in cause.blocked:
            draft.add_blocked(cut(told.seen.blocked(text), told.field))
        told_failures = _add_failures(draft, cause.failures[:1], told)
        if not number:
            _add_history(draft, history, told)
        told_failures += _add_failures(draft, cause.failures[1 : told.per_cause], told)
        _add_diagnostics(draft, cause, told)
        _add_places(draft, cause, told)
        _add_changed(draft, told)
        _add_context(draft, told_failures, told)
    for hunk in told.changed:
        draft.add_hunk(hunk, told.characters // 10)


def _add_failures(draft: Draft, failures: Sequence[Failure], told: _Told) -> list[Failure]:
    added = []
    for failure in failures:
        if draft.add_failure(_versions(failure, told)):
            added.append(failure)
            for suspect in _suspects(failure, told)[:1]:
                draft.carry(_excerpts(suspect, told, min(told.source, draft.room)), "failures")
    return added


def _suspects(failure: Failure, told: _Told) -> list[Suspect]:
    return told.finder.suspects(failure, told.changed)


def _versions(failure: Failure, told: _Told) -> Iterator[PacketFailure]:
    """From whole to much cut; every cut is marked."""
    for limit in (told.field, told.field // 2, told.field // 4, 160):
        yield _told_failure(failure, told, limit)


def _told_failure(failure: Failure, told: _Told, limit: int) -> PacketFailure:
    asserting = _asserting(failure, told)
    expected, actual = cut_pair(steady(failure.expected), steady(failure.actual), limit)
    return PacketFailure(
        test=cut(failure.id, max(limit, 300)),
        file=told.finder.file(failure) or failure.file,
        line=failure.line,
        assertion=_short(asserting, limit // 2),
        message=_short(steady(message(failure)), limit // 2),
        expected=expected,
        actual=actual,
        hint=fact(failure, told.tree, asserting),
        captured=_short(steady(failure.captured), limit // 3) if failure.expected is None else None,
        legs=told.seen.of(failure),
    )


def _short(text: str | None, limit: int) -> str | None:
    return cut(text, limit) if text else None


def _asserting(failure: Failure, told: _Told) -> str | None:
    """The asserting source line, the whole statement where it runs over several lines."""
    if failure.source:
        return failure.source.strip()
    path = told.finder.file(failure)
    if not path or not failure.line:
        return None
    found = told.finder.statement(failure)
    start, end = (found.lineno, found.end_lineno or found.lineno) if found else (failure.line, failure.line)
    if hasattr(found, "body"):
        end = start  # of a `with` or `for` only the head
    span = told.view.excerpt(path, start, end)
    return span.source.strip() if span else None


def _add_history(draft: Draft, history: Sequence[Past], told: _Told) -> None:
    """The newest refusal with most of its diff, earlier ones shorter."""
    for age, past in enumerate(sorted(history, key=lambda p: -p.iteration)):
        limit = told.characters // (5 if not age else 12)
        short = replace(past, reason=cut(past.reason, told.field))
        if not draft.add_past(short, limit):
            draft.add_past(replace(short, diff=""), limit)


def _add_diagnostics(draft: Draft, cause: Cause, told: _Told) -> None:
    for diagnostic in cause.diagnostics:
        if draft.add_diagnostic(_told_diagnostic(diagnostic, told)):
            allowance = min(told.source, draft.room) // 2
            draft.carry(spans.of_diagnostic(told.view, diagnostic, allowance, told.function), "diagnostics")


def _told_diagnostic(diagnostic: Diagnostic, told: _Told) -> PacketDiagnostic:
    return PacketDiagnostic(
        file=told.tree.resolve(diagnostic.file) or diagnostic.file,
        line=diagnostic.line,
        col=diagnostic.col,
        code=diagnostic.code,
        message=cut(diagnostic.message, told.field // 2),
        legs=told.seen.of(diagnostic),
    )


def _add_places(draft: Draft, cause: Cause, told: _Told) -> None:
    """Lines that a blocked check, or an error without frames such as a syntax error, names in its text."""
    texts = [*cause.blocked, *(f.message or "" for f in cause.failures[:1] if not told.finder.frames(f))]
    for text in texts:
        for match in list(_PLACE.finditer(text[:2000]))[:3]:
            path = told.tree.resolve(match[1])
            if path and not told.finder.in_test(path):
                line = int(match[2][:9])
                place = Suspect(path=path, name="", start=line, end=line, line=line)
                _first_fitting(draft, spans.of_suspect(told.view, place, min(told.source, draft.room)))


def _excerpts(suspect: Suspect, told: _Told, allowance: int) -> Iterator[Span]:
    return spans.of_suspect(told.view, suspect, allowance, function=told.function)


def _first_fitting(draft: Draft, versions: Iterator[Span]) -> None:
    any(draft.add_span(span) for span in versions)


def _add_changed(draft: Draft, told: _Told) -> None:
    """Hunks of the files that are shown: the best clue there is in CI repair."""
    files = {span.file for span in draft.shown()}
    for hunk in told.changed:
        if hunk.file in files:
            draft.add_hunk(hunk, told.characters // 6)


def _add_context(draft: Draft, failures: Sequence[Failure], told: _Told) -> None:
    """The tests themselves, what an edit of the suspect needs to know, and the next suspects."""
    for failure in failures[: 3 if told.wider else 2]:
        for span in spans.of_test(told.view, told.finder, failure):
            draft.add_span(span)
    if told.function:
        return
    for failure in failures:
        suspects = _suspects(failure, told)[: 6 if told.wider else 3]
        for suspect in suspects[:1]:
            _first_fitting(draft, filter(None, [spans.imports(told.view, suspect.path)]))
            _first_fitting(draft, filter(None, [spans.constructor(told.view, suspect)]))
        for suspect in suspects[1:]:
            _first_fitting(draft, _excerpts(suspect, told, min(told.source, draft.room) // 2))

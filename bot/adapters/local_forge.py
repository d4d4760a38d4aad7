"""A code host without a network: branches in the user's own repository, and files where GitHub would show pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.adapters.git_plumbing import Git
from bot.config import FILE
from bot.domain.attempt import Fault
from bot.domain.ports import Comment, Commit, Delivered, Effect, FailedRun, PullRequest, Trigger
from bot.submit import TRAILER

_AUTHOR = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "selfrepair"), ("EMAIL", "selfrepair@localhost"))
}


@dataclass(frozen=True, kw_only=True)
class _Standing:
    commit: str
    tree: str
    parents: str
    checked_out: bool
    message: str


@dataclass(frozen=True, kw_only=True)
class LocalForge:
    """Port Forge on the repository at `repo`; rendered texts go to `out`, the failing jobs' logs come from `logs`."""

    repo: Path
    out: Path
    logs: Mapping[str, bytes] = field(default_factory=dict)

    def failed_run(self, trigger: Trigger) -> FailedRun:
        """The run whose logs were given."""
        return FailedRun(trigger=trigger, workflow="local", logs=self.logs)

    def head(self, branch: str) -> str | None:
        """The commit of a local branch (or of a detached "HEAD"), None when there is none."""
        name = "HEAD" if branch == "HEAD" else f"refs/heads/{branch}"
        return self._git.ask("rev-parse", "-q", "--verify", f"{name}^{{commit}}").text or None

    def settings(self) -> bytes | None:
        """.github/selfrepair.yml as committed at HEAD."""
        answer = self._git.ask("cat-file", "blob", f"HEAD:{FILE}")
        return None if answer.code else answer.out

    def deliver(self, effects: Sequence[Effect]) -> Delivered:
        """Create the branch without touching work tree or index, and write the texts; done again, nothing changes.

        Raises Fault when the branch holds somebody's work or is checked out.
        """
        done = Delivered()
        for effect in effects:
            match effect:
                case Commit():
                    self._commit(effect)
                    done = replace(done, branch=effect.branch)
                case PullRequest():
                    done = replace(done, url=str(self._write("pull-request.md", _page(effect))))
                case Comment():
                    note = self._write(f"{_file_name(effect.marker)}.md", effect.body)
                    done = replace(done, notes=(*done.notes, str(note)))
        return done

    @property
    def _git(self) -> Git:
        return Git(place=self.repo, discover=True, env=_AUTHOR)

    def _commit(self, effect: Commit) -> None:
        tree = self._git.tree_with(effect.parent, effect.files)
        old = self._standing(effect.branch)
        if old and (old.tree, old.parents) == (tree, effect.parent):
            return
        if old and (old.parents != effect.parent or f"\n{TRAILER}: " not in old.message or old.checked_out):
            why = "is checked out" if old.checked_out else "holds other commits"
            fix = f"git switch away, then git branch -D {effect.branch}"
            raise Fault(f"branch {effect.branch} {why}", fix=fix)
        message = effect.message.encode("utf-8", "replace")
        made = self._git.tell("commit-tree", tree, "-p", effect.parent, "-F", "-", stdin=message).decode().strip()
        expected = old.commit if old else "0" * len(effect.parent)
        answer = self._git.ask("update-ref", f"refs/heads/{effect.branch}", made, expected)
        if answer.code:
            fix = "another run may be at work: wait for it, then run again"
            raise Fault(f"branch {effect.branch} cannot be written: {answer.error}", fix=fix)

    def _standing(self, branch: str) -> _Standing | None:
        """What the branch holds. Not `git show`: a repository can make that one start a program."""
        form = "--format=%(objectname)%00%(tree)%00%(parent)%00%(worktreepath)%00%(contents)"
        said = self._git.tell("for-each-ref", form, f"refs/heads/{branch}").decode("utf-8", "replace")
        if not said:
            return None
        commit, tree, parents, path, message = said.split("\0", 4)
        return _Standing(commit=commit, tree=tree, parents=parents, checked_out=bool(path), message=message)

    def _write(self, name: str, text: str) -> Path:
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            (self.out / name).write_text(text, encoding="utf-8", errors="replace")
        except OSError as error:
            raise Fault(f"cannot write {name}: {error}", fix="name another folder with --out") from error
        return self.out / name


def _page(effect: PullRequest) -> str:
    labels = f"\nlabels: {', '.join(effect.labels)}" if effect.labels else ""
    return f"# {effect.title}\n\n`{effect.head}` into `{effect.base}`{labels}\n\n{effect.body}"


def _file_name(marker: str) -> str:
    """`<!-- selfrepair:history -->` -> "history"."""
    words = [str(word) for word in re.findall(r"[a-z]+", marker)]
    return next((word for word in words if word != "selfrepair"), "comment")

"""The repository at the failing commit, read through a repository of our own so that its owner's is never written."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from bot.adapters.git_plumbing import Answer, Git, new_checkout, new_repository
from bot.domain.attempt import Fault, InputError
from bot.domain.packet import Hunk

DEPTH = 100
"""Commits of history that are fetched and exported: enough for `git describe`, small enough for big repositories."""

READ_LIMIT = 16_000_000
"""Larger files count as unreadable: no model and no packet could use them."""

KEPT = 32_000_000
"""Bytes of file content kept in memory; beyond them it is read again."""

FETCH_TIMEOUT_S = 900.0

MAX_HUNKS, HUNK_CHARS = 200, 4000
"""Caps of `changed`: hunks in all, characters of one."""

_HEAD, _BASE, _SINCE = "refs/heads/selfrepair", "refs/selfrepair/base", "refs/selfrepair/since"
_DEFAULTS = ("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master")
_LOCAL_DEFAULTS = ("refs/heads/main", "refs/heads/master")
_AT = re.compile(r"^@@ ", re.MULTILINE)
_DIFF = ("diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")


@dataclass(frozen=True, kw_only=True)
class GitWorkspace:
    """Ports Workspace and History on one commit, `head` (full name); `branch` is what the exported HEAD points at."""

    head: str
    branch: str
    git: Git
    entries: Mapping[str, tuple[str, str, int]] = field(repr=False)
    _more: Callable[[str], Answer] | None = field(default=None, repr=False, compare=False)
    """Fetches another commit into `git`, where there is a server to ask."""
    _read: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def open(cls, path: Path, head: str = "HEAD") -> GitWorkspace:
        """An existing checkout at commit `head`; uncommitted changes do not count. Nothing is written there.

        Raises InputError when `path` is no repository's root, has no commit, or `head` names none.
        """
        user, sha = _checkout(path, head)
        folder = Path(tempfile.mkdtemp(prefix="selfrepair-git-"))
        git = new_repository(folder, object_format=user.tell("rev-parse", "--show-object-format").decode().strip())
        _borrow(user, folder)
        _copy_refs(user, git, sha)
        named = user.ask("symbolic-ref", "--short", "HEAD").text if head == "HEAD" else ""
        workspace = cls._at(git, sha, named or head)
        weakref.finalize(workspace, shutil.rmtree, folder, ignore_errors=True)
        return workspace

    @classmethod
    def fetch(
        cls,
        url: str,
        sha: str,
        branch: str,
        token: str,
        into: Path,
        *,
        network: Mapping[str, str] | None = None,
    ) -> GitWorkspace:
        """Fetch commit `sha` over HTTP(S) into the new bare repository `into`, with tags, `DEPTH` commits of history
        and the default branch. `changed` fetches the commit that it is asked about, where it is not among them.

        The token travels in git's environment only. `network` holds proxy and CA variables to pass on (https_proxy,
        no_proxy, GIT_SSL_CAINFO, ...). Raises InputError for other URLs, Fault when the fetch fails.
        """
        server = _server(url)
        git = new_repository(into, object_format="sha256" if len(sha) == 64 else "sha1")
        header = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        remote = Git(
            place=into,
            env={**(network or {}), "GIT_ALLOW_PROTOCOL": "https:http"},
            settings={
                f"http.{server}/.extraHeader": f"AUTHORIZATION: basic {header}" if token else "",
                "http.followRedirects": "false",  # the header would go along to whatever host is named
                "http.lowSpeedLimit": "1000",
                "http.lowSpeedTime": "60",
            },
            timeout_s=FETCH_TIMEOUT_S,
        )
        command = ("fetch", "-q", "--no-write-fetch-head", "--no-recurse-submodules", f"--depth={DEPTH}", url)
        answer = remote.ask(*command, f"+{sha}:{_HEAD}")
        if answer.code:
            raise _fetch_fault(answer.error.replace(header, "***"), sha, branch)
        # Both only widen what `changed` can show: a commit that is gone or an empty default branch is not a failure.
        remote.ask(*command, f"+HEAD:{_BASE}")
        return cls._at(git, sha, branch, lambda since: remote.ask(*command, "--depth=1", f"+{since}:{_SINCE}"))

    @classmethod
    def _at(cls, git: Git, sha: str, branch: str, more: Callable[[str], Answer] | None = None) -> GitWorkspace:
        valid = git.ask("check-ref-format", f"refs/heads/{branch}").code == 0 and branch != "HEAD"
        named = branch if valid else "selfrepair"
        return cls(head=sha, branch=named, git=git, entries=_entries(git, sha), _more=more)

    def paths(self) -> frozenset[str]:
        """Tracked paths at the head commit; odd bytes in names are surrogate-escaped, as in `os.fsdecode`."""
        return frozenset(self.entries)

    def read(self, path: str) -> bytes | None:
        """Raw content of a regular file; None when absent, not regular, or above `READ_LIMIT` bytes."""
        mode, blob, size = self.entries.get(path, ("", "", 0))
        if mode not in ("100644", "100755") or size > READ_LIMIT:
            return None
        if blob not in self._read:  # every turn reads the same few files, and a process each would cost half a second
            if sum(map(len, self._read.values())) > KEPT:
                self._read.clear()
            self._read[blob] = self.git.tell("cat-file", "blob", blob)
        return self._read[blob]

    def export(self, into: Path) -> str:
        """Write the head's tree, raw, with a .git that has neither hooks, remotes nor credentials.

        `into` must be empty or absent. The digest covers commit and tags: equal digests mean equal content.
        """
        if into.exists() and any(into.iterdir()):
            raise Fault(f"{into} is not empty", fix="export into a new folder")
        out = new_checkout(into, object_format="sha256" if len(self.head) == 64 else "sha1")
        local = Git(place=out.place, env={"GIT_ALLOW_PROTOCOL": "file"}, timeout_s=FETCH_TIMEOUT_S)
        fetch = ("fetch", "-q", "--no-write-fetch-head", "--update-head-ok", f"--depth={DEPTH}")
        local.tell(*fetch, self.git.place.resolve().as_uri(), f"+{_HEAD}:refs/heads/{self.branch}")
        out.tell("symbolic-ref", "HEAD", f"refs/heads/{self.branch}")
        view = self.git.within(GIT_WORK_TREE=str(into), GIT_INDEX_FILE=str(out.place / "index"))
        view.tell("read-tree", self.head)
        view.tell("checkout-index", "-q", "-a", "-f", "-u")
        tags = out.tell("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
        return hashlib.sha256(f"{self.head}\n{self.branch}\n".encode() + tags).hexdigest()

    def diff(self, files: Mapping[str, bytes | None], base: Mapping[str, bytes | None] | None = None) -> str:
        """Unified diff from the head (with `base` over it) to the head with `files` over it, as `git apply` reads it.

        Bytes that are not UTF-8 are shown as replacement characters.
        """
        old, new = self.git.tree_with(self.head, base or {}), self.git.tree_with(self.head, files)
        return self.git.tell(*_DIFF, "--binary", "--no-renames", old, new).decode("utf-8", "replace")

    def changed(self, since: str | None) -> tuple[Hunk, ...]:
        """Hunks of text files from `since`, else the merge base with the default branch, else the last commit."""
        base = self._base(since)
        if base is None:
            return ()
        raw = self.git.tell(*_DIFF, "--raw", "-z", "-M", "--abbrev=40", "--diff-filter=ACMRD", base, self.head)
        return tuple(_hunks(raw))[:MAX_HUNKS]

    def _base(self, since: str | None) -> str | None:
        if since and re.fullmatch(r"[0-9a-f]{40,64}", since) and since != self.head:
            if self._more and not self._commit(since):
                self._more(since)
            if self._commit(since):
                return since
        merged = self.git.ask("merge-base", _BASE, self.head).text
        return merged if merged and merged != self.head else self._commit(f"{self.head}~1")

    def _commit(self, name: str) -> str | None:
        return self.git.ask("rev-parse", "-q", "--verify", f"{name}^{{commit}}").text or None


def _checkout(path: Path, head: str) -> tuple[Git, str]:
    """The user's repository and the full name of `head`."""
    if not path.is_dir():
        raise InputError(f"--repo {path}: no such folder")
    user = Git(place=path, discover=True)
    inside = user.ask("rev-parse", "--show-prefix")
    if inside.code:
        raise InputError(f"--repo {path}: not a git repository (run git init and commit, or name another folder)")
    if inside.text:
        raise InputError(f"--repo {path}: lies inside another repository; name its root folder, {inside.text} up")
    if user.ask("rev-parse", "-q", "--verify", "HEAD^{commit}").code and head == "HEAD":
        raise InputError(f"--repo {path}: the repository has no commit yet; commit the code to repair first")
    sha = "" if head.startswith("-") else user.ask("rev-parse", "-q", "--verify", f"{head}^{{commit}}").text
    if not sha:
        raise InputError(f"{head}: no such commit in {path}")
    return user, sha


def _borrow(user: Git, folder: Path) -> None:
    """Let the repository in `folder` read the user's objects and know where a shallow history ends."""
    objects = user.tell("rev-parse", "--path-format=absolute", "--git-path", "objects")
    (folder / "objects" / "info").mkdir(exist_ok=True)
    (folder / "objects" / "info" / "alternates").write_bytes(objects)
    shallow = Path(user.ask("rev-parse", "--path-format=absolute", "--git-path", "shallow").text)
    if shallow.is_file():
        (folder / "shallow").write_bytes(shallow.read_bytes())


def _copy_refs(user: Git, git: Git, sha: str) -> None:
    """The head, the tags that lead to it, and the first default branch that exists."""
    listed = user.tell("for-each-ref", f"--merged={sha}", "--format=create %(refname) %(objectname)", "refs/tags")
    lines = [*filter(None, os.fsdecode(listed).split("\n")), f"create {_HEAD} {sha}"]
    for name in (*_DEFAULTS, *_LOCAL_DEFAULTS):
        if found := user.ask("rev-parse", "-q", "--verify", f"{name}^{{commit}}").text:
            lines.append(f"create {_BASE} {found}")
            break
    git.tell("update-ref", "--stdin", stdin=os.fsencode("".join(f"{line}\n" for line in lines)))


def _entries(git: Git, sha: str) -> dict[str, tuple[str, str, int]]:
    """path -> (mode, object, bytes), from `git ls-tree -r -l -z` (git-ls-tree documentation, OUTPUT FORMAT)."""
    found = {}
    for record in git.tell("ls-tree", "-r", "-l", "-z", "--full-tree", sha).split(b"\0"):
        if record:
            meta, path = record.split(b"\t", 1)
            mode, _, blob, size = meta.decode().split()
            found[os.fsdecode(path)] = (mode, blob, 0 if size == "-" else int(size))
    return found


def _hunks(raw: bytes) -> Iterator[Hunk]:
    """Split `git diff-tree --raw -p -z`: raw records, an empty field, then one patch per record in the same order."""
    listing, _, patches = raw.partition(b"\0\0")
    names = list(_names(listing.split(b"\0")))
    for name, patch in zip(names, re.split(rb"^diff --git ", patches, flags=re.MULTILINE)[1:], strict=False):
        text = patch.decode("utf-8", "replace")
        starts = [match.start() for match in _AT.finditer(text)]
        if not name.isprintable() or "\ufffd" in text:
            continue
        for start, end in pairwise([*starts, len(text)]):
            yield Hunk(file=name, hunk=_capped(text[start:end].rstrip("\n")))


def _names(fields: list[bytes]) -> Iterator[str]:
    """The new path of each raw record: `:modes shas status`, path, and for renames and copies a second path."""
    rest = iter(fields)
    for meta in rest:
        if meta.startswith(b":"):
            path = next(rest)
            path = next(rest) if meta.rsplit(b" ", 1)[-1][:1] in (b"R", b"C") else path
            yield path.decode("utf-8", "surrogateescape")


def _capped(hunk: str) -> str:
    if len(hunk) <= HUNK_CHARS:
        return hunk
    kept = hunk[:HUNK_CHARS].rsplit("\n", 1)[0]
    return f"{kept}\n... ({hunk.count(chr(10)) - kept.count(chr(10))} more lines)"


def _server(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname or "@" in parts.netloc:
        raise InputError(f"cannot fetch {parts.scheme}://{parts.hostname}: only http(s) without a user in the URL")
    return f"{parts.scheme}://{parts.netloc}"


def _fetch_fault(said: str, sha: str, branch: str) -> Fault:
    """What a failed fetch means; the phrases are git's own (remote-curl.c, http.c, upload-pack.c)."""
    if re.search(r"Authentication failed|could not read (Username|Password)|error: 40[13]|not found", said):
        fix = "give a token that may read this repository (permission `contents: read`)"
        return Fault(f"the server does not let us read the repository: {said}", fix=fix)
    if re.search(r"not our ref|unadvertised object|couldn't find remote ref", said):
        return Fault(f"commit {sha[:12]} is gone from {branch}: {said}", fix="run again on the branch's present head")
    return Fault(f"git fetch failed: {said}", fix="check the network and the server's status page, then run again")

"""The workspace on real repositories, hostile ones included."""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

import pytest

from bot.adapters.git_plumbing import Git
from bot.adapters.git_workspace import GitWorkspace
from bot.domain.attempt import Fault, InputError
from tests.fakes.git_http import serve
from tests.fakes.repositories import ENV, commit, fingerprint, git, raw_commit, repository, text

TOKEN = "ghs_thisisthetoken0123456789"


def authorization(token: str = TOKEN) -> str:
    return "basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo", {"a.py": b"one\ntwo\n", "run.sh": b"#!/bin/sh\n", "d/b.txt": b"b"})


class TestReading:
    def test_what_counts_is_the_commit_not_the_work_tree(self, repo: Path) -> None:
        (repo / "a.py").write_bytes(b"dirty")
        (repo / "untracked").write_bytes(b"x")
        workspace = GitWorkspace.open(repo)
        assert workspace.head == text(repo, "rev-parse", "HEAD")
        assert workspace.paths() == {"a.py", "run.sh", "d/b.txt"}
        assert workspace.read("a.py") == b"one\ntwo\n"
        assert workspace.read("untracked") is None

    def test_another_commit_can_be_named(self, repo: Path) -> None:
        commit(repo, {"a.py": b"three\n"})
        assert GitWorkspace.open(repo, "HEAD~1").read("a.py") == b"one\ntwo\n"

    def test_symlinks_and_submodules_are_listed_but_have_no_content(self, tmp_path: Path) -> None:
        repo = repository(tmp_path / "repo")
        head = "1" * 40
        raw_commit(repo, {b"link": ("120000", b"/etc/passwd"), b"sub": ("160000", head.encode())})
        workspace = GitWorkspace.open(repo)
        assert workspace.paths() == {"link", "sub"}
        assert workspace.read("link") is None
        assert workspace.read("sub") is None

    def test_odd_file_names_survive(self, tmp_path: Path) -> None:
        repo = repository(tmp_path / "repo")
        names = [
            b"new\nline",
            b'tab\tquote"back\\slash',
            b"latin-\xe9",
            "sn\u00f6w\u2603".encode(),
            b"-rf",
            b":(top)x",
            b"*",
        ]
        raw_commit(repo, {name: ("100644", name) for name in names})
        workspace = GitWorkspace.open(repo)
        assert workspace.paths() == {os.fsdecode(name) for name in names}
        assert all(workspace.read(os.fsdecode(name)) == name for name in names)
        workspace.export(tmp_path / "out")
        assert all((tmp_path / "out" / os.fsdecode(name)).read_bytes() == name for name in names)
        for name in names:
            assert workspace.diff({os.fsdecode(name): b"changed\n"}).count("diff --git") == 1

    def test_a_shallow_clone_and_a_linked_worktree_can_be_opened(self, repo: Path, tmp_path: Path) -> None:
        commit(repo, {"a.py": b"three\n"})
        git(tmp_path, "clone", "-q", "--depth=1", repo.as_uri(), "shallow")
        git(repo, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
        for place in (tmp_path / "shallow", tmp_path / "linked"):
            workspace = GitWorkspace.open(place)
            workspace.export(tmp_path / f"out-{place.name}")
            assert (tmp_path / f"out-{place.name}" / "a.py").read_bytes() == b"three\n"

    def test_a_sha256_repository_can_be_opened(self, tmp_path: Path) -> None:
        place = tmp_path / "repo"
        place.mkdir()
        git(place, "init", "-q", "--object-format=sha256")
        commit(place, {"a": b"1\n", "b": b"2\n"})
        workspace = GitWorkspace.open(place)
        assert len(workspace.head) == 64
        assert "-1" in workspace.diff({"a": None, "b": b"3\n"})
        workspace.export(tmp_path / "out")
        assert text(tmp_path / "out", "status", "--porcelain") == ""


class TestBadInput:
    def test_no_such_folder(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no such folder"):
            GitWorkspace.open(tmp_path / "nowhere")

    def test_not_a_repository(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="not a git repository"):
            GitWorkspace.open(tmp_path)

    def test_a_repository_without_commits(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no commit yet"):
            GitWorkspace.open(repository(tmp_path / "empty"))

    def test_a_folder_inside_a_repository(self, repo: Path) -> None:
        with pytest.raises(InputError, match="name its root folder"):
            GitWorkspace.open(repo / "d")

    @pytest.mark.parametrize("head", ["nonsense", "--git-dir", "HEAD:a.py"])
    def test_no_such_commit(self, repo: Path, head: str) -> None:
        with pytest.raises(InputError, match="no such commit"):
            GitWorkspace.open(repo, head)


class TestNothingIsWrittenAtTheUsers:
    def test_every_verb_leaves_repository_and_work_tree_as_they_were(self, repo: Path, tmp_path: Path) -> None:
        commit(repo, {"a.py": b"three\n"})
        before = fingerprint(repo)
        workspace = GitWorkspace.open(repo)
        workspace.read("a.py")
        workspace.diff({"a.py": b"four\n", "new": b"x"}, {"a.py": b"between\n"})
        workspace.changed(None)
        workspace.export(tmp_path / "out")
        assert fingerprint(repo) == before

    def test_the_scratch_repository_goes_with_the_workspace(self, repo: Path) -> None:
        workspace = GitWorkspace.open(repo)
        folder = workspace.git.place
        assert folder.is_dir()
        del workspace
        assert not folder.exists()


class TestHostileConfiguration:
    def test_no_program_of_the_repository_is_ever_started(self, repo: Path, tmp_path: Path) -> None:
        trap, sprung = tmp_path / "trap", tmp_path / "sprung"
        trap.write_text(f'#!/bin/sh\necho "$0 $@" >> {sprung}\ncat\n')
        trap.chmod(0o755)
        hooks = tmp_path / "hooks"
        hooks.mkdir()
        for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"):
            (hooks / hook).symlink_to(trap)
        for key in (
            "core.fsmonitor",
            "core.sshCommand",
            "core.pager",
            "core.editor",
            "core.gitProxy",
            "core.askPass",
            "core.alternateRefsCommand",
            "diff.external",
            "diff.evil.command",
            "diff.evil.textconv",
            "filter.evil.smudge",
            "filter.evil.clean",
            "filter.evil.process",
            "credential.helper",
            "gpg.program",
            "uploadpack.packObjectsHook",
            "merge.evil.driver",
            "pager.diff-tree",
            "alias.ls-tree",
            "alias.diff-tree",
        ):
            git(repo, "config", key, ("!" if key.startswith(("alias", "credential")) else "") + str(trap))
        git(repo, "config", "filter.evil.required", "true")
        git(repo, "config", "core.hooksPath", str(hooks))
        (repo / ".git" / "info").mkdir(exist_ok=True)
        (repo / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil\n")
        workspace = GitWorkspace.open(repo)
        workspace.read("a.py")
        assert "+changed" in workspace.diff({"a.py": b"changed\n"})
        workspace.changed(None)
        workspace.export(tmp_path / "out")
        assert not sprung.exists(), sprung.read_text()

    def test_attributes_of_the_content_neither_change_nor_hide_anything(self, tmp_path: Path) -> None:
        repo = repository(tmp_path / "repo")
        content = {
            b".gitattributes": b"* filter=evil ident eol=crlf text working-tree-encoding=UTF-16 -diff export-ignore\n",
            b"a.py": b"# $Id$\nx = 1\n",
            b"crlf.txt": b"a\r\nb\r\n",
            b"binary": b"\0\1\n\xff",
        }
        raw_commit(repo, {name: ("100644", data) for name, data in content.items()})
        workspace = GitWorkspace.open(repo)
        workspace.export(tmp_path / "out")
        for name, data in content.items():
            assert (tmp_path / "out" / os.fsdecode(name)).read_bytes() == data
            assert workspace.read(os.fsdecode(name)) == data
        diff = workspace.diff({"a.py": b"# $Id$\nx = 2\n", "crlf.txt": b"a\r\nc\r\n"})
        assert "+x = 2\n" in diff
        assert "-b\r\n+c\r\n" in diff


class TestExport:
    def test_tags_with_odd_line_ends_in_their_names_are_only_tags(self, repo: Path, tmp_path: Path) -> None:
        for name in ("v1\u2028x", "v2\x85y"):
            git(repo, "tag", name)
        GitWorkspace.open(repo).export(tmp_path / "out")
        assert len(text(tmp_path / "out", "for-each-ref", "refs/tags").split("\n")) == 2

    def test_it_is_a_clean_checkout_with_tags_and_without_anything_of_ours(self, repo: Path, tmp_path: Path) -> None:
        (repo / "run.sh").chmod(0o755)
        commit(repo, {"b": b"b\n"})
        git(repo, "tag", "-a", "-m", "v1", "v1.0")
        commit(repo, {"c": b"c\n"})
        git(repo, "remote", "add", "origin", "https://user:secret@example.com/x.git")
        git(repo, "config", "http.extraheader", "AUTHORIZATION: basic secret")
        out = tmp_path / "out"
        GitWorkspace.open(repo).export(out)
        assert text(out, "rev-parse", "HEAD") == text(repo, "rev-parse", "HEAD")
        assert text(out, "branch", "--show-current") == "main"
        assert text(out, "describe", "--tags", "--dirty").startswith("v1.0-1-g")
        assert text(out, "status", "--porcelain") == ""
        assert text(out, "remote") == ""
        assert os.access(out / "run.sh", os.X_OK)
        assert not (out / ".git" / "hooks").exists()
        everything = b"".join(path.read_bytes() for path in (out / ".git").rglob("*") if path.is_file())
        assert b"secret" not in everything
        assert str(tmp_path).encode() not in everything

    def test_it_stands_alone(self, repo: Path, tmp_path: Path) -> None:
        GitWorkspace.open(repo).export(tmp_path / "out")
        for path in repo.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        repo.rename(tmp_path / "moved")
        assert text(tmp_path / "out", "fsck", "--full") == ""
        assert text(tmp_path / "out", "log", "--format=%s") == "change"

    def test_the_digest_follows_the_content(self, repo: Path, tmp_path: Path) -> None:
        first = GitWorkspace.open(repo).export(tmp_path / "1")
        assert GitWorkspace.open(repo).export(tmp_path / "2") == first
        git(repo, "tag", "v2")
        tagged = GitWorkspace.open(repo).export(tmp_path / "3")
        commit(repo, {"a.py": b"other"})
        assert len({first, tagged, GitWorkspace.open(repo).export(tmp_path / "4")}) == 3

    def test_symlinks_stay_links(self, tmp_path: Path) -> None:
        repo = repository(tmp_path / "repo")
        raw_commit(repo, {b"link": ("120000", b"../../outside"), b"f": ("100644", b"x")})
        GitWorkspace.open(repo).export(tmp_path / "out")
        assert str((tmp_path / "out" / "link").readlink()) == "../../outside"

    def test_a_tree_that_would_write_into_the_git_folder_is_a_fault(self, tmp_path: Path) -> None:
        repo = repository(tmp_path / "repo")
        blob = git(repo, "hash-object", "-w", "--stdin", stdin=b"evil").strip()
        inner = git(repo, "mktree", stdin=b"100755 blob " + blob + b"\tpost-checkout\n").strip()
        hooks = git(repo, "mktree", stdin=b"040000 tree " + inner + b"\thooks\n").strip()
        root = bytes.fromhex(hooks.decode())
        tree = git(
            repo, "hash-object", "-w", "--literally", "-t", "tree", "--stdin", stdin=b"40000 .git\0" + root
        ).strip()
        git(repo, "update-ref", "refs/heads/main", text(repo, "commit-tree", "-m", "x", tree.decode()))
        with pytest.raises(Fault, match=r"invalid path '\.git/hooks/post-checkout'"):
            GitWorkspace.open(repo).export(tmp_path / "out")

    def test_a_folder_with_something_in_it_is_refused(self, repo: Path, tmp_path: Path) -> None:
        with pytest.raises(Fault, match="not empty"):
            GitWorkspace.open(repo).export(tmp_path)


class TestDiff:
    def check(self, repo: Path, tmp_path: Path, files: dict[str, bytes | None]) -> str:
        """The diff, after git itself has applied it and got exactly `files`."""
        workspace = GitWorkspace.open(repo)
        diff = workspace.diff(files)
        out = tmp_path / "applied"
        workspace.export(out)
        git(out, "apply", stdin=diff.encode())
        for name, content in files.items():
            assert ((out / name).read_bytes() if (out / name).is_file() else None) == content
        return diff

    def test_edit_create_remove(self, repo: Path, tmp_path: Path) -> None:
        diff = self.check(repo, tmp_path, {"a.py": b"one\n2\n", "x/new.py": b"new\n", "d/b.txt": None})
        assert "-two\n+2\n" in diff
        assert "new file mode 100644" in diff
        assert "deleted file mode" in diff

    def test_no_newline_at_the_end(self, repo: Path, tmp_path: Path) -> None:
        diff = self.check(repo, tmp_path, {"a.py": b"one\ntwo", "d/b.txt": b"b\n"})
        assert diff.count("\\ No newline at end of file") == 2

    def test_binary_files_can_be_applied(self, repo: Path, tmp_path: Path) -> None:
        commit(repo, {"bin": b"\0\1\2" * 50})
        assert "GIT binary patch" in self.check(repo, tmp_path, {"bin": b"\0\3" * 40})

    def test_the_mode_of_an_executable_stays(self, repo: Path, tmp_path: Path) -> None:
        git(repo, "update-index", "--chmod=+x", "run.sh")
        git(repo, "commit", "-qm", "executable")
        assert "mode" not in self.check(repo, tmp_path, {"run.sh": b"#!/bin/bash\n"})

    def test_a_file_in_the_place_of_a_folder(self, repo: Path, tmp_path: Path) -> None:
        assert "deleted file" in self.check(repo, tmp_path, {"d": b"now a file\n"})

    def test_between_two_overlays(self, repo: Path) -> None:
        diff = GitWorkspace.open(repo).diff({"a.py": b"3\n"}, {"a.py": b"2\n", "only-before": b"x\n"})
        assert "-2\n+3\n" in diff
        assert "only-before" in diff

    def test_nothing_changed(self, repo: Path) -> None:
        assert GitWorkspace.open(repo).diff({"a.py": b"one\ntwo\n", "absent": None}) == ""

    def test_bytes_that_are_no_text_do_not_break_the_diff(self, repo: Path) -> None:
        commit(repo, {"latin": "caf\u00e9\n".encode("latin-1")})
        assert "\ufffd" in GitWorkspace.open(repo).diff({"latin": None})

    @pytest.mark.parametrize("path", ["../escape", "/etc/passwd", ".git/config", "a/../../b", ""])
    def test_a_path_outside_is_a_fault(self, repo: Path, path: str) -> None:
        with pytest.raises(Fault):
            GitWorkspace.open(repo).diff({path: b"x"})


class TestChanged:
    def test_the_last_commit_on_the_default_branch(self, repo: Path) -> None:
        commit(repo, {"a.py": b"one\n2\n", "n.py": b"n\n"})
        first, second = GitWorkspace.open(repo).changed(None)
        assert first.file == "a.py"
        assert first.hunk == "@@ -1,2 +1,2 @@\n one\n-two\n+2"
        assert second.file == "n.py"

    def test_the_first_commit_has_no_past(self, repo: Path) -> None:
        assert GitWorkspace.open(repo).changed(None) == ()

    def test_the_merge_base_of_a_branch(self, repo: Path) -> None:
        git(repo, "checkout", "-qb", "feature")
        commit(repo, {"a.py": b"1\ntwo\n"})
        commit(repo, {"z.py": b"z\n"})
        assert [hunk.file for hunk in GitWorkspace.open(repo).changed(None)] == ["a.py", "z.py"]

    def test_since_a_given_commit(self, repo: Path) -> None:
        commit(repo, {"a.py": b"1\n"})
        green = commit(repo, {"b.py": b"1\n"})
        commit(repo, {"c.py": b"1\n"})
        commit(repo, {"d.py": b"1\n"})
        workspace = GitWorkspace.open(repo)
        assert [hunk.file for hunk in workspace.changed(green)] == ["c.py", "d.py"]
        for gone in ("f" * 40, "--output=/tmp/x", workspace.head):
            assert [hunk.file for hunk in workspace.changed(gone)] == ["d.py"]

    def test_renames_removals_modes_links_and_binaries(self, repo: Path) -> None:
        body = b"".join(b"line %d\n" % number for number in range(40))
        commit(repo, {"big.py": body, "bin": b"\0\1", "gone.py": b"bye\n"})
        git(repo, "mv", "big.py", "moved\ttab.py")
        (repo / "a.py").unlink()
        (repo / "a.py").symlink_to("run.sh")
        commit(
            repo,
            {"moved\ttab.py": body + b"more\n", "bin": b"\0\2", "gone.py": None, "z\u00e9.py": b"diff --git a b\n"},
        )
        found = GitWorkspace.open(repo).changed(None)
        assert {hunk.file for hunk in found} == {"gone.py", "z\u00e9.py"}
        commit(repo, {"two": b"1\n" * 3})
        git(repo, "mv", "two", "three")
        commit(repo, {"three": b"1\n" * 3 + b"2\n"})
        assert [(h.file, h.hunk.splitlines()[-1]) for h in GitWorkspace.open(repo).changed(None)] == [("three", "+2")]

    def test_a_huge_change_is_capped(self, repo: Path) -> None:
        commit(repo, {"big.txt": b"x" * 60 + b"\n" * 20_000})
        (hunk,) = GitWorkspace.open(repo).changed(None)
        assert len(hunk.hunk) < 4_100
        assert hunk.hunk.endswith("more lines)")


class TestFetch:
    @pytest.fixture
    def origin(self, tmp_path: Path) -> Path:
        repo = repository(tmp_path / "srv" / "work", {"a.py": b"1\n"})
        git(repo, "tag", "v1")
        git(repo, "checkout", "-qb", "feature/x")
        commit(repo, {"a.py": b"2\n"})
        git(repo, "checkout", "-q", "main")
        git(tmp_path / "srv", "clone", "-q", "--bare", "work", "origin.git")
        return tmp_path / "srv" / "origin.git"

    def test_everything_of_one_commit(self, origin: Path, tmp_path: Path) -> None:
        sha = text(origin, "rev-parse", "feature/x")
        secret = authorization().split()[1].encode()
        with serve(origin.parent, authorization(), secret) as server:
            url = f"{server.url}/origin.git"
            workspace = GitWorkspace.fetch(url, sha, "feature/x", TOKEN, tmp_path / "into")
            leaks, seen = server.leaks, server.seen
        assert workspace.read("a.py") == b"2\n"
        assert [hunk.file for hunk in workspace.changed(None)] == ["a.py"]
        workspace.export(tmp_path / "out")
        assert text(tmp_path / "out", "describe", "--tags").startswith("v1-1-g")
        assert text(tmp_path / "out", "branch", "--show-current") == "feature/x"
        assert seen
        assert not leaks, "the token stood in an argument vector"
        for path in [*(tmp_path / "into").rglob("*"), *(tmp_path / "out").rglob("*")]:
            if path.is_file():
                assert TOKEN.encode() not in path.read_bytes()
                assert secret not in path.read_bytes()

    def test_the_last_green_commit_is_fetched_when_it_is_asked_for(self, origin: Path, tmp_path: Path) -> None:
        """After a rebase it is no ancestor of the head any more."""
        work = origin.parent / "work"
        git(work, "checkout", "-qb", "green", "main")
        green = commit(work, {"b.py": b"green\n"})
        git(work, "push", "-q", str(origin), "green")
        sha = text(origin, "rev-parse", "feature/x")
        with serve(origin.parent, authorization()) as server:
            workspace = GitWorkspace.fetch(f"{server.url}/origin.git", sha, "b", TOKEN, tmp_path / "into")
            assert {hunk.file for hunk in workspace.changed(green)} == {"a.py", "b.py"}
            assert [hunk.file for hunk in workspace.changed("e" * 40)] == ["a.py"], "one that is gone does not matter"
        assert TOKEN not in repr(workspace)

    def test_a_wrong_token_says_which_permission_is_missing(self, origin: Path, tmp_path: Path) -> None:
        with serve(origin.parent, authorization()) as server, pytest.raises(Fault) as caught:
            GitWorkspace.fetch(f"{server.url}/origin.git", "a" * 40, "b", "ghs_wrong", tmp_path / "into")
        assert "contents: read" in caught.value.fix
        assert "ghs_wrong" not in str(caught.value)

    def test_a_redirect_does_not_carry_the_token_to_another_host(self, origin: Path, tmp_path: Path) -> None:
        """git keeps sending its extra header to wherever the first answer led."""
        sha = text(origin, "rev-parse", "feature/x")
        with serve(origin.parent, None) as other, serve(origin.parent, authorization()) as server:
            server.elsewhere = other.url
            with pytest.raises(Fault, match="git fetch failed"):
                GitWorkspace.fetch(f"{server.url}/origin.git", sha, "b", TOKEN, tmp_path / "into")
            assert other.seen == []

    def test_a_missing_commit(self, origin: Path, tmp_path: Path) -> None:
        with serve(origin.parent, authorization()) as server, pytest.raises(Fault, match="is gone from gone-branch"):
            GitWorkspace.fetch(f"{server.url}/origin.git", "a" * 40, "gone-branch", TOKEN, tmp_path / "into")

    def test_a_missing_repository(self, origin: Path, tmp_path: Path) -> None:
        with serve(origin.parent, authorization()) as server, pytest.raises(Fault, match="does not let us read"):
            GitWorkspace.fetch(f"{server.url}/none.git", "a" * 40, "b", TOKEN, tmp_path / "into")

    def test_a_dead_server(self, tmp_path: Path) -> None:
        with pytest.raises(Fault, match="git fetch failed"):
            GitWorkspace.fetch("http://127.0.0.1:9/x.git", "a" * 40, "b", TOKEN, tmp_path / "into")

    @pytest.mark.parametrize(
        "url", ["file:///etc", "ext::sh -c id", "https://me:pw@example.com/x", "ssh://h/x", "/tmp"]
    )
    def test_only_plain_http_urls(self, url: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="only http") as caught:
            GitWorkspace.fetch(url, "a" * 40, "b", TOKEN, tmp_path / "into")
        assert "pw" not in str(caught.value)

    @pytest.mark.parametrize("branch", ["a..b", "-x", "x.lock", "HEAD", "a b", "\u202e", "refs/../../x"])
    def test_a_hostile_branch_name_is_only_a_name(self, branch: str, origin: Path, tmp_path: Path) -> None:
        sha = text(origin, "rev-parse", "feature/x")
        with serve(origin.parent, authorization()) as server:
            workspace = GitWorkspace.fetch(f"{server.url}/origin.git", sha, branch, TOKEN, tmp_path / "into")
        workspace.export(tmp_path / "out")
        assert text(tmp_path / "out", "rev-parse", "HEAD") == sha


class TestPlumbing:
    def test_a_flood_is_a_fault(self, repo: Path) -> None:
        commit(repo, {"big": b"x" * 100_000})
        with pytest.raises(Fault, match="printed more than 1000 bytes"):
            Git(place=repo / ".git").ask("cat-file", "blob", "HEAD:big", limit=1000)

    def test_a_hanging_git_is_a_fault(self, repo: Path) -> None:
        (repo / "fifo").parent.mkdir(exist_ok=True)
        os.mkfifo(repo / "fifo")
        with pytest.raises(Fault, match="took longer than 0 s"):
            Git(place=repo / ".git", timeout_s=0.3).ask("hash-object", str(repo / "fifo"))

    def test_no_child_is_left_behind(self, repo: Path) -> None:
        os.mkfifo(repo / "fifo")
        with pytest.raises(Fault):
            Git(place=repo / ".git", timeout_s=0.2).ask("hash-object", str(repo / "fifo"))
        listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, env=ENV).stdout
        assert str(repo / "fifo").encode() not in listing

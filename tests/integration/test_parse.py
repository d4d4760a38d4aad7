"""`selfrepair parse`: one log, a folder of logs, the zip of a run's logs; whatever is wrong with them is named."""

import io
import json
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from bot import cli
from bot.adapters import log_files
from bot.domain.attempt import InputError
from bot.logs import as_schema, read_job

CORPUS = Path(__file__).parents[1] / "corpus"
RED = (CORPUS / "pytest/p9-no.log").read_bytes()
LINT = (CORPUS / "handed/ruff-concise.log").read_bytes()
GREEN = b"2026-02-02T13:43:07.0001317Z ##[group]Run true\n2026-02-02T13:43:07.0001317Z Cleaning up orphan processes\n"


def zipped(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def parsed(capsys, *args):
    status = cli.main(["parse", *map(str, args)])
    said = capsys.readouterr()
    return status, said.out, said.err


def jobs(capsys, path):
    status, out, err = parsed(capsys, path, "--json")
    assert (status, err) == (0, "")
    whole = json.loads(out)
    assert set(whole) == {"schema", "jobs"} and whole["schema"] == 1
    return {job.pop("job"): job for job in whole["jobs"]}


RUN = {
    "0_tests (3.12).txt": RED,
    "1_lint.txt": LINT,
    "-99_old.txt": GREEN,
    "tests (3.12)/1_Set up job.txt": b"",
    "tests (3.12)/2_Run pytest.txt": RED,
    "tests (3.12)/system.txt": b"Job is about to start",
    "lint/1_Set up job.txt": LINT,
}


@pytest.fixture(params=["zip", "folder"])
def run(request, tmp_path):
    """The same files as a zip, and unpacked."""

    def made(members):
        if request.param == "zip":
            return zipped(tmp_path / "logs_123.zip", members)
        for name, content in members.items():
            path = tmp_path / "logs" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return tmp_path / "logs"

    return made


FIELDS = {
    None: "schema command failing_step failing_steps exit_code failures diagnostics",
    "failures": "framework id file line crash_file crash_line outcome assertion message expected actual",
    "diagnostics": "tool file line col code message severity",
}
"""The fields of the corpus' SCHEMA.md that a log can tell: tool, notes and optional_ids are a person's."""

TYPES = {
    **dict.fromkeys(("schema", "exit_code", "line", "col", "crash_line"), int),
    **dict.fromkeys(("failures", "diagnostics", "failing_steps"), list),
}
NEVER_NULL = {"schema", "failing_steps", "failures", "diagnostics", "framework", "id", "outcome", "tool", "file"}


def conforms(whole):
    """What does not agree with the schema, as paths."""
    rows = [(None, whole)] + [(kind, row) for kind in ("failures", "diagnostics") for row in whole[kind]]
    for kind, row in rows:
        if list(row) != FIELDS[kind].split():
            yield kind, list(row)
        for name, value in row.items():
            null = value is None and (name not in NEVER_NULL or (kind, name) == ("failures", "file"))
            if not null and type(value) is not TYPES.get(name, str):
                yield kind, name, value
    yield from (("failures", row["outcome"]) for row in whole["failures"] if row["outcome"] not in ("failed", "error"))


@pytest.mark.parametrize("folder", sorted({path.parent.name for path in CORPUS.glob("*/*.log")}))
def test_every_log_of_the_corpus_is_told_in_the_schema(folder):
    logs = sorted((CORPUS / folder).glob("*.log"))
    told = {log.name: list(conforms(json.loads(json.dumps(as_schema(read_job([log.read_bytes()])))))) for log in logs}
    assert {name: wrong for name, wrong in told.items() if wrong} == {}


def test_file_folder_and_zip_say_the_same_in_the_schema(capsys, run, tmp_path):
    (tmp_path / "one.log").write_bytes(RED)
    single = json.loads(parsed(capsys, tmp_path / "one.log", "--json")[1])
    many = jobs(capsys, run(RUN))
    assert many["tests (3.12)"] == single and [*conforms(single)] == []
    assert [wrong for job in many.values() for wrong in conforms(job)] == []


def test_one_log_prints_exactly_the_schema(capsys, tmp_path):
    path = tmp_path / "job.log"
    path.write_bytes(RED)
    status, out, _ = parsed(capsys, path, "--json")
    assert status == 0
    assert json.loads(out) == as_schema(read_job([RED]))


def test_the_logs_of_a_run_count_each_job_once(capsys, run):
    got = jobs(capsys, run(RUN))
    assert sorted(got) == ["lint", "old", "tests (3.12)"]
    assert got["tests (3.12)"] == as_schema(read_job([RED]))
    assert got["lint"] == as_schema(read_job([LINT]))


def test_steps_make_up_a_job_whose_own_file_is_missing(capsys, run):
    """In the order of their numbers, of which 10 comes after 2."""
    lines = RED.splitlines(keepends=True)
    parts = {f"tests/{at + 1}_Step.txt": b"".join(lines[at * 5 : at * 5 + 5]) for at in range(len(lines) // 5 + 1)}
    assert len(parts) > 10
    assert jobs(capsys, run(parts | {"tests/system.txt": RED})) == {"tests": as_schema(read_job([RED]))}


def test_a_folder_that_holds_the_steps_of_one_job(capsys, tmp_path):
    (tmp_path / "1_Set up job.txt").write_bytes(b"")
    (tmp_path / "2_Run pytest.txt").write_bytes(RED)
    assert jobs(capsys, tmp_path)["job"]["failures"] == as_schema(read_job([RED]))["failures"]


def test_files_of_one_name_are_all_read(capsys, run):
    got = jobs(capsys, run({"a/0_x.txt": RED, "a/x.txt": LINT, "a/x.log": GREEN, "a/notes.md": b"x"}))
    assert sorted(got) == ["a/x", "a/x.log", "a/x.txt"]


def test_people_read_each_job_under_its_name(capsys, run):
    status, out, _ = parsed(capsys, run({"0_tests.txt": RED, "1_fine.txt": GREEN}))
    assert status == 0
    assert "job fine: no step failed, and nothing was found\n" in out
    assert "job tests:\n  step 3: Run " in out


def test_a_zip_is_known_by_its_content_whatever_its_name(capsys, tmp_path):
    assert list(jobs(capsys, zipped(tmp_path / "download", {"build.txt": RED}))) == ["build"]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("missing.log", None, "No such file or directory"),
        ("empty.log", b"", "it is empty"),
        ("empty.zip", b"", "it is empty"),
        ("no.zip", RED, "File is not a zip file"),
        ("cut.zip", b"PK\3\4" + RED, "File is not a zip file"),
        ("nothing.zip", b"PK\5\6" + bytes(18), "it holds no logs (.txt or .log)"),
    ],
)
def test_what_cannot_be_read_is_named(capsys, tmp_path, name, content, why):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert parsed(capsys, path) == (2, "", f"selfrepair: log {str(path)!r} cannot be read: {why}\n")


def test_a_folder_without_logs(capsys, tmp_path):
    (tmp_path / "logs.zip").write_bytes(b"PK")
    assert (
        parsed(capsys, tmp_path)[2]
        == f"selfrepair: log {str(tmp_path)!r} cannot be read: it holds no logs (.txt or .log)\n"
    )


def test_every_damaged_member_is_named_at_once(capsys, tmp_path):
    path = zipped(tmp_path / "run.zip", {"0_a.txt": RED, "1_b.txt": LINT, "2_c.txt": RED}, zipfile.ZIP_STORED)
    content = path.read_bytes()
    for text in (RED, LINT):
        at = content.index(text) + 500
        content = content[:at] + b"#" + content[at + 1 :]
    path.write_bytes(content)
    status, out, err = parsed(capsys, path)
    assert (status, out) == (2, "")
    assert [line.partition(" cannot be read: ")[0] for line in err.splitlines()] == [
        f"selfrepair: log {str(path)!r}: {name!r}" for name in ("a", "b")
    ]


def test_zip_bomb(tmp_path):
    """Attack: ten kilobytes that unpack to more than is ever read."""
    path = zipped(tmp_path / "run.zip", {"0_a.txt": bytes(6 << 20), "1_b.txt": bytes(6 << 20)})
    with log_files.opened(path, most=10 << 20) as found:
        a, b = found.logs
        assert sum(map(len, a.chunks())) == 6 << 20
        with pytest.raises(InputError, match="'b' cannot be read: there are more than 10 MiB of text"):
            list(b.chunks())


def test_zip_with_an_endless_table_of_contents(tmp_path):
    """Attack: a table that fills memory before the first member is read."""
    path = zipped(tmp_path / "run.zip", {"0_a.txt": b"x"})
    content = bytearray(path.read_bytes())
    content[-10:-6] = struct.pack("<I", 1 << 30)
    path.write_bytes(content)
    with pytest.raises(InputError, match="table of contents is too large"), log_files.opened(path):
        pass


def test_zip_in_a_zip_is_left_alone(capsys, tmp_path):
    inner = io.BytesIO()
    zipped(inner, {"0_inner.txt": RED})
    got = jobs(capsys, zipped(tmp_path / "run.zip", {"inner.zip": inner.getvalue(), "0_a.txt": inner.getvalue()}))
    assert list(got) == ["a"] and got["a"]["failures"] == []


def test_encrypted_member(capsys, tmp_path):
    path = zipped(tmp_path / "run.zip", {"0_a.txt": RED})
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)
    assert "'a' cannot be read: " in parsed(capsys, path)[2]


def test_member_names_that_lead_out_of_the_archive(capsys, tmp_path):
    """Attack: nothing is ever unpacked, so a name is only a name."""
    path = zipped(tmp_path / "run.zip", {"../../evil.txt": RED, "/etc/evil.txt": RED, "\x1b[31m::error::x.txt": RED})
    before = sorted(tmp_path.parent.rglob("*"))
    status, out, _ = parsed(capsys, path)
    assert status == 0 and "\x1b" not in out
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_links_in_a_folder_are_not_followed(capsys, tmp_path):
    """Attack: an unpacked artifact with a link to a file of this machine."""
    (tmp_path / "secret").write_bytes(RED)
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.log").symlink_to(tmp_path / "secret")
    os.mkfifo(logs / "b.log")
    (logs / "c.log").write_bytes(GREEN)
    assert list(jobs(capsys, logs)) == ["c"]


def test_log_from_a_pipe():
    command = [sys.executable, "-m", "bot", "parse", "/dev/stdin", "--json"]
    done = subprocess.run(command, input=RED, capture_output=True, check=True, cwd=CORPUS.parents[1])
    assert json.loads(done.stdout) == as_schema(read_job([RED]))


def test_layout_of_names():
    paths = map(PurePosixPath, ["run1/0_b.txt", "run1/1_c.txt", "run1/b/1_x.txt", "run1/b/2_y.txt", "run1/d/1_z.txt"])
    assert {job: [str(path) for path in found] for job, found in log_files.layout(paths).items()} == {
        "run1/b": ["run1/0_b.txt"],
        "run1/c": ["run1/1_c.txt"],
        "run1/d": ["run1/d/1_z.txt"],
    }


@pytest.mark.parametrize("args", [["parse", str(CORPUS / "pytest/p9-no.log")], ["--help"]])
def test_reading_a_log_loads_neither_docker_nor_github_nor_a_model(args):
    """What they take to load is ten times what a log takes to be read."""
    code = f"""
import sys
sys.argv[1:] = {args!r}
from bot.cli import main
try:
    main()
except SystemExit:
    pass
heavy = {{'docker', 'github', 'anthropic', 'requests', 'subprocess', 'bot.action', 'bot.wiring'}} & set(sys.modules)
sys.exit(', '.join(sorted(heavy)) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=CORPUS.parents[1])
    assert (done.returncode, done.stderr) == (0, "")

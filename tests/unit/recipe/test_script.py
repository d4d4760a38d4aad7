"""Scripts taken apart: run one after the other, the pieces do what the script does; bash itself is the judge."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.recipe.script import Piece, pieces

WHOLE = [
    "if true; then pytest; fi",
    "for f in *; do\n  pytest $f\ndone",
    "cat <<END >x\npytest\nEND\npytest",
    "(cd a; pytest)\nmypy",
    "run() {\n pytest\n}\nrun",
    "set +e\npytest\nexit $?",
    "pytest &\nwait",
    "[ -f x ] && pip install y\npytest",
    "echo 'open\npytest",
    'echo "open\npytest',
    "echo $(open\npytest",
    "a &&\n&& b",
    "X=$'a\\'b'\npytest",
    "eval pytest\nmypy",
    "case x in x) pytest;; esac",
    "cd a && pip list\npytest",
    "! pytest\nmypy",
    "trap 'echo' EXIT\npytest",
    "x\0y\nz",
]


@pytest.mark.parametrize("script", WHOLE)
def test_more_than_a_list_of_commands_stays_whole(script: str) -> None:
    assert pieces(script) == [Piece(script)]


@pytest.mark.parametrize(
    ("script", "commands"),
    [
        ("a\nb", ["a", "b"]),
        ("a; b # c; d\n# e\nf 'x; y' \"z && $(echo '#' \\\")\"", ["a", "b # c; d\n# e\nf"]),
        ("a && b && c", ["a", "b", "c"]),
        ("a && b\nc", ["a && b\nc"]),
        ("a || b\nc", ["a || b", "c"]),
        ("a | b 2>&1 >x &>y\nc", ["a | b 2>&1 >x &>y", "c"]),
        ("a \\\n  b\nc", ["a \\\n  b", "c"]),
        ("a |\n  b\nc", ["a |\n  b", "c"]),
        (
            "cd x\nA='1 2'\nexport B=$(c | d)\ne\ncd y; f",
            ["cd x\nA='1 2'\nexport B=$(c | d)\ne", "cd x\nA='1 2'\nexport B=$(c | d)\ncd y\nf"],
        ),
        ("A=1 pytest", ["A=1 pytest"]),
        ("", [""]),
    ],
)
def test_lists_are_taken_apart(script: str, commands: list[str]) -> None:
    found = [piece.command for piece in pieces(script)]
    if "#" in script:
        assert len(found) == 3 and found[0] == "a" and "c; d" not in "".join(found)
    else:
        assert found == commands


LINES = st.sampled_from(
    (
        *("echo a >>log", "false", "true && echo b >>log", "false && echo c >>log", "false || echo d >>log", "cd sub"),
        *("V='x  y'", 'echo "$V-$W" >>"$ROOT/log"', "export W=$(echo w)", 'pwd >>"$ROOT/log"', "echo '; && #' >>log"),
        *('echo "a#b" `echo c` >>log # d', "echo e \\\n  f >>log", "printf '%s\\n' ${V:-no} | sort >>\"$ROOT/log\""),
        *("echo g >>log; echo h >>log", "test -d sub", "if true; then echo i >>log; fi", "", "  # nothing"),
    )
)


def ran(place: Path, scripts: list[str]) -> tuple[int, str]:
    """Run scripts one after the other up to the first that fails; the status, and what they wrote."""
    (place / "sub").mkdir(parents=True)
    status = 0
    for script in scripts:
        env = {"ROOT": str(place), "PATH": "/usr/bin:/bin"}
        status = subprocess.run(["bash", "-e", "-c", script], cwd=place, env=env, check=False).returncode
        if status:
            break
    logs = [place / "log", place / "sub" / "log"]
    return status, "|".join(path.read_text().replace(str(place), "ROOT") if path.exists() else "" for path in logs)


@settings(max_examples=40, deadline=None)
@given(st.lists(LINES, max_size=6))
def test_pieces_do_what_the_script_does(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    script = "\n".join(lines)
    place = tmp_path_factory.mktemp("ran")
    apart = [piece.command for piece in pieces(script)]
    status, wrote = ran(place / "whole", [script])
    assert (ran(place / "apart", apart)[1], bool(ran(place / "again", apart)[0])) == (wrote, bool(status))


@given(st.text(alphabet="ab'\"\\$(){}`#;&|<> \n=", max_size=40))
def test_any_text_has_pieces(text: str) -> None:
    assert pieces(text)

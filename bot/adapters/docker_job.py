"""One request in one box: files and tools in, the command, what it left out."""

from __future__ import annotations

import secrets

from bot.adapters.docker_box import Box, Ended
from bot.domain.attempt import InputError
from bot.domain.execution import WORK, Request, Result
from bot.sandbox import archive, folder, members

PLACE = f"""
nonce=$1 size=$2 dir=$3 written=$4 removed=$5; shift 5
refuse() {{ head -c "$size" >/dev/null; printf '%s%s\\n' "$nonce" "$1" >&2; exit 1; }}
parents() {{
  p=$1
  while case $p in */*) p=${{p%/*}};; *) false;; esac; do
    [ ! -L "$p" ] || refuse "the way to $1 leads through a link"
  done
}}
cd {WORK} || refuse "there is no {WORK}"
i=0 modes=
for path do
  i=$((i + 1))
  if [ $i -le $((written + removed)) ]; then parents "$path"; else break; fi
  if [ $i -gt "$written" ]; then rm -f -- "$path" 2>/dev/null || refuse "cannot remove $path"
  elif [ -f "$path" ] && [ -x "$path" ] && [ ! -L "$path" ]; then modes=${{modes}}x
  else modes=$modes-; fi
done
# What is sent is read to its end, come what may: Docker drops a command's last words when its input is left unread.
if [ "$size" -gt 0 ]; then
  head -c "$size" | {{ tar -xomf - 2>/dev/null || {{ cat >/dev/null; exit 1; }}; }} && size=0
  [ "$size" = 0 ] || {{ size=0; refuse "cannot write the files"; }}
fi
for path do
  case $modes in
    x*) chmod 755 -- "$path" 2>/dev/null || refuse "cannot set the mode of $path";;
    '') break;;
  esac
  modes=${{modes#?}}
done
shift $((written + removed))
cd -- "$dir" || refuse "there is no folder $dir"
exec "$@" </dev/null
"""
"""Runs as the check's user: put the files where they belong, never through a link, then become the command.

A file keeps its executable bit, the one that git knows: asking `stat` for more costs 30 ms a file under gVisor. Before
the command only a refusal says anything, and it begins with a word that no code under test has seen.
"""


def run(box: Box, request: Request) -> Result:
    """Run one request in a box that nothing has run in; raises InputError when a file cannot be put in its place."""
    if request.tools:
        box.give(archive(request.tools, mode=0o555))
    nonce = secrets.token_hex(16)
    written = {path: data for path, data in request.files.items() if data is not None}
    removed = [path for path, data in request.files.items() if data is None]
    tar = archive(written, mode=0o644) if written else b""
    numbers = [str(len(tar)), folder(request.workdir), str(len(written)), str(len(removed))]
    ended = box.execute(
        ["/bin/sh", "-c", PLACE, "sh", nonce, *numbers, *written, *removed, *request.entrypoint],
        env=request.env,
        stdin=[tar],
        timeout_s=request.limits.timeout_s,
    )
    if ended.stderr.startswith(nonce.encode()):
        raise InputError(ended.stderr[len(nonce) :].decode("utf-8", "replace").strip())
    return _result(ended, _collected(box, request, ended))


def _collected(box: Box, request: Request, ended: Ended) -> dict[str, bytes]:
    if not request.collect or ended.died or ended.timed_out:
        return {}
    return members(box.collect(), request.collect)


def _result(ended: Ended, collected: dict[str, bytes]) -> Result:
    return Result(
        exit_code=ended.exit_code,
        stdout=ended.stdout,
        stderr=ended.stderr,
        duration_ms=ended.duration_ms,
        oom_killed=ended.oom_killed,
        truncated=ended.truncated,
        timed_out=ended.timed_out,
        crashed=ended.died and not ended.oom_killed,
        collected=collected,
    )

#!/usr/bin/env bash
# The development environment, .venv: made once, brought up to date when what it is made from changes.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if have "$name" && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            command -v "$name"
            return
        fi
    done
    die "Python 3.11 or newer is needed, and none is on PATH"
}

# A virtual environment holds absolute paths, so a checkout that was moved needs a new one.
inputs() { { echo "$root"; cat pyproject.toml requirements.lock scripts/tools.txt scripts/venv.sh; } | sha256sum; }

stamp=.venv/.made-from
wanted=$(inputs)
up_to_date() { [[ -f $stamp && $(<"$stamp") == "$wanted" ]] && .venv/bin/python -c '' 2>/dev/null; }

if up_to_date; then
    exit 0
fi
lock
if up_to_date; then
    exit 0
fi
python=$(python)
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    apt_install "$python cannot make virtual environments" python3-venv
fi
if ! .venv/bin/python -c 'import pip, sys; sys.exit(sys.prefix != sys.argv[1])' "$root/.venv" 2>/dev/null; then
    say "making .venv with $("$python" --version)"
    rm -rf .venv
    "$python" -m venv .venv
fi
rm -f "$stamp"
say "installing selfrepair and its development tools into .venv (pip)"
.venv/bin/python -m pip install -qq --disable-pip-version-check --no-input \
    --constraint requirements.lock --requirement scripts/tools.txt --editable '.[dev]' </dev/null ||
    die "pip could not install them; where its words above name a conflict, pyproject.toml changed: run make lock"
if .venv/bin/python -m pip freeze --exclude-editable | grep --invert-match --line-regexp --fixed-strings --file requirements.lock; then
    say "the versions above are not in requirements.lock: run make lock"
fi
echo "$wanted" >"$stamp"

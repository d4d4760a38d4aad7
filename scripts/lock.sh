#!/usr/bin/env bash
# Writes requirements.lock: the newest versions that pyproject.toml allows, as `name==version` lines and no more.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

lock
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -qq --disable-pip-version-check --no-input \
    --requirement scripts/tools.txt --editable '.[dev]' </dev/null
"$work/venv/bin/python" -m pip freeze --exclude-editable | grep -E '^[A-Za-z0-9._-]+==[^ ]+$' >"$work/lock"
cp "$work/lock" requirements.lock
say "requirements.lock: $(wc -l <requirements.lock) versions"

#!/usr/bin/env bash
# Makes the demo's CI log anew: really runs the workflow's commands in the base image and prints them as GitHub does.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

docker run --rm -i -v "$root:/src:ro" python:3.13-slim-trixie sh -ec '
    mkdir -p /home/runner/work/shop
    cp -r /src/bot/demo/repo /home/runner/work/shop/shop
    cd /home/runner/work/shop/shop
    find . -name __pycache__ -prune -exec rm -rf {} +
    pip install --quiet --root-user-action=ignore -r requirements-dev.txt >&2
    PYTHONPATH=/src PYTHONDONTWRITEBYTECODE=1 python -m tests.fakes.ci_runner "$PWD" pytest "ruff check" "ruff format --check" mypy
' >"$root/bot/demo/ci.log"

#!/usr/bin/env bash
# Removes what the Makefile made: the environment, caches, and the product's images and containers.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

rm -rf .venv .stamps build dist node_modules selfrepair-out fuzz-out
rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache ./*.egg-info
find bot tests scripts -name __pycache__ -prune -exec rm -rf {} +
if have docker && timeout 20 docker version >/dev/null 2>&1; then
    docker container ls --all --quiet --filter label=selfrepair.run | xargs --no-run-if-empty docker container rm --force >/dev/null
    { echo selfrepair:dev; docker image ls --format '{{.Repository}}:{{.Tag}}' selfrepair-env; } |
        xargs docker image rm --force >/dev/null 2>&1 || true
fi

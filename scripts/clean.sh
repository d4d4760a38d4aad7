#!/usr/bin/env bash
# Removes what the Makefile made: the environment, caches, and the product's images and containers.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

rm -rf .venv .stamps build dist node_modules selfrepair-out
rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache ./*.egg-info
find bot tests scripts -name __pycache__ -prune -exec rm -rf {} +
if have docker && timeout 20 docker version >/dev/null 2>&1; then
    docker image rm --force selfrepair:dev >/dev/null 2>&1 || true
fi

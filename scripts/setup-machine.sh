#!/usr/bin/env bash
# Everything that `make demo` and `make test` need on a fresh machine; a second run changes nothing.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

SECONDS=0
scripts/venv.sh
scripts/docker-engine.sh
scripts/base-image.sh python:3.13-slim-trixie
say "the machine is ready (${SECONDS} s)"

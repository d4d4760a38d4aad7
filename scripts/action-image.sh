#!/usr/bin/env bash
# The action's image, selfrepair:dev: built when what goes into it is not what the image at hand was built from.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

image=selfrepair:dev
base=python:3.13-slim-trixie

inputs() {
    {
        docker image inspect --format '{{.Id}}' "$base"
        find Dockerfile .dockerignore LICENSE README.md pyproject.toml requirements.lock bot \
            -name __pycache__ -prune -o -type f -print0 | LC_ALL=C sort --zero-terminated | xargs --null sha256sum
    } | sha256sum | cut --characters=-64
}

up_to_date() { [[ $(docker image inspect --format '{{index .Config.Labels "selfrepair.inputs"}}' "$image" 2>/dev/null) == "$1" ]]; }

wanted=$(inputs)
if up_to_date "$wanted"; then
    exit 0
fi
lock
if up_to_date "$wanted"; then
    exit 0
fi
say "building $image"
# A proxy that this machine needs, the build needs as well; Docker takes these without the Dockerfile declaring them.
arguments=()
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [[ -z ${!name:-} ]] || arguments+=(--build-arg "$name")
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! docker build --tag "$image" --label "selfrepair.inputs=$wanted" "${arguments[@]}" . >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    die "$image could not be built; the end of the build is above"
fi

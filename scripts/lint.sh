#!/usr/bin/env bash
# Every linter, each to its end, so that one run tells all there is to mend.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

export PATH="$root/.venv/bin:$PATH"
failed=()

check() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        printf 'lint: %s: ok\n' "$name"
    else
        failed+=("$name")
        printf 'lint: %s: FAILED\n%s\n' "$name" "$output"
    fi
}

# The workflow that people are told to copy (the README shows it) is held to what our own are held to.
workflow_files=(.github/workflows/*.yml docs/examples/*.yml)
action_files=(action.yml)
[[ -f action.yml ]] || action_files=()

check "ruff check" ruff check --quiet .
check "ruff format" ruff format --check --quiet .
check "mypy" mypy --strict bot
check "import contracts" lint-imports
check "shellcheck" shellcheck --external-sources --source-path=scripts scripts/*.sh .ci/run
if [[ ${#workflow_files[@]} -gt 0 ]]; then
    check "actionlint" actionlint "${workflow_files[@]}"
fi
if [[ ${#workflow_files[@]} -gt 0 || ${#action_files[@]} -gt 0 ]]; then
    check "zizmor" zizmor --offline --no-progress --quiet --config .github/zizmor.yml "${workflow_files[@]}" "${action_files[@]}"
fi

if [[ ${#failed[@]} -gt 0 ]]; then
    printf 'lint: failed: %s\n' "$(printf '%s, ' "${failed[@]}" | sed 's/, $//')" >&2
    exit 1
fi

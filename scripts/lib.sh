# shellcheck shell=bash
# What every script here shares: one voice, one lock. Sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
cd "$root" || exit

say() { printf 'setup: %s\n' "$*"; }
die() {
    printf 'setup: error: %s\n' "$@" >&2
    exit 3
}
have() { command -v "$1" >/dev/null 2>&1; }

# Two set-ups at once would fight over apt, dockerd and .venv. Each script looks first whether there is anything to do,
# takes the lock, and looks again. The descriptor must not reach a daemon, which would hold the lock for ever.
lock() {
    local dir=/run/lock
    [[ -w $dir ]] || dir=${TMPDIR:-/tmp}
    exec 9>>"$dir/selfrepair-setup-$UID.lock"
    if ! flock --nonblock 9; then
        say "waiting for another set-up on this machine"
        flock --timeout 1800 9 || die "another set-up has held its lock for 30 minutes"
    fi
}

# apt_install WHY PACKAGE...: for root on Debian and its like; anyone else is told what to install.
apt_install() {
    local why=$1
    shift
    have apt-get || die "$why: install the equivalent of $* (this system has no apt-get)"
    [[ $UID -eq 0 ]] || die "$why: not root, so run: sudo apt-get install --no-install-recommends $*"
    say "$why: installing $* (apt)"
    local log
    log=$(mktemp)
    quiet_apt() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"; }
    if ! { quiet_apt update && quiet_apt install --yes --no-install-recommends "$@"; } >"$log" 2>&1 </dev/null; then
        tail -n 30 "$log" >&2
        rm -f "$log"
        die "apt-get could not install $*"
    fi
    rm -f "$log"
}

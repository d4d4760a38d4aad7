#!/usr/bin/env bash
# A Docker engine that answers: installed when there is none, started when it does not run.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

log=/var/log/dockerd.log
started=

answers() { have docker && timeout 20 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# dockerd and containerd refuse to start, or wait for nobody, when a pid file or a socket outlived a killed one: its
# number may belong to another program by now, or to a zombie, which has a name still but no program.
clear_stale() {
    local pidfile=$1 program=$2 pid
    pid=$(cat "$pidfile" 2>/dev/null) || return 0
    if [[ $(readlink "/proc/$pid/exe") != */"$program"* ]]; then
        say "removing the stale $pidfile"
        rm -f "$pidfile"
    fi
}
clear_dead_socket() {
    [[ -S $1 ]] || return 0
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$1" 2>/dev/null || rm -f "$1"
}

# Docker writes its rules through whichever iptables is the default; kernels without nf_tables want the legacy one.
choose_iptables() {
    local name
    works() { "$1" --wait --table nat --numeric --list >/dev/null 2>&1; }
    if ! works iptables && have iptables-legacy && works iptables-legacy; then
        say "this kernel has no nf_tables: switching to iptables-legacy"
        for name in iptables ip6tables; do
            update-alternatives --set "$name" "/usr/sbin/$name-legacy" >/dev/null
        done
    fi
}

start_by_hand() {
    clear_stale /var/run/docker.pid dockerd
    clear_stale /var/run/docker/containerd/containerd.pid containerd
    clear_dead_socket /run/containerd/containerd.sock
    if [[ ! -f /var/run/docker.pid ]]; then
        choose_iptables
        say "starting dockerd (log: $log)"
        ulimit -n 1048576 2>/dev/null || true
        setsid nohup dockerd >>"$log" 2>&1 </dev/null 9>&- &
        started=$!
    fi
}

wait_for_it() {
    local deadline=$((SECONDS + 90))
    until answers; do
        if ((SECONDS > deadline)) || { [[ -n $started ]] && ! kill -0 "$started" 2>/dev/null; }; then
            tail -n 20 "$log" >&2 2>/dev/null || true
            die "dockerd did not come up; the end of $log is above"
        fi
        sleep 0.2
    done
}

if answers; then
    exit 0
fi
lock
if answers; then
    exit 0
fi
if [[ -n ${DOCKER_HOST:-} ]]; then
    die "DOCKER_HOST is set, and no Docker engine answers there"
fi
if [[ $UID -ne 0 ]]; then
    if [[ -S /var/run/docker.sock && ! -w /var/run/docker.sock ]]; then
        die "you may not use Docker's socket: join the group docker, or run this as root"
    fi
    die "no Docker engine answers and you are not root: install and start Docker, or run: sudo $root/scripts/docker-engine.sh"
fi

packages=()
have dockerd || packages+=(docker.io)
have iptables || packages+=(iptables)
if [[ $(cat /sys/module/apparmor/parameters/enabled 2>/dev/null) == Y ]] && ! have apparmor_parser; then
    packages+=(apparmor)
fi
if [[ ${#packages[@]} -gt 0 ]]; then
    apt_install "no Docker engine" "${packages[@]}"
fi
have docker || apt_install "no Docker client" docker-cli

if [[ -d /run/systemd/system ]]; then
    systemctl start docker || die "systemctl could not start Docker: see journalctl -u docker"
else
    start_by_hand
fi
wait_for_it

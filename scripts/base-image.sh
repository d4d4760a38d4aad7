#!/usr/bin/env bash
# base-image.sh python:X.Y-slim-SUITE: the image under Docker's own name; where no registry can be reached, a stand-in
# made by debootstrap from the Debian archive that this machine uses, with the machine's trust and pip configuration.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

image=$1
suite=${image##*-}
version=${image##*python:}
version=${version%%-*}

codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")

present() { docker image inspect "$image" >/dev/null 2>&1; }

# Where this machine gets Debian's CODENAME, CODENAME-updates and CODENAME-security from, asked of apt.
archive_of() {
    have apt-get || return 0
    # shellcheck disable=SC2016  # apt expands these
    apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk -v release="$codename$1" '$1 == release && $2 ~ "^https?://" {print $2; exit}'
}

# A python:*-slim has no documentation, a pip that root may use, and `python` on PATH; a Debian has not.
resemble_python_image() {
    local name
    rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED
    rm -rf "$1"/usr/share/{doc,man,info}/* "$1"/usr/share/locale/* "$1"/var/log/*
    rm -rf "$1"/var/cache/apt/* "$1"/var/cache/debconf/*-old "$1"/var/lib/apt/lists/*
    for name in python:python3 python3:python3 pip:pip3 pip3:pip3; do
        ln -s "/usr/bin/${name#*:}" "$1/usr/local/bin/${name%:*}"
    done
    printf '%s\n' 'Acquire::Languages "none";' 'Dir::Cache::pkgcache ""; Dir::Cache::srcpkgcache "";' \
        'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb || true"; };' \
        'Apt::AutoRemove::SuggestsImportant "false";' >"$1/etc/apt/apt.conf.d/docker-slim"
    printf 'path-exclude /usr/share/%s/*\n' doc man info locale >"$1/etc/dpkg/dpkg.cfg.d/docker"
    echo 'path-include /usr/share/doc/*/copyright' >>"$1/etc/dpkg/dpkg.cfg.d/docker"
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
    chmod 755 "$1/usr/sbin/policy-rc.d"
}

# What this machine needs to reach apt and pip, its containers need as well. File paths of the machine stay outside.
inherit_configuration() {
    local pocket archive bundle=/etc/ssl/certs/ca-certificates.crt
    for pocket in -updates -security; do
        archive=$(archive_of "$pocket")
        [[ -z $archive ]] || echo "deb $archive $suite$pocket main" >>"$1/etc/apt/sources.list"
    done
    apt-config dump | grep -E '^Acquire::(http|https|Check-Valid-Until|Check-Date)[: ]' >"$1/etc/apt/apt.conf.d/host" || true
    if compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
        mkdir -p "$1/usr/local/share/ca-certificates"
        cp /usr/local/share/ca-certificates/*.crt "$1/usr/local/share/ca-certificates/"
        chroot "$1" update-ca-certificates >/dev/null 2>&1
    fi
    if [[ -s $bundle ]]; then
        cp "$bundle" "$1$bundle"
    fi
    pip_configuration >"$1/etc/pip.conf"
}
pip_configuration() {
    local pip=(python3 -m pip)
    [[ ! -x .venv/bin/pip ]] || pip=(.venv/bin/python -m pip)
    "${pip[@]}" config list 2>/dev/null | python3 -c '
import ast, sys
print("[global]")
for line in sys.stdin:
    key, _, value = line.strip().partition("=")
    section, _, name = key.partition(".")
    words = [w for w in ast.literal_eval(value).split() if not w.startswith(("/", "file:"))]
    if section in ("global", ":env:") and name in ("index-url", "extra-index-url", "trusted-host", "proxy", "default-timeout", "timeout") and words:
        print(name, "=", " ".join(words))
    if section in ("global", ":env:") and name == "cert":
        print("cert = /etc/ssl/certs/ca-certificates.crt")
' | awk '!seen[$1]++'
}

# Also what a killed run left: one directory, which the lock makes ours. What debootstrap mounted must go first.
work=/var/tmp/selfrepair-base
remove_work() {
    umount --recursive "$work/root/proc" "$work/root/sys" 2>/dev/null || true
    rm -rf --one-file-system "$work"
}

bootstrap() {
    local archive found
    [[ $UID -eq 0 ]] || die "$image cannot be pulled, and making a stand-in takes root: run sudo $root/scripts/base-image.sh $image"
    have debootstrap || apt_install "$image cannot be pulled" debootstrap
    archive=$(archive_of "")
    trap remove_work EXIT
    remove_work
    mkdir --mode=700 "$work"
    say "$image cannot be pulled: making a stand-in with debootstrap (about a minute)"
    if ! debootstrap --variant=minbase --include=python3,python3-pip,python3-venv,ca-certificates \
        "$suite" "$work/root" ${archive:+"$archive"} >"$work/log" 2>&1 </dev/null 9>&-; then
        tail -n 20 "$work/log" "$work/root/debootstrap/debootstrap.log" >&2 2>/dev/null || true
        die "debootstrap $suite failed; its last lines are above"
    fi
    found=$(chroot "$work/root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    [[ $found == "$version" ]] || die "Debian $suite has Python $found, not the $version of $image"
    resemble_python_image "$work/root"
    inherit_configuration "$work/root"
    tar --directory "$work/root" --numeric-owner --create . | docker import \
        --change 'CMD ["python3"]' --change 'ENV LANG=C.UTF-8' \
        --change 'ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin' \
        "${trust[@]}" --change 'LABEL selfrepair.stand-in=debootstrap' - "$image" >/dev/null
}

if present; then
    exit 0
fi
lock
if present; then
    exit 0
fi
if timeout 600 docker pull --quiet "$image" >/dev/null 2>&1; then
    say "pulled $image"
    exit 0
fi
# Tools with trust stores of their own (npm, uv, requests) are pointed at the system's, which has this machine's.
trust=()
if compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
    for name in SSL_CERT_FILE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS; do
        trust+=(--change "ENV $name=/etc/ssl/certs/ca-certificates.crt")
    done
fi
bootstrap

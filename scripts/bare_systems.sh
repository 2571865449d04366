# For scripts that source this: systems in folders, each a root of Debian or Ubuntu with the base packages alone. They
# need root, debootstrap and the systems' archives; DEBIAN_MIRROR and UBUNTU_MIRROR name others than the systems' own.
# shellcheck shell=bash

# known_systems COMMAND SUITE...: ends with 2 at a suite that is none, and with 77 where none can be made.
known_systems() {
  local command=$1 suite
  shift
  for suite in "$@"; do
    case "$suite" in bookworm | trixie | noble) ;; *) echo "$command: no system $suite; there are bookworm, trixie, noble" >&2; exit 2 ;; esac
  done
  [ "$(id -u)" = 0 ] || { echo "making a system in a folder needs root"; exit 77; }
  command -v debootstrap >/dev/null || { echo "no debootstrap"; exit 77; }
}

# bare_system SUITE ROOT: makes it there; /root/ca-certificates.crt are the certificates that this machine trusts.
bare_system() {
  local mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian} components=main like=""
  [ "$1" != noble ] || mirror=${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu} components=main,universe
  [ -e "/usr/share/debootstrap/scripts/$1" ] || like=gutsy   # an older debootstrap knows the suite by no name
  debootstrap --variant=minbase --components="$components" "$1" "$2" "$mirror" $like || return
  cp /etc/resolv.conf "$2/etc/"
  [ ! -f /etc/ssl/certs/ca-certificates.crt ] || cp -L /etc/ssl/certs/ca-certificates.crt "$2/root/"
}

# inside ROOT COMMAND [FOLDER]: a shell in its /root with processes of its own, so that none outlives it; FOLDER of this
# machine can be read there by the same name.
inside() {
  [ -z "${3:-}" ] || mkdir -p "$1$3"
  # shellcheck disable=SC2016
  unshare --mount --pid --fork bash -euc '
    [ -z "$3" ] || mount --bind -o ro "$3" "$1$3"
    mount -t proc proc "$1/proc"
    cd "$1"
    exec chroot . /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      /bin/bash -euo pipefail -c "cd /root; $2"' inside "$1" "$2" "${3:-}"
}

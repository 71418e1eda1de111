# shellcheck shell=bash
set -uo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 NO_COLOR=1

# Where roots, packages and pictures go; kept between runs, so that the second is quicker.
trials=$(realpath -m "${TRIALS:-target/trials}")
pictures=$trials/pictures
mkdir -p "$pictures"
rows=() bad=0 mounts=()

# row STATUS NAME [NOTE]: notes a result; STATUS is ok, FAILED or "not tried".
row() {
    rows+=("$(printf '%-10s %-58s %s' "$1" "$2" "${3:-}")")
    [ "$1" != FAILED ] || bad=$((bad + 1))
    printf '    %s: %s %s\n' "$1" "$2" "${3:-}" >&2
}

# trial NAME COMMAND…: runs a command; its status is the result, its last line the note.
trial() {
    local name=$1 started=$SECONDS said
    shift
    echo "==> $name" >&2
    if said=$("$@" 2>"$trials/stderr"); then
        row ok "$name" "$(printf '%s' "$said" | tail -n1 | cut -c1-70) ($((SECONDS - started)) s)"
    else
        printf '%s\n' "$said" | tail -n 20 >&2
        tail -n 20 "$trials/stderr" >&2
        row FAILED "$name" "$(tail -n1 "$trials/stderr" | cut -c1-90)"
        return 1
    fi
}

# finish: the table; the status says whether anything failed.
finish() {
    echo
    printf '%s\n' "${rows[@]}"
    local tried=0
    tried=$(printf '%s\n' "${rows[@]}" | grep -c -v '^not tried')
    echo "$((tried - bad)) trials passed, $bad failed, $((${#rows[@]} - tried)) not tried"
    [ "$bad" -eq 0 ]
}

bind() {
    mkdir -p "$2"
    mount --bind "$1" "$2" && mounts+=("$2")
}

# What was mounted goes before anything is deleted: a folder of the machine may lie below.
unmount_all() {
    local at
    for ((at = ${#mounts[@]} - 1; at >= 0; at--)); do
        umount "${mounts[at]}" 2>/dev/null || umount -l "${mounts[at]}"
    done
    mounts=()
}

# foreign_arm64: programs for aarch64 run through qemu-user-static; taken back at the end when this script set it up.
binfmt=''
foreign_arm64() {
    local at=/proc/sys/fs/binfmt_misc
    [ "$(uname -m)" != aarch64 ] || return 0
    command -v qemu-aarch64-static >/dev/null || { echo "apt-get install qemu-user-static" >&2; return 1; }
    [ -e $at/register ] || mount -t binfmt_misc binfmt_misc $at || return 1
    [ -e $at/qemu-aarch64 ] && return
    # The line that the package gives to systemd; its F keeps the interpreter open, so that roots need none of their own.
    cat /usr/lib/binfmt.d/qemu-aarch64.conf > $at/register && binfmt=ours
}

# base SUITE ARCH MIRROR: a debootstrap root that is made once; prints nothing.
base() {
    local suite=$1 arch=$2 mirror=$3 target=$trials/base-$1-$2 options=() script=()
    [ -e "$target/.complete" ] && return
    rm -rf "$target"
    [ "$arch" = "$(dpkg --print-architecture)" ] || options+=(--foreign)
    case $suite in
        noble)
            # Debian has no key of Ubuntu's; the root is thrown away, and says in the table what it is.
            [ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || options+=(--no-check-gpg)
            options+=(--components=main,universe)
            [ -e /usr/share/debootstrap/scripts/noble ] || script=(/usr/share/debootstrap/scripts/gutsy)
            ;;
    esac
    debootstrap --arch="$arch" --variant=minbase --include=ca-certificates "${options[@]}" \
        "$suite" "$target" "$mirror" "${script[@]}" >"$trials/debootstrap.log" 2>&1 || return 1
    if [ "$arch" != "$(dpkg --print-architecture)" ]; then
        chroot "$target" /debootstrap/debootstrap --second-stage >>"$trials/debootstrap.log" 2>&1 || return 1
    fi
    touch "$target/.complete"
}

# fresh SUITE ARCH: a copy of the base at $root, with proc, dev and apt's downloads of earlier runs.
fresh() {
    root=$trials/root-$1-$2
    unmount_all
    rm -rf --one-file-system "$root"
    cp -a --reflink=auto "$trials/base-$1-$2" "$root"
    ready_root "$trials/apt-$1-$2"
}

# of_this_machine: $root is this machine's own system, over which everything written is thrown away.
of_this_machine() {
    root=$trials/root-here
    mkdir -p "$root"
    mkdir -p "$trials/layer"
    mount -t tmpfs -o size=3g tmpfs "$trials/layer" || return 1
    mounts+=("$trials/layer")
    mkdir "$trials/layer/up" "$trials/layer/work"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$trials/layer/up,workdir=$trials/layer/work" "$root" || return 1
    mounts+=("$root")
    ready_root /var/cache/apt/archives
}

ready_root() {
    mount -t proc proc "$root/proc" && mounts+=("$root/proc")
    bind /dev "$root/dev"
    mkdir -p "$1" "$root/var/cache/apt/archives"
    bind "$1" "$root/var/cache/apt/archives"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
    # A network with an authority of its own: what this machine trusts, the root must trust as well.
    mkdir -p "$root/etc/ssl/certs"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2>/dev/null
    cp -L /etc/pip.conf "$root/etc/" 2>/dev/null
    # apt fetches as a user of its own, which need not be able to write a bound folder.
    echo 'APT::Sandbox::User "root";' > "$root/etc/apt/apt.conf.d/99trial"
    # Packages of services must not start them in a root.
    printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
}

# inside COMMAND…: as root in $root. as USER COMMAND…: as that user there, with a home and nothing of this machine's.
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive NO_COLOR=1 "$@"; }
as() {
    local user=$1
    shift
    inside runuser -u "$user" -- env HOME="/home/$user" USER="$user" PIP_NO_INPUT=1 "$@"
}

# fails_with STATUS COMMAND…: true when the command ends with that status; passes its last line on.
fails_with() {
    local wanted=$1 said status
    shift
    said=$("$@" 2>&1)
    status=$?
    printf '%s\n' "$said" | head -n1
    [ "$status" -eq "$wanted" ] || { printf 'status %s, expected %s: %s\n' "$status" "$wanted" "$said" >&2; return 1; }
}

# An AppImage or a package is only as honest as its content.
no_nvidia_file() { ! grep -i -E 'nvrtc|libcuda|cudart|nvdisasm|cublas' <<<"$1"; }

leave_foreign() { [ -z "$binfmt" ] || echo -1 > /proc/sys/fs/binfmt_misc/qemu-aarch64; }

trap 'unmount_all; leave_foreign' EXIT

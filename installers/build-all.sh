#!/usr/bin/env bash
# Builds every package from a clean clone: installers/build-all.sh [OUT_DIR] [PART…]
#
# OUT_DIR is target/packages. PART is amd64, arm64, windows, sbom; all of them without one. Each program is built where
# it is missing (half an hour each on two cores); tools come from apt, rustup and crates.io, and nothing else is fetched.
# Ends with SHA256SUMS and a table of what was made and, for what was not, why; the status is 1 when something is missing.
# PROFILE names cargo's profile: `dev` builds in a third of the time and makes packages for trials only.
set -uo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never DEBIAN_FRONTEND=noninteractive

out=${1:-target/packages}
[ $# -gt 0 ] && shift
parts=${*:-amd64 arm64 windows sbom}
profile=${PROFILE:-release}
folder=$profile
[ "$profile" != dev ] || folder=debug
built=${CARGO_TARGET_DIR:-target}
mkdir -p "$out"
table=() failed=0

note() { table+=("$(printf '%-46s %-9s %s' "$1" "$2" "$3")"); [ "$2" = made ] || failed=1; }

# make NAME COMMAND…: runs a build that prints the path of what it made as its last line.
make_one() {
    local name=$1 log made
    shift
    log=$(mktemp)
    if made=$("$@" 2>"$log" | tail -n1) && [ -f "$made" ]; then
        [ "$(dirname "$(realpath "$made")")" = "$(realpath "$out")" ] || mv "$made" "$out/"
        note "$(basename "$made")" made "$(numfmt --to=si --suffix=B "$(stat -c %s "$out/$(basename "$made")")")"
    else
        cat "$log" >&2
        note "$name" "not made" "$(tail -n1 "$log" | cut -c1-100)"
    fi
    rm -f "$log"
}

# tools PROGRAM=PACKAGE…: brings missing programs with apt; false, with the reason in $why, where that is not possible.
why=
tools() {
    local missing=() pair
    for pair in "$@"; do
        command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
    done
    [ ${#missing[@]} -eq 0 ] && return
    why="install first: ${missing[*]}"
    command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ] || return 1
    apt-get update -q >&2 && apt-get install -q -y --no-install-recommends "${missing[@]}" >&2 \
        || { why="apt cannot install ${missing[*]}"; return 1; }
}

# program TARGET: builds Lockstep and its driver library for a target; empty is this machine.
program() {
    local target=$1
    if [ -n "$target" ]; then
        rustup target add "$target" >&2 || { why="rustup cannot bring the standard library of $target"; return 1; }
    fi
    echo "==> building for ${target:-this machine} ($profile)" >&2
    cargo build --profile "$profile" --locked -p lockstep -p lockstep-cuda ${target:+--target "$target"} >&2 \
        || { why="the build for ${target:-this machine} failed, see above"; return 1; }
}

# linux NAME TARGET: the Debian package and the AppImage for one processor.
linux() {
    local name=$1 target=$2 binary
    binary=$built/${target:+$target/}$folder/lockstep
    if program "$target"; then
        # Without it there is a tarball instead of the AppImage.
        tools mksquashfs=squashfs-tools || true
        make_one "Debian package, $name" installers/deb/build.sh "$binary" "$out"
        make_one "AppImage, $name" installers/appimage/build.sh "$binary" "$out"
        [ -e "$out/Lockstep-$(installers/version.sh)-$(installers/architecture.sh "$binary").AppImage" ] \
            || note "AppImage, $name" "not made" "mksquashfs or the libraries for its head are missing; the AppDir is a tarball"
    else
        note "Debian package, $name" "not made" "$why"
        note "AppImage, $name" "not made" "$why"
    fi
}

for part in $parts; do
    case $part in
        amd64 | arm64)
            machine=x86_64
            [ "$part" = amd64 ] || machine=aarch64
            if [ "$(uname -m)" = $machine ]; then
                linux "$part" ""
            elif tools $machine-linux-gnu-gcc=gcc-${machine/_/-}-linux-gnu $machine-linux-gnu-g++=g++-${machine/_/-}-linux-gnu; then
                upper=${machine^^}
                export "CARGO_TARGET_${upper}_UNKNOWN_LINUX_GNU_LINKER=$machine-linux-gnu-gcc"
                linux "$part" $machine-unknown-linux-gnu
            else
                note "Debian package, $part" "not made" "$why"
                note "AppImage, $part" "not made" "$why"
            fi
            ;;
        windows)
            if tools x86_64-w64-mingw32-gcc=mingw-w64 makensis=nsis && program x86_64-pc-windows-gnu; then
                make_one "Windows installer" installers/windows/build.sh "$built/x86_64-pc-windows-gnu/$folder/lockstep.exe" "$out"
            else
                note "Windows installer" "not made" "$why"
            fi
            ;;
        sbom) make_one "SBOM (CycloneDX)" installers/sbom.sh "$out" ;;
        *) note "$part" "not made" "there is no such part; it is amd64, arm64, windows or sbom" ;;
    esac
done

(cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs -r sha256sum > SHA256SUMS)
echo
printf '%s\n' "${table[@]}"
echo "$out/SHA256SUMS: $(wc -l < "$out/SHA256SUMS") files"
exit "$failed"

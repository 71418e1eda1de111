#!/usr/bin/env bash
# Makes the head of an AppImage, a static program: installers/appimage/runtime.sh MACHINE OUT LICENCES
# MACHINE is x86_64 or aarch64. LICENCES gets what the licences of the libraries in it say. The libraries are Debian's
# packages for that machine, unpacked into a scratch folder and installed nowhere. Needs apt and a C compiler.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
machine=${1:?usage: installers/appimage/runtime.sh MACHINE OUT LICENCES} out=$(realpath -m "$2") licences=$(realpath -m "$3")
case $machine in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) echo "no such machine: $machine" >&2; exit 1 ;;
esac
command -v apt-get >/dev/null || { echo "no apt here, which brings libsquashfuse and libfuse" >&2; exit 1; }
compiler=$machine-linux-gnu-gcc
command -v $compiler >/dev/null || { echo "$compiler is missing: apt-get install gcc-${machine/_/-}-linux-gnu" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"

apt=(-q -o APT::Sandbox::User=root)
if [ "$architecture" != "$(dpkg --print-architecture)" ]; then
    # Lists of another machine's packages, without telling this one's dpkg of that machine.
    mkdir -p "$scratch/state" "$scratch/cache"
    apt+=(-o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o "Dir::State=$scratch/state"
        -o "Dir::Cache=$scratch/cache" -o Dir::State::status=/dev/null)
    apt-get "${apt[@]}" update >/dev/null
fi
packages=(libsquashfuse-dev libfuse3-dev libzstd-dev)
(cd "$scratch" && apt-get "${apt[@]}" download "${packages[@]}" >/dev/null)
for package in "$scratch"/*.deb; do dpkg-deb -x "$package" "$scratch/root"; done
libraries=$scratch/root/usr/lib/$machine-linux-gnu
$compiler -Os -static -ffunction-sections -fdata-sections -Wl,--gc-sections -s -w -I "$scratch/root/usr/include" \
    -D_FILE_OFFSET_BITS=64 -o "$out" "$here/runtime.c" "$libraries/libsquashfuse_ll.a" "$libraries/libfuse3.a" \
    "$libraries/libzstd.a" -lpthread
# What tells others that this is an AppImage of type 2, in the unused bytes of the ELF header.
printf 'AI\002' | dd of="$out" bs=1 seek=8 conv=notrunc status=none
{
    printf 'The first bytes of the AppImage are installers/appimage/runtime.c of Lockstep, linked with the following of Debian,\n'
    printf 'and with the C library (GNU, LGPL-2.1 or newer). runtime.sh beside it links them again, with other versions too.\n'
    for package in "${packages[@]}"; do
        printf '\n---- %s\n\n' "$(basename "$scratch/$package"_*.deb)"
        cat "$scratch/root/usr/share/doc/$package/copyright"
    done
} > "$licences"

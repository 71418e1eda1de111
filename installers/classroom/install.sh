#!/usr/bin/env bash
# Installs Lockstep once for everybody who logs in to this machine or mounts this folder:
#   installers/classroom/install.sh FOLDER [BINARY]
# FOLDER (for example /opt/lockstep, or a share that students read) gets the program, the CUDA compiler and, if wanted,
# a changed course. Nobody needs to download anything. Texts and progress stay in each student's own home.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=${1:?usage: installers/classroom/install.sh FOLDER [BINARY]}
binary=${2:-${CARGO_TARGET_DIR:-target}/release/lockstep}
[ -e "$binary" ] || cargo build --release --locked -p lockstep -p lockstep-cuda

mkdir -p "$folder/libexec"
installers/strip.sh "$binary" "$folder/libexec/lockstep"
chmod 755 "$folder/libexec/lockstep"
# What `lockstep exec` gives programs as their driver.
install -Dm644 "$(dirname "$binary")/liblockstep_cuda.so" -t "$folder/lib/lockstep"
mkdir -p "$folder/bin" "$folder/shared"
"$folder/libexec/lockstep" --data "$folder/shared" setup --force
# Relative to the wrapper, so that the share may be mounted elsewhere. A student's own LOCKSTEP_NVRTC wins.
cat > "$folder/bin/lockstep" <<'WRAPPER'
#!/bin/sh
base=$(dirname "$(dirname "$(readlink -f "$0")")")
: "${LOCKSTEP_NVRTC:=$base/shared}"
# Compiled kernels and unpacked headers are tens of MB and can be made again: not in a small home.
: "${LOCKSTEP_CACHE:=${TMPDIR:-/tmp}/lockstep-$(id -un)}"
export LOCKSTEP_NVRTC LOCKSTEP_CACHE
mkdir -p -m 700 "$LOCKSTEP_CACHE" 2>/dev/null
# Somebody else's folder of that name is not trusted with what a compiler reads.
[ -O "$LOCKSTEP_CACHE" ] || unset LOCKSTEP_CACHE
# An instructor's version of the course, when there is one.
[ -d "$base/course" ] && set -- --content "$base/course" "$@"
exec "$base/libexec/lockstep" "$@"
WRAPPER
chmod 755 "$folder/bin/lockstep"
# Readable by all, writable by whoever installed it.
chmod -R a+rX "$folder"
echo "Installed. Students run: $folder/bin/lockstep"

#!/usr/bin/env bash
# Makes the Windows installer on any system with NSIS 3: installers/windows/build.sh [LOCKSTEP.EXE] [OUT_DIR]
# LOCKSTEP.EXE has lockstep_cuda.dll beside it. It is built with mingw-w64 when missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=x86_64-pc-windows-gnu
binary=${1:-${CARGO_TARGET_DIR:-target}/$target/release/lockstep.exe}
out=${2:-target/windows}
[ -e "$binary" ] || cargo build --release --locked --target $target -p lockstep -p lockstep-cuda
version=$(installers/version.sh)
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Notepad of older Windows shows line ends of Unix as one line.
installers/licences.py $target | sed 's/$/\r/' > "$work/THIRD-PARTY.txt"
for file in lockstep.exe lockstep_cuda.dll; do
    installers/strip.sh "$(dirname "$binary")/$file" "$work/$file"
done
made=$(realpath "$out")/lockstep-$version-x86_64-setup.exe
makensis -V2 -DBINARY="$work/lockstep.exe" -DLIBRARY="$work/lockstep_cuda.dll" \
    -DVERSION="$version" -DTHIRD_PARTY="$work/THIRD-PARTY.txt" -DOUT="$made" installers/windows/lockstep.nsi >&2
echo "$made"

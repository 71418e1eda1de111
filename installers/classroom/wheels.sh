#!/usr/bin/env bash
# Fetches the wheels of the CUDA compiler into a folder, for machines without internet:
#   installers/classroom/wheels.sh FOLDER [PLATFORM]
# PLATFORM is manylinux2014_x86_64 (default), manylinux2014_aarch64 or win_amd64. Names and version are those that
# `lockstep setup` asks for; it checks their SHA-256 itself. There: PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER lockstep setup
set -euo pipefail
pins=$(dirname "$0")/../../gpu-core/src/compile/wheels.rs
folder=${1:?usage: installers/classroom/wheels.sh FOLDER [PLATFORM]} platform=${2:-manylinux2014_x86_64}
version=$(sed -n 's/^pub const VERSION: &str = "\(.*\)";/\1/p' "$pins")
names=$(grep -o -E '"nvidia-cuda-[a-z]+"' "$pins" | tr -d '"' | sort -u)
wheels=()
for name in $names; do wheels+=("$name==$version"); done
mkdir -p "$folder"
python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --platform "$platform" \
    -d "$folder" "${wheels[@]}"
du -sh "$folder"

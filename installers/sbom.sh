#!/usr/bin/env bash
# Writes what Lockstep consists of as CycloneDX 1.5: installers/sbom.sh [OUT_DIR]
# cargo-cyclonedx is installed below target/ when it is not in PATH; unoptimised, which builds in a third of the time and
# runs for seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

out=${1:-target/packages}
tools=${CARGO_TARGET_DIR:-target}/tools
export PATH=$PATH:$(mkdir -p "$tools" && realpath "$tools")/bin
command -v cargo-cyclonedx >/dev/null || cargo install --debug --locked --root "$tools" cargo-cyclonedx >&2
made=$out/lockstep-$(installers/version.sh).cdx.json
# It writes beside every member's Cargo.toml; ours is the one of the program.
trap 'find . -name lockstep-sbom.json -not -path "./target/*" -delete' EXIT
cargo cyclonedx --format json --spec-version 1.5 --all --override-filename lockstep-sbom >&2
mkdir -p "$out"
mv app/lockstep-sbom.json "$made"
echo "$made"

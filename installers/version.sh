#!/usr/bin/env bash
# Prints Lockstep's version, as Cargo.toml has it.
set -euo pipefail
sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml"

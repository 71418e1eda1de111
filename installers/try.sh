#!/usr/bin/env bash
# From a fresh clone to a judged kernel: system libraries (apt), build, CUDA compiler (pip wheels into Lockstep's data
# folder), ready check, and day 4's reference kernel compiled, checked and counted on the emulator. Then the window,
# where there is a display. `--no-window` leaves it closed.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v cargo >/dev/null || { echo "Rust is missing: install it with rustup, see https://rustup.rs" >&2; exit 2; }
installers/apt-libraries.sh
# The development profile: a third of the release build's time, and the emulator is optimised in both.
cargo build --locked --workspace
lockstep=${CARGO_TARGET_DIR:-target}/debug/lockstep

"$lockstep" setup
"$lockstep" doctor
"$lockstep" check week1/day4 --kernel reference

if [ "${1:-}" = --no-window ]; then
    exit 0
elif [ -n "${WAYLAND_DISPLAY:-}${DISPLAY:-}" ]; then
    echo "Opening the window."
    exec "$lockstep"
else
    echo "No display here: everything is in the terminal too, see $lockstep --help"
fi

#!/usr/bin/env bash
# Installs the system libraries that the window, its tests and the compiler set-up need on Debian and Ubuntu.
# Does nothing where they are there, or where there is no apt. With --session also what the test of a whole session
# needs: an X server without a screen, keys pressed from a script, and pictures of what it shows.
set -euo pipefail

# A C compiler for build scripts; the window's libraries, opened at run time; Mesa draws without a GPU;
# python3-venv gives `lockstep setup` a pip where the system has none.
packages=(
    build-essential pkg-config
    libgl1 libegl1 libgl1-mesa-dri libglx-mesa0 libegl-mesa0
    libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon0 libxkbcommon-x11-0
    mesa-vulkan-drivers
    python3 python3-venv
)
[ "${1:-}" != --session ] || packages+=(xvfb xdotool imagemagick)

command -v apt-get >/dev/null || { echo "no apt here: install the equivalents of ${packages[*]}"; exit 0; }
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "run as root: apt-get install ${missing[*]}" >&2; exit 1; }
    root=(sudo)
fi
echo "Installing with apt: ${missing[*]}"
"${root[@]}" apt-get update -q
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"

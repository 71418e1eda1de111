#!/usr/bin/env bash
# Builds a Debian package with dpkg-deb alone: installers/deb/build.sh [BINARY] [OUT_DIR] [VERSION]
# BINARY defaults to the release build, which is made when missing; VERSION to Lockstep's own (trials of an upgrade
# need an older one). The package holds no NVIDIA file: the CUDA compiler comes from `lockstep setup`, per user, or from
# any installed toolkit.
set -euo pipefail
cd "$(dirname "$0")/../.."

binary=${1:-${CARGO_TARGET_DIR:-target}/release/lockstep}
out=${2:-target/deb}
version=${3:-$(installers/version.sh)}
[ -e "$binary" ] || cargo build --release --locked -p lockstep -p lockstep-cuda
case $(installers/architecture.sh "$binary") in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
esac
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

installers/stage.sh "$binary" "$root"
installed_kib=$(du -sk "$root" | cut -f1)

# The window opens its libraries at run time, so dpkg-shlibdeps would not see them: they are listed by hand.
mkdir -p "$root/DEBIAN"
cat > "$root/DEBIAN/control" <<CONTROL
Package: lockstep
Version: $version
Architecture: $architecture
Maintainer: Lockstep developers <dev@lockstep.invalid>
Installed-Size: $installed_kib
Section: education
Priority: optional
Depends: libc6 (>= 2.34), libgcc-s1, libgl1, libegl1, libx11-6, libx11-xcb1, libxcursor1, libxi6, libxkbcommon0, libxkbcommon-x11-0
Recommends: libgl1-mesa-dri, libwayland-client0, python3-venv, xdg-desktop-portal
Suggests: mesa-vulkan-drivers, nvidia-cuda-toolkit
Description: learn GPU programming in CUDA C++, on a GPU or on an emulator
 Lockstep compiles your kernels with NVRTC, runs them on an NVIDIA GPU or on its
 own PTX emulator, judges them against float64 references, and shows what every
 thread did. The terminal commands work without a display.
CONTROL
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
mkdir -p "$out"
package=$out/lockstep_${version}_${architecture}.deb
dpkg-deb --root-owner-group --build "$root" "$package" >&2
echo "$package"

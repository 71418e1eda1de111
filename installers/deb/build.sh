#!/usr/bin/env bash
# Builds a Debian package with dpkg-deb alone: installers/deb/build.sh [BINARY] [OUT_DIR]
# BINARY defaults to the release build, which is made when missing. The package holds no NVIDIA file: the CUDA compiler
# comes from `lockstep setup`, per user, or from any installed toolkit.
set -euo pipefail
cd "$(dirname "$0")/../.."

binary=${1:-${CARGO_TARGET_DIR:-target}/release/lockstep}
out=${2:-target/deb}
[ -e "$binary" ] || cargo build --release --locked -p lockstep -p lockstep-cuda
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
case $(installers/architecture.sh "$binary") in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
esac
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

install -Dm755 "$binary" "$root/usr/bin/lockstep"
# What `lockstep exec` gives programs as their driver.
install -Dm644 "$(dirname "$binary")/liblockstep_cuda.so" -t "$root/usr/lib/lockstep"
install -Dm644 installers/lockstep.desktop "$root/usr/share/applications/lockstep.desktop"
install -Dm644 assets/icon.svg "$root/usr/share/icons/hicolor/scalable/apps/lockstep.svg"
install -Dm644 assets/icon.png "$root/usr/share/icons/hicolor/256x256/apps/lockstep.png"
install -Dm644 README.md "$root/usr/share/doc/lockstep/README.md"
install -Dm644 app/JSON.md "$root/usr/share/doc/lockstep/JSON.md"
cat LICENSE-MIT LICENSE-APACHE assets/fonts/UFL.txt > "$root/copyright"
install -Dm644 "$root/copyright" "$root/usr/share/doc/lockstep/copyright"
rm "$root/copyright"
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
Depends: libc6 (>= 2.34), libgl1, libegl1, libx11-6, libx11-xcb1, libxcursor1, libxi6, libxkbcommon0, libxkbcommon-x11-0
Recommends: libgl1-mesa-dri, libwayland-client0, python3-venv, xdg-desktop-portal
Suggests: mesa-vulkan-drivers, nvidia-cuda-toolkit
Description: learn GPU programming in CUDA C++, on a GPU or on an emulator
 Lockstep compiles your kernels with NVRTC, runs them on an NVIDIA GPU or on its
 own PTX emulator, judges them against float64 references, and shows what every
 thread did. The terminal commands work without a display.
CONTROL
mkdir -p "$out"
package=$out/lockstep_${version}_${architecture}.deb
dpkg-deb --root-owner-group --build "$root" "$package"
echo "$package"

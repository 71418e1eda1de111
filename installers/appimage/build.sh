#!/usr/bin/env bash
# Makes an AppDir, and an AppImage of it where `appimagetool` is in PATH; else a tarball with the same content.
# installers/appimage/build.sh [BINARY] [OUT_DIR]
set -euo pipefail
cd "$(dirname "$0")/../.."

binary=${1:-${CARGO_TARGET_DIR:-target}/release/lockstep}
out=${2:-target/appimage}
[ -e "$binary" ] || cargo build --release --locked -p lockstep -p lockstep-cuda
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
dir=$out/Lockstep.AppDir
rm -rf "$dir"
install -Dm755 "$binary" "$dir/usr/bin/lockstep"
# What `lockstep exec` gives programs as their driver.
install -Dm644 "$(dirname "$binary")/liblockstep_cuda.so" -t "$dir/usr/lib/lockstep"
install -Dm644 installers/lockstep.desktop "$dir/lockstep.desktop"
install -Dm644 assets/icon.png "$dir/lockstep.png"
install -Dm644 LICENSE-MIT LICENSE-APACHE assets/fonts/UFL.txt -t "$dir/usr/share/doc/lockstep"
# The libraries of the window and of the driver must be the system's own, so none is bundled.
cat > "$dir/AppRun" <<'RUN'
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/usr/bin/lockstep" "$@"
RUN
chmod 755 "$dir/AppRun"
machine=$(installers/architecture.sh "$binary")
name=Lockstep-$version-$machine
if command -v appimagetool >/dev/null; then
    ARCH=$machine appimagetool "$dir" "$out/$name.AppImage"
    echo "$out/$name.AppImage"
else
    tar -C "$out" -czf "$out/$name.tar.gz" Lockstep.AppDir
    echo "appimagetool is not installed, so a tarball was made: unpack it and start Lockstep.AppDir/AppRun" >&2
    echo "$out/$name.tar.gz"
fi

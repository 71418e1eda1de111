#!/usr/bin/env bash
# Makes an AppImage: installers/appimage/build.sh [BINARY] [OUT_DIR]
# With `appimagetool` where that is in PATH; else with mksquashfs and the head that runtime.sh links from Debian's
# libraries; else a tarball of the AppDir, which needs unpacking and is named so.
set -euo pipefail
cd "$(dirname "$0")/../.."

binary=${1:-${CARGO_TARGET_DIR:-target}/release/lockstep}
out=${2:-target/appimage}
[ -e "$binary" ] || cargo build --release --locked -p lockstep -p lockstep-cuda
version=$(installers/version.sh)
dir=$out/Lockstep.AppDir
rm -rf "$dir"
# The libraries of the window and of the driver must be the system's own, so none is bundled.
installers/stage.sh "$binary" "$dir"
cp "$dir/usr/share/applications/lockstep.desktop" assets/icon.svg "$dir/"
mv "$dir/icon.svg" "$dir/lockstep.svg"
install -m644 assets/icon.png "$dir/.DirIcon"
install -m755 installers/appimage/AppRun "$dir/AppRun"
machine=$(installers/architecture.sh "$binary")
name=Lockstep-$version-$machine
head=$(mktemp)
trap 'rm -f "$head"' EXIT
if command -v appimagetool >/dev/null; then
    ARCH=$machine appimagetool "$dir" "$out/$name.AppImage" >&2
    made=$out/$name.AppImage
elif command -v mksquashfs >/dev/null \
    && installers/appimage/runtime.sh "$machine" "$head" "$dir/usr/share/doc/lockstep/appimage-head" >&2; then
    made=$out/$name.AppImage
    rm -f "$made.squashfs"
    mksquashfs "$dir" "$made.squashfs" -root-owned -noappend -comp zstd -Xcompression-level 19 -quiet -no-progress >&2
    cat "$head" "$made.squashfs" > "$made"
    rm "$made.squashfs"
    chmod 755 "$made"
else
    made=$out/$name.AppDir.tar.gz
    tar -C "$out" --owner=0 --group=0 --sort=name -czf "$made" Lockstep.AppDir
    echo "mksquashfs (squashfs-tools) or the libraries for its head are missing, so a tarball was made: unpack it and start Lockstep.AppDir/AppRun" >&2
fi
rm -rf "$dir"
echo "$made"

#!/usr/bin/env bash
# Starts the AppImage (or the AppDir's tarball) in roots of three kinds and ends with a table:
#   installers/trials/appimage.sh [FILE]
# A bare Debian without any library of a window, another distribution (Ubuntu), and a Debian with the window's libraries
# where one after the other is taken away. FILE defaults to a fresh one of the release build. Needs root and debootstrap.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 2
[ "$(id -u)" -eq 0 ] || { echo "this trial mounts: run it as root" >&2; exit 2; }
[ -n "${LOCKSTEP_UNSHARED:-}" ] || LOCKSTEP_UNSHARED=yes exec unshare -m --propagation private "$0" "$@"
work=$(mktemp -d)
trap 'unmount_all; rm -rf "$work"' EXIT
file=${1:-$(installers/appimage/build.sh "${CARGO_TARGET_DIR:-target}/release/lockstep" "$work")}
[ -f "$file" ] || { echo "there is no $file" >&2; exit 2; }

unpack() {
    case $file in
        *.AppImage) cp "$file" "$root/opt/Lockstep.AppImage" && (cd "$root/opt" && ./Lockstep.AppImage --appimage-extract >/dev/null && mv squashfs-root Lockstep.AppDir) ;;
        *) tar -C "$root/opt" -xzf "$file" ;;
    esac
    chmod -R a+rX "$root/opt"
}
run=/opt/Lockstep.AppDir/AppRun
user() { inside id ada >/dev/null 2>&1 || inside useradd -m -s /bin/bash ada; }

trial "a root of bookworm" base bookworm amd64 http://deb.debian.org/debian || { finish; exit 1; }
fresh bookworm amd64
unpack && user
holds_licences() { [ -s "$root/opt/Lockstep.AppDir/usr/share/doc/lockstep/copyright" ] && [ -s "$root/opt/Lockstep.AppDir/usr/share/doc/lockstep/third-party.gz" ]; }
trial "licences are in it" holds_licences
trial "no file of NVIDIA is in it" no_nvidia_file "$(cd "$root/opt" && find Lockstep.AppDir -type f -not -name liblockstep_cuda.so)"
if [ -e "$root/opt/Lockstep.AppImage" ]; then
    whole=/opt/Lockstep.AppImage
    # A device that everybody may open, as on a desktop, seen in this root alone.
    mknod -m 666 "$root/opt/fuse" c 10 229
    mount --bind "$root/opt/fuse" "$root/dev/fuse" && mounts+=("$root/dev/fuse")
    # Every system that was installed has it; debootstrap leaves it out, and fusermount3 finds mounts there.
    ln -sf ../proc/self/mounts "$root/etc/mtab"
    left() { ls -A "$root/tmp" | grep -E 'lockstep' && { echo "left behind in /tmp" >&2; return 1; }; return 0; }
    says_so() { as ada $whole --version 2>&1 >/dev/null | grep 'nothing can be mounted here' && left; }
    trial "the file itself, without FUSE: says so and runs" says_so
    without_fuse() { as ada $whole --version 2>/dev/null | grep "$(installers/version.sh)" && left; }
    trial "without FUSE: --version" without_fuse
    passes_on() { fails_with 2 as ada $whole check week1/no-such-day; }
    trial "the program's status comes through" passes_on
    brings_fuse() { inside apt-get update -q >/dev/null 2>&1 && inside apt-get install -q -y --no-install-recommends fuse3 >/dev/null; }
    trial "apt installs fuse3" brings_fuse
    mounted() {
        local said
        said=$(as ada $whole --version 2>&1) || { echo "$said" >&2; return 1; }
        grep -q 'nothing can be mounted' <<<"$said" && { echo "$said" >&2; return 1; }
        # Whoever serves the files ends a moment after the program.
        sleep 1
        left && ! grep -q "$root/tmp/.mount" /proc/self/mounts && echo "$said"
    }
    trial "with FUSE: mounted, and gone afterwards" mounted
else
    row "not tried" "the file itself" "it is a tarball"
fi
trial "bare Debian 12: --version" as ada $run --version
lists() { as ada $run list | grep -c -E '[0-9]'; }
trial "bare Debian 12: list" lists
trial "bare Debian 12: doctor says what to do (status 2)" fails_with 2 as ada $run doctor
# doctor itself ends with 2 here: there is no compiler.
names() { { as ada env DISPLAY=:77 $run doctor || true; } | grep -A1 'system libraries are missing' | grep "$1"; }
trial "bare Debian 12: doctor names the missing packages" names 'libegl1 libgl1 libx11-6'
no_window() {
    inside apt-get update -q >/dev/null 2>&1
    inside apt-get install -q -y --no-install-recommends xvfb xdotool imagemagick >/dev/null || return 1
    install -m755 installers/trials/window.sh "$root/usr/local/bin/lockstep-window"
    # The X server's own packages bring some of the libraries: the ones it does not need are what is missing now.
    local said
    said=$(as ada lockstep-window /tmp/none.png $run) && { echo "a window opened: $said" >&2; return 1; }
    echo "$said"
    grep -q 'no window' <<<"$said"
}
trial "without the window's libraries: one sentence, no crash" no_window
with_libraries() {
    inside apt-get install -q -y --no-install-recommends libgl1 libegl1 libx11-6 libx11-xcb1 libxcursor1 libxi6 \
        libxkbcommon0 libxkbcommon-x11-0 libgl1-mesa-dri >/dev/null && as ada lockstep-window /home/ada/window.png $run \
        && cp "$root/home/ada/window.png" "$pictures/appimage-bookworm.png"
}
trial "with the packages that doctor named: the window" with_libraries
for library in libxkbcommon-x11.so.0 libXcursor.so.1 libXi.so.6 libEGL.so.1 libGL.so.1; do
    without() {
        local dir=$root/usr/lib/x86_64-linux-gnu said status
        mkdir -p "$work/away" && mv "$dir/$library"* "$work/away/" || return 1
        said=$(as ada lockstep-window /tmp/none.png $run)
        status=$?
        mv "$work/away/$library"* "$dir/"
        printf '%s\n' "$said" | tail -n1
        # Either the window does without, or one sentence says what is missing; a panic is neither.
        ! grep -q -i 'panick' <<<"$said" && { [ $status -eq 0 ] || grep -q 'no window' <<<"$said"; }
    }
    trial "without $library" without
done
unmount_all

if trial "a root of noble (another distribution)" base noble amd64 http://archive.ubuntu.com/ubuntu; then
    fresh noble amd64
    unpack && user
    trial "bare Ubuntu 24.04: list" lists
    trial "bare Ubuntu 24.04: doctor names the missing packages" names 'libegl1 libgl1 libx11-6'
fi
finish

#!/usr/bin/env bash
# Installs the Debian package as apt does, uses it, upgrades, removes and purges it, and ends with a table:
#   installers/trials/debian.sh [--suite bookworm|noble] [--arch amd64|arm64] [--binary FILE] [--window]
#   installers/trials/debian.sh --here [--binary FILE]
# The first form uses a fresh debootstrap root, downloads from the distribution's mirror, and sets up the compiler from
# the Python package index. The second takes this machine's own system with everything written thrown away afterwards,
# and its compiler: seconds, for CI. Both need root. --binary takes a built program instead of the release build.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 2

suite=bookworm arch=amd64 binary='' here='' window=''
while [ $# -gt 0 ]; do
    case $1 in
        --suite) suite=$2 && shift ;;
        --arch) arch=$2 && shift ;;
        --binary) binary=$2 && shift ;;
        --here) here=yes ;;
        --window) window=yes ;;
        *) echo "unknown: $1; see the head of $0" >&2 && exit 2 ;;
    esac
    shift
done
[ "$(id -u)" -eq 0 ] || { echo "this trial mounts and installs: run it as root" >&2; exit 2; }
# A mount name space of its own: what is mounted here is seen nowhere else and ends with the script.
[ -n "${LOCKSTEP_UNSHARED:-}" ] || LOCKSTEP_UNSHARED=yes exec unshare -m --propagation private "$0" \
    --suite "$suite" --arch "$arch" ${binary:+--binary "$binary"} ${here:+--here} ${window:+--window}
target=${CARGO_TARGET_DIR:-target}
[ "$arch" = arm64 ] && target=$target/aarch64-unknown-linux-gnu
binary=${binary:-$target/release/lockstep}
[ -e "$binary" ] || { echo "there is no $binary: build it (installers/build-all.sh) or name one with --binary" >&2; exit 2; }
work=$(mktemp -d)
trap 'unmount_all; leave_foreign; rm -rf "$work"' EXIT

# A build with debugging data is too large for a package in seconds; what is left out is not looked at here.
release=yes
if [ "$(stat -c %s "$binary")" -gt 100000000 ]; then
    release=''
    # dpkg-deb's own format for "do not compress".
    strip=strip
    [ "$arch" = "$(dpkg --print-architecture)" ] || strip=aarch64-linux-gnu-strip
    $strip -o "$work/lockstep" "$binary" && {
        cp "$(dirname "$binary")/liblockstep_cuda.so" "$work/" 2>/dev/null || cp "$(dirname "$binary")/deps/liblockstep_cuda.so" "$work/"
    } && binary=$work/lockstep
    $strip --strip-debug "$work/liblockstep_cuda.so"
    export DPKG_DEB_COMPRESSOR_TYPE=none
fi
version=$(installers/version.sh)
older=$(installers/deb/build.sh "$binary" "$work" "0.0.9~before") && newer=$(installers/deb/build.sh "$binary" "$work") \
    || { row FAILED "the package is built"; finish; exit 1; }
row ok "the package is built" "$(basename "$newer"), $(numfmt --to=si --suffix=B "$(stat -c %s "$newer")")"

content=$(dpkg-deb -c "$newer" | awk '{print $6}')
holds() {
    local path
    for path in usr/bin/lockstep usr/share/applications/lockstep.desktop usr/share/man/man1/lockstep.1.gz \
        usr/share/man/man1/lockstep-check.1.gz usr/share/bash-completion/completions/lockstep \
        usr/share/zsh/vendor-completions/_lockstep usr/share/fish/vendor_completions.d/lockstep.fish \
        usr/share/metainfo/lockstep.metainfo.xml usr/share/mime/packages/lockstep.xml usr/lib/lockstep/liblockstep_cuda.so \
        usr/share/icons/hicolor/scalable/apps/lockstep.svg usr/share/doc/lockstep/copyright usr/share/doc/lockstep/third-party.gz; do
        grep -qx "./$path" <<<"$content" || { echo "missing: $path" >&2; return 1; }
    done
    wc -l <<<"$content files and folders"
}
trial "man pages, completions, desktop, licences are in it" holds
trial "no file of NVIDIA is in it" no_nvidia_file "$(grep -v liblockstep_cuda <<<"$content")"
small() {
    local packed installed
    packed=$(stat -c %s "$newer") installed=$(dpkg-deb -f "$newer" Installed-Size)
    echo "package $((packed / 1000)) kB of 25000, installed $installed KiB of 70000"
    [ "$packed" -lt 25000000 ] && [ "$installed" -lt 70000 ] || { echo "too large" >&2; return 1; }
}
if [ -n "$release" ]; then trial "package below 25 MB, installed below 70" small; else row "not tried" "sizes" "no release build"; fi

if [ -n "$here" ]; then
    if of_this_machine; then row ok "a throw-away layer over this machine's system"; else
        row "not tried" "everything else" "this machine mounts no overlay file system"
        finish
        exit
    fi
else
    command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap" >&2; exit 2; }
    case $suite in
        noble) mirror=http://archive.ubuntu.com/ubuntu && [ "$arch" = arm64 ] && mirror=http://ports.ubuntu.com/ubuntu-ports ;;
        *) mirror=http://deb.debian.org/debian ;;
    esac
    if [ "$arch" != "$(dpkg --print-architecture)" ]; then
        foreign_arm64 || { row "not tried" "$arch" "qemu-user-static or binfmt_misc is missing"; finish; exit 2; }
    fi
    trial "a root of $suite for $arch" base "$suite" "$arch" "$mirror" || { finish; exit 1; }
    fresh "$suite" "$arch"
    if [ "$suite" = noble ] && ! grep -q universe "$root/etc/apt/sources.list"; then sed -i 's/ main$/ main universe/' "$root/etc/apt/sources.list"; fi
    inside apt-get update -q >/dev/null 2>&1
fi
inside id ada >/dev/null 2>&1 || inside useradd -m -s /bin/bash ada
before=$work/before after=$work/after
list_usr() { (cd "$root" && find usr/bin usr/lib/lockstep usr/share etc -name '*lockstep*' 2>/dev/null | grep -v '^usr/share/lockstep-trial' | sort); }
list_usr > "$before"

# Recommended packages come too, as for everybody who types `apt install`; not in CI, which has the libraries.
put_in() {
    cp "$1" "$root/tmp/lockstep.deb"
    inside apt-get install -q -y ${here:+--no-install-recommends} --allow-downgrades /tmp/lockstep.deb && echo "$(basename "$1")"
}
trial "apt installs the version before" put_in "$older" || { finish; exit 1; }
trial "lockstep --version" as ada lockstep --version
lists() { as ada lockstep list | grep -c -E '[0-9]'; }
trial "lockstep list" lists
trial "without a compiler, doctor says what to do (status 2)" fails_with 2 as ada lockstep doctor

data=/home/ada/.local/share/lockstep
if [ -n "$here" ]; then
    # The compiler that this machine has, so that nothing is downloaded.
    found=$(find "${LOCKSTEP_DATA:-$HOME/.local/share/lockstep}" -name 'libnvrtc.so*' 2>/dev/null | head -n1)
    toolchain=${found%/toolchain/*}/toolchain
    if [ -n "$found" ] && as ada mkdir -p $data && bind "$toolchain" "$root$data/toolchain"; then
        row ok "the compiler of this machine is lent"
    else
        row FAILED "the compiler of this machine is lent" "run lockstep setup first"
    fi
else
    trial "lockstep setup (pip, hashes checked)" as ada lockstep setup
fi
trial "lockstep doctor" as ada lockstep doctor
trial "check week1/day4: the reference passes" as ada lockstep check week1/day4 --kernel reference
trial "check week1/day4: a race is rejected (status 1)" fails_with 1 as ada lockstep check week1/day4 --kernel wrong/race

own() {
    as ada lockstep export program week1/day4 --kernel reference -o /home/ada/program >/dev/null || return 1
    as ada mkdir -p $data/days/first-kernel/main
    as ada cp /home/ada/program/kernel.cu $data/days/first-kernel/main/kernel.cu
    as ada lockstep check week1/day4 | tail -n1
    grep -q passed "$root$data/progress.toml"
}
trial "a text of one's own passes and is noted" own
# The compiler is not state: it may be a mount here.
state() { (cd "$root$data" && find . -type f -not -path "./toolchain*" -not -path "./cache/*" -not -path "./headers/*" -not -path "./tmp/*" -not -name lockstep.lock -exec sha256sum {} + | sort -k2); }
kept=$(state)
trial "apt upgrades to $version" put_in "$newer"
unchanged() { [ "$(state)" = "$kept" ] && echo "$(wc -l <<<"$kept") files, byte for byte" || { diff <(state) <(echo "$kept") >&2; return 1; }; }
trial "texts and progress are unchanged" unchanged
goes_on() { as ada lockstep check week1/day4 | grep -q PASS; }
trial "the text passes with the new version" goes_on
newer_state() {
    echo 99 > "$root$data/format.txt"
    local one two
    one=$(state)
    as ada lockstep check week1/day4 2>&1 | grep 'newer Lockstep' || { echo "nothing said" >&2; return 1; }
    two=$(state)
    echo 1 > "$root$data/format.txt"
    [ "$one" = "$two" ]
}
trial "a newer state is refused and left alone" newer_state

trial "the man page is found" inside sh -c 'test -r /usr/share/man/man1/lockstep.1.gz && zcat /usr/share/man/man1/lockstep.1.gz | grep -q "Learn GPU programming"'
trial "bash completes commands" inside bash -c '. /usr/share/bash-completion/completions/lockstep && COMP_WORDS=(lockstep ch) COMP_CWORD=1 && _lockstep lockstep ch lockstep && echo "${COMPREPLY[*]}" | grep check'
if command -v appstreamcli >/dev/null; then
    trial "AppStream data is valid" appstreamcli validate --no-net "$root/usr/share/metainfo/lockstep.metainfo.xml"
else
    row "not tried" "AppStream data is valid" "appstreamcli is not installed"
fi
if command -v desktop-file-validate >/dev/null; then
    trial "the desktop entry is valid" desktop-file-validate "$root/usr/share/applications/lockstep.desktop"
else
    row "not tried" "the desktop entry is valid" "desktop-file-validate is not installed"
fi

if [ -n "$window" ]; then
    screen() {
        inside apt-get install -q -y --no-install-recommends xvfb xdotool imagemagick xdg-utils shared-mime-info desktop-file-utils libglib2.0-bin \
            && install -m755 installers/trials/window.sh "$root/usr/local/bin/lockstep-window"
    }
    trial "an X server in the root" screen
    kind() { as ada gio info -a standard::content-type /home/ada/program/kernel.cu | grep 'text/x-lockstep-kernel'; }
    trial "an exported kernel has its own file type" kind
    opens_with() { as ada gio mime text/x-lockstep-kernel | grep lockstep.desktop; }
    trial "and Lockstep opens it" opens_with
    shows() {
        local picture=/home/ada/$1.png
        shift
        as ada env SETTLE_S="${SETTLE_S:-4}" lockstep-window "$picture" "$@" && cp "$root$picture" "$pictures/$suite-$arch-$(basename "$picture")"
    }
    trial "the window opens (look at the picture)" shows window lockstep
    trial "the window opens a second time" shows again lockstep
    trial "the window opens with an exported kernel" shows kernel lockstep open /home/ada/program/kernel.cu
else
    row "not tried" "the window" "--window opens it"
fi

kept=$(state)
removed() { inside apt-get remove -q -y lockstep >/dev/null && ! [ -e "$root/usr/bin/lockstep" ]; }
# It has no configuration files, so that nothing is left to purge after a removal: it is installed again for that.
if [ -z "$here" ]; then
    trial "apt remove" removed
    trial "texts and progress outlive it" unchanged
    trial "apt installs it once more" put_in "$newer"
fi
purged() {
    inside apt-get purge -q -y lockstep >/dev/null || return 1
    inside dpkg -s lockstep >/dev/null 2>&1 && { echo "dpkg still knows it" >&2; return 1; }
    list_usr > "$after"
    diff "$before" "$after" >&2 && echo "nothing is left outside of homes"
}
trial "apt purge leaves nothing" purged
trial "texts and progress outlive that too" unchanged
finish

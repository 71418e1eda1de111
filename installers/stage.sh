#!/usr/bin/env bash
# Lays out what every package for Linux holds: installers/stage.sh BINARY ROOT
# writes ROOT/usr. BINARY has the driver library beside it. Nothing of NVIDIA's is in it.
set -euo pipefail
cd "$(dirname "$0")/.."
binary=${1:?usage: installers/stage.sh BINARY ROOT} usr=${2:?usage: installers/stage.sh BINARY ROOT}/usr
here=installers/share

mkdir -p "$usr/bin"
installers/strip.sh "$binary" "$usr/bin/lockstep"
chmod 755 "$usr/bin/lockstep"
# What `lockstep exec` gives programs as their driver.
library=$(dirname "$binary")/liblockstep_cuda.so
# Where tests are built, cargo leaves it among the dependencies.
[ -e "$library" ] || library=$(dirname "$binary")/deps/liblockstep_cuda.so
install -Dm644 "$library" -t "$usr/lib/lockstep"

install -Dm644 $here/lockstep.desktop -t "$usr/share/applications"
install -Dm644 assets/icon.svg "$usr/share/icons/hicolor/scalable/apps/lockstep.svg"
install -Dm644 assets/icon.png "$usr/share/icons/hicolor/256x256/apps/lockstep.png"
install -Dm644 $here/lockstep.metainfo.xml -t "$usr/share/metainfo"
install -Dm644 $here/lockstep-mime.xml "$usr/share/mime/packages/lockstep.xml"

# Written by app/tests/cli/packaging.rs from the command line's own definition.
for page in $here/man/*.1; do
    mkdir -p "$usr/share/man/man1"
    gzip -9nc "$page" > "$usr/share/man/man1/$(basename "$page").gz"
    chmod 644 "$usr/share/man/man1/$(basename "$page").gz"
done
install -Dm644 $here/completions/lockstep.bash "$usr/share/bash-completion/completions/lockstep"
install -Dm644 $here/completions/_lockstep -t "$usr/share/zsh/vendor-completions"
install -Dm644 $here/completions/lockstep.fish -t "$usr/share/fish/vendor_completions.d"

doc=$usr/share/doc/lockstep
install -Dm644 README.md app/JSON.md -t "$doc"
# Ours, the font's, and of every crate that is linked in.
{
    printf 'Lockstep: MIT or Apache-2.0, as you like. Both texts follow, then the licences of the fonts in the window,\n'
    printf 'then the libraries that are part of the program. No file of NVIDIA is in this package.\n\n'
    cat LICENSE-MIT
    printf '\n----\n\n'
    cat LICENSE-APACHE
    printf '\n---- Ubuntu Sans Mono\n\n'
    cat assets/fonts/UFL.txt
    printf '\n---- Phosphor Icons\n\n'
    cat assets/fonts/Phosphor-LICENSE.txt
} > "$doc/copyright"
chmod 644 "$doc/copyright"
case $(installers/architecture.sh "$binary") in
    x86_64) target=x86_64-unknown-linux-gnu ;;
    aarch64) target=aarch64-unknown-linux-gnu ;;
esac
installers/licences.py "$target" > "$doc/third-party"
gzip -9nf "$doc/third-party"
chmod 644 "$doc/third-party.gz"

#!/usr/bin/env bash
# Copies a program or library without its symbol table: installers/strip.sh FROM TO
#
# Cargo keeps the table of a program whose own crate has an `opt-level` of its own, whatever the profile's `strip` says (7 MB
# here). Without a tool for that processor the file is copied as it is, and standard error says so.
set -euo pipefail
from=${1:?usage: installers/strip.sh FROM TO} to=${2:?usage: installers/strip.sh FROM TO}
case $(od -An -tx1 -N4 "$from" | tr -d ' ') in
    7f454c46)
        machine=$(installers/architecture.sh "$from")
        tool=$machine-linux-gnu-strip
        [ "$(uname -m)" != "$machine" ] || tool=strip
        ;;
    4d5a*) tool=x86_64-w64-mingw32-strip ;;
    *) echo "neither a program for Linux nor one for Windows: $from" >&2; exit 1 ;;
esac
if command -v "$tool" >/dev/null; then
    "$tool" --strip-all -o "$to" "$from"
else
    echo "$tool is not installed: $(basename "$from") keeps its symbol table" >&2
    cp "$from" "$to"
fi

#!/usr/bin/env bash
# Prints what processor a program for Linux is for, as `uname -m` has it: a package may be built on another machine.
set -euo pipefail
# The ELF header's e_machine.
case $(od -An -tu2 --endian=little -j18 -N2 "$1" | tr -d ' ') in
    62) echo x86_64 ;;
    183) echo aarch64 ;;
    *) echo "neither an x86-64 nor an aarch64 program: $1" >&2; exit 1 ;;
esac

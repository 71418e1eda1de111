#!/usr/bin/env bash
# Runs every trial that this machine allows and ends with one table: installers/trials/all.sh [NAME…]
# NAME is one of here, bookworm, noble, arm64, appimage, windows, classroom. Programs must be built (installers/build-all.sh);
# a trial whose program or tool is missing is a row that says so.
set -uo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-target}
names=${*:-here bookworm noble arm64 appimage windows classroom}
trials=${TRIALS:-target/trials}
mkdir -p "$trials"
summary=() bad=0
for name in $names; do
    case $name in
        here) command=(installers/trials/debian.sh --here) needs=$target/release/lockstep ;;
        bookworm) command=(installers/trials/debian.sh --suite bookworm --window) needs=$target/release/lockstep ;;
        noble) command=(installers/trials/debian.sh --suite noble --window) needs=$target/release/lockstep ;;
        arm64) command=(installers/trials/debian.sh --suite bookworm --arch arm64 --window) needs=$target/aarch64-unknown-linux-gnu/release/lockstep ;;
        appimage) command=(installers/trials/appimage.sh) needs=$target/release/lockstep ;;
        windows) command=(installers/trials/windows.sh) needs=$target/x86_64-pc-windows-gnu/release/lockstep.exe ;;
        classroom) command=(installers/trials/classroom.sh) needs=$target/release/lockstep ;;
        *) echo "there is no trial $name" >&2; exit 2 ;;
    esac
    echo "===== $name"
    if ! [ -e "$needs" ]; then
        summary+=("$(printf '%-10s %-10s %s' "$name" "not tried" "there is no $needs")")
        continue
    fi
    started=$SECONDS
    "${command[@]}" | tee "$trials/$name.txt"
    status=${PIPESTATUS[0]}
    said=$(tail -n1 "$trials/$name.txt")
    case $status in
        0) result=ok ;;
        2) result="not tried" said="something is missing, see above" ;;
        *) result=FAILED bad=1 ;;
    esac
    summary+=("$(printf '%-10s %-10s %s (%s s)' "$name" "$result" "$said" $((SECONDS - started)))")
done
echo
printf '%s\n' "${summary[@]}"
exit "$bad"

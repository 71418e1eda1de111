#!/usr/bin/env bash
# Installs and uses Lockstep for Windows under Wine, and ends with a table:
#   installers/trials/windows.sh [--binary LOCKSTEP.EXE]
# Wine is no Windows: see the rows "not tried" at the end. Needs wine64, NSIS and mingw-w64 (Debian's), Xvfb, xdotool and
# imagemagick for the window, and pip to fetch NVIDIA's wheel for Windows.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 2
binary=${CARGO_TARGET_DIR:-target}/x86_64-pc-windows-gnu/release/lockstep.exe
[ "${1:-}" != --binary ] || binary=$2
[ -e "$binary" ] || { echo "there is no $binary: build it (installers/build-all.sh) or name one with --binary" >&2; exit 2; }
for tool in wine makensis x86_64-w64-mingw32-gcc; do
    command -v $tool >/dev/null || { echo "$tool is missing: apt-get install wine64 wine nsis mingw-w64" >&2; exit 2; }
done
work=$(mktemp -d)
export WINEPREFIX=$work/prefix WINEDEBUG=-all WINEARCH=win64 XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$work}
# wine64 of Debian is the loader itself; `wine` would ask for the 32-bit half that nobody needs here.
wine() { timeout "${PATIENCE_S:-300}" "${wine64:-/usr/lib/wine/wine64}" "$@" 2>"$work/wine-stderr"; }
display=
leave() {
    /usr/lib/wine/wineserver64 -k 2>/dev/null || wineserver -k 2>/dev/null
    [ -z "$display" ] || kill "$display" 2>/dev/null
    rm -rf "$work"
}
trap leave EXIT
unset DISPLAY

boot() { wine wineboot -i >/dev/null && [ -d "$WINEPREFIX/drive_c/windows" ]; }
trial "a fresh Wine prefix ($(/usr/lib/wine/wine64 --version 2>/dev/null))" boot || { finish; exit 1; }
c=$WINEPREFIX/drive_c
# Rust's library asks bcryptprimitives.dll for random numbers; Wine before 9 has none. Windows since 7 has it.
if ! [ -e "$c/windows/system32/bcryptprimitives.dll" ]; then
    cat > "$work/random.c" <<'C'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) { return RtlGenRandom(data, (ULONG)length); }
C
    x86_64-w64-mingw32-gcc -shared -o "$c/windows/system32/bcryptprimitives.dll" "$work/random.c" -ladvapi32 2>"$work/gcc" \
        && row ok "a stand-in for bcryptprimitives.dll" "this Wine lacks it" || row FAILED "a stand-in for bcryptprimitives.dll" "$(tail -n1 "$work/gcc")"
fi

binary=$(realpath "$binary")
if [ "$(stat -c %s "$binary")" -gt 150000000 ]; then
    mkdir "$work/stripped"
    x86_64-w64-mingw32-strip -o "$work/stripped/lockstep.exe" "$binary"
    x86_64-w64-mingw32-strip -o "$work/stripped/lockstep_cuda.dll" "$(dirname "$binary")/lockstep_cuda.dll"
    binary=$work/stripped/lockstep.exe
fi
no_console() { x86_64-w64-mingw32-objdump -p "$binary" | grep -E '^Subsystem'; }
trial "the program's subsystem" no_console
imports() {
    local strange
    strange=$(x86_64-w64-mingw32-objdump -p "$binary" | awk '/DLL Name/ {print tolower($3)}' | grep -E 'libgcc|libstdc|libwinpthread')
    [ -z "$strange" ] || { echo "needs $strange beside it" >&2; return 1; }
    x86_64-w64-mingw32-objdump -p "$binary" | grep -c 'DLL Name'
}
trial "needs no library of mingw" imports
setup=$(installers/windows/build.sh "$binary" "$work/out" 2>"$work/nsis")
small() { local bytes; bytes=$(stat -c %s "$setup") && echo "$((bytes / 1000)) kB of 25000" && [ "$bytes" -lt 25000000 ]; }
trial "the installer is below 25 MB" small || { cat "$work/nsis" >&2; }

local_programs="$c/users/$(id -un)/AppData/Local/Programs/Lockstep"
winpath() { wine winepath -w "$1" | tr -d '\r'; }
shortcut() { find "$c/users" "$c/ProgramData" -name Lockstep.lnk 2>/dev/null | grep .; }
installs() { wine "$(winpath "$setup")" /S && [ -e "$local_programs/lockstep.exe" ] && shortcut >/dev/null && ls "$local_programs" | tr '\n' ' '; }
if ! trial "the installer, silently" installs; then
    mkdir -p "$local_programs" && cp "$binary" "$(dirname "$binary")/lockstep_cuda.dll" "$local_programs/"
fi
registered() { wine reg query 'HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\Lockstep' /v DisplayVersion | grep "$(installers/version.sh)"; }
[ ! -e "$local_programs/uninstall.exe" ] || trial "it is in the list of programs" registered

lockstep() { wine "$local_programs/lockstep.exe" "$@"; }
trial "lockstep --version" lockstep --version
lists() { lockstep list | grep -c -E '[0-9]'; }
trial "list" lists
trial "without a compiler, doctor says what to do (status 2)" fails_with 2 lockstep doctor
data="$c/users/$(id -un)/AppData/Roaming/lockstep/data"
at_home() { [ -d "$data" ] && echo "%APPDATA%\\lockstep\\data"; }
trial "the data folder is where the README says" at_home

trial "setup without Python says what to install (status 2)" fails_with 2 lockstep setup
# What `lockstep setup` would install; there is no Python for Windows in this Wine.
wheels() {
    installers/classroom/wheels.sh "$work/wheels" win_amd64 >&2 || return 1
    mkdir -p "$c/nvrtc ümlaut"
    for wheel in "$work/wheels"/*.whl; do python3 -m zipfile -e "$wheel" "$c/nvrtc ümlaut" || return 1; done
    find "$c/nvrtc ümlaut" -name 'nvrtc64*.dll' | head -n1
}
if trial "NVIDIA's wheel for Windows, into a path with a space and an umlaut" wheels; then
    export LOCKSTEP_NVRTC
    LOCKSTEP_NVRTC=$(winpath "$(find "$c/nvrtc ümlaut" -name 'nvrtc64*.dll' -not -name '*alt*' | head -n1)")
    trial "doctor" lockstep doctor
    trial "check week1/day4: the reference passes" lockstep check week1/day4 --kernel reference
    trial "check week1/day4: a race is rejected (status 1)" fails_with 1 lockstep check week1/day4 --kernel wrong/race
    odd="$c/Users/Jürgen Müller/my kernels"
    umlauts() {
        mkdir -p "$odd" && cp kernels/week1/day4-first-kernel/reference.cu "$odd/möglich.cu" || return 1
        (cd "$odd" && LOCKSTEP_DATA='C:\Users\Jürgen Müller\Lockstep Daten' lockstep check week1/day4 --kernel 'möglich.cu' | tail -n1)
    }
    trial "paths with spaces and umlauts" umlauts
    killed() {
        "${wine64:-/usr/lib/wine/wine64}" "$local_programs/lockstep.exe" check week1/day4 --kernel reference >/dev/null 2>&1 &
        local began=$!
        for _ in $(seq 100); do [ "$(workers)" -gt 1 ] && break; sleep 0.1; done
        local during
        during=$(workers)
        wine taskkill /f /im nothing.exe >/dev/null 2>&1
        kill -KILL "$began"
        # One that was born but not yet in its job reads the end of its input, as soon as it runs.
        for _ in $(seq 300); do [ "$(workers)" -eq 0 ] && break; sleep 0.1; done
        echo "$during processes before, $(workers) after"
        [ "$during" -gt 1 ] && [ "$(workers)" -eq 0 ] && return
        # What it is that is left, and whose child.
        pgrep -f "$these" | xargs -r ps -o pid,ppid,stat,etimes,args -p >&2
        return 1
    }
    these="^${local_programs//\\/.}.*lockstep.exe|[Ll]ockstep.lockstep.exe"
    workers() { pgrep -c -f "$these"; }
    trial "killed during a check, it leaves no worker (job objects)" killed
fi

if command -v Xvfb >/dev/null && command -v import >/dev/null; then
    Xvfb :97 -screen 0 1400x900x24 -nolisten tcp >/dev/null 2>&1 &
    display=$!
    export DISPLAY=:97
    sleep 1
    shows() {
        "${wine64:-/usr/lib/wine/wine64}" explorer /desktop=lockstep,1400x900 "$(winpath "$local_programs/lockstep.exe")" >/dev/null 2>"$work/window" &
        local seconds
        for seconds in $(seq 60); do
            sleep 1
            import -window root "$pictures/windows.png" 2>/dev/null
            [ "$(identify -format %k "$pictures/windows.png" 2>/dev/null || echo 0)" -gt 200 ] && break
        done
        sleep 6
        import -window root "$pictures/windows.png"
        echo "after about $seconds s, $(identify -format %k "$pictures/windows.png") colors"
        [ "$(identify -format %k "$pictures/windows.png")" -gt 200 ]
    }
    trial "the window on Wine's desktop (look at the picture)" shows
    wineserver -k 2>/dev/null || /usr/lib/wine/wineserver64 -k
    unset DISPLAY
else
    row "not tried" "the window" "Xvfb or imagemagick is missing"
fi

if [ -e "$local_programs/uninstall.exe" ]; then
    mkdir -p "$data" && touch "$data/mine.txt"
    uninstalls() {
        wine "$local_programs/uninstall.exe" /S
        # It copies itself away and goes on there.
        for _ in $(seq 50); do [ -e "$local_programs/lockstep.exe" ] || break; sleep 0.2; done
        ! [ -e "$local_programs/lockstep.exe" ] && [ -e "$data/mine.txt" ] && ! registered >/dev/null 2>&1 && ! shortcut >/dev/null && echo "program gone, data kept"
    }
    trial "the uninstaller, silently" uninstalls
fi
row "not tried" "SmartScreen, code signing, Defender" "Wine has none of them"
row "not tried" "NVIDIA's driver for Windows, a real GPU" "none here"
row "not tried" "DirectX and real OpenGL drivers, HiDPI, IME, screen readers" "Wine draws through the X server"
row "not tried" "memory limits of job objects" "Wine accepts and ignores them"
finish

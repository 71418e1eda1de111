#!/usr/bin/env bash
# A classroom in a Debian root: one share, three students at once, small and slow homes, no internet, a school's own
# course. Ends with a table and with what it costs: installers/trials/classroom.sh [--binary FILE] [--window]
# Needs root, debootstrap and pip (to fetch the wheels that the classroom then takes from a folder).
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 2
binary=${CARGO_TARGET_DIR:-target}/release/lockstep window=
while [ $# -gt 0 ]; do
    case $1 in
        --binary) binary=$2 && shift ;;
        --window) window=yes ;;
        *) echo "unknown: $1; see the head of $0" >&2 && exit 2 ;;
    esac
    shift
done
[ -e "$binary" ] || { echo "there is no $binary: build it or name one with --binary" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "this trial mounts and adds users: run it as root" >&2; exit 2; }
[ -n "${LOCKSTEP_UNSHARED:-}" ] || LOCKSTEP_UNSHARED=yes exec unshare -m --propagation private "$0" --binary "$binary" ${window:+--window}

trial "a root of bookworm" base bookworm amd64 http://deb.debian.org/debian || { finish; exit 1; }
fresh bookworm amd64
tools="python3 python3-venv bindfs procps"
[ -z "$window" ] || tools="$tools xvfb xdotool imagemagick libgl1 libegl1 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon0 libxkbcommon-x11-0 libgl1-mesa-dri"
prepare() { inside apt-get update -q && inside apt-get install -q -y --no-install-recommends $tools; }
trial "Python, and a throttled file system" prepare || { finish; exit 1; }
students="ada ben cleo"
for student in $students; do inside useradd -m -s /bin/bash "$student"; done

# What the administrator does: wheels from a machine with internet, then everything without.
wheels() { [ -d "$trials/wheels" ] || installers/classroom/wheels.sh "$trials/wheels" >&2; du -sh "$trials/wheels" | cut -f1; }
trial "the wheels in a folder" wheels || { finish; exit 1; }
mkdir -p "$root/media/wheels" "$root/src/installers" "$root/src/build"
cp "$trials/wheels"/*.whl "$root/media/wheels/"
cp -r installers/classroom "$root/src/installers/"
cp kernels/week1/day4-first-kernel/reference.cu "$root/src/kernel.cu"
cp "$binary" "$(dirname "$binary")/liblockstep_cuda.so" "$root/src/build/"
if [ "$(stat -c %s "$binary")" -gt 100000000 ]; then strip "$root/src/build/lockstep"; fi
# A network name space without any device: nothing can be reached.
offline() { unshare -n chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 NO_COLOR=1 "$@"; }
student() {
    local name=$1
    shift
    offline runuser -u "$name" -- env HOME="/home/$name" USER="$name" "$@"
}
share=/srv/lockstep
trial "install.sh without internet" offline env PIP_NO_INDEX=1 PIP_FIND_LINKS=/media/wheels /src/installers/classroom/install.sh $share /src/build/lockstep || { finish; exit 1; }
space=$(du -sm "$root$share" | cut -f1)

# The school's own words over the built-in ones: one file is enough.
page=$(find curriculum/week1 -maxdepth 2 -path '*day4*' -name day.toml)
mkdir -p "$root$share/course/$(dirname "$page")"
sed 's/^title = .*/title = "Day four at our school"/' "$page" > "$root$share/course/$page"
chmod -R a+rX "$root$share/course"
bind "$root$share" "$root$share" && mount -o remount,bind,ro "$root$share"
read_only() { ! student ada touch $share/mine 2>/dev/null; }
trial "students cannot write to the share" read_only
schools() { student ada $share/bin/lockstep list | grep 'Day four at our school'; }
trial "the school's course is over the built-in one" schools

for student in $students; do
    mount -t tmpfs -o "size=20m,mode=700,uid=$(inside id -u "$student"),gid=$(inside id -g "$student")" tmpfs "$root/home/$student" && mounts+=("$root/home/$student")
done
# Memory of everything called lockstep at the moment when it is most, in MB: what all share is counted once ("all"), and
# what no other process has ("own"). Both go to $trials/memory.
watch_memory() {
    local most=0 all own pid
    while [ -e "$trials/watching" ]; do
        read -r all own < <(for pid in $(pgrep -f "$share/libexec/lockstep"); do cat "/proc/$pid/smaps_rollup" 2>/dev/null; done |
            awk '/^Pss:/ {all += $2} /^Private_(Clean|Dirty):/ {own += $2} END {print int(all / 1024), int(own / 1024)}')
        [ "${all:-0}" -gt "$most" ] && most=$all && echo "$all $own" > "$trials/memory"
        sleep 0.2
    done
}
# What thirty need of the machine that runs all of them: what is shared once, what is a seat's own thirty times.
memory_said() {
    local all own
    read -r all own < "$trials/memory"
    echo "all three together $all MB at most, of which $((own / 3)) MB a seat are its own: thirty need $((all - own + own * 10)) MB"
}
at_once() {
    local student pids=() bad=0 pid
    touch "$trials/watching" && echo 0 0 > "$trials/memory"
    watch_memory &
    local watcher=$!
    for student in $students; do
        student "$student" $share/bin/lockstep check week1/day4 --kernel reference > "$trials/class-$student" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || bad=1; done
    rm -f "$trials/watching"
    wait $watcher
    memory_said
    [ $bad -eq 0 ] || { tail -n 5 "$trials"/class-* >&2; return 1; }
}
trial "three students check at once" at_once
memory_check=$(memory_said)
works() {
    local student
    for student in $students; do
        student "$student" mkdir -p "/home/$student/.local/share/lockstep/days/first-kernel/main"
        student "$student" cp /src/kernel.cu "/home/$student/.local/share/lockstep/days/first-kernel/main/kernel.cu"
        student "$student" $share/bin/lockstep check week1/day4 >/dev/null || return 1
        grep -q passed "$root/home/$student/.local/share/lockstep/progress.toml" || return 1
    done
    echo "$(du -sk "$root/home/ada" | cut -f1) KiB in each home"
}
trial "texts and progress are in each one's home" works
home=$(du -sk "$root/home/ada" | cut -f1)
full() {
    local text=/home/ben/.local/share/lockstep/days/first-kernel/main/kernel.cu before said
    before=$(sha256sum < "$root$text")
    student ben dd if=/dev/zero of=/home/ben/fill bs=64k 2>/dev/null
    said=$(student ben $share/bin/lockstep check week1/day4 2>&1)
    [ $? -le 1 ] || { echo "$said" >&2; return 1; }
    grep -q -i 'panick' <<<"$said" && { echo "$said" >&2; return 1; }
    [ "$(sha256sum < "$root$text")" = "$before" ] || { echo "the text changed" >&2; return 1; }
    rm "$root/home/ben/fill"
    grep -i -m1 -E 'space|saved|written|noted' <<<"$said"
}
trial "a full home of 20 MB is told, the text stays" full

slow() {
    local began
    mkdir -p "$root/slow/cleo"
    inside chown cleo: /slow/cleo
    inside bindfs --read-rate=200k --write-rate=50k --force-user=cleo /home/cleo /slow/cleo || return 1
    began=$(date +%s%N)
    offline runuser -u cleo -- env HOME=/slow/cleo $share/bin/lockstep check week1/day4 >/dev/null || return 1
    echo "$((($(date +%s%N) - began) / 1000000)) ms for a check at 50 kB/s"
    umount "$root/slow/cleo" || umount -l "$root/slow/cleo"
}
if [ -e /dev/fuse ]; then trial "a home at 200 kB/s reading, 50 kB/s writing (bindfs)" slow; else row "not tried" "a slow home" "no FUSE here"; fi

if [ -n "$window" ]; then
    install -m755 installers/trials/window.sh "$root/usr/local/bin/lockstep-window"
    windows() {
        local student pids=() pid bad=0
        touch "$trials/watching" && echo 0 0 > "$trials/memory"
        watch_memory &
        local watcher=$!
        for student in $students; do
            student "$student" env SETTLE_S=12 lockstep-window "/tmp/$student.png" $share/bin/lockstep > "$trials/class-$student" 2>&1 &
            pids+=($!)
            sleep 1
        done
        for pid in "${pids[@]}"; do wait "$pid" || bad=1; done
        rm -f "$trials/watching"
        wait $watcher
        [ -s "$root/tmp/ada.png" ] || { cat "$trials"/class-* >&2; return 1; }
        cp "$root/tmp/ada.png" "$pictures/classroom.png"
        cat "$trials"/class-* | head -n 3
        memory_said
        return $bad
    }
    trial "three windows at once" windows
    memory_window=$(memory_said)
fi
finish
status=$?
echo
echo "Share: $space MB once. Home: $home KiB a student."
echo "Checks: $memory_check."
[ -z "$window" ] || echo "Windows: $memory_window."
exit $status

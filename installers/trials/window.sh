#!/bin/sh
# Opens Lockstep's window on a screen of its own and pictures it: window.sh PICTURE.png [COMMAND…]
# Runs inside a root, as a learner. Needs xvfb, xdotool and imagemagick there. Prints the time until the window was there.
picture=$1
shift
[ $# -gt 0 ] || set -- lockstep
display=:$((90 + $$ % 400))
log=$(mktemp)
Xvfb "$display" -screen 0 1400x900x24 -nolisten tcp >/dev/null 2>&1 &
server=$!
export DISPLAY=$display XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$(mktemp -d)}
for _ in $(seq 100); do xdotool getdisplaygeometry >/dev/null 2>&1 && break; sleep 0.1; done
began=$(date +%s%N)
"$@" > "$log" 2>&1 &
program=$!
window=
for _ in $(seq 600); do
    window=$(xdotool search --onlyvisible --name '^Lockstep' 2>/dev/null | head -n1)
    [ -z "$window" ] || break
    kill -0 $program 2>/dev/null || break
    sleep 0.02
done
mapped=$(date +%s%N)
status=1
if [ -n "$window" ]; then
    # Two seconds, or the patience that an emulated processor needs.
    sleep "${SETTLE_S:-2}"
    import -window root "$picture" && [ "$(identify -format %k "$picture")" -gt 64 ] && status=0
    echo "window after $(((mapped - began) / 1000000)) ms, $(identify -format %k "$picture") colors in the picture"
else
    echo "no window: $(head -c 400 "$log")"
fi
kill $program 2>/dev/null
wait $program 2>/dev/null
kill $server 2>/dev/null
exit $status

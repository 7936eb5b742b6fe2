#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# capture.sh <cwsim> <cubeway.lua> - what cwsim captures opens in Wireshark, and our dissector understands every frame
# of it. Skips where there is no tshark with Lua.
set -eu
cwsim=$1
lua=$2
# shellcheck source=tests/kit/cable/tshark.sh
. "$(dirname "$0")/../../kit/cable/tshark.sh"

cat >"$work/scenario.txt" <<'TEXT'
torus 2x2x2
timers fast
capture 0,0,0 +x
capture 1,1,1
at 20ms workload keys rate=2000 bytes=300
from 40ms to 60ms harm 0,0,0 +x loss=20%
at 70ms kill 0,1,1
end 100ms
TEXT
"$cwsim" run "$work/scenario.txt" --json --capture "$work/out.pcapng" >"$work/report.json"
frames=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["captured_frames"])' "$work/report.json")

show()
{
    tshark -X "lua_script:$lua" -r "$work/out.pcapng" "$@" 2>"$work/errors"
    if grep -v 'Running as user' "$work/errors"; then
        echo "tshark complains"
        exit 1
    fi
}

shown=$(show -T fields -e frame.number | wc -l)
if [ "$shown" -ne "$frames" ] || [ "$frames" -le 100 ]; then
    echo "tshark shows $shown of $frames frames"
    exit 1
fi
ours=$(show -Y cubeway -T fields -e frame.number | wc -l)
[ "$ours" -eq "$frames" ] || { echo "only $ours of $frames frames are cubeway's"; exit 1; }
if show -Y '_ws.lua.error || _ws.malformed || _ws.expert.severity >= 6291456' | grep .; then
    echo "the dissector finds these frames wrong"
    exit 1
fi
# One cable and a server's six, both directions of each.
interfaces=$(show -T fields -e frame.interface_name | sort -u)
count=$(printf '%s\n' "$interfaces" | wc -l)
[ "$count" -eq 14 ] || { printf 'interfaces:\n%s\n' "$interfaces"; exit 1; }
printf '%s\n' "$interfaces" | grep -qx '0,0,0 +x' || { echo "no interface 0,0,0 +x"; exit 1; }
lost=$(show -Y 'frame.comment' -T fields -e frame.comment | sort -u | tr '\n' ' ')
[ -n "$lost" ] || { echo "no frame says that it was lost"; exit 1; }
# Times in nanoseconds, from 0 to the end of the scenario.
last=$(show -T fields -e frame.time_epoch | sort -n | tail -n 1)
case $last in 0.09*) ;; *) echo "the last frame is at $last s"; exit 1 ;; esac
echo "$frames frames on $count interfaces; comments: $lost"

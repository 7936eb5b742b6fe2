#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# dissector.sh <wire_pcap> <cubeway.lua> - the dissector shows the values that the encoders put in, and refuses what the
# decoders refuse, for the same reason. Skips where there is no tshark with Lua.
set -eu
pcap_tool=$1
lua=$2
# shellcheck source=tests/kit/cable/tshark.sh
. "$(dirname "$0")/../../kit/cable/tshark.sh"

for mode in fields refused; do
    "$pcap_tool" $mode "$work/$mode.pcap" >"$work/$mode.expected"
    columns=$(head -n 1 "$work/$mode.expected" | sed 's/^/-e /; s/\t/ -e /g')
    # shellcheck disable=SC2086 # a list of words on purpose
    tshark -X "lua_script:$lua" -r "$work/$mode.pcap" -T fields $columns \
        -E header=y -E separator=/t -E occurrence=a -E 'aggregator=;' >"$work/$mode.raw" 2>"$work/$mode.errors"
    sed 's/\bTrue\b/1/g; s/\bFalse\b/0/g' "$work/$mode.raw" >"$work/$mode.shown" # newer tsharks spell booleans
    if grep -v 'Running as user' "$work/$mode.errors"; then
        echo "$mode: tshark complains"
        exit 1
    fi
    if tshark -X "lua_script:$lua" -r "$work/$mode.pcap" -Y '_ws.lua.error' 2>/dev/null | grep .; then
        echo "$mode: the dissector fails on these frames"
        exit 1
    fi
    if ! cmp -s "$work/$mode.expected" "$work/$mode.shown"; then
        echo "$mode: the dissector and the encoders disagree (field, expected, shown; the first few)"
        awk -F '\t' '
            NR == FNR { for (i = 1; i <= NF; i++) want[FNR, i] = $i; rows = FNR; next }
            FNR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; columns = NF; next }
            {
                for (i = 1; i <= columns; i++) {
                    if (want[FNR, i] != $i && shown++ < 20) {
                        printf "frame %d  %s  %s  %s\n", FNR - 1, name[i], want[FNR, i], $i
                    }
                }
            }' "$work/$mode.expected" "$work/$mode.shown"
        exit 1
    fi
    echo "$mode: $(($(wc -l <"$work/$mode.expected") - 1)) frames agree"
done

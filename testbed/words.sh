#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# words.sh - a word count of 27 different texts on 27 servers, in one command: brings up a 3x3x3 torus on this machine,
# gives every server a text, has the words counted by `cwctl aggregate words`, kills a server in the middle, and
# compares the one result with what `sort | uniq -c` makes of the texts that it names.
#
#   testbed/words.sh [--words N] [--process]
#
# --words: of each text, 200000 if nothing else is said. --process puts all servers into one process, which happens by
# itself where network namespaces are refused: a server loses its power there instead of being killed.
# BUILD=FOLDER: where the programs are, or are to be built. Nothing is left behind but the build.
# Exit code 4: all is well, but the run was over before the kill; more words take longer.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$top/build}
driver=auto
count=200000
lab=words-$$
root=1,1,1
dies=2,0,1

usage() {
    sed -n '3,12s/^# \{0,1\}//p' "$0"
}

while [ $# -gt 0 ]; do
    case $1 in
    --help | -h)
        usage
        exit 0
        ;;
    --process) driver=process ;;
    --words)
        shift
        count=${1:-}
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done
case $count in
'' | *[!0-9]* | 0)
    echo "words.sh: --words is a whole number from 1 on" >&2
    exit 2
    ;;
esac

say() {
    printf '\n== %s\n' "$1"
    shift
    for line in "$@"; do
        printf '   %s\n' "$line"
    done
}

cwlab() {
    "$build/bin/cwlab" "$@"
}

ctl() {
    cwlab ctl --name "$lab" "$@"
}

temporary=$(mktemp -d)
finish() {
    code=$?
    trap - EXIT INT TERM
    cwlab down --name "$lab" >/dev/null 2>&1 || true
    rm -rf "$temporary"
    [ "$code" -eq 0 ] || [ "$code" -eq 4 ] || echo "FAILED: what was shown last did not go well"
    exit "$code"
}

# The data folder of a server.
folder() {
    at=$(ctl "$1" config show | awk '$1 == "service.aggregate.options.data" { print $2 }')
    case $at in
    */all.vectors) at=$at/$1 ;;
    esac
    mkdir -p "$at"
    echo "$at"
}

# Half of the words are of a small vocabulary, and half are seldom.
text() {
    awk -v seed="$1" -v count="$2" 'BEGIN {
        srand(seed);
        for (i = 0; i < count; i++) {
            k = rand();
            printf "%s%s", k < 0.5 ? sprintf("Word%d", int(1000 * k * k)) : sprintf("w%x", int(rand() * 4000000000)),
                i % 11 == 10 ? ".\n" : " ";
        }
    }'
}

if [ ! -x "$build/bin/cwlab" ] || [ -z "${BUILD:-}" ]; then
    say "Building" "cmake, preset release, the programs only: five minutes on one processor, less on several," \
        "much longer on a machine that is busy"
    (cd "$top" && cmake --preset release >/dev/null && cmake --build --preset release --target cubewayd cwctl cwlab) \
        >"$temporary/log" 2>&1 || {
        cat "$temporary/log"
        exit 1
    }
fi
trap finish EXIT INT TERM

say "27 servers, and a text for each" "$count words each, no two texts alike."
# 27 daemons that all read at a time are slow on a small machine: patient timers take none of them for dead.
cwlab up 3x3x3 --name "$lab" --driver "$driver" --scale 10
if [ "$(cwlab list --json | grep -c "\"lab\":\"$lab\",[^}]*\"driver\":\"process\"")" -gt 0 ]; then
    driver=process # by itself, perhaps
fi
servers=""
number=0
for x in 0 1 2; do
    for y in 0 1 2; do
        for z in 0 1 2; do
            number=$((number + 1))
            servers="$servers $x,$y,$z"
            text "$number" "$count" >"$(folder "$x,$y,$z")/text"
        done
    done
done

say "Every server reads its own text; equal words are added on their way to $root" \
    "cwctl aggregate words --from text --to $root:words --without"
ctl 0,0,0 aggregate words --from text --to "$root:words" --without >"$temporary/out" 2>&1 &
run=$!
tries=0
until ctl "$root" aggregate status --json 2>/dev/null |
    grep -q '"state":"runs".*"settled_partitions":[1-9]' || [ $tries -gt 600 ]; do
    kill -0 $run 2>/dev/null || break # it is over already
    tries=$((tries + 1))
    sleep 0.05
done
say "The run is under way, and $dies dies"
if [ $driver = process ]; then
    ctl "$dies" fail
else
    cwlab fail --name "$lab" "$dies"
fi
code=0
wait $run || code=$?
sed 's/^/   | /' "$temporary/out"
[ $code -eq 0 ] || [ $code -eq 5 ] || exit 1

say "The same by sort | uniq -c, over the texts of the servers that are in the result"
for server in $servers; do
    if grep -q "^$server  *not counted" "$temporary/out"; then
        echo "   $server is not in it" >&2
    else
        cat "$(folder "$server" 2>/dev/null || echo /nowhere)/text"
    fi
done | LC_ALL=C tr '[:upper:]' '[:lower:]' | LC_ALL=C tr -cs 'a-z0-9\200-\377' '\n' | sed '/^$/d' |
    LC_ALL=C sort | uniq -c |
    awk '{ print $2 "\t" $1 }' >"$temporary/must"
cmp "$temporary/must" "$(folder "$root")/words"
echo "   $(wc -l <"$temporary/must") lines, every one the same"
if ! grep -q "^$dies  *not counted" "$temporary/out"; then
    echo "   But $dies is in it: the run was over before the kill. Try more --words."
    exit 4
fi

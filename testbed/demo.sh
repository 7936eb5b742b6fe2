#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh - cubeway in one command: builds it, brings up the 27 servers of a 3x3x3 torus on this machine, sends packets
# to a key, kills the server that the key belongs to, and shows which server takes over, what was lost, and that nothing
# was delivered wrongly.
#
#   testbed/demo.sh [--no-install] [--process]
#
# --no-install uses the packages that are installed. --process puts all servers into one process, which happens by
# itself where network namespaces are refused (no server can be killed then, and the demonstration ends with keys).
# BUILD=FOLDER: where the programs are, or are to be built. Nothing is left behind but the build.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$top/build}
install=yes
driver=auto
lab=demo-$$

usage() {
    sed -n '3,11s/^# \{0,1\}//p' "$0"
}

for word in "$@"; do
    case $word in
    --help | -h)
        usage
        exit 0
        ;;
    --no-install) install=no ;;
    --process) driver=process ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
done

say() {
    printf '\n== %s\n' "$1"
    shift
    for line in "$@"; do
        printf '   %s\n' "$line"
    done
}

# As the command ends, so does this: what fails is not shown as if it were well.
show() {
    printf '   $ %s\n' "$*"
    result=0
    output=$("$@" 2>&1) || result=$?
    printf '%s\n' "$output" | sed 's/^/   | /'
    return $result
}

# At a terminal ninja counts on one line. Elsewhere it would write a line for each of some 500 files, which are kept and
# shown only if the build fails.
build_all() {
    (
        cd "$top"
        cmake --preset release >/dev/null
        set -- cmake --build --preset release --target cubewayd cwctl cwlab cwsim witness
        if [ -t 1 ]; then
            exec "$@"
        fi
        log=$(mktemp)
        result=0
        "$@" >"$log" 2>&1 || result=$?
        [ $result -eq 0 ] || cat "$log"
        rm -f "$log"
        exit $result
    )
}

cwlab() {
    "$build/bin/cwlab" "$@"
}

finish() {
    code=$?
    trap - EXIT INT TERM
    cwlab down --name "$lab" >/dev/null 2>&1 || true
    [ "$code" -eq 0 ] || echo "FAILED: what was shown last did not go well"
    exit "$code"
}

# ---- The programs ----------------------------------------------------------------------------------------------------

if [ $install = yes ] && command -v apt-get >/dev/null; then
    packages=$(awk '$2 == "required" { print $1 }' "$top/tests/packages.txt")
    missing=""
    for package in $packages; do
        dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
    done
    if [ -n "$missing" ]; then
        say "Packages that the build needs:$missing"
        sudo=""
        [ "$(id -u)" -eq 0 ] || sudo=sudo
        $sudo apt-get update -qq
        # shellcheck disable=SC2086 # words
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install -qq -y --no-install-recommends $missing >/dev/null
    fi
fi
if [ ! -x "$build/bin/cwlab" ] || [ -z "${BUILD:-}" ]; then
    say "Building" "cmake, preset release, the programs only: five minutes on one processor, less on several," \
        "much longer on a machine that is busy"
    build_all
fi
began=$(date +%s)
trap finish EXIT INT TERM

# ---- A torus ---------------------------------------------------------------------------------------------------------

say "27 servers" \
    "A 3x3x3 torus: every server has six cables, +x -x +y -y +z -z, to its neighbours, and there is no switch." \
    "Each is a network namespace with a daemon of its own, cubewayd; a cable is a veth pair that carries Ethernet" \
    "frames."
show cwlab up 3x3x3 --name "$lab" --driver "$driver" --transit auto

say "Everybody reaches everybody" \
    "Packets go from server to server, on shortest paths: at most 3 hops in this torus."
show cwlab pingall --name "$lab"

# What the relay does is shown where the two servers on the way have one: not in one process, nor in a user namespace.
relays=$(cwlab ctl --name "$lab" all links --json | grep -c '"relay":"kernel"' || true)
if [ "${relays:-0}" -gt 0 ]; then
    say "Three hops, passed on by the kernel" \
        "Two servers only pass these packets on. Their kernels do that, by a table that their daemons have published."
    show cwlab ctl --name "$lab" 0,0,0 ping 1,1,1 --count 500 --interval 1ms
    say "The same three hops, by the daemons" \
        "Now each packet visits the daemon of each server on its way, there and back."
    cwlab ctl --name "$lab" all daemon relay off >/dev/null
    show cwlab ctl --name "$lab" 0,0,0 ping 1,1,1 --count 500 --interval 1ms
    cwlab ctl --name "$lab" all daemon relay on >/dev/null
else
    why_not=$(cwlab ctl --name "$lab" 0,0,0 links --json | sed -n 's/.*"relay":"\([^"]*\)".*/\1/p' | head -1)
    say "Packets that servers only pass on visit their daemons here" \
        "Where the kernel may do it, it does (docs/relay.md).${why_not:+ Here: $why_not}"
fi

say "Keys" \
    "Packets are sent to servers, or to keys. A key belongs to the first living server of an order that its bits" \
    "decide. Here is that order for the name 'hello': the root has the key now, the heirs take over in turn."
show cwlab ctl --name "$lab" 0,0,0 key explain hello --job witness
root=$(cwlab ctl --name "$lab" 0,0,0 key explain hello --job witness | awk '$1 == "0" { print $2 }')
sender=0,0,0
[ "$root" != 0,0,0 ] || sender=1,1,1

say "A stream of packets to that key" \
    "Server $sender sends 1,000 packets a second to the key; $root is its root and gets them."
cwlab ctl --name "$lab" "$sender" service witness stream hello rate=1000
sleep 1
show cwlab judge --name "$lab" || true

if [ "$(cwlab list --json | grep -c "\"lab\":\"$lab\",[^}]*\"driver\":\"process\"")" -gt 0 ]; then
    driver=process # by itself, perhaps
    cwlab ctl --name "$lab" "$sender" service witness stop
    say "All servers live in one process here, so none of them can be killed" \
        "Where network namespaces are allowed (root, or user namespaces) the demonstration goes on with that."
else
    say "The root dies" \
        "kill -9 of the daemon of $root, while packets are under way. A watcher says goodbye for it; its neighbours" \
        "tell all others, and the heir delivers. (Without a goodbye the heir waits until no server can believe any" \
        "more that the dead one lives: by default 50 ms of silence, and 60 ms more. A key never has two owners.)"
    show cwlab fail "$root" --name "$lab"
    sleep 1
    show cwlab ctl --name "$lab" "$sender" key explain hello --job witness
    show cwlab judge --name "$lab" || true

    say "The root comes back" \
        "Its daemon starts again and joins. The key is its again once every server knows it."
    show cwlab restore "$root" --name "$lab" --wait
    sleep 1
    cwlab ctl --name "$lab" "$sender" service witness stop
    sleep 0.3

    say "Was any packet delivered by a server that the key did not belong to?" \
        "Every daemon wrote down what it delivered and when its links came and went. The judge applies the rule to" \
        "each delivery: 'misdelivered' must be 0. 'lost' is what was inside the dead server or on its cables;" \
        "'gap worst' is how long the stream stood still."
fi
show cwlab judge --name "$lab" || true
verdict=$(cwlab judge --name "$lab" --json | sed -n 's/.*"misdelivered":\([0-9]*\).*/\1/p')
judged=$(cwlab judge --name "$lab" --json | sed -n 's/.*"judged":\([0-9]*\).*/\1/p')

say "Taking it all down" "Daemons leave in order; namespaces and cables go with them."
show cwlab down --name "$lab"
trap - EXIT INT TERM
[ "${judged:-0}" -gt 0 ] || { echo "FAILED: no packet was delivered, so none was judged"; exit 1; }
[ "$verdict" = 0 ] || { echo "FAILED: $verdict packets were delivered wrongly"; exit 1; }
printf '\nDone: 27 servers came up, routed by key, %s, and nothing was misdelivered (%s s).\n' \
    "$([ "$driver" = process ] && echo 'in one process' || echo 'survived what was done to them')" \
    "$(($(date +%s) - began))"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds and tests the tree, from nothing, in every configuration that matters. Writes into build/ and build-*/ only.
set -u

usage()
{
    cat <<'TEXT'
usage: tests/run.sh [--quick] [--since COMMIT] | [--soak] | [--sanitizers] | [--help]

  (no option)     everything: release, address and undefined sanitizers by clang, thread sanitizer, libFuzzer; less
                  than 25 minutes on two processors
  --quick         the inner loop: the release build and its unit, house and fuzz-replay tests, apart from the slow ones;
                  under a minute once built
  --since COMMIT  the release build, and those of its tests that depend on a file which differs from COMMIT, whether
                  it is committed or not (tests/since.py); with --quick, of the quick ones
  --soak          everything and clang's release build, in the long forms: CUBEWAY_SOAK=1 for all tests, and every fuzz
                  target for CUBEWAY_FUZZ_SECONDS (60) seconds
  --sanitizers    builds what a full run needs beside the release build, and tests nothing; a full run does so itself,
                  at the lowest priority, while the release's tests run
  --help          this text

Installs the Debian packages it needs when it can (root, or sudo without a password): tests/packages.txt.
Warnings are errors. It names the ten slowest tests, then all that did not pass. The last line is "N passed, N failed,
N skipped", summed over the configurations; the exit code is 0 if none failed and at least one passed, 2 for wrong
options or a commit that does not exist.
TEXT
}

mode=full since=
misuse() { printf 'run.sh: %s\n' "$1" >&2; usage >&2; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
    --quick | --soak | --sanitizers)
        [ "$mode" = full ] || misuse "one of --quick, --soak and --sanitizers"
        mode=${1#--}
        ;;
    --since)
        [ -n "${2:-}" ] || misuse "--since needs a commit"
        since=$2
        shift
        ;;
    --help | -h) usage; exit 0 ;;
    *) misuse "unknown option $1" ;;
    esac
    shift
done
case ${since:+$mode} in soak | sanitizers) misuse "one of --since and --$mode, not both" ;; esac

# The tree is where this file is, not where a link to it is; CDPATH must not lead elsewhere.
unset CDPATH
here=$(readlink -f -- "${BASH_SOURCE[0]}") || exit 1
top=$(dirname -- "$(dirname -- "$here")")
if ! [ -f "$top/CMakePresets.json" ] || ! cd -- "$top"; then
    echo "run.sh: $top is not a cubeway tree: start tests/run.sh of a clone" >&2
    exit 1
fi
if ! [ -w "$top" ]; then
    echo "run.sh: cannot write to $top: the build goes to $top/build; use a clone of your own" >&2
    exit 1
fi
jobs=$(nproc 2>/dev/null || echo 2)
logs=$top/build/run
mkdir -p "$logs" || exit 1
[ "$mode" = sanitizers ] || rm -f "$logs"/*

passed=0 failed=0 skipped=0
notes=()
exec 3>&1 # what failed tests said goes there, around the tally

say() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }
fail() { failed=$((failed + 1)); notes+=("failed $1"); say "FAILED: $1"; }
skip() { skipped=$((skipped + 1)); notes+=("skipped $1"); say "skipped: $1"; }

finish()
{
    say "done"
    python3 tests/tally.py --slowest 10 "$logs"/*.xml 2>/dev/null
    [ ${#notes[@]} -eq 0 ] || printf '%s\n' "${notes[@]}"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
    exit
}

# packages <need>: the names of tests/packages.txt with that need, that are not installed
packages()
{
    local name need names=() there _
    while read -r name need _; do
        case $name in '' | '#'*) continue ;; esac
        [ "$need" != "$1" ] || names+=("$name")
    done <tests/packages.txt
    there=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null)
    for name in "${names[@]}"; do
        [[ $'\n'$there$'\n' == *$'\n'"$name installed"$'\n'* ]] || printf '%s\n' "$name"
    done
}

# Runs a command as root, without asking anybody: 1 when that cannot be.
as_root()
{
    if [ "$(id -u)" -eq 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
    else
        return 1
    fi
}

apt() { as_root apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" >>"$logs/packages.log" 2>&1 </dev/null; }

install_packages()
{
    local missing needed
    if ! command -v dpkg-query >/dev/null; then
        say "this is not Debian: tests/packages.txt says what must be installed"
        return
    fi
    missing=$(packages required)
    [ "$mode" = quick ] || [ -n "$since" ] || missing="$missing $(packages full)"
    missing=$(echo "$missing" | xargs)
    [ -n "$missing" ] || return
    say "packages: installing $missing"
    # The names are split on purpose; the second try gets what can be had when one of them cannot.
    # shellcheck disable=SC2086
    if as_root true; then
        apt update
        if ! apt install --no-install-recommends $missing; then
            for name in $missing; do
                apt install --no-install-recommends "$name"
            done
        fi
    fi
    needed=$(packages required | xargs)
    missing=$(echo "$needed $([ "$mode" = quick ] || [ -n "$since" ] || packages full)" | xargs)
    [ -n "$missing" ] || return
    echo "These packages are missing and could not be installed here (log: build/run/packages.log). As root:"
    echo "    apt-get update && apt-get install --no-install-recommends $missing"
    if [ -n "$needed" ]; then
        fail "packages: nothing can be built without $needed"
        finish
    fi
}

# quietly <log> <command>: shows what the command said only when it failed
quietly()
{
    local log=$logs/$1.log
    shift
    "$@" >"$log" 2>&1 </dev/null && return
    tail -n 200 "$log"
    return 1
}

# answer <file> <words>: whoever finds the file finds its words
answer() { echo "$2" >"$1.new" && mv "$1.new" "$1"; }

# make <preset> [<more for the configuration>]; only=<expression>: no more than these targets. Where it fails, the last
# word of build/run/<preset>.built says at what, else that is "whole".
make()
{
    local preset=$1 fresh=() targets=(all) built=$logs/$1.built
    shift
    # A build folder that was made elsewhere (the tree was moved, or copied) is of no use.
    local cache=build-$preset/CMakeCache.txt
    [ "$preset" != release ] || cache=build/CMakeCache.txt
    if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$top" "$cache"; then
        fresh=(--fresh)
    fi
    quietly "$preset-configure" cmake --preset "$preset" "${fresh[@]}" -DCUBEWAY_WERROR=ON \
        -DCUBEWAY_TIMEOUT_FACTOR="$timeout_factor" "$@" || { answer "$built" "the configuration"; return 1; }
    if [ -n "${only:-}" ]; then
        mapfile -t targets < <(cmake --build --preset "$preset" --target help | sed -nE "s/^($only): phony$/\\1/p")
    fi
    quietly "$preset-build" cmake --build --preset "$preset" -j "$jobs" --target "${targets[@]}" -- --quiet ||
        { answer "$built" "the build"; return 1; }
    answer "$built" whole
}

# build <preset> [<more for the configuration>]: makes it now
build()
{
    say "$1: build"
    make "$@" || { fail "$1: $(<"$logs/$1.built")"; return 1; }
}

# Clang builds the sanitizers' tests: so everything has seen a second compiler, and its warnings. They are debug builds,
# too: assertions and the slow checks are on.
make_sanitizers()
{
    local compiler=clang made=0
    command -v clang >/dev/null || compiler=cc
    make asan -DCMAKE_C_COMPILER="$compiler" || made=1
    only=threads make tsan || made=1
    ! command -v clang >/dev/null || only='fuzz_[a-z0-9_]+' make fuzz || made=1
    return "$made"
}

# Begins make_sanitizers() in a session of its own, which has what the release's tests leave of the processors: they
# wait for clocks and daemons much of their time. Where the kernel has autogroups it shares out processors by session
# first, hence the first line; without the right to any of this it is a build beside the tests. It ends when this run
# has ended, however that was.
begin_sanitizers()
{
    # shellcheck disable=SC2016 # The words are for the other shell.
    setsid -- bash -c '{ echo 19 >/proc/self/autogroup; chrt --idle --pid 0 $$; renice -n 19 $$; } >/dev/null 2>&1
        run=$1; shift
        { while read -r _ _ state _ <"/proc/$run/stat" && [ "$state" != Z ]; do sleep 0.5; done; kill -- -$$; } \
            2>/dev/null &
        exec "$@"' lowest $$ bash "$here" --sanitizers >"$logs/sanitizers.log" 2>&1 3>&- </dev/null &
    builder=$!
}

# From now on the build is as important as anything else here.
hasten_sanitizers()
{
    local pid
    for pid in "$builder" $(ps -o pid= -s "$builder"); do
        chrt --other --pid 0 "$pid"
        renice -n 0 "$pid"
    done
    echo 0 >"/proc/$builder/autogroup"
} >/dev/null 2>&1

# built <preset>: waits until begin_sanitizers() has made it, and says what it said if that failed
built()
{
    local answer=$logs/$1.built
    [ -e "$answer" ] || say "$1: build"
    while ! [ -e "$answer" ] && kill -0 "$builder" 2>/dev/null; do sleep 0.2; done
    [ "$(cat "$answer" 2>/dev/null)" != whole ] || return 0
    tail -n 200 "$logs/sanitizers.log"
    fail "$1: $(cat "$answer" 2>/dev/null || echo "the build ended before its time")"
    return 1
}

# run_tests <preset> <ctest options>: runs them, and adds up
run_tests()
{
    local preset=$1 junit=$logs/$1.xml counts line
    shift
    say "$preset: test"
    "${ctest_prefix[@]}" ctest --preset "$preset" --output-junit "$junit" -j "$jobs" "$@" \
        >"$logs/$preset-test.log" 2>&1 </dev/null
    local code=$?
    if ! counts=$(python3 tests/tally.py "$junit" "$preset" 2>&3); then
        tail -n 50 "$logs/$preset-test.log"
        fail "$preset: the tests could not be run"
        return
    fi
    local p f s
    { read -r p f s; while read -r line; do [ -z "$line" ] || notes+=("$line"); done; } <<<"$counts"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    say "$preset: $p passed, $f failed, $s skipped"
    if [ "$f" -eq 0 ] && [ "$code" -ne 0 ]; then
        tail -n 50 "$logs/$preset-test.log"
        fail "$preset: ctest ended with $code although no test failed"
    fi
}

# has <tool> <what is skipped without it>
has()
{
    command -v "$1" >/dev/null && return
    skip "$2: $1 is missing"
    return 1
}

soak_fuzz()
{
    local seconds=${CUBEWAY_FUZZ_SECONDS:-60} name program found
    for name in $(ctest --preset fuzz -N | sed -n 's/.*: fuzz\.\(.*\)$/\1/p'); do
        program=build-fuzz/bin/$name found=build-fuzz/tests/fuzz/found/$name
        say "soak: $name, $seconds s"
        if quietly "soak-$name" "$program" -max_total_time="$seconds" -max_len=4096 -artifact_prefix="$found-" \
            "$found" "tests/fuzz/corpus/$name"; then
            passed=$((passed + 1))
        else
            fail "soak: $name (the input that did it: $found-*)"
        fi
    done
}

what=$mode
[ -z "$since" ] || [ "$mode" = quick ] || what=release
[ "$mode" = sanitizers ] || say "cubeway: $what run${since:+ of what differs from $since}, $jobs at a time"
[ "$mode" = sanitizers ] || install_packages
if [ -n "$since" ] && ! git rev-parse --verify --quiet --end-of-options "$since^{commit}" >/dev/null 2>&1; then
    echo "run.sh: no such commit: $since" >&2
    exit 2
fi
timeout_factor=1
[ -z "${CUBEWAY_SOAK:-}" ] || timeout_factor=30
ctest_prefix=()
if [ "$mode" = soak ]; then
    export CUBEWAY_SOAK=1
    timeout_factor=30
fi

quick=()
if [ "$mode" = quick ]; then
    quick=(-L '^(unit|house|fuzz)$' -LE '^slow$')
fi
if [ -n "$since" ]; then
    build release || finish
    if ! chosen=$(python3 tests/since.py build "$since" 2>"$logs/since.log"); then
        fail "--since $since: $(tail -n 1 "$logs/since.log")"
        finish
    fi
    say "$(tail -n 1 "$logs/since.log")"
    run_tests release -R "$chosen" "${quick[@]}"
    finish
fi
if [ "$mode" = quick ]; then
    build release && run_tests release "${quick[@]}"
    finish
fi

if [ "$mode" = sanitizers ]; then
    make_sanitizers
    exit
fi

build release
release=$?
begin_sanitizers
[ "$release" -ne 0 ] || run_tests release
hasten_sanitizers
has clang "asan: the second compiler"
built asan && run_tests asan -L '^(unit|fuzz|sim)$'
# The thread sanitizer wants its shadow memory where address randomisation may have put something else.
if setarch -R true 2>/dev/null; then
    ctest_prefix=(setarch -R)
fi
built tsan && run_tests tsan -L '^threads$'
ctest_prefix=()
# The second compiler's own machine code; what tries every case there is has done so.
if [ "$mode" = soak ] && has clang "clang: release build and unit tests"; then
    build clang && run_tests clang -L '^unit$' -LE '^slow$'
fi
if has clang "fuzz: libFuzzer"; then
    built fuzz && run_tests fuzz && { [ "$mode" != soak ] || soak_fuzz; }
fi
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# tshark.sh - for tests that ask Wireshark, to be read by `.`: ends the test as skipped where there is no tshark with
# Lua; sets $work, a folder that goes when the test ends. tshark sees nobody's own settings and plugins, and root may
# run the scripts that the command line names.
if ! command -v tshark >/dev/null; then
    echo "skipped: no tshark"
    exit 77
fi
if ! tshark --version 2>/dev/null | tr '\n' ' ' | grep -q 'with Lua'; then
    echo "skipped: this tshark is built without Lua"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WIRESHARK_CONFIG_DIR="$work/config" LC_ALL=C
mkdir "$WIRESHARK_CONFIG_DIR"

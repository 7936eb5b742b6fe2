#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs whose digests are written down: every build, on every machine, gives them bit for bit.

    test_runs.py --cwsim <program> --top <the repository> [--all | --few] [--write]

runs.txt has a row for each run: when it is tried, what it must give (digest; packets made and delivered; packets that
the oracle judged), and its command. Rows `always` are tried with all other tests; rows `soak` only with --all or
CUBEWAY_SOAK=1; --few is each third of the former. A change that is only to make things faster or plainer changes no
row. A change of what nodes do on purpose changes rows: --write writes them anew, and the commit says why.
"""

import argparse
import json
import os
import subprocess
import sys

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runs.txt")
FIELDS = ("digest", "packets", "delivered", "checks")


def read(file):
    """The lines of the file; a row as [when, expected, command], anything else as text."""
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if not words or words[0] == "#":
                yield line
            else:
                yield [words[0], words[1:1 + len(FIELDS)], words[1 + len(FIELDS):]]


def give(cwsim, top, command):
    """What the run gives, in the order of FIELDS; or a sentence."""
    done = subprocess.run([cwsim, *command, "--json", "--quiet"], cwd=top, capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
        return [str(report[name]) for name in FIELDS]
    except (ValueError, KeyError):
        return f"exit code {done.returncode}, {done.stdout[-500:]}{done.stderr[-500:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cwsim", required=True)
    parser.add_argument("--top", required=True)
    parser.add_argument("--all", action="store_true", default="CUBEWAY_SOAK" in os.environ)
    parser.add_argument("--few", action="store_true", help="for builds that are some ten times as slow")
    parser.add_argument("--write", action="store_true", help="write runs.txt anew, with what this program gives")
    options = parser.parse_args()
    cwsim = os.path.abspath(options.cwsim)
    tried = different = always = 0
    out = []
    for row in list(read(FILE)):
        if isinstance(row, str):
            out.append(row)
            continue
        when, expected, command = row
        always += when == "always"
        chosen = when == "always" and (not options.few or always % 3 == 1)
        if options.all or options.write or chosen:
            tried += 1
            given = give(cwsim, options.top, command)
            if given != expected:
                different += 1
                print(f"cwsim {' '.join(command)}\n  expected {' '.join(expected)}\n  given    "
                      f"{given if isinstance(given, str) else ' '.join(given)}", flush=True)
            if not isinstance(given, str):
                expected = given
        out.append("{:6} {:16} {:>8} {:>8} {:>8}  {}\n".format(when, *expected, " ".join(command)))
    if options.write:
        with open(FILE, "w", encoding="utf-8") as file:
            file.writelines(out)
    print(f"{tried} runs, {different} of them not as written")
    return 0 if different == 0 or options.write else 1


if __name__ == "__main__":
    sys.exit(main())

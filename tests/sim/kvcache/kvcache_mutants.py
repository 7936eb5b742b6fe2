#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants each bug of services/kvcache/mutant.h and demands that the worlds of test_kvcache_world find it; without one the same
worlds must pass. Prints which seed found what, by which rule.

exit code: 0 all are found, 1 one is not, 2 wrong use
"""

import argparse
import os
import re
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", ".."))
# World 75 stops at the simulator's invariant 4, which is the core's, whatever the cache does: it proves nothing.
RANGES = ((1, 74), (76, 130))
# Where those that need a rare world were found: tried first.
KNOWN = {12: 26, 15: 49, 16: 98}
HEADER = os.path.join(TOP, "services", "kvcache", "mutant.h")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="mutants_kvcache, as it was built")
    options = parser.parse_args()
    with open(HEADER, encoding="utf-8") as file:
        words = {int(n): " ".join(text.split()) for n, text in re.findall(r"KV_MUTANT_\w+ = (\d+),\s*/\*\s*(.*?)\s*\*/", file.read(), re.S)}
    if not words:
        print(f"{HEADER} names no mutant", file=sys.stderr)
        return 2
    missed, wrong = [], []
    for number, text in sorted(words.items()):
        seed, rule = find(options, number)
        print(f"{number:3}  {text}: " + (f"seed {seed}, {rule}" if seed else "NOT FOUND"), flush=True)
        missed += [] if seed else [number]
        if seed and run(options, 0, seed, 1)[0]:
            wrong.append(seed)
    if wrong:
        print(f"worlds that fail without any mutant: {wrong}", file=sys.stderr)
    return 1 if missed or wrong else 0


def find(options, number):
    """(first seed that fails, by which rule), or (0, "")."""
    for first, last in ((KNOWN.get(number, 1),) * 2, *RANGES):
        seed, rule = run(options, number, first, last - first + 1)
        if seed:
            return seed, rule
    return 0, ""


def run(options, number, first, seeds):
    """(first seed that fails, by which rule), or (0, "")."""
    environment = {**os.environ, "CUBEWAY_MUTANTS": str(number) if number else ""}
    command = [options.program, "--first", str(first), "--seeds", str(seeds)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"^seed (\d+): ([^:\n]*)", done.stdout, re.M)
    if not found and done.returncode != 0:
        sys.exit(f"{options.program} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return (int(found[1]), found[2]) if found else (0, "")


if __name__ == "__main__":
    sys.exit(main())

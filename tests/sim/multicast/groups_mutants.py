#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants each bug of services/multicast/group/mutant.h and demands that the worlds of test_groups_world find it; without one the same
seeds must pass. Prints which seed found what, what the judge said.

exit code: 0 all are found, 1 one is not, 2 wrong use
"""

import argparse
import os
import re
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", ".."))
HEADER = os.path.join(TOP, "services", "multicast", "group", "mutant.h")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="mutants_groups, as it was built")
    parser.add_argument("--seeds", type=int, default=30, help="at most, for each (30)")
    parser.add_argument("--but", type=lambda text: {int(word) for word in text.split(",")}, default=set(), metavar="N,..", help="not these")
    options = parser.parse_args()
    with open(HEADER, encoding="utf-8") as file:
        words = {int(n): " ".join(text.split()) for n, text in re.findall(r"GROUP_MUTANT_\w+ = (\d+),\s*/\*\s*(.*?)\s*\*/", file.read(), re.S)}
    if not words:
        print(f"{HEADER} names no mutant", file=sys.stderr)
        return 2
    if options.but - set(words):
        print(f"--but: {HEADER} has no mutant {min(options.but - set(words))}", file=sys.stderr)
        return 2
    missed, furthest = [], 1
    for number, text in sorted(words.items()):
        if number in options.but:
            continue
        seed, rule = run(options, number, options.seeds)
        print(f"{number:3}  {text}: " + (f"seed {seed}, {rule}" if seed else "NOT FOUND"), flush=True)
        furthest = max(furthest, seed)
        missed += [] if seed else [number]
    seed, rule = run(options, 0, min(furthest, options.seeds))
    if seed:
        print(f"seed {seed} fails without any mutant: {rule}", file=sys.stderr)
    return 1 if missed or seed else 0


def run(options, number, seeds):
    """(first seed that fails, by which rule), or (0, "")."""
    environment = {**os.environ, "CUBEWAY_GROUP_MUTANTS": str(number) if number else ""}
    done = subprocess.run([options.program, "--seeds", str(seeds)], env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"^seed (\d+): ([^:\n]*)", done.stdout, re.M)
    if not found and done.returncode != 0:
        sys.exit(f"{options.program} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return (int(found[1]), found[2]) if found else (0, "")


if __name__ == "__main__":
    sys.exit(main())

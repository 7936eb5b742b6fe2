#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Was a lock held twice?  cwsim run churn.txt --json | ./judge.py

Reads the report of a run in which `tell SERVER lock holds` asked servers when they held which lock, and looks for two
servers that held the same one at the same time. The service may have any name: its answers are the rows with the fields
lock, from_us and until_us. Exit code 0: none did; 1: some did, or nobody held any; 2: this is no such report."""

import json
import sys


def overlaps(rows):
    """(lock, one hold, another hold) for each two that overlap in time; a hold is (from, until, server), in us."""
    holds = {}
    for row in rows:
        if "from_us" in row:
            holds.setdefault(row["lock"], []).append((row["from_us"], row["until_us"], row["asked"]))
    for lock, spans in sorted(holds.items()):
        longest = None  # of those that have begun, the one that ends last
        for span in sorted(spans):
            if longest is not None and span[0] < longest[1] and span[2] != longest[2]:
                yield lock, longest, span
            longest = span if longest is None or span[1] > longest[1] else longest


def main():
    try:
        rows = json.load(sys.stdin)["answers"]
    except (ValueError, KeyError):
        print("judge.py: expected the JSON report of a run with `tell SERVER lock holds`", file=sys.stderr)
        return 2
    held = sum("from_us" in row for row in rows)
    twice = list(overlaps(rows))
    for lock, one, other in twice[:5]:
        print(f"lock {lock}: {one[2]} held it from {one[0]} us to {one[1]} us, "
              f"and {other[2]} from {other[0]} us to {other[1]} us")
    print(f"{held} times held, {len(twice)} times by two servers at once")
    return 1 if twice or held == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

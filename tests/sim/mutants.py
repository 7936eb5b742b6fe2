#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants each bug of runtime/linkstate/mutant.h in the link state and demands that the mini world finds it (docs/semantics.md, 8.3).

A mutant is found when a seed of the world fails: a checker of tests/sim/linkstate/ls_oracle.c saw something wrong, or the product stopped
itself. Without a mutant the same seeds must pass. Each mutant is also tried with the checks of single rules left out, which
leaves those of what the rules are for: does it do harm, or is it found only because somebody looks at the rule itself?

exit code: 0 all is as expected, 1 something is not, 2 wrong use or no build
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
HEADER = os.path.join(TOP, "runtime", "linkstate", "mutant.h")
PROGRAMS = ("mutants_world", "mutants_lsdb")
SEEDS = 150

# In what a mutant is tried: the world with all its checks, with those of what the rules are for, or a unit test.
WORLD, HARM, UNIT = "world", "harm", "unit"


class Case(NamedTuple):
    mutants: tuple
    where: str
    found: bool  # as it must be


# Every mutant of the header, by how it must be found; those that the world finds alone need no line.
SPECIAL = [
    Case((6,), WORLD, False),  # while there is 5's rule, 6's has nothing to do (docs/semantics.md proves it), but ...
    Case((6,), UNIT, True),    # ... the database does not rely on that,
    Case((5, 6), HARM, True),  # and without 5's rule it is what keeps data off links that never were.
]


class Result(NamedTuple):
    case: Case
    seeds: int      # tried
    first: int      # that failed; 0: none
    failed: int
    by: list        # [[rule, seeds]], most first
    seconds: float  # of processor time

    def is_well(self):
        return (self.failed > 0) == self.case.found


def main():
    options = parse()
    words = read_words()
    cases = choose(words, options)
    world = World(options)
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(world.run, [c for c in cases if c.found]))
        if options.quick:  # what finds the mutants must find nothing without them
            options.seeds = max([r.seeds for r in results], default=0) or options.seeds
        results += pool.map(world.run, [c for c in cases if not c.found])
        results.sort(key=lambda r: cases.index(r.case))
        harm = {}
        if not options.quick:
            also = [Case(r.case.mutants, HARM, False) for r in results if r.case.where == WORLD and r.case.mutants]
            harm = {r.case.mutants: r for r in pool.map(world.run, also)}
    if options.json:
        print(json.dumps([describe(r, words, harm) for r in results], indent=2))
    else:
        print_table(results, words, harm)
    wrong = [r for r in results if not r.is_well()]
    for r in wrong:
        print(complaint(r, words), file=sys.stderr)
    if not options.json:
        print(f"{len(results) - len(wrong)} of {len(results)} as expected, {sum(r.seconds for r in [*results, *harm.values()]):.0f} s "
              "of processor time")
    return 1 if wrong else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="stop at a mutant's first failing seed, without the column of harm: seconds in all")
    parser.add_argument("--only", metavar="N,M", help="these numbers of mutant.h only, alone or together")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="the first seed (1)")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="COUNT", help=f"seeds for each ({SEEDS})")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time (one a processor)")
    parser.add_argument("--bin", metavar="FOLDER", help="the built programs; without it they are built in build/, the release preset")
    options = parser.parse_args()
    if options.seeds < 1 or options.jobs < 1 or options.first < 0:
        parser.error("--seeds and --jobs are at least 1, --first at least 0")
    if options.only is not None:
        try:
            options.only = {int(word) for word in options.only.split(",")}
        except ValueError:
            parser.error(f"--only {options.only}: numbers with commas between them")
    if os.environ.get("CUBEWAY_SOAK"):
        options.quick = False
    if options.bin is None:
        build = os.path.join(TOP, "build")
        if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
            fail("there is no build folder: cmake --preset release")
        if subprocess.run(["cmake", "--build", build, "--target", *PROGRAMS], stdout=sys.stderr, check=False).returncode != 0:
            fail("the programs do not build")
        options.bin = os.path.join(build, "bin")
    for name in PROGRAMS:
        if not os.access(os.path.join(options.bin, name), os.X_OK):
            fail(f"{os.path.join(options.bin, name)} is not there")
    return options


def fail(words):
    print(f"mutants.py: {words}", file=sys.stderr)
    sys.exit(2)


def read_words():
    """{number: what is broken} of mutant.h."""
    with open(HEADER, encoding="utf-8") as file:
        found = re.findall(r"MUTANT_\w+\s*=\s*(\d+),\s*/\*\s*(.*?)\s*\*/", file.read(), re.S)
    words = {int(number): " ".join(text.split()) for number, text in found}
    words.pop(0, None)
    if not words:
        fail(f"{HEADER} names no mutant")
    return words


def choose(words, options):
    special = {c.mutants[0] for c in SPECIAL if len(c.mutants) == 1}
    cases = [Case((), WORLD, False)]
    cases += [Case((number,), WORLD, True) for number in words if number not in special]
    cases += SPECIAL
    cases.sort(key=lambda c: (len(c.mutants), c.mutants))
    if options.only is not None:
        unknown = options.only - words.keys()
        if unknown:
            fail(f"there is no mutant {min(unknown)} in runtime/linkstate/mutant.h")
        cases = [c for c in cases if options.only.issuperset(c.mutants)]
    return cases


class World:
    """Runs cases with the programs of a build."""

    def __init__(self, options):
        self.options = options

    def run(self, case):
        if case.where == UNIT:
            return self.run_unit(case)
        end = self.options.first + self.options.seeds
        by, first, seconds, tried, at = Counter(), 0, 0.0, 0, self.options.first
        while at < end:
            words = ["mutants_world", "--first", str(at), "--seeds", str(end - at)]
            words += ["--delivery"] if case.where == HARM else []
            words += [] if self.options.quick else ["--all"]
            done = self.start(words, case)
            failures = re.findall(r"^seed (\d+)(?:, .* ms)?: ([^:\n]*)", done.stdout, re.M)
            by.update(rule for _, rule in failures)
            first = first or int(failures[0][0]) if failures else first
            total = re.search(r"^(\d+) seeds, ([\d.]+) s:", done.stdout, re.M)
            if total:
                tried += int(total[1])
                seconds += float(total[2])
                break
            if not failures:  # neither an end nor a seed to blame: the program itself is broken
                fail(f"{' '.join(words)} ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
            # A check of the product has stopped the program: that seed is found, the next ones are still to be tried.
            tried += int(failures[-1][0]) - at + 1
            at = end if self.options.quick else int(failures[-1][0]) + 1
        return Result(case, tried, first, by.total(), [list(pair) for pair in by.most_common()], seconds)

    def run_unit(self, case):
        before = time.monotonic()
        done = self.start(["mutants_lsdb"], case)
        seconds = time.monotonic() - before
        failed = re.findall(r":F:[^:]*:([^:]*):", done.stdout)
        if (done.returncode != 0) != bool(failed):
            fail(f"mutants_lsdb ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return Result(case, 0, 0, len(failed), [[f"test {name}", 1] for name in failed], seconds)

    def start(self, words, case):
        environment = {**os.environ, "CUBEWAY_MUTANTS": ",".join(map(str, case.mutants))}
        return subprocess.run([os.path.join(self.options.bin, words[0]), *words[1:]], env=environment, capture_output=True, text=True,
                              errors="replace", check=False)


def name_of(case):
    return "+".join(map(str, case.mutants)) or "none"


def words_of(case, words):
    what = words[case.mutants[0]] if len(case.mutants) == 1 else "both" if case.mutants else "nothing: the control"
    return what + {WORLD: "", HARM: "; harm only", UNIT: "; unit test of the database"}[case.where]


def rules_of(result):
    if result is None:
        return ""
    if not result.failed:
        return "-"
    if result.case.where == UNIT:
        return ", ".join(rule for rule, _ in result.by)
    return ", ".join(f"{rule} ({count})" for rule, count in result.by)


def describe(r, words, harm):
    entry = {"mutants": list(r.case.mutants), "broken": words_of(r.case, words), "where": r.case.where, "expected": r.case.found,
             "found": r.failed > 0, "seeds": r.seeds, "first": r.first or None, "failed": r.failed, "by": r.by, "seconds": r.seconds}
    other = harm.get(r.case.mutants) if r.case.where == WORLD else None
    if other is not None:
        entry["harm"] = {"seeds": other.seeds, "first": other.first or None, "failed": other.failed, "by": other.by}
    return entry


def print_table(results, words, harm):
    head = ["mutant", "what is broken", "seeds", "first", "found by (seeds)", "seconds"] + (["harm (seeds)"] if harm else [])
    rows = []
    for r in results:
        row = [name_of(r.case), words_of(r.case, words), str(r.seeds or ""), str(r.first or ("-" if r.seeds else "")), rules_of(r),
               f"{r.seconds:.1f}"]
        if harm:
            row.append(rules_of(harm.get(r.case.mutants)) if r.case.where == WORLD else "")
        rows.append(row)
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    for row in [head, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")


def complaint(r, words):
    what = f"mutant {name_of(r.case)} ({words_of(r.case, words)})"
    if r.case.found:
        return f"{what} is not found" + (f" in {r.seeds} seeds" if r.seeds else "")
    if not r.case.mutants:
        return f"seed {r.first} fails without any mutant: {rules_of(r)}"
    return f"{what} is found by seed {r.first}, rule {rules_of(r)}, but is documented as harmless alone"


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants each bug of a part's mutant.h and demands that the part's world finds it (docs/semantics.md, 8.3).

    mutants.py [PART] [options]    PART: a row of PARTS; none: linkstate

A mutant is found when a seed of the world fails: a judge saw something wrong, or the product stopped itself. Without a
mutant the same seeds must pass. The long form also says how many seeds find a mutant, and for the link state what harm
it does: each mutant is tried once more with the checks of single rules left out, which leaves those of what the rules
are for.

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

# In what a mutant is tried: the world with all its checks, with those of what the rules are for, or a unit test.
WORLD, HARM, UNIT = "world", "harm", "unit"


class Case(NamedTuple):
    mutants: tuple
    where: str
    found: bool     # as it must be
    unit: str = ""  # the program of a UNIT case; none: the part's


class Part(NamedTuple):
    header: str         # the bugs, numbered
    seeds: int          # to try, for each
    special: tuple = () # the cases of mutants that the world does not find alone
    unit: str = ""      # the program of UNIT cases
    harm: bool = False  # has the world --delivery, for HARM?
    # mutant, or several -> a seed that finds it, where the search takes long: the quick form begins there. The long
    # form tries it, too, when it lies beyond the seeds to try.
    known: dict = {}  
    untried: dict = {}  # mutant -> why it is not tried
    rare: dict = {}     # mutant -> seeds to try, with CUBEWAY_SOAK only
    skip: tuple = ()    # seeds that prove nothing


PARTS = {
    "linkstate": Part(
        "runtime/linkstate/mutant.h", 150, unit="mutants_lsdb", harm=True, known={14: 11, 17: 26},
        special=(
            # while there is 5's rule, 6's has nothing to do (semantics 8.3 proves it), but ...
            Case((6,), WORLD, False),
            Case((6,), UNIT, True),    # ... the database does not rely on that,
            Case((5, 6), HARM, True),  # and without 5's rule it is what keeps data off links that never were.
        )),
    "others": Part("runtime/core/mutant.h", 10, unit="mutants_place",
                   special=tuple(Case((number,), UNIT, True) for number in (6, 7, 8)),
                   untried={number: "of attached processes: guests" for number in range(9, 25)}),
    "guests": Part("runtime/core/mutant.h", 5,
                   untried={number: "of what passes by: others" for number in range(1, 9)}),
    "transport": Part("services/transport/mutant.h", 30, unit="mutants_background", known={10: 11, 13: 8},
                      special=(Case((16,), UNIT, True), Case((17,), UNIT, True))),
    # World 75 stops at the simulator's invariant 4, which is the core's, whatever the cache does.
    # 16 and 19 need faults in a certain order: the worlds from 1,000,000 on (kvcache/kv_ghosts.h) have them. World 672,
    # in which the fault was found that rule 18 mends, needs both 18 and 19.
    "kvcache": Part("services/kvcache/mutant.h", 130, skip=(75,), unit="mutants_flush",
                    known={2: 4, 3: 4, 7: 27, 11: 4, 12: 26, 15: 49, 16: 1000000, 19: 1000026, (18, 19): 672},
                    untried={18: "alone it shows only where more servers are missing than the reach"},
                    special=(Case((17,), UNIT, True), Case((18, 19), WORLD, True))),
    # 9 needs a view that changes within a member's last millisecond: not found in 150 seeds.
    "multicast": Part("services/multicast/cast/mutant.h", 80, rare={9: 2000},
                      known={1: 7, 2: 7, 4: 14, 5: 27, 6: 7, 7: 7, 8: 54},
                      special=(Case((10,), UNIT, True, "mutants_cast_session"),
                               Case((11,), UNIT, True, "mutants_cast_stripe"),
                               Case((12,), UNIT, True, "mutants_cast_rounds"))),
    # 8 needs a next group that goes elsewhere, and 9 a kill after a failed sync, then a loss of power.
    "storage": Part("storage/mutant.h", 400, unit="mutants_renewing", known={3: 27},
                    special=(Case((8,), UNIT, True), Case((9,), UNIT, True))),
    # One header has the bugs of the judge and those of the node that publishes; each has its world.
    "relay": Part("runtime/wire/mutant.h", 20,
                  untried={number: "of the node: relayed" for number in range(24, 33)}),
    "relayed": Part("runtime/wire/mutant.h", 60,
                    untried={number: "of the judge: relay" for number in range(1, 24)}),
    # Worlds do not show 1, since nothing is dealt before all have left the attempt before; 5 and 8 hardly ever; nor 9,
    # since words are the same in any order.
    "aggregate": Part("services/aggregate/dense/mutant.h", 48, known={4: 30},
                      special=(Case((1,), UNIT, True, "mutants_vertex"), Case((5,), UNIT, True, "mutants_column"),
                               Case((8,), UNIT, True, "mutants_small"), Case((9,), UNIT, True, "mutants_vertex"))),
    # Nor do worlds show 1 of these, for the same reason. 6, 14 and 15 need a death in the middle of a partition of many
    # blocks, which is rare; and with 5 runs end well, though after several attempts, each of which gets further.
    "sorted": Part("services/aggregate/stream/mutant.h", 48,
                   known={2: 11, 3: 6, 4: 21, 7: 22, 8: 125, 11: 5, 12: 6, 13: 28},
                   special=(Case((1,), UNIT, True, "mutants_junction"),
                            Case((16,), UNIT, True, "mutants_junction"), Case((9,), UNIT, True, "mutants_stream_lead"),
                            Case((10,), UNIT, True, "mutants_stream_intake"),
                            Case((5,), UNIT, True, "mutants_stream_collector"),
                            Case((6,), UNIT, True, "mutants_stream_collector"),
                            Case((14,), UNIT, True, "mutants_stream_collector"),
                            Case((15,), UNIT, True, "mutants_stream_collector"))),
    "query": Part("services/aggregate/query/mutant.h", 16),
    # 16 is of the whole service, which that world does not have.
    "tunnel": Part("services/tunnel/mutant.h", 40, unit="mutants_tunnel_come", special=(Case((16,), UNIT, True),)),
    # Worlds hardly ever show these: 3 needs four copies and a reply that comes twice, 5 a leader that is followed by
    # one without it after a read, 8 a read between two packets of a write that is lost then, 24 an attempt that is
    # overtaken by a refusal of the next, 29 a leader that restarts and leads again before others led, 41 an older disk
    # and then a majority with it, 43 a leader after one that counted further. Not found in 90 seeds: 29, 41, 43. 9, 12
    # and 13 need a death within a round trip of a change of members: not found in 40 seeds. 51 needs a death between a
    # transaction and its changes, and 54 a write that was missed and comes back at that moment: not found in 9 seeds.
    "store": Part("services/store/held/mutant.h", 60,
                  known={1: 38, 4: 9, 6: 2, 7: 35, 21: 17, 22: 9, 25: 11, 46: 13, 47: 44, 52: 2, 53: 2},
                  special=(Case((2,), UNIT, True, "mutants_writing"),
                           Case((3,), UNIT, True, "mutants_writing"), Case((5,), UNIT, True, "mutants_lead"),
                           Case((8,), UNIT, True, "mutants_serve"), Case((24,), UNIT, True, "mutants_verdict"),
                           Case((29,), UNIT, True, "mutants_durable"), Case((41,), UNIT, True, "mutants_hearing"),
                           Case((43,), UNIT, True, "mutants_serve"), Case((9,), UNIT, True, "mutants_change"),
                           Case((10,), UNIT, True, "mutants_change"), Case((12,), UNIT, True, "mutants_change"),
                           Case((13,), UNIT, True, "mutants_change"), Case((14,), UNIT, True, "mutants_change"),
                           Case((44,), UNIT, True, "mutants_change"), Case((48,), UNIT, True, "mutants_lister"),
                           Case((50,), UNIT, True, "mutants_quota"), Case((51,), UNIT, True, "mutants_txn"),
                           Case((54,), UNIT, True, "mutants_txn"), Case((55,), UNIT, True, "mutants_txn"),
                           Case((31,), UNIT, True, "mutants_serve"),
                           Case((56,), UNIT, True, "mutants_serve"), Case((57,), UNIT, True, "mutants_compare"),
                           Case((58,), UNIT, True, "mutants_durable"), Case((59,), UNIT, True, "mutants_asker"),
                           Case((60,), UNIT, True, "mutants_lead"), Case((61,), UNIT, True, "mutants_compare"),
                           Case((49,), UNIT, True, "mutants_lister"), Case((45,), UNIT, True, "mutants_lister"))),
    # Without a fence of either side a handshake fails in few orders of steps.
    "share": Part("runtime/share/mutant.h", 60),
    "groups": Part("services/multicast/group/mutant.h", 8,
                   untried={number: "unit tests find it, worlds hardly ever" for number in (3, 4)}),
}


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
    words = read_words(options.part)
    cases = choose(words, options)
    world = World(options)
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(world.run, [c for c in cases if c.found]))
        if options.quick:  # what finds the mutants must find nothing without them
            world.control = sorted({r.first for r in results if r.first})
            near = [seed for seed in world.control if seed < options.first + options.seeds]
            options.seeds = max(near, default=options.seeds)
        results += pool.map(world.run, [c for c in cases if not c.found])
        results.sort(key=lambda r: cases.index(r.case))
        harm = {}
        if not options.quick and options.part.harm:
            also = [Case(r.case.mutants, HARM, False) for r in results if r.case.where == WORLD and r.case.mutants]
            harm = {r.case.mutants: r for r in pool.map(world.run, also)}
    wrong = [r for r in results if not r.is_well()]
    if options.json:
        print(json.dumps([describe(r, words, harm) for r in results], indent=2))
    else:
        print_table(results, words, harm)
        for number in sorted(words.keys() - {n for c in cases for n in c.mutants}) if options.only is None else ():
            print(f"{number} is not tried: {options.part.untried.get(number, 'rare (CUBEWAY_SOAK=1 tries it)')}")
        seconds = sum(r.seconds for r in [*results, *harm.values()])
        print(f"{len(results) - len(wrong)} of {len(results)} as expected, {seconds:.0f} s of processor time")
    for r in wrong:
        print(complaint(r, words), file=sys.stderr)
    return 1 if wrong else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=PARTS, default="linkstate", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true",
                        help="stop at a mutant's first failing seed: seconds to a minute")
    parser.add_argument("--only", metavar="N,M", help="only these numbers of mutant.h, alone or together")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="the first seed (1)")
    parser.add_argument("--seeds", type=int, metavar="COUNT", help="seeds for each")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time (one a processor)")
    parser.add_argument("--programs", metavar="FILE", nargs="+",
                        help="the part's built programs; without them they are built in build/, the release preset")
    options = parser.parse_args()
    options.world, options.part = "mutants_" + options.part, PARTS[options.part]
    options.soak = bool(os.environ.get("CUBEWAY_SOAK"))
    options.seeds = options.part.seeds if options.seeds is None else options.seeds
    if options.seeds < 1 or options.jobs < 1 or options.first < 0:
        parser.error("--seeds and --jobs are at least 1, --first at least 0")
    if options.only is not None:
        try:
            options.only = {int(word) for word in options.only.split(",")}
        except ValueError:
            parser.error(f"--only {options.only}: numbers with commas between them")
    if options.soak and options.part.harm:
        options.quick = False
    units = dict.fromkeys([options.part.unit, *(case.unit for case in options.part.special)])
    programs = [options.world, *filter(None, units)]
    if options.programs is None:
        build = os.path.join(TOP, "build")
        if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
            fail("there is no build folder: cmake --preset release")
        done = subprocess.run(["cmake", "--build", build, "--target", *programs], stdout=sys.stderr, check=False)
        if done.returncode != 0:
            fail("the programs do not build")
        options.programs = [os.path.join(build, "bin", name) for name in programs]
    options.programs = {os.path.basename(path): os.path.abspath(path) for path in options.programs}
    for name in programs:
        if name not in options.programs:
            parser.error(f"--programs does not name {name}")
        if not os.access(options.programs[name], os.X_OK):
            fail(f"{options.programs[name]} is not there")
    return options


def fail(words):
    print(f"mutants.py: {words}", file=sys.stderr)
    sys.exit(2)


def read_words(part):
    """{number: what is broken} of mutant.h: the comment behind a constant, or the one above it."""
    with open(os.path.join(TOP, part.header), encoding="utf-8") as file:
        body = file.read().partition("_NONE = 0,")[2].partition("};")[0]
    entry = (r"(?:/\*(?P<above>[^*]*(?:\*(?!/)[^*]*)*)\*/\s*)?"
             r"\w*MUTANT_\w+\s*=\s*(?P<number>\d+),[ \t]*(?:/\*(?P<behind>.*?)\*/)?")
    words = {int(m["number"]): " ".join((m["behind"] or m["above"] or "").split())
             for m in re.finditer(entry, body, re.S)}
    if not words:
        fail(f"{part.header} names no mutant")
    return words


def choose(words, options):
    part = options.part
    special = {c.mutants[0] for c in part.special if len(c.mutants) == 1}
    left_out = special | part.untried.keys() | (set() if options.soak else part.rare.keys())
    cases = [Case((), WORLD, False)]
    cases += [Case((number,), WORLD, True) for number in words if number not in left_out]
    cases += part.special
    cases.sort(key=lambda c: (len(c.mutants), c.mutants))
    if options.only is not None:
        unknown = options.only - words.keys()
        if unknown:
            fail(f"there is no mutant {min(unknown)} in {part.header}")
        cases += [Case((number,), WORLD, True) for number in sorted(options.only & left_out - special)]
        cases = [c for c in cases if options.only.issuperset(c.mutants)]
    return cases


class World:
    """Runs cases with the programs of a build."""

    def __init__(self, options):
        self.options = options
        self.control = None  # the seeds that a run without mutants must pass, when they are few

    def run(self, case):
        if case.where == UNIT:
            return self.run_unit(case)
        by, first, seconds, tried = Counter(), 0, 0.0, 0
        for begin, end in self.spans(case):
            if begin >= end:
                continue
            words = [self.options.world, "--first", str(begin), "--seeds", str(end - begin)]
            words += ["--delivery"] if case.where == HARM else []
            words += [] if self.options.quick else ["--all"]
            done = self.start(words, case)
            failures = re.findall(r"^seed (\d+): ([^:\n]*)", done.stdout, re.M)
            total = re.search(r"^(\d+) seeds, ([\d.]+) s: (\d+) failed", done.stdout, re.M)
            if not total or len(failures) != int(total[3]):
                said = f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
                fail(f"{' '.join(words)} ended with {done.returncode}\n{said}")
            by.update(rule.strip() for _, rule in failures)
            first = first or (int(failures[0][0]) if failures else 0)
            tried += int(total[1])
            seconds += float(total[2])
            if failures and self.options.quick:
                break
        return Result(case, tried, first, by.total(), [list(pair) for pair in by.most_common()], seconds)

    def spans(self, case):
        """Where to look for a seed that fails: [(first, one behind the last)]."""
        options, part = self.options, self.options.part
        if not case.mutants and self.control is not None:
            return [(seed, seed + 1) for seed in self.control]
        number = case.mutants[0] if case.mutants else 0
        known = part.known.get(case.mutants if len(case.mutants) > 1 else number)
        spans, at = [], options.first
        if known is not None and (options.quick or known >= options.first + options.seeds):
            spans.append((known, known + 1))
        end = at + (part.rare.get(number, 0) or options.seeds)
        for seed in [*(seed for seed in part.skip if at <= seed < end), end]:
            spans.append((at, seed))
            at = seed + 1
        return spans

    def run_unit(self, case):
        before, program = time.monotonic(), case.unit or self.options.part.unit
        done = self.start([program], case)
        seconds = time.monotonic() - before
        failed = re.findall(r":F:[^:]*:([^:]*):", done.stdout)
        if (done.returncode != 0) != bool(failed):
            fail(f"{program} ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return Result(case, 0, 0, len(failed), [[f"test {name}", 1] for name in failed], seconds)

    def start(self, words, case):
        environment = {**os.environ, "CUBEWAY_MUTANTS": ",".join(map(str, case.mutants))}
        return subprocess.run([self.options.programs[words[0]], *words[1:]], env=environment, capture_output=True,
                              text=True, errors="replace", check=False)


def name_of(case):
    return "+".join(map(str, case.mutants)) or "none"


def words_of(case, words):
    what = words[case.mutants[0]] if len(case.mutants) == 1 else "both" if case.mutants else "nothing: the control"
    return what + {WORLD: "", HARM: "; harm only", UNIT: "; unit test"}[case.where]


def rules_of(result):
    if result is None:
        return ""
    if not result.failed:
        return "-"
    if result.case.where == UNIT:
        return ", ".join(rule for rule, _ in result.by)
    return ", ".join(f"{rule} ({count})" for rule, count in result.by)


def describe(r, words, harm):
    entry = {"mutants": list(r.case.mutants), "broken": words_of(r.case, words), "where": r.case.where,
             "expected": r.case.found, "found": r.failed > 0, "seeds": r.seeds, "first": r.first or None,
             "failed": r.failed, "by": r.by, "seconds": r.seconds}
    other = harm.get(r.case.mutants) if r.case.where == WORLD else None
    if other is not None:
        entry["harm"] = {"seeds": other.seeds, "first": other.first or None, "failed": other.failed, "by": other.by}
    return entry


def print_table(results, words, harm):
    head = ["mutant", "what is broken", "seeds", "first", "found by (seeds)", "seconds"]
    head += ["harm (seeds)"] if harm else []
    rows = []
    for r in results:
        first = str(r.first or ("-" if r.seeds else ""))
        row = [name_of(r.case), words_of(r.case, words), str(r.seeds or ""), first, rules_of(r), f"{r.seconds:.1f}"]
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

# SPDX-License-Identifier: Apache-2.0
"""How fast cwsim simulates: packet-hops and events a second of processor time, the start, and memory, each beside a
build of an earlier commit in the same minutes, by turns. Prints the tables of docs/benchmarks.md ("Speed").

    tests/bench/bench_sim.py --cwsim build/bin/cwsim [--before <cwsim of an earlier commit>] [--rounds 5]
                             [--only "512 servers, failures"] [--large]         # --large: 4,096 servers as well
    tests/bench/bench_sim.py --cwsim build/bin/cwsim [--before ..] --instructions   # callgrind, small worlds
    tests/bench/bench_sim.py --cwsim build/bin/cwsim --smoke                        # as the test suite does

The rates are of the time in which the load was on: neither the start nor the time in which packets only arrive are in
them. Processor time does not count what others do meanwhile, but caches are shared: the ratio of two builds that ran by
turns says more than either rate. Instructions repeat; they are those of a run less those of a shorter one, by the
packet-hops that the longer one has more. Two builds must give the same digests (the exit code is 1 otherwise).
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

CASES = {
    "512 servers, failures": "churn --dims 8x8x8 --churn 15 --settle 200ms --seconds 0.5",
    "512 servers, full load": "throughput --dims 8x8x8 --warm 20ms --measure 20ms",
    "216 servers, failures": "churn --dims 6x6x6 --churn 15 --settle 200ms --seconds 0.5",
}
LARGE = {
    "4,096 servers, failures": "churn --dims 16x16x16 --churn 15 --settle 20ms --seconds 0.1",
    "4,096 servers, full load": "throughput --dims 16x16x16 --warm 10ms --measure 10ms",
}
SMOKE = {"8 servers, failures": "churn --dims 2x2x2 --churn 10 --settle 20ms --seconds 0.05"}
# A short run, and by what it becomes a longer one.
COUNTED = {
    "64 servers, failures": ("churn --dims 4x4x4 --churn 15 --settle 100ms", "--seconds 0.1", "--seconds 0.4"),
    "64 servers, full load": ("throughput --dims 4x4x4 --warm 5ms", "--measure 5ms", "--measure 20ms"),
}
FIELDS = {
    "packet-hops/s": "packet_hops_per_processor_second",
    "events/s": "events_per_processor_second",
    "start, s": "start_seconds",
    "bytes a node": "bytes_per_node",
}


def run(cwsim, command, before=()):
    """The report of a run."""
    words = [*before, cwsim, *command.split(), "--json", "--quiet"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout), done.stderr


def short(number):
    """A number as people read it."""
    if number >= 1e6:
        return f"{number / 1e6:.2f} M"
    return f"{number / 1e3:.0f} k" if number >= 1e4 else f"{number:.3g}"


class Same:
    """Whether all builds have given the same digests."""

    def __init__(self):
        self.fine = True

    def look(self, name, digests):
        if len(digests) > 1:
            self.fine = False
            print(f"# {name}: the digests differ: {' '.join(sorted(digests))}", flush=True)


def by_turns(builds, cases, rounds, same):
    """One table: a row for each case and figure, with the medians of both builds, and of the ratios of the turns."""
    print("| what | figure | before | now | now / before, median (least to most) |")
    print("| --- | --- | --- | --- | --- |")
    for name, command in cases.items():
        turns = []
        for turn in range(rounds):
            order = builds if turn % 2 == 0 else reversed(builds)
            turns.append({build: run(path, command)[0] for build, path in order})
        same.look(name, {report["digest"] for turn in turns for report in turn.values()})
        for title, field in FIELDS.items():
            if field not in turns[0]["now"]:
                sys.exit(f"this cwsim does not report {field}: it is older than this benchmark")
            middle = {build: statistics.median(turn[build][field] for turn in turns) for build, _ in builds}
            before = short(middle["before"]) if "before" in middle else ""
            row = f"| {name} | {title} | {before} | {short(middle['now'])}"
            if "before" in middle:
                ratios = [turn["now"][field] / turn["before"][field] for turn in turns]
                row += f" | {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |"
            else:
                row += " | |"
            print(row, flush=True)


def counted(cwsim, command, folder):
    """Instructions and packet-hops of one run, and its digest."""
    out = os.path.join(folder, "callgrind.out")
    report, said = run(cwsim, command, ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"])
    return int(re.search(r"Collected : (\d+)", said).group(1)), report["packet_hops"], report["digest"]


def by_instructions(builds, same):
    """Instructions a packet-hop, of what a longer run has more than a shorter one."""
    if shutil.which("valgrind") is None:
        print("# no valgrind: instructions are not counted")
        return
    print("| what | build | instructions a packet-hop | of the whole run |")
    print("| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, (command, brief, longer) in COUNTED.items():
            digests = set()
            for build, path in builds:
                less, fewer, _ = counted(path, f"{command} {brief}", folder)
                more, hops, digest = counted(path, f"{command} {longer}", folder)
                digests.add(digest)
                print(f"| {name} | {build} | {(more - less) / (hops - fewer):.0f} | {more / 1e6:.0f} M |", flush=True)
            same.look(name, digests)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cwsim", required=True)
    parser.add_argument("--before")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    builds = [("before", options.before)] if options.before else []
    builds.append(("now", options.cwsim))
    same = Same()
    if options.instructions:
        by_instructions(builds, same)
    else:
        cases = SMOKE if options.smoke else {**CASES, **(LARGE if options.large else {})}
        if options.only:
            cases = {name: command for name, command in {**CASES, **LARGE}.items() if options.only in name}
        by_turns(builds, cases, 1 if options.smoke else options.rounds, same)
    return 0 if same.fine else 1


if __name__ == "__main__":
    sys.exit(main())

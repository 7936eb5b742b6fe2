# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests of cwsim share: running a command, and judging what it says.

    test_cmd_x.py --cwsim <program> [--top <the repository>] [unittest's words]

Tests choose clusters and times so that a sanitized build needs seconds at most. Nothing here looks at the wall clock.
"""

import argparse
import json
import subprocess
import sys
import unittest

LIMIT_S = 100
OPTIONS = None

# What every report of a run has; throughput has the last three beside them.
RUN_FIELDS = """seed commit dims packets delivered dropped dropped_by_cause misdelivered duplicated hops_mean hops_max
    sim_seconds wall_seconds packet_hops packet_hops_per_second start_seconds processor_seconds
    packet_hops_per_processor_second events_per_processor_second bytes_per_node digest""".split()
MACHINE_FIELDS = {"wall_seconds", "packet_hops_per_second", "start_seconds", "processor_seconds",
                  "packet_hops_per_processor_second", "events_per_processor_second"}
THROUGHPUT_FIELDS = ["achieved_gbps", "bound_gbps", "ratio"]


class Case(unittest.TestCase):
    maxDiff = None

    def cwsim(self, line, *more, code=0):
        """Runs `cwsim <line> <more>`, which must end with that code; gives the finished process."""
        words = [OPTIONS.cwsim, *line.split(), *more]
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout[-2000:]}{done.stderr}")
        return done

    def report(self, line, *more, code=0):
        """The JSON report of a command."""
        return json.loads(self.cwsim(line, *more, "--json", "--quiet", code=code).stdout)

    def refused(self, line, *says):
        """Exit code 2, one line on standard error with these words, nothing on standard output."""
        done = self.cwsim(line, code=2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for words in says:
            self.assertIn(words, done.stderr)

    def sound(self, report, fields=()):
        """A report of a run: all fields, in which nothing contradicts anything."""
        self.assertLessEqual({*RUN_FIELDS, *fields}, report.keys())
        self.assertEqual(report["misdelivered"], 0)
        self.assertEqual(report["duplicated"], 0)
        self.assertEqual(report["dropped"], sum(report["dropped_by_cause"].values()))
        self.assertRegex(report["digest"], "^[0-9a-f]{16}$")
        self.assertGreater(report["sim_seconds"], 0)
        self.assertGreater(report["wall_seconds"], 0)
        self.assertGreater(report["bytes_per_node"], 0)
        rate = report["packet_hops"] / report["wall_seconds"]
        self.assertAlmostEqual(report["packet_hops_per_second"], rate, delta=1e-4 * rate)
        self.assertGreater(report["start_seconds"], 0)
        self.assertGreater(report["processor_seconds"], 0)
        if "ratio" in report:
            self.assertLessEqual(report["ratio"], 1)
            self.assertAlmostEqual(report["ratio"], report["achieved_gbps"] / report["bound_gbps"], places=6)

    def repeats(self, line):
        """The same command twice: the same report but for what the machine took. Gives the report."""
        first, second = self.report(line), self.report(line)
        self.assertEqual(timeless(first), timeless(second))
        return first


def timeless(value):
    """A report without what depends on the machine."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k not in MACHINE_FIELDS}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--cwsim", required=True)
    parser.add_argument("--top", default=".")
    parser.add_argument("--module", help="tests/unit/services/module_careless.c, built without a sanitizer")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])

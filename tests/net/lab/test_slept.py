# SPDX-License-Identifier: Apache-2.0
"""A machine that was suspended: CLOCK_BOOTTIME is a day ahead of CLOCK_MONOTONIC. So whoever compares instants of the
two, or sets a timer of the one by the other, is a day early or late.

    test_slept.py --bin <folder of programs> [--program <unit test>]... [unittest's words]

A time namespace has such a clock: the test starts itself again in one, and skips where none can be had.
"""

import os
import subprocess
import sys
import time
import unittest

import lab_kit
from lab_kit import ask, run

SLEPT_S = 86400
PROGRAMS = []


class Slept(lab_kit.Case):
    def test_clocks_differ(self):
        ahead = time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
        self.assertGreater(ahead, SLEPT_S - 1)

    def test_shims_and_pump(self):
        for program in PROGRAMS:
            done = subprocess.run([program], capture_output=True, text=True, timeout=lab_kit.LIMIT_S, check=False)
            self.assertIn(done.returncode, (0, lab_kit.SKIP), done.stdout + done.stderr)

    def test_lab(self):
        """Daemons, keeper, witnesses and judge: all of one clock."""
        self.up("2x2x2")
        run("ctl", "0,0,0", "service", "witness", "stream", "hello", "rate=1000")
        time.sleep(0.3)
        run("pause", "1,1,1", "50ms")
        time.sleep(0.7)
        run("ctl", "0,0,0", "service", "witness", "stop")
        seen = ask("judge", "--last", "10s")
        self.assertEqual(seen["misdelivered"], 0, seen.get("first"))
        self.assertGreater(seen["judged"], 500)
        self.wait_all(8)


def enter():
    """Goes on in a time namespace whose machine has slept for a day."""
    words = ["unshare", "--time", "--boottime", str(SLEPT_S), "--fork", "--kill-child"]
    words += [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode != 0:
        print("skipped: no time namespaces here")
        sys.exit(lab_kit.SKIP)
    os.environ["CUBEWAY_SLEPT"] = "yes"
    os.execvp(words[0], [*words, sys.executable, "-B", *sys.argv])


if __name__ == "__main__":
    if "CUBEWAY_SLEPT" not in os.environ:
        enter()
    while "--program" in sys.argv:
        at = sys.argv.index("--program")
        PROGRAMS.append(os.path.abspath(sys.argv[at + 1]))
        del sys.argv[at:at + 2]
    lab_kit.main()

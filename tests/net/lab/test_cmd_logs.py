# SPDX-License-Identifier: Apache-2.0
"""cwlab logs: of one server, of all in the order of time, and as they come."""

import os
import re
import subprocess

import lab_kit
from lab_kit import run


class Logs(lab_kit.Case):
    def test_one_and_all(self):
        self.up("2x2x1")
        one = run("logs", "1,0,0").stdout
        self.assertIn("msg=ready", one)
        self.assertNotIn("==>", one)
        both = run("logs", "1,0,0", "0,*,*").stdout
        self.assertEqual(re.findall("==> (.*)", both), ["0,0,0", "0,1,0", "1,0,0"])
        lines = run("logs", "--merge").stdout.splitlines()
        self.assertEqual({line.split()[0] for line in lines}, {"0,0,0", "0,1,0", "1,0,0", "1,1,0", "keeper"})
        self.assertRegex("\n".join(lines), """\nkeeper time=.* msg="the lab's keeper: start 1,1,0"\n""")
        times = [line.split()[1] for line in lines if line.split()[1].startswith("time=")]
        self.assertEqual(times, sorted(times))
        self.assertEqual(len(run("logs", "--merge", "--last", "3").stdout.splitlines()), 3)
        self.assertIn("expected a server", run("logs", "5,0,0", code=2).stderr)

    def test_follow(self):
        self.up("2x1x1")
        words = [lab_kit.OPTIONS.cwlab, "logs", "-f", "--last", "1"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as logs:
            logs.stdout.readline()
            run("fail", "1,0,0")
            while not re.match("0,0,0 .*level=warn", line := logs.stdout.readline()):
                self.assertNotEqual(line, "")
            run("down")
            self.assertEqual(logs.wait(timeout=lab_kit.LIMIT_S), 0)
            self.assertIn("has ended", logs.stderr.read())

    def test_a_long_log_is_cut(self):
        self.up("1x1x1")
        path = os.path.join(self.folder, "lab", "0,0,0.log")
        with open(path, "ab") as log:
            log.write(b"x" * 99 + b"\n")
            log.write((b"x" * 99 + b"\n") * 50000)
        lab_kit.until("the log is cut", lambda: os.path.getsize(path) < 100000)
        self.assertGreater(os.path.getsize(path + ".1"), 5000000)
        self.assertIn("msg=ready", run("logs", "0,0,0").stdout)  # also from the part that was cut off


if __name__ == "__main__":
    lab_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwlab down, and all the ways in which a lab ends without it: nothing is left behind."""

import os
import signal

import lab_kit
from lab_kit import ask, run


class Down(lab_kit.Case):
    def test_a_killed_keeper_takes_everything_along(self):
        keeper = self.up("3x3x3")["keeper"]
        pids = self.pids()
        os.kill(keeper, signal.SIGKILL)
        self.nothing_left(pids)
        self.assertEqual([lab["state"] for lab in ask("list")["labs"]], ["dead"])
        self.assertIn("is dead", run("status", "--name", "lab", code=3).stderr)
        # The next one says that it found the remains, and works.
        self.assertIn("removed what a dead lab 'lab' had left", run("up", "2x2x1").stderr)
        run("down")
        self.assertEqual(os.listdir(self.folder), [])

    def test_all(self):
        self.up("2x2x1", "--name", "a")
        keeper = self.up("2x2x1", "--name", "b")["keeper"]
        os.kill(keeper, signal.SIGKILL)
        lab_kit.until("b is dead", lambda: "dead" in [lab["state"] for lab in ask("list")["labs"]])
        run("down", "--all")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_paused_daemon_is_no_obstacle(self):
        self.up("2x2x1")
        run("pause", "1,0,0", "1h")
        pids = self.pids()
        run("down")
        self.nothing_left(pids)


if __name__ == "__main__":
    lab_kit.main()

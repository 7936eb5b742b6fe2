# SPDX-License-Identifier: Apache-2.0
"""cwlab down, and all the ways in which a lab ends without it: nothing is left behind."""

import os
import signal
import subprocess

import lab_kit
from lab_kit import ask, lines, run


class Down(lab_kit.Case):
    def test_a_killed_keeper_takes_everything_along(self):
        keeper = self.up("3x3x3")["keeper"]
        pids = self.pids()
        os.kill(keeper, signal.SIGKILL)
        self.nothing_left(pids)
        self.assertEqual([lab["state"] for lab in lines("list")], ["dead"])
        self.assertIn("is dead", run("status", "--name", "lab", code=3).stderr)
        # The next `up` says that it found the remains of this lab, and works.
        self.assertIn("removed what a dead lab 'lab' had left", run("up", "2x2x1").stderr)
        run("down")
        self.assertEqual(os.listdir(self.folder), [])

    def test_all(self):
        self.up("2x2x1", "--name", "a")
        keeper = self.up("2x2x1", "--name", "b")["keeper"]
        os.kill(keeper, signal.SIGKILL)
        lab_kit.until("b is dead", lambda: "dead" in [lab["state"] for lab in lines("list")])
        said = run("down", "--all").stderr
        self.assertIn("lab 'a' of 4 servers has ended", said)
        self.assertIn("dead lab 'b'", said)
        self.assertEqual(os.listdir(self.folder), [])
        self.assertIn("no lab is up", run("down", "--all").stderr)

    def test_all_or_one(self):
        """Which of two was meant nobody can tell: no lab ends."""
        self.up("1x1x1", "--name", "one")
        self.assertIn("give one of the two", run("down", "--all", "--name", "one", code=2).stderr)
        self.assertIn("--name is given twice", run("down", "--name", "one", "--name", "two", code=2).stderr)
        self.assertEqual([lab["state"] for lab in lines("list")], ["up"])

    def test_after_an_interrupted_up(self):
        """The lab ends by itself; down waits for that, and says so; nobody takes it for a dead one."""
        up = subprocess.Popen([lab_kit.OPTIONS.cwlab, "up", "4x4x4", "--scale", "1", "--name", "r"],
                              stderr=subprocess.PIPE, text=True)
        lab_kit.until("a keeper", lambda: os.path.exists(f"{self.folder}/r/keeper.sock"))
        up.send_signal(signal.SIGINT)
        self.assertIn("interrupted: the lab that was coming up ends by itself now", up.communicate()[1])
        self.assertEqual(up.returncode, -signal.SIGINT)
        self.assertIn([lab["state"] for lab in lines("list")], [["up"], ["ending"], []])
        done = run("down", "--name", "r", code=None)
        self.assertIn(done.returncode, (0, 3), done.stderr)  # 3: it was too late for that
        self.assertRegex(done.stderr, "lab 'r' of 64 servers has ended|there is no lab 'r'")
        self.assertEqual(os.listdir(self.folder), [])

    def test_only_the_default_lab(self):
        self.up("2x1x1", "--name", "mine")
        done = run("down", code=3)  # it is the only one, and may be somebody else's
        self.assertIn("there is no lab 'lab'; there is mine", done.stderr)
        self.up("2x1x1")
        run("down")
        self.assertEqual([lab["lab"] for lab in lines("list")], ["mine"])
        os.environ["CWLAB_NAME"] = "mine"
        self.addCleanup(os.environ.pop, "CWLAB_NAME")
        self.assertEqual(ask("status", code=None)["lab"], "mine")
        run("down")
        self.assertEqual(self.up("1x1x1")["lab"], "mine")  # up takes the name, too

    def test_a_terminal_is_asked(self):
        for name in "a", "b":
            self.up("2x1x1", "--name", name)
        here, there = os.openpty()
        with subprocess.Popen([lab_kit.OPTIONS.cwlab, "down", "--all"], stdin=there, stderr=there) as down:
            os.write(here, b"n\ny\n")
            self.assertEqual(down.wait(timeout=lab_kit.LIMIT_S), 0)
        os.close(here)
        os.close(there)
        self.assertEqual([lab["lab"] for lab in lines("list")], ["a"])

    def test_a_paused_daemon_is_no_obstacle(self):
        self.up("2x2x1")
        run("pause", "1,0,0", "1h")
        pids = self.pids()
        said = run("down").stderr  # where it takes long, what goes on is told meanwhile
        self.assertRegex(said, "^(lab 'lab' is ending, since .*\n)*lab 'lab' of 4 servers has ended\n$")
        self.nothing_left(pids)


if __name__ == "__main__":
    lab_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwlab rescale: other timers for a lab that runs."""

import os
import signal
import subprocess
import time

import lab_kit
from lab_kit import ask, run


class Rescale(lab_kit.Case):
    def test_other_timers_for_a_lab_that_runs(self):
        """No server that lives has other timers than the rest; who is dead gets them when it is restored."""
        self.up("2x2x1")
        run("exec", "0,0,0", "ip", "link", "add", "mark0", "type", "veth")  # the namespaces stay
        run("fail", "1,1,0")
        before = {row["server"]: row for row in lab_kit.rows("status", code=None)}
        first = ask("status", code=None)
        self.assertEqual(first["timers"], "hello 10ms, dead 50ms, hold 60ms")
        self.assertRegex(run("rescale", "--scale", "1").stderr, "it is so already: hello 10ms, dead 50ms")
        said = run("rescale", "--scale", "6").stderr
        self.assertRegex(said, "^3 daemons began again, and know each other, with hello 60ms, dead 300ms, hold 360ms: "
                               "6 times the default ones")
        status = ask("status", code=None)
        self.assertGreater(first["keeper"], 1)
        self.assertEqual(status["keeper"], first["keeper"])
        self.assertEqual((status["timers"], status["timers_scale"]), ("hello 60ms, dead 300ms, hold 360ms", 6))
        after = {row["server"]: row for row in lab_kit.rows("status", code=None)}
        for server, row in after.items():
            self.assertEqual(row["starts"], before[server]["starts"] + (server != "1,1,0"))
            self.assertEqual(row["state"], before[server]["state"])
        run("restore", "1,1,0", "--wait")  # a neighbour with other timers would be refused by its hellos
        self.wait_all(4)
        run("exec", "0,0,0", "ip", "link", "show", "mark0")
        said = ask("rescale", "--scale", "1")
        self.assertEqual((said["started"], said["already"], said["dead_ns"]), (4, False, 50_000_000))
        self.assertIn("expected 1 to 10000", run("rescale", "--scale", "10001", code=2).stderr)

    def machine(self, wanted):
        """Makes the lab's machine one in which so many processes want a processor, as /proc/loadavg has it."""
        with open(self.loadavg, "w", encoding="ascii") as out:
            out.write(f"{wanted}.00 {wanted}.00 {wanted}.00 {wanted + 1}/200 4711\n")

    def here(self, *words, code=0):
        """Runs cwlab on that machine: its keeper stays there, and sees it change."""
        there = 'mount --bind "$0" /proc/loadavg && exec "$@"'
        done = subprocess.run(["unshare", "-m", "sh", "-c", there, self.loadavg, lab_kit.OPTIONS.cwlab, *words],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def keep_waiting(self, pid, seconds):
        """As a busy machine does to a daemon."""
        try:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(seconds)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass  # it begins again just now

    def test_the_keeper_does_it_by_itself(self):
        """When the machine has become too busy and links were lost to it, unless something would be missed."""
        self.loadavg = os.path.join(self.folder, "loadavg")
        self.machine(0)
        bound = subprocess.run(["unshare", "-m", "mount", "--bind", self.loadavg, "/proc/loadavg"], check=False,
                               capture_output=True)
        if bound.returncode != 0:
            self.skipTest("only root may give a lab another /proc/loadavg")
        self.here("up", "2x2x1")
        self.assertEqual(ask("status", code=None)["timers_scale"], 1)
        run("ctl", "0,0,0", "kv", "set", "one", "1")
        self.keep_waiting(self.pids()[0], 0.2)
        # Asked by hand first, on a busy machine of its own: a keeper rests for a minute after such an answer.
        keepers, self.loadavg = self.loadavg, os.path.join(self.folder, "busy")
        self.machine(30 * os.cpu_count())
        held = self.here("rescale", "--if-needed", code=1)
        self.assertIn("they stay as they are, because a cached value would be gone", held)
        self.assertEqual(ask("status", code=None)["timers_scale"], 1)
        lab_kit.until("it is gone", lambda: run("ctl", "0,0,0", "kv", "delete", "one", code=None).returncode == 0, 10)
        self.loadavg = keepers
        self.machine(30 * os.cpu_count())
        log = os.path.join(self.folder, "lab", "keeper.log")

        def said(words):
            with open(log, encoding="utf-8") as text:
                there = words in text.read()
            if not there:  # it goes on, as it would on such a machine
                self.keep_waiting(self.pids()[0], 0.2)
                time.sleep(1)
            return there

        lab_kit.until("it is done", lambda: said("and all daemons began again"), 60)
        self.wait_all(4)
        status = ask("status", code=None)
        self.assertEqual(status["rescaled_from"], 1)
        self.assertGreaterEqual(status["timers_scale"], 3)
        self.assertRegex(status["rescaled_for"],
                         r"^\d of 4 daemons did not run when due, for up to \d+ ms \(.,.,.\)$")
        self.assertRegex(run("status", code=None).stderr,
                         "keeper gave it longer timers .* ago, .* because this machine, not the network, had cost it "
                         "links: . of 4 daemons did not run")
        self.assertIn("--if-needed with --scale", run("rescale", "--if-needed", "--scale", "2", code=2).stderr)


if __name__ == "__main__":
    lab_kit.main()

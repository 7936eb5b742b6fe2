# SPDX-License-Identifier: Apache-2.0
"""cwlab up: 27 daemons that know each other, several labs at once, and what is not possible."""

import json
import os
import shutil
import signal
import subprocess

import lab_kit
from lab_kit import ask, run


class Up(lab_kit.Case):
    def test_27_servers(self):
        up = self.up("3x3x3", "--driver", "netns")
        self.assertEqual((up["servers"], up["driver"]), (27, "netns"))
        if up["processors_wanted"] < 0.75:  # less than one processor, however many there are
            self.assertEqual(up["timers_scale"], 1)
        status = ask("status", code=None)
        self.assertEqual((status["running"], status["know_all"]), (27, 27))
        pids = self.pids()
        run("down")
        self.nothing_left(pids + [up["keeper"]])
        self.assertEqual(os.listdir(self.folder), [])

    def test_one_server_waits_for_nobody(self):
        self.assertLess(self.up("1x1x1")["converged_ns"], 10e9)
        self.assertEqual(ask("status", code=None)["know_all"], 1)

    def test_timers_by_scale(self):
        up = self.up("2x2x1", "--scale", "3")
        self.assertEqual((up["timers_scale"], up["hello_ns"], up["dead_ns"], up["hold_ns"]),
                         (3, 30_000_000, 150_000_000, 180_000_000))
        self.assertEqual(ask("pingall")["lost"], 0)
        self.assertIn("3 times the default", run("up", "2x1x1", "--scale", "3", "--name", "two").stderr)
        self.assertIn("expected 1 to", run("up", "2x1x1", "--scale", "1000000", "--name", "three", code=2).stderr)

    def test_timers_of_a_busy_machine(self):
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(8 * os.cpu_count())]
        for process in busy:
            self.addCleanup(process.kill)
        # Whoever may run daemons before all others (root) needs timers that are longer, but not by as much.
        full, without = ask("up", "2x1x1", "--name", "before"), shutil.which("setpriv")
        if full["before_others"]:
            self.assertEqual(full["timers_scale"], 3)
        if os.geteuid() == 0 and without is not None:
            lab_kit.OPTIONS.cwlab = wrapper = self.folder + ".sh"
            with open(wrapper, "w", encoding="utf-8") as out:
                out.write(f'#!/bin/sh\nexec setpriv --bounding-set -sys_nice {lab_kit.OPTIONS.bin}/cwlab "$@"\n')
            os.chmod(wrapper, 0o755)
            self.addCleanup(os.unlink, wrapper)
            self.addCleanup(setattr, lab_kit.OPTIONS, "cwlab", os.path.join(lab_kit.OPTIONS.bin, "cwlab"))
        try:
            up = ask("up", "2x1x1")
            self.assertFalse(up["before_others"])
            self.assertGreaterEqual(up["processors_wanted"], os.cpu_count())
            self.assertGreaterEqual(up["timers_scale"], 3)
            said = run("up", "2x1x1", "--name", "two", "--scale", "1").stderr
            self.assertIn("this machine is busy", said)
            said = run("up", "2x1x1", "--name", "three").stderr
            self.assertRegex(said, "timers are longer: .* other processes want now")
            self.assertEqual(ask("up", "2x1x1", "--name", "four", "--driver", "process")["timers_scale"], 1)
        finally:
            for one in busy:
                one.kill()
                one.wait()

    def test_one_process(self):
        self.up("3x3x3", "--driver", "process")
        self.assertEqual(ask("pingall")["received"], 702)
        self.assertIn("one process", run("fail", "0,0,0", code=2).stderr)

    def test_two_labs(self):
        self.up("2x2x2", "--name", "one", "--timers", "fast", "--mtu", "1500")
        self.up("2x2x1", "--name", "two", "--shim", "udp", "--rate", "100mbit")
        self.assertIn("several labs are up (one, two)", run("status", code=3).stderr)
        self.assertEqual([lab["state"] for lab in lab_kit.lines("list")], ["up", "up"])
        self.assertEqual(ask("pingall", "--name", "two")["lost"], 0)
        self.assertIn("up already", run("up", "2x2x2", "--name", "one", code=2).stderr)
        run("down", "--name", "one")
        self.assertEqual(ask("status", code=None)["know_all"], 4)

    def test_two_of_one_name_at_once(self):
        """One of the two comes up, and the other one says why it does not."""
        words = [lab_kit.OPTIONS.cwlab, "up", "2x1x1", "--scale", "1", "--name", "same"]
        both = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        said = {one.communicate()[1]: one.returncode for one in both}
        self.assertEqual(sorted(said.values()), [0, 2], said)
        refused = next(text for text in said if said[text] == 2)
        self.assertRegex(refused, "is up already|is coming up just now")
        self.assertNotIn("removed what a dead lab", refused)
        self.assertEqual([lab["state"] for lab in lab_kit.lines("list")], ["up"])

    def test_files_are_not_in_memory(self):
        """Where the folder of labs is in memory, what may grow is on a disk."""
        words = ["unshare", "--mount", "sh", "-ec", "mount -t tmpfs none /run; unset CWLAB_DIR; "
                 f"cwlab={lab_kit.OPTIONS.cwlab}; $cwlab up 2x1x1 --name memory --scale 1; "
                 "$cwlab status --name memory --json || true; ls /run/cubeway/lab/memory; "
                 "$cwlab down --name memory --quiet"]
        if os.geteuid() != 0 or subprocess.run(words[:2] + ["true"], check=False).returncode != 0:
            self.skipTest("only root may mount a file system here")
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=lab_kit.LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        _, _, status, *names = done.stdout.splitlines()  # a line for each of two servers, one for the lab
        status = json.loads(status)
        self.assertEqual(status["files_are"], "on disk", status)
        self.assertFalse(os.path.exists(status["files"]))  # it went with the lab
        self.assertNotIn("0,0,0.log", names)
        self.assertIn("0,0,0.conf", names)

    def test_pcap(self):
        self.up("2x2x1", "--shim", "pcap")
        self.assertEqual(ask("pingall")["lost"], 0)

    def test_foreground_ends_with_its_command(self):
        words = [lab_kit.OPTIONS.cwlab, "up", "2x2x1", "--foreground", "--json"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as up:
            self.assertEqual(json.loads(up.stdout.readline())["servers"], 4)
            pids = self.pids()
            up.send_signal(signal.SIGKILL)
        self.nothing_left(pids)
        lab_kit.until("the folder is gone", lambda: os.listdir(self.folder) == [])

    def test_what_is_wrong(self):
        for words, said in (
                (["3x3"], "no dimensions"), (["3x3x3", "--driver", "vm"], "expected netns"),
                (["3x3x3", "--shim", "pcpa"], "did you mean pcap?"), (["3x3x3", "--timers", "fsat"], "mean fast?"),
                (["3x3x3", "--patience", "5"], "--patience 5: expected a time with its unit, as 5s or 200ms"),
                ([], "shape of the torus"),
                (["3x3x3", "--mtu", "100"], "expected 1500"), (["3x3x3", "--name", "a/b"], "no name for a lab"),
                (["3x3x3", "--service", "nosuch"], "expected a service that is built in, or the file of one (.so)\n"),
                (["3x3x3", "--service", "kvcach"], "the file of one (.so); did you mean kvcache?"),
                (["3x3x3", "--service", "./nosuch.so"], "--service ./nosuch.so: No such file or directory"),
                (["3x3x3", "--service", __file__ + "/../lab_kit.py"], "Not a directory"),
                (["3x3x3", "--service", __file__], "test_cmd_up.py: invalid ELF header"),
                (["3x3x3", "--shim", "wire"], "expected raw"),
                (["3x3x3", "--timers", "slow"], "expected fast")):
            self.assertIn(said, run("up", *words, code=2).stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_daemon_that_fails_is_quoted(self):
        script = os.path.join(self.folder, "..", os.path.basename(self.folder) + ".sh")
        with open(script, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\necho this is why >&2\nexit 3\n")
        os.chmod(script, 0o755)
        self.addCleanup(os.unlink, script)
        os.environ["CUBEWAYD"] = script
        self.addCleanup(os.environ.pop, "CUBEWAYD")
        said = run("up", "2x2x1", code=1).stderr  # at once: there is nothing to wait for
        self.assertIn("of 4 servers know all others", said)
        self.assertIn("exit code 3", said)
        self.assertIn("this is why", said)
        self.assertNotIn("cwlab restore", said)  # the lab is taken down
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    lab_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwsim run: scenario files. Those of the repository pass, what cannot be read is shown with its line."""

import glob
import os
import signal
import tempfile

import cwsim_kit

SMALL = """torus 2x2x2
seed 5
timers fast
at 50ms workload keys rate=200
at 60ms kill 1,0,0
at 120ms start 1,0,0
at 200ms stop
at 700ms quiet
end 700ms
expect misdelivered = 0
"""


class Run(cwsim_kit.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cwsim-run-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "scenario.txt")

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_fine(self):
        self.write(SMALL)
        self.cwsim("run --check", self.path)
        first, second = (self.report("run", self.path) for _ in range(2))
        self.sound(first)
        self.assertEqual(cwsim_kit.timeless(first), cwsim_kit.timeless(second))
        self.assertEqual((first["verdict"], first["seed"], first["kills"]), ("fine", 5, 1))
        self.assertNotEqual(self.report("run --seed 6", self.path)["digest"], first["digest"])

    def test_unexpected(self):
        self.write(SMALL + "expect kills = 2\n")
        done = self.cwsim("run --quiet", self.path, code=1)
        self.assertIn(f"{self.path}:11: expected kills = 2, but it is 1", done.stderr)

    def test_a_command_that_fails(self):
        """The report counts it; whether that is a fault, the scenario says."""
        self.write(SMALL + "at 200ms tell 0,0,0 ping nonsense\nat 210ms tell 0,0,0 ping to 1,0,0\n")
        run = self.report("run", self.path)
        self.assertEqual((run["tells_failed"], run["verdict"]), (1, "fine"))
        self.write(SMALL + "at 200ms tell 0,0,0 ping nonsense\nexpect tells_failed = 0\n")
        self.write(SMALL + "at 200ms tell 0,0,0 ping to 9,9,9\n")
        self.assertIn("'9,9,9' is not a server of this torus (2x2x2), as 0,0,0; usage: ping to SERVER",
                      str(self.report("run", self.path)["answers"]))
        self.write(SMALL + "at 200ms tell 0,0,0 ping nonsense\nexpect tells_failed = 0\n")
        self.assertIn("expected tells_failed = 0, but it is 1", self.cwsim("run --quiet", self.path, code=1).stderr)

    def test_a_service_that_crashes(self):
        if cwsim_kit.OPTIONS.module is None:
            self.skipTest("a sanitizer reports crashes")
        self.write(f"torus 2x1x1\nservice {cwsim_kit.OPTIONS.module}\nat 200ms tell 1,0,0 careless crash\nend 210ms\n")
        done = self.cwsim("run --seed 3", self.path, code=-signal.SIGSEGV)
        self.assertIn("crashed: SIGSEGV at address 0x10 in service careless, in on_command, on server 1,0,0, "
                      "at 0.200000000 s\n", done.stderr)
        self.assertRegex(done.stderr, r"(?m)^\S*careless\.so\S*\[0x[0-9a-f]+\]$")
        self.assertIn(f"this makes it happen again: cwsim run --seed 3 {self.path}\n", done.stderr)

    def test_a_service_that_holds_the_thread(self):
        """It is named, by the wall clock; the run is the same as without that."""
        if cwsim_kit.OPTIONS.module is None:
            self.skipTest("no module given")
        text = f"torus 2x1x1\nservice {cwsim_kit.OPTIONS.module}\nat 200ms tell 1,0,0 careless hold %d\nend 210ms\n"
        self.write(text % 60)
        done = self.cwsim("run --quiet --json", self.path)
        self.assertRegex(done.stderr, r"(?m)^service careless held the thread for \d+ms of the wall clock in "
                         r"on_command, on server 1,0,0, at 0\.200000000 s: "
                         r"neighbours of a daemon count it out after 50ms ")
        slow = self.report("run", self.path)["digest"]
        self.write(text % 0)
        self.assertEqual(self.report("run", self.path)["digest"], slow)

    def test_a_service_that_does_not_return(self):
        """The watchdog ends the run, and says whose call it was, when it began, and how it happens again."""
        if cwsim_kit.OPTIONS.module is None:
            self.skipTest("a sanitizer reports its end")
        text = f"torus 2x1x1\nservice {cwsim_kit.OPTIONS.module}\nat 200ms tell 1,0,0 careless %s\nend 210ms\n"
        self.write(text % "loop")
        done = self.cwsim("run --seed 3 --watchdog 300ms --quiet", self.path, code=-signal.SIGABRT)
        self.assertRegex(done.stderr, r"(?m)^ended by the watchdog: service careless, in on_command, on server 1,0,0, "
                         r"has held the thread for 0\.[3-9] s, at 0\.200000000 s$")
        self.assertRegex(done.stderr, r"(?m)^\S*careless\.so\S*\[0x[0-9a-f]+\]$")
        self.assertIn("again: cwsim run --seed 3 --watchdog 300ms --quiet " + self.path, done.stderr)
        self.write(text % "hold 400")
        self.cwsim("run --watchdog 0 --quiet", self.path)
        self.cwsim("run --watchdog 200ms --quiet", self.path, code=-signal.SIGABRT)

    def test_a_misuse_in_strict_mode(self):
        if cwsim_kit.OPTIONS.module is None:
            self.skipTest("a sanitizer stops the program")
        self.write(f"torus 2x1x1\nservice {cwsim_kit.OPTIONS.module}\n"
                   "at 200ms tell 1,0,0 careless free-twice\nend 210ms\n")
        plain = self.report("run", self.path)
        self.assertEqual(self.cwsim("run --quiet --json", self.path).stderr, "")
        os.environ["CUBEWAY_STRICT"] = "1"
        self.addCleanup(os.environ.pop, "CUBEWAY_STRICT")
        done = self.cwsim("run --quiet --json", self.path)
        self.assertRegex(done.stderr, r"^ *200000\.000 us +1,0,0 +error careless: "
                         "cw_packet_free: the packet is not in the service's hands")
        self.assertIn(plain["digest"], done.stdout)
        self.write(f"torus 2x1x1\nservice {cwsim_kit.OPTIONS.module}\n"
                   "at 200ms tell 1,0,0 careless write-late\nend 400ms\n")
        done = self.cwsim("run --quiet --json", self.path)
        self.assertRegex(done.stderr, r"^ *30[0-9]{4}\.[0-9]{3} us +1,0,0 +error careless: cw_packet_free: somebody "
                         "wrote to the packet afterwards, at byte 5 of 8: it was nobody's any more\n$")
        self.write(f"torus 2x1x1\nservice {cwsim_kit.OPTIONS.module}\nat 200ms tell 1,0,0 careless keep\nend 11s\n")
        done = self.cwsim("run --quiet --json", self.path)
        self.assertRegex(done.stderr, r" error careless: cw_request_done: not called for the command 'keep', of whose "
                         r"answer nothing has come for 10 s\n$")
        self.assertIn('"result":"not answered"', done.stdout)

    def test_a_service_in_a_circle(self):
        """It ends the run, by its name, and does not go on for ever at one instant."""
        if cwsim_kit.OPTIONS.module is None:
            self.skipTest("no module given")
        self.write(f"torus 2x1x1\nservice {cwsim_kit.OPTIONS.module}\n"
                   "at 200ms tell 1,0,0 careless circle\nend 210ms\n")
        done = self.cwsim("run --seed 3 --quiet", self.path, code=1)
        self.assertIn("stopped at 0.200000000 s: time stands still: 20000 times at one instant this server woke up, "
                      "and had more to do; what it did last was service careless, in timer; seed 3, servers 1,0,0; "
                      f"again: cwsim run --seed 3 --quiet {self.path}", done.stderr)

    def test_options_of_services(self):
        self.write(SMALL + "option ping timeout_us 5000\n")
        self.sound(self.report("run", self.path))
        for line, says in (("option ping colour red", "no service ping that knows an option colour"),
                           ("option nobody colour red", "no service nobody that knows an option colour"),
                           ("option ping timeout_us 0",
                            "no server runs: service ping: option timeout_us = \"0\": expected a whole")):
            self.write(SMALL + line + "\n")
            self.assertIn(says, self.cwsim("run --quiet", self.path, code=2).stderr)

    def test_broken_scenario(self):
        self.write(SMALL.replace("kill 1,0,0", "kil 1,0,0"))
        done = self.cwsim("run", self.path, code=2)
        self.assertTrue(done.stderr.startswith(f"{self.path}:5: "), done.stderr)
        self.assertIn("did you mean kill?", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.write(SMALL.replace("kill 1,0,0", "kil 1,0,0").replace("start 1,0,0", "start 9,9,9"))
        for check in "", "--check":
            said = self.cwsim(f"run {check}", self.path, code=2).stderr.splitlines()
            self.assertEqual([line.split(": ")[0] for line in said], [f"{self.path}:5", f"{self.path}:6"])
        self.assertEqual(done.stdout, "")

    def test_a_module_that_is_not_there(self):
        self.write("torus 2x1x1\nservice ./nope.so\nservice /nowhere/other.so\nend 10ms\n")
        said = self.cwsim("run --quiet", self.path, code=2).stderr.splitlines()
        self.assertEqual(len(said), 2, said)
        for line, name, text in zip((2, 3), ("./nope.so", "/nowhere/other.so"), said):
            self.assertTrue(text.startswith(f"{self.path}:{line}: service: {name}: "), text)
            self.assertIn("No such file or directory", text)

    def test_capture(self):
        self.write(SMALL)
        capture = self.path + ".pcapng"
        report = self.report("run --capture", capture, self.path)
        self.assertGreater(report["captured_frames"], 0)
        with open(capture, "rb") as file:
            self.assertEqual(file.read(4), b"\x0a\x0d\x0d\x0a")

    def test_scenarios_of_the_repository(self):
        for path in sorted(glob.glob(os.path.join(cwsim_kit.OPTIONS.top, "simulator", "scenarios", "*.txt"))):
            with self.subTest(scenario=os.path.basename(path)):
                report = self.report("run", path)
                self.assertEqual((report["verdict"], report["misdelivered"]), ("fine", 0))

    def test_refusals(self):
        self.refused("run", "one scenario file")
        self.refused("run there-is-no-such.txt", "there-is-no-such.txt")


if __name__ == "__main__":
    cwsim_kit.main()

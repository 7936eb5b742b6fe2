# SPDX-License-Identifier: Apache-2.0
"""A message to many on a torus of namespaces whose links have a rate, so that it takes as long as is wanted: all have
it, servers that lose power or stand still are named in bounded time and keep nobody waiting, wrong words are told.
"""

import json
import os
import signal
import subprocess
import threading
import time

import lab_kit

SERVERS = [f"{x},{y},{z}" for x in range(2) for y in range(2) for z in range(2)]
SOURCE, VICTIM = "0,0,0", "1,1,1"
UNREACHABLE = -101
SECOND = 15_000_000  # bytes: a second of six links of 20 Mb/s


class Multicast(lab_kit.Case):
    def setUp(self):
        super().setUp()
        # Long timers: a server that the machine keeps waiting must not be taken for dead here.
        self.up("2x2x2", "--driver", "netns", "--mtu", "9000", "--rate", "20mbit", "--scale", "8")

    def ctl(self, server, *words, code=0):
        done = subprocess.run([lab_kit.OPTIONS.cwlab, "ctl", server, "--json", *words], capture_output=True, text=True,
                              check=False,
                              timeout=lab_kit.LIMIT_S)
        self.assertEqual(done.returncode, code, f"{server} {words}\n{done.stdout}{done.stderr}")
        return [json.loads(row) for row in done.stdout.splitlines()] if code == 0 else done.stdout + done.stderr

    def send(self, size, *members):
        """Returns the answer, and the servers that are not complete."""
        rows = self.ctl(SOURCE, "service", "multicast", "send", str(size), "to", *members)
        self.assertEqual({row["reason"] for row in rows if row.get("status") == UNREACHABLE} - {"cannot be reached"},
                         set())
        return rows[0], {row["incomplete"]: row["status"] for row in rows if "incomplete" in row}

    def later(self, seconds, *actions):
        def act():
            time.sleep(seconds)
            for action in actions:
                action()
        thread = threading.Thread(target=act)
        thread.start()
        self.addCleanup(thread.join)

    def test_all_have_it(self):
        said, lost = self.send(SECOND // 5, "all")
        self.assertEqual((said["members"], said["complete"], lost), (7, 7, {}))
        said, lost = self.send(100_000, "0,0,1", VICTIM, "0,0,1", SOURCE)
        self.assertEqual((said["members"], said["complete"], lost), (2, 2, {}))
        said, lost = self.send(1, VICTIM)
        self.assertEqual((said["bytes"], said["complete"], lost), (1, 1, {}))

    def test_power_is_lost(self):
        self.later(0.3, lambda: lab_kit.run("fail", VICTIM, "--power"))
        begin = time.monotonic()
        said, lost = self.send(SECOND, "all")
        self.assertEqual((said["complete"], lost), (6, {VICTIM: UNREACHABLE}))
        self.assertLess(time.monotonic() - begin, 20)
        # Who is not there is named at once, and the others have it.
        said, lost = self.send(SECOND // 5, VICTIM, "0,1,1")
        self.assertEqual((said["complete"], lost), (1, {VICTIM: UNREACHABLE}))
        self.assertIn("no member but the source can be reached",
                      self.ctl(SOURCE, "service", "multicast", "send", "1", "to", VICTIM, code=2))
        lab_kit.run("restore", VICTIM)
        self.wait_all(8)
        said, lost = self.send(SECOND // 5, "all")
        self.assertEqual((said["complete"], lost), (7, {}))

    def test_stands_still(self):
        [pid] = [daemon["pid"] for daemon in lab_kit.rows("status") if daemon["server"] == VICTIM]
        self.addCleanup(lambda: os.kill(pid, signal.SIGCONT))
        self.later(0.3, lambda: os.kill(pid, signal.SIGSTOP))
        begin = time.monotonic()
        said, lost = self.send(SECOND, "all")
        self.assertEqual((said["complete"], lost), (6, {VICTIM: UNREACHABLE}))
        self.assertLess(time.monotonic() - begin, 20)

    def test_stands_still_for_a_moment(self):
        """The pause is too short for the server to be taken for dead: it loses nothing."""
        self.later(0.3, lambda: lab_kit.run("pause", VICTIM, "50ms"))
        said, lost = self.send(SECOND, "all")
        self.assertEqual((said["complete"], lost), (7, {}))

    def test_source_is_lost(self):
        """Its members are told, and the next message does not suffer."""
        self.later(0.3, lambda: lab_kit.run("fail", SOURCE, "--power"))
        said = self.ctl(SOURCE, "service", "multicast", "send", str(SECOND), "to", "all", code=3)
        self.assertIn("closed the connection", said)
        lab_kit.until("nobody waits for a source that is gone", lambda: not any(
            not row["ended"] for server in SERVERS[1:] for row in self.ctl(server, "service", "multicast", "status")),
            20)
        lab_kit.run("restore", SOURCE)
        self.wait_all(8)
        said, lost = self.send(SECOND // 5, "all")
        self.assertEqual((said["complete"], lost), (7, {}))

    def test_wrong_words(self):
        for words, part in ((["send"], "send BYTES to all"), (["send", "10"], "send BYTES to all"),
                            (["send", "10", "to"], "send BYTES to all"),
                            (["send", "x", "to", "all"], "'x'"), (["send", "0", "to", "all"], "'0'"),
                            (["send", "-5", "to", "all"], "'-5'"),
                            (["send", "99999999999999999999", "to", "all"], "BYTES"),
                            (["send", "10", "to", "5,5,5"], "'5,5,5'"),
                            (["send", "10", "to", "0,0,1", "0,0,1,0"], "'0,0,1,0'"),
                            (["send", "10", "to", SOURCE], "no member but the source"),
                            (["send", "10", "to", "0,0,1", "all"], "must stand alone, without '0,0,1'"),
                            (["send", "10", "TO", "all"], "'TO'"),
                            (["status", "x"], "status"), (["publish"], "'publish'")):
            with self.subTest(words=words):
                self.assertIn(part, self.ctl(SOURCE, "service", "multicast", *words, code=2))


lab_kit.main()

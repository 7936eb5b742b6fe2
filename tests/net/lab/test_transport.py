# SPDX-License-Identifier: Apache-2.0
"""The transport between daemons on cables: bytes that are compared at the other end, requests with answers, and what
operators are told."""

import json
import os

import lab_kit
from lab_kit import run


class Transport(lab_kit.Case):
    def transport(self, server, *words, code=0):
        done = run("ctl", server, "--json", "service", "transport", *words, code=code)
        return done.stderr if code else json.loads(done.stdout.splitlines()[0])

    def test_bulk_and_echo(self):
        self.up("3x3x1", "--service", "transport")
        self.wait_all(9)
        for to in "1,0,0", "1,1,0":
            said = self.transport("0,0,0", "bulk", to, "5M")
            self.assertEqual((said["bytes"], said["wrong"]), (5_000_000, 0), said)
        for size in "64", "100000":  # a packet each way; many
            said = self.transport("2,2,0", "echo", "0,1,0", f"bytes={size}", "count=20")
            self.assertEqual((said["done"], said["wrong"]), (20, 0), said)
        stats = self.transport("0,0,0", "stats")
        self.assertEqual((stats["done"], stats["failed"], stats["bytes_wrong"]), (stats["sent"], 0, 0), stats)
        self.assertEqual(self.transport("0,0,0", "path", "1,1,0")["in_flight"], 0)
        self.assertIn("9,9,9", self.transport("0,0,0", "bulk", "9,9,9", "1M", code=2))

    def test_a_receiver_that_dies_in_the_middle(self):
        self.up("2x2x1", "--service", "transport")
        self.wait_all(4)
        # Much more than can be sent before the death is noticed. The sender is told, and serves others afterwards.
        script = "sleep 0.5; kill -9 %d" % next(d["pid"] for d in lab_kit.rows("status")
                                                if d["server"] == "1,1,0")
        pid = os.spawnlp(os.P_NOWAIT, "sh", "sh", "-c", script)
        said = run("ctl", "0,0,0", "service", "transport", "bulk", "1,1,0", "200G", code=None)
        os.waitpid(pid, 0)
        self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
        self.assertRegex(said.stderr, r"message 1 of 1: (the server is not in view|no answer in time) \(\d+\)")
        self.assertEqual(self.transport("0,0,0", "bulk", "1,0,0", "1M")["wrong"], 0)


if __name__ == "__main__":
    lab_kit.main()

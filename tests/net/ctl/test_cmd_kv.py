# SPDX-License-Identifier: Apache-2.0
"""cwctl kv: values of any bytes in and out at any server, and the cache of the whole torus."""

import base64
import json
import os
import pty
import subprocess
import time

import ctl_kit


class Kv(ctl_kit.Case):
    @classmethod
    def settle(cls):
        """Waits as the others do, and until roots take writes, which is a hold after the start."""
        super().settle()
        end = time.monotonic() + ctl_kit.LIMIT_S
        for key in range(40):
            while cls.raw("kv", "set", f"first-{key}", "1").returncode != 0:
                if time.monotonic() > end:
                    raise AssertionError("no writes are taken")

    def bytes_of(self, *words, given=None, code=0):
        """The bytes of cwctl's standard output."""
        environment = {"PATH": os.environ["PATH"], "CUBEWAY_SOCKET": self.socket}
        done = subprocess.run([ctl_kit.OPTIONS.cwctl, *words], input=given, capture_output=True,
                              timeout=ctl_kit.LIMIT_S, check=False, env=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def test_values(self):
        self.assertEqual(self.cwctl("kv set greeting hello"), "")
        for server in ("0,0,0", "1,2,0", "2,2,2"):
            self.assertEqual(self.cwctl(f"--server {server} kv get greeting"), "hello")
        self.refused("kv get nobody", "'nobody': not found", code=1)
        self.refused("kv get greeting --job 5001", "not found", code=1)
        self.assertEqual(self.cwctl("kv delete greeting"), "")
        self.refused("kv delete greeting", "not found", code=1)
        self.cwctl("kv set a one --job 5001")
        self.assertEqual(self.cwctl("kv get a --job 5001"), "one")
        self.cwctl("kv set form=base64 job=3")  # keys that look like options
        self.assertEqual(self.cwctl("kv get form=base64"), "job=3")

    def test_done(self):
        """A person at a terminal is told; a script is not."""
        for words in ["kv", "set", "a", "--", "-5"], ["kv", "delete", "a"], ["service", "bench", "stop"]:
            pid, terminal = pty.fork()
            if pid == 0:
                os.execvp(ctl_kit.OPTIONS.cwctl, [ctl_kit.OPTIONS.cwctl, "--socket", self.socket, *words])
            self.assertEqual((words, os.read(terminal, 100)), (words, b"done\r\n"))
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
            os.close(terminal)
        self.refused("kv set a -5", "a word that begins with - stands behind --: cwctl", "kv set a -- -5\n", code=2)

    def test_any_bytes(self):
        every = bytes(range(256))
        self.assertEqual(self.bytes_of("kv", "set", "bytes", "-", given=every), b"")
        self.assertEqual(self.bytes_of("--server", "1,1,1", "kv", "get", "bytes"), every)
        self.bytes_of("kv", "set", "none", "-", given=b"")
        self.assertEqual(self.bytes_of("kv", "get", "none"), b"")
        large = os.urandom(900000)
        path = os.path.join(self.folder, "large")
        with open(path, "wb") as out:
            out.write(large)
        self.bytes_of("kv", "set", "large", "--file", path)
        self.assertEqual(self.bytes_of("--server", "2,0,1", "kv", "get", "large"), large)
        [row] = self.rows("kv get bytes")
        self.assertEqual(base64.b64decode(row["base64"]), every)
        self.assertEqual((row["status"], row["bytes"]), ("done", 256))
        self.bytes_of("kv", "set", "more", "-", given=b"x" * (1024 * 1024 + 1), code=1)

    def test_flags_and_expiry(self):
        self.cwctl("kv set short 1 --expire 300ms --flags 4294967295")
        self.assertEqual(self.rows("kv get short")[0]["flags"], 4294967295)
        end = time.monotonic() + 5
        done = self.raw("kv", "get", "short")
        while done.returncode == 0 and time.monotonic() < end:
            done = self.raw("kv", "get", "short")
        self.assertIn("not found", done.stderr)
        self.refused("kv set a 1 --flags 4294967296", "from 0 to 4294967295", code=2)
        self.refused("kv set a 1 --expire soon", "--expire", code=2)
        self.refused("kv set a", "one of them", code=2)
        self.refused("kv set a 1 --file x", "one of them", code=2)
        self.refused("kv set a --file /nonexistent", "/nonexistent", code=1)
        self.refused("kv get a --job web", "no job of that name is known here", code=2)
        self.refused("kv get " + "k" * 251, "1 to 250 bytes", code=2)  # as its help says
        self.assertIn("2 the command line is wrong, or the key (1 to 250 bytes) is",
                      " ".join(self.cwctl("kv get --help").split()))

    def test_stats_and_hot(self):
        for _ in range(60):
            self.cwctl("--server 0,1,0 kv get warm", code=1)
        rows = self.rows("kv stats")
        self.assertEqual([row["server"] for row in rows], ctl_kit.SERVERS)  # in order, whoever answered first
        [asked] = [row for row in rows if row["server"] == "0,1,0"]
        self.assertGreaterEqual(asked["misses"], 60)
        self.assertIn("get_miss_p99_ns", asked)
        self.assertEqual([row["server"] for row in rows if "set_p99_ns" in row and row["set_times"] == 0], [])
        titles, table = self.table("kv stats")
        self.assertEqual(titles[:4], ["SERVER", "VALUES", "MEMORY", "GETS"])
        self.assertEqual(len(table), 28)
        self.assertEqual(table[-1][0], "all")
        hot = self.rows("kv hot 3")
        self.assertLessEqual(len(hot), 3)
        [warm] = [row for row in self.rows("kv hot 1000") if row["key"] == "warm"]
        self.assertIn(warm["root"], ctl_kit.SERVERS)
        self.assertIsInstance(warm["copies"], list)
        self.assertTrue(set(warm["copies"]) <= set(ctl_kit.SERVERS), warm)
        self.assertIn("PER SECOND", self.cwctl("kv hot"))
        self.refused("kv hot many", "1 to 1000", code=2)

    def test_flush(self):
        self.cwctl("kv set one 1")
        self.cwctl("kv set two 2 --job 5001")
        self.assertEqual(self.cwctl("kv flush --job 5001"), "27 servers have dropped all values\n")
        self.refused("kv get two --job 5001", "not found", code=1)
        self.assertEqual(self.cwctl("kv get one"), "1")
        [row] = [json.loads(line) for line in self.cwctl("--json kv flush").splitlines()]
        self.assertEqual((row["status"], row["servers"], row["missing"]), ("done", 27, 0))
        self.refused("--server 1,0,0 kv get one", "not found", code=1)


if __name__ == "__main__":
    ctl_kit.main()

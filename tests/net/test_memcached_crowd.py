# SPDX-License-Identifier: Apache-2.0
"""A crowd at the memcached front end: more than a thousand idle connections, clients in the middle of a command,
clients that do not take their answers. Its memory stays within what docs/services/memcached.md says, whoever behaves is
answered meanwhile, and the others are hung up on."""

import argparse
import contextlib
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import time
import unittest

CUBEWAYD = None
LIMIT_S = 30
IDLE, DEAF, ALLOWED = 1000, 200, 1500
VALUE = 200_000
SLOW_S, ANSWERS_MIB, OUTPUT_KIB = 3, 16, 256


class Crowd(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.port = random.randrange(20000, 32000)
        config = os.path.join(folder, "one.conf")
        with open(config, "w", encoding="utf-8") as out:
            out.write(f'alone = true\ntorus {{ dims = 1x1x1; coordinate = all }} control '
                      f'{{ socket = {folder}/cw.sock }}\n'
                      f'service kvcache '
                      f'{{ options {{ listen = "127.0.0.1:{self.port}"; connections = {ALLOWED}; slow_s = {SLOW_S}; '
                      f'answers_mib = {ANSWERS_MIB}; output_kib = {OUTPUT_KIB} }} }}\n')
        with open(os.path.join(folder, "log"), "wb") as log:
            self.process = subprocess.Popen([CUBEWAYD, "-c", config], stdin=subprocess.DEVNULL, stderr=log)
        self.addCleanup(self.leave)
        end = time.monotonic() + LIMIT_S
        while True:
            with contextlib.suppress(OSError), self.client() as s:
                s.sendall(b"set big 0 0 %d\r\n%s\r\n" % (VALUE, b"v" * VALUE))
                if s.recv(100) == b"STORED\r\n":
                    return
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def leave(self):
        """Ends the daemon in good order; a sanitizer would now say what it found."""
        self.process.terminate()
        self.assertEqual(self.process.wait(LIMIT_S), 0)

    def client(self, buffer=None):
        s = self.stack.enter_context(socket.socket())
        if buffer is not None:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        s.settimeout(LIMIT_S)
        s.connect(("127.0.0.1", self.port))
        return s

    def memory(self):
        """Bytes of memory that are the process's own; 0 under a sanitizer, whose own memory would be counted."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as text:
            found = {words[0]: int(words[1]) for words in (line.split() for line in text)
                     if words[0] in ("RssAnon:", "VmSize:")}
        return found["RssAnon:"] * 1024 if found["VmSize:"] < 1 << 30 else 0

    def stats(self, s):
        s.sendall(b"stats\r\n")
        said = b""
        while not said.endswith(b"END\r\n"):
            said += s.recv(65536)
        return {words[1]: words[2] for words in (line.split() for line in said.decode().split("\r\n"))
                if len(words) == 3}

    def test_idle_ones_cost_little(self):
        s = self.client()
        before = self.memory()
        crowd = [self.client() for _ in range(IDLE)]
        for one in crowd:
            one.sendall(b"get nothing\r\n")
        for one in crowd:
            self.assertEqual(one.recv(100), b"END\r\n")
        self.assertLess(self.memory() - before, IDLE * 4096)
        for one in crowd:
            one.sendall(b"set half 0 0 1000000\r\n" + b"h" * 100)
        s.sendall(b"get big\r\n")
        self.assertTrue(s.recv(100).startswith(b"VALUE big"))
        self.assertLess(self.memory() - before, IDLE * 8192)
        more = [self.client() for _ in range(ALLOWED - IDLE + 1)]
        self.assertEqual(more[-1].recv(100), b"ERROR Too many open connections\r\n")

    def test_deaf_ones_are_bounded_and_go(self):
        s = self.client()
        before = self.memory()
        for one in [self.client(4096) for _ in range(DEAF)]:
            one.sendall(b"get big\r\n" * 30)
        begin = time.monotonic()
        most = longest = 0
        while time.monotonic() < begin + SLOW_S - 1.5:
            asked = time.monotonic()
            s.sendall(b"get nothing\r\n")
            self.assertEqual(s.recv(100), b"END\r\n")
            longest = max(longest, time.monotonic() - asked)
            most = max(most, self.memory() - before)
            time.sleep(0.01)
        print(f"{DEAF} clients that take nothing: {most >> 20} MiB; a get of another took {longest * 1e3:.1f} ms at "
              f"most")
        # The bound of all answers together, and one value more for each client; a buffer is at most twice its content.
        self.assertLess(most, 2 * ((ANSWERS_MIB << 20) + DEAF * VALUE) + (8 << 20))
        end = time.monotonic() + LIMIT_S
        while int(self.stats(s)["slow_kicks"]) < DEAF:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        said = self.stats(s)
        self.assertEqual(said["curr_connections"], "1")
        self.assertLess(int(said["answer_bytes"]), 4096)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cubewayd", required=True)
    options, rest = parser.parse_known_args()
    CUBEWAYD = os.path.abspath(options.cubewayd)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < 4 * ALLOWED:
        print(f"skipped: no more than {hard} descriptors are allowed here")
        sys.exit(77)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    unittest.main(argv=[sys.argv[0], *rest])

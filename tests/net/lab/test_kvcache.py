# SPDX-License-Identifier: Apache-2.0
"""`cwlab up --service kvcache`, then any client by `cwlab exec`: what one server is told, all servers say."""

import json
import os
import shutil
import subprocess

import lab_kit
from lab_kit import run

PYTHON = "/usr/bin/python3"  # Debian's clients are for Debian's Python

# Says its own part at one server; no client package is needed.
PLAIN = r"""
import socket, sys
def talk(said):
    with socket.create_connection(("127.0.0.1", 11211), timeout=20) as s:
        s.sendall(said + b"quit\r\n")
        return b"".join(iter(lambda: s.recv(65536), b""))
if sys.argv[1] == "write":
    for i in range(100):
        assert talk(b"set plain%d %d 0 4000\r\n%s\r\n" % (i, i, b"%04d" % i * 1000)) == b"STORED\r\n", i
else:
    for i in range(100):
        assert talk(b"get plain%d\r\n" % i) == b"VALUE plain%d %d 4000\r\n%s\r\nEND\r\n" % (i, i, b"%04d" % i * 1000), i
"""

FLUSH = r"""
import socket
with socket.create_connection(("127.0.0.1", 11211), timeout=20) as s:
    s.sendall(b"flush_all\r\nquit\r\n")
    assert s.recv(100) == b"OK\r\n"
"""

PYMEMCACHE = r"""
import sys
from pymemcache.client.base import Client
c = Client(("127.0.0.1", 11211), no_delay=True, timeout=20)
many = {"py%d" % i: b"%d" % (i * i) for i in range(300)}
if sys.argv[1] == "write":
    assert c.set_many(many, noreply=False) == [] and c.set("count", b"41", noreply=False)
else:
    assert c.get_many(list(many)) == many and c.incr("count", 1) > 41
"""


class KvCache(lab_kit.Case):
    def tool(self, *names):
        found = next(filter(None, map(shutil.which, names)), None)
        if found is None:
            print(f"without {names[0]}: there is none here (apt-get install libmemcached-tools)")
        return found

    def python(self, server, program, part):
        run("exec", server, PYTHON, "-c", program, part)

    def test_clients_of_several_servers(self):
        self.up("3x3x1", "--service", "kvcache")
        self.python("0,0,0", PLAIN, "write")
        for server in ("0,0,0", "1,0,0", "2,2,0"):
            self.python(server, PLAIN, "read")
        put, get, show = (self.tool(*names) for names in (("memccp", "memcp"), ("memccat", "memcat"), ("memcstat",)))
        if put and get and show:
            with open(self.folder + "/words", "w", encoding="ascii") as out:
                out.write("any client by cwlab exec")
            run("exec", "0,1,0", put, "--servers=127.0.0.1", self.folder + "/words")
            for server in ("0,1,0", "2,0,0", "1,2,0"):
                self.assertEqual(run("exec", server, get, "--servers=127.0.0.1", "words").stdout.rstrip("\n"),
                                 "any client by cwlab exec")
            self.assertIn("get_hits_root", run("exec", "2,0,0", show, "--servers=127.0.0.1").stdout)
        if run("exec", "0,0,0", PYTHON, "-c", "import pymemcache", code=None).returncode == 0:
            self.python("2,1,0", PYMEMCACHE, "write")
            for server in ("0,0,0", "2,1,0"):
                self.python(server, PYMEMCACHE, "read")
        else:
            print("without pymemcache: it is not here (apt-get install python3-pymemcache)")

    def kv(self, server, *words, code=0):
        program = os.path.join(lab_kit.OPTIONS.bin, "cwctl")
        done = subprocess.run([program, "--lab", "lab", "--node", server, "kv", *words], capture_output=True, text=True,
                              timeout=lab_kit.LIMIT_S, check=False)
        self.assertEqual(done.returncode, code, f"{server} {words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_operators(self):
        """What memcached's clients store is what cwctl kv sees, at every server; and a flush is one everywhere."""
        self.up("3x2x1", "--service", "kvcache")
        self.python("0,0,0", PLAIN, "write")
        self.assertEqual(self.kv("2,1,0", "get", "plain7"), "0007" * 1000)
        self.kv("1,1,0", "set", "large", "x" * 100000)
        self.assertEqual(self.kv("0,1,0", "get", "large"), "x" * 100000)
        rows = [json.loads(line) for line in self.kv("1,0,0", "stats", "--json").splitlines()]
        self.assertEqual(len(rows), 6)
        self.assertEqual(sum(row["values"] for row in rows), 101)
        for _ in range(40):
            self.kv("0,0,0", "get", "plain1")
        self.assertIn("plain", self.kv("2,0,0", "hot"))
        run("exec", "2,1,0", PYTHON, "-c", FLUSH)
        for server in ("0,0,0", "2,1,0", "1,1,0"):
            self.kv(server, "get", "plain7", code=1)
        self.assertEqual(self.kv("0,0,0", "flush"), "6 servers have dropped all values\n")

    def test_who_does_not_ask_for_it_does_not_listen(self):
        self.up("2x1x1")
        said = run("exec", "0,0,0", PYTHON, "-c", PLAIN, "read", code=1).stderr
        self.assertIn("Connection refused", said)

    def test_in_one_process(self):
        """All servers on one loopback: each has the next port; one that is taken is named."""
        taken = run("up", "2x1x1", "--driver", "process", "--service", "kvcache", "--scale", "1", code=None)
        if taken.returncode == 0:
            run("down")
            return
        self.assertIn("127.0.0.1:1121", taken.stdout + taken.stderr)
        self.assertIn("the port is in use", taken.stdout + taken.stderr)


if __name__ == "__main__":
    lab_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""Clients that others wrote, against three servers of a torus: libmemcached's tools and its own test of servers,
pymemcache, python-memcached, pylibmc."""

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import test_memcached

SKIP = 77
NO_FLUSH = b"SERVER_ERROR flush_all is not supported here\r\n"
PYTHON = "/usr/bin/python3"  # Debian's clients are for Debian's Python

PYTHON_CLIENTS = r"""
import importlib, json, sys
ports, seed = json.loads(sys.argv[1]), sys.argv[2]
big = bytes(range(256)) * 3900

def pymemcache():
    from pymemcache.client.base import Client
    a, b, c = (Client(("127.0.0.1", p), no_delay=True, timeout=20) for p in ports)
    assert a.set("p1", b"one", noreply=False) and b.get("p1") == b"one"
    assert b.add("p1", b"x", noreply=False) is False and c.replace("p1", b"two", noreply=False)
    value, cas = a.gets("p1")
    assert value == b"two" and b.cas("p1", b"three", cas, noreply=False)
    assert a.cas("p1", b"four", cas, noreply=False) is False
    assert c.append("p1", b"!", noreply=False) and c.prepend("p1", b"?", noreply=False) and a.get("p1") == b"?three!"
    assert a.set("p2", b"41", noreply=False) and b.incr("p2", 1) == 42 and c.decr("p2", 50) == 0
    assert a.incr("nope", 1) is None
    assert a.set("p3", big, noreply=False) and c.get("p3") == big
    many = {"p-%d" % i: b"%d" % i for i in range(300)}
    assert a.set_many(many, noreply=False) == [] and b.get_many(list(many)) == many
    assert a.touch("p1", 100, noreply=False) and a.delete("p1", noreply=False) and b.get("p1") is None
    assert b"cubeway" in a.version() and a.stats()[b"curr_connections"] >= 1
    a.set("p4", b"quiet", noreply=True)
    assert a.get("p4") == b"quiet"

def memcache():
    from memcache import Client
    c = Client(["127.0.0.1:%d" % p for p in ports], debug=0, socket_timeout=20)
    assert c.set_multi({"m%d" % i: ["a", i, None] for i in range(100)}) == []
    assert c.get_multi(["m%d" % i for i in range(100)]) == {"m%d" % i: ["a", i, None] for i in range(100)}
    assert c.set("n", 5) and c.incr("n") == 6 and c.decr("n", 2) == 4 and c.delete("n") and c.get("n") is None
    assert len(c.get_stats()) == 3

def pylibmc():
    from pylibmc import Client
    c = Client(["127.0.0.1:%d" % p for p in ports], binary=False, behaviors={"tcp_nodelay": True, "cas": True})
    assert c.set("l", {"x": 1}) and c.get("l") == {"x": 1} and not c.add("l", 1)
    value, cas = c.gets("l")
    assert c.cas("l", 7, cas) and not c.cas("l", 8, cas) and c.incr("l", 3) == 10 and c.delete("l")

for client in (pymemcache, memcache, pylibmc):
    try:
        importlib.import_module(client.__name__)
    except ImportError:
        print("missing", client.__name__)
        continue
    client()
    print("good", client.__name__)
"""


@contextlib.contextmanager
def torus(cubewayd, folder):
    """Ports of three servers."""
    port = random.randrange(20000, 32000)  # below the ports of clients that other tests run
    config = os.path.join(folder, "all.conf")
    with open(config, "w", encoding="utf-8") as f:
        f.write(f'torus {{ dims = 3x1x1; coordinate = all }} control {{ socket = {folder}/cw.sock }}\n'
                f'service kvcache {{ options {{ listen = "127.0.0.1:{port}" }} }}\n')
    with subprocess.Popen([cubewayd, "-c", config], stderr=subprocess.PIPE, text=True) as p:
        try:
            for line in p.stderr:
                if "every server reaches all" in line:
                    break
            else:
                sys.exit("cubewayd did not start")
            yield [port, port + 1, port + 2]
        finally:
            p.terminate()
            p.communicate(timeout=20)


def wait_for_writes(port):
    """Waits until this server takes writes."""
    for _ in range(100):
        if test_memcached.talk(port, b"set ready 0 0 1\r\n1\r\n") == b"STORED\r\n":
            return
        time.sleep(0.1)
    sys.exit("no write succeeded in 10 s")


class Tools:
    """The programs of libmemcached. Debian gives some of them other names than their authors do."""

    def __init__(self, folder):
        self.folder = folder
        self.missing = []

    def run(self, names, port, *words):
        """(exit code, output), or None when the program is not there."""
        program = next(filter(None, map(shutil.which, names)), None)
        if program is None:
            self.missing.append(names[0])
            return None
        done = subprocess.run([program, f"--servers=127.0.0.1:{port}", *words], cwd=self.folder, timeout=60,
                              check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def must(self, names, port, *words, code=0, output=None):
        """Returns 1 when the program did not do what it should, else 0."""
        result = self.run(names, port, *words)
        if result is None or (result[0] == code and (output is None or result[1].rstrip(b"\n") == output)):
            return 0
        print(f"{names[0]} {words}: {result[0]} {result[1][:200]}")
        return 1


def tools(ports, folder):
    """Returns how many programs did not do what they should."""
    t = Tools(folder)
    for name, value in (("small", b"hello"), ("large", random.Random(1).randbytes(900000))):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(value)
    failed = t.must(("memccp", "memcp"), ports[0], "small", "large")
    failed += t.must(("memccat", "memcat"), ports[1], "small", output=b"hello")
    failed += t.must(("memcexist",), ports[2], "large")
    failed += t.must(("memctouch",), ports[2], "--expire=100", "small")
    failed += t.must(("memcrm",), ports[2], "small")
    failed += t.must(("memcexist",), ports[0], "small", code=1)
    failed += t.must(("memcping",), ports[0])
    failed += t.must(("memcstat",), ports[1])
    print("tools of libmemcached:", "missing: " + " ".join(t.missing) if t.missing else "done")
    return failed


def capable(ports, can_flush):
    """libmemcached's test of servers, the text protocol."""
    program = next(filter(None, map(shutil.which, ("memccapable", "memcapable"))), None)
    if program is None:
        return 0
    said = subprocess.run([program, "-h", "127.0.0.1", "-p", str(ports[0]), "-a", "-t", "10"], timeout=120, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    # The reason of a failure stands between the name of a test and its outcome. The closing sum is not in step with the
    # rest, and may come before the last outcome: it is taken out.
    said = re.sub(r"(All tests passed|\d+ of \d+ tests failed)\n", "", said)
    names = re.findall(r"^ascii [a-z ]*?(?=  )", said, re.M)
    ends = re.findall(r"\[(pass|FAIL)\]", said)
    failed = [name for name, end in zip(names, ends) if end == "FAIL"]
    expected = [] if can_flush else ["ascii flush", "ascii flush noreply"]
    print(f"memcapable: {len(ends)} tests, failed: {failed}")
    return 0 if len(ends) >= 27 and failed == expected else 1


def python_clients(ports):
    """Returns 1 when one of them failed, else 0."""
    if not os.path.exists(PYTHON):
        return 0
    done = subprocess.run([PYTHON, "-c", PYTHON_CLIENTS, json.dumps(ports), "1"], timeout=120, check=False)
    return 0 if done.returncode == 0 else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cubewayd", required=True)
    args = parser.parse_args()
    if shutil.which("memccp") is None and shutil.which("memcp") is None:
        print("skipped: none of libmemcached's tools is here (apt-get install libmemcached-tools)")
        return SKIP
    with tempfile.TemporaryDirectory() as folder, torus(args.cubewayd, folder) as ports:
        wait_for_writes(ports[0])
        can_flush = test_memcached.talk(ports[0], b"flush_all\r\n") != NO_FLUSH
        failed = tools(ports, folder) + capable(ports, can_flush) + python_clients(ports)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""cwctl store: made once, then values of any bytes in and out at any server, with versions and exit codes."""

import base64
import os
import subprocess
import time

import ctl_kit


class Store(ctl_kit.Case):
    config = 'torus { dims = "3x3x3"; coordinate = all }\nservice "store" { options { memory_mib = 8 } }\n'

    def bytes_of(self, *words, given=None, code=0):
        """The bytes of cwctl's standard output."""
        environment = {"PATH": os.environ["PATH"], "CUBEWAY_SOCKET": self.socket}
        done = subprocess.run([ctl_kit.OPTIONS.cwctl, *words], input=given, capture_output=True,
                              timeout=ctl_kit.LIMIT_S, check=False, env=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def version(self, line, code=0):
        word, number = self.cwctl(line, code=code).split()
        self.assertEqual(word, "version")
        return int(number)

    def test_store(self):
        self.refused("store get greeting", "there is no store: cwctl store create disk, or memory, makes one", code=1)
        self.refused("store create disk", "27 of 27 servers have no folder", code=2)
        self.refused("store create tape", "'tape' is not disk|memory", code=2)
        self.refused("store create memory --r 5", "from 3 to 4", code=2)
        self.assertEqual(self.cwctl("store create memory --r 3"),
                         "the store 'memory' is made: 3 copies of each value, on 27 servers\n")
        self.refused("store create memory", "there is a store already: 'memory'", code=2)
        self.values()
        self.any_bytes()
        self.ttl()
        self.lists()
        self.changes()
        self.mistakes()
        self.seen()

    def values(self):
        first = self.version("store put greeting hello")
        for server in ("0,0,0", "1,2,0", "2,2,2"):
            self.assertEqual(self.cwctl(f"--server {server} store get greeting"), "hello")
        self.refused("store get nobody", "'nobody': not found", code=1)
        self.refused("store insert greeting x", f"there is a value already, its version: {first}", code=2)
        second = self.version(f"--server 2,1,0 store cas greeting {first} world")
        self.assertGreater(second, first)
        self.refused(f"store put greeting x --if-version {first}", f"another: {second}", code=2)
        self.refused(f"store delete greeting --if-version {first}", f"another: {second}", code=2)
        self.assertEqual(self.rows("store head greeting")[0]["version"], second)
        third = self.version("store delete greeting")
        self.refused("store delete greeting", "not found", code=1)
        self.refused(f"store cas greeting {second} x", "there is no value", code=2)
        self.assertGreater(self.version("store insert greeting again"), third)
        self.version("store put a one --job 5001")
        self.assertEqual(self.cwctl("store get a --job 5001"), "one")
        self.refused("store get a", "not found", code=1)

    def ttl(self):
        begun = time.monotonic()
        self.version("store put lease mine --expire 1s")
        self.version("store put kept mine --expire 1s")
        self.version("store put kept mine")
        self.assertEqual(self.cwctl("store get lease"), "mine")
        while self.raw("store", "get", "lease").returncode == 0:
            self.assertLess(time.monotonic() - begun, 20)
            time.sleep(0.1)
        self.assertGreaterEqual(time.monotonic() - begun, 1)
        self.version("store insert lease yours --expire 1min")
        self.assertEqual(self.cwctl("store get kept"), "mine")
        self.refused("store put a b --expire 0s", "--expire", code=2)

    def any_bytes(self):
        every = bytes(range(256)) * 12
        self.bytes_of("store", "put", "bytes", "-", given=every)
        self.assertEqual(self.bytes_of("--server", "1,1,1", "store", "get", "bytes"), every)
        self.bytes_of("store", "put", "none", "-", given=b"")
        self.assertEqual(self.bytes_of("store", "get", "none"), b"")
        [row] = self.rows("store get bytes")
        self.assertEqual(base64.b64decode(row["base64"]), every)
        path = os.path.join(self.folder, "value")
        with open(path, "wb") as out:
            out.write(b"x" * (4 << 20))
        self.version(f"store put large --file {path}")
        self.assertEqual(self.bytes_of("--server", "2,1,1", "store", "get", "large"), b"x" * (4 << 20))
        [row] = self.rows("store get large")
        self.assertEqual((base64.b64decode(row["base64"]), row["bytes"]), (b"x" * (4 << 20), 4 << 20))
        self.refused("service store get large", "the value has 4194304 bytes, and an answer at most 30720", code=1)
        [row] = self.rows("service store get large form=base64 from=4194303")
        self.assertEqual((base64.b64decode(row["base64"]), row["bytes"]), (b"x", 4 << 20))
        self.pieces()
        self.version("store delete large")
        with open(path, "ab") as out:
            out.write(b"x")
        self.refused(f"store put large --file {path}", f"{path}: a value has at most 4 MiB", code=1)
        self.refused("store get large", "not found", code=1)

    def pieces(self):
        """A piece that comes when those before it are forgotten puts nothing."""
        self.cwctl("service store stage 77 YWJj")
        self.refused("service store stage 77 ZGVm", "3 bytes are here under 77", code=1)
        self.cwctl("service store stage 77 ZGVm from=3")
        self.cwctl("service store put joined - stage=77")
        self.assertEqual(self.cwctl("store get joined"), "abcdef")
        self.cwctl("service store stage 78 YWJj")
        self.cwctl("service store stage 78 - drop=1")
        self.refused("service store stage 78 ZGVm from=3", "0 bytes are here under 78", code=1)
        self.refused("service store put joined - stage=78", "nothing was brought under 78", code=2)

    def lists(self):
        for i in range(5):
            self.version(f"--server {i % 3},0,1 store put config/{i} {'v' * (i + 1)}")
        self.version("store put {t}one 1")
        self.version("store delete config/3")
        rows = self.rows("--server 2,2,1 store list config/")
        self.assertEqual([(row["name"], row["bytes"]) for row in rows],
                         [("config/0", 1), ("config/1", 2), ("config/2", 3), ("config/4", 5)])
        self.assertEqual(rows[1]["version"], self.rows("store head config/1")[0]["version"])
        rows = self.rows("store list config/ --after config/0 --most 2")
        self.assertEqual([row["name"] for row in rows], ["config/1", "config/2"])
        self.assertEqual([row["name"] for row in self.rows("store list {t}")], ["{t}one"])
        self.assertEqual(self.cwctl("store list nothing"), "")
        self.assertIn("bytes", [row["name"] for row in self.rows("store list")])
        self.assertEqual([row["name"] for row in self.rows("store list --job 5001")], ["a"])
        self.refused("store list config/ --after a", "it begins with the prefix", code=2)
        self.refused("store list a --most 0", "--most", code=2)

    def changes(self):
        first = self.version("store put {w}a one")
        rows = self.rows("store watch {w}a --most 1")
        self.assertEqual([(row["name"], row["version"], row["bytes"]) for row in rows], [("{w}a", first, 3)])
        environment = {"PATH": os.environ["PATH"], "CUBEWAY_SOCKET": self.socket}
        words = ["--server", "2,2,2", "store", "watch", "{w}", "--prefix", "--most", "3"]
        with subprocess.Popen([ctl_kit.OPTIONS.cwctl, *words], stdout=subprocess.PIPE, text=True,
                              env=environment) as watcher:
            self.assertEqual(watcher.stdout.readline(), f"{{w}}a version {first}, 3 bytes\n")
            second = self.version("store put {w}b four")
            self.assertEqual(watcher.stdout.readline(), f"{{w}}b version {second}, 4 bytes\n")
            third = self.version("store delete {w}a")
            self.assertEqual(watcher.stdout.readline(), f"{{w}}a version {third} deleted\n")
            self.assertEqual(watcher.wait(ctl_kit.LIMIT_S), 0)
        self.refused("store watch w --prefix", "a whole {tag}", code=2)

    def mistakes(self):
        self.refused("store put a", "one of them", code=2)
        self.refused("store cas a one b", "a version is a whole number", code=2)
        self.refused("store put a b --if-version -1", "--if-version", code=2)
        self.refused(f"store get {'x' * 1025}", "a name has 1 to 1024 bytes", code=2)

    def seen(self):
        [row] = self.rows("store status")
        self.assertEqual((row["store"], row["copies"], row["member_of"]), ("memory", 3, 144))
        members = self.rows("store explain greeting")
        self.assertEqual(len(members), 3)
        leader = members[0]["member"]
        self.assertEqual(self.rows(f"--server {leader} store explain greeting")[0]["role"], "leads")
        self.assertIn("REGISTERS", self.cwctl("store status"))


if __name__ == "__main__":
    ctl_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""Sorted runs of daemons on cables, with a module of functions: where one server's is another file, it is named and
nothing is there; when a server is killed in the middle, another one reads its copy of that server's file; and a run
for which its job has no memory at one server is refused with that server, the job and the limit."""

import hashlib
import os
import random
import shutil
import subprocess
import time

import lab_kit
from lab_kit import run

SERVERS = [f"{x},{y},0" for x in range(3) for y in range(2)]
LINES = 20000  # of a server: with the keys below a run takes a second on cables of 10 Mb/s


class Words(lab_kit.Case):
    def ctl(self, server, *words, code=0):
        return run("ctl", server, *words, code=code)

    def lay(self, server, name):
        """The path of a file in the server's data folder."""
        path = os.path.join(self.place, server + ".vectors", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, server, name, lines):
        with open(self.lay(server, name), "w", encoding="utf-8") as out:
            out.writelines(lines)

    def result(self, server, name):
        with open(self.lay(server, name), encoding="utf-8") as done:
            return done.read().splitlines()

    def load(self, servers, more=b""):
        """These servers have the module, or another file that does the same: daemons load it when they start."""
        for server in servers:
            path = os.path.join(self.place, server + ".modules", "own.so")
            shutil.copyfile(lab_kit.OPTIONS.module, path + ".new")
            with open(path + ".new", "ab") as out:
                out.write(more)
            os.chmod(path + ".new", 0o755)
            os.rename(path + ".new", path)
            run("fail", server)
        for server in servers:
            run("restore", server)

    def test_own_functions_and_copies(self):
        self.place = os.path.join(self.folder, self.up("3x2x1", "--rate", "10mbit", "--scale", "4")["lab"])
        self.wait_all(6)
        self.own_functions()
        self.copies()
        self.quotas()

    def own_functions(self):
        self.load(SERVERS[-1:], more=b"another one")
        self.load(SERVERS[:-1])
        self.wait_all(6)
        for number, server in enumerate(SERVERS):
            self.write(server, "times", [f"all\t{10 * number + 100}\n", f"of{server[0]}\t{number}\n"])
        words = "aggregate run --map kv --combine module:median --from times --to 1,0,0:medians".split()
        done = self.ctl("0,1,0", *words, code=None)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn("server 2,1,0: its module of that name is another one", done.stderr)
        self.assertFalse(os.path.exists(self.lay("1,0,0", "medians")))
        self.load(SERVERS[-1:])
        self.wait_all(6)
        [row] = lab_kit.lines("ctl", "0,1,0", *words)
        with open(lab_kit.OPTIONS.module, "rb") as module:
            digest = hashlib.sha256(module.read()).hexdigest()
        self.assertEqual((row["counted"], row["operation"]), (6, "module:median@" + digest))
        self.assertEqual(self.result("1,0,0", "medians"), ["all\t120", "of0\t0", "of1\t2", "of2\t4"])

    def quotas(self):
        """One server grants a job less than the windows of a run over trees take; all others as much as ever."""
        path = os.path.join(self.place, "2,1,0.conf")
        with open(path, encoding="utf-8") as conf:
            text = conf.read()
        run("fail", "2,1,0")
        with open(path, "w", encoding="utf-8") as conf:
            conf.write(text.replace("modules = ", "job_memory = 2M; modules = "))
        run("restore", "2,0,0")
        run("restore", "2,1,0")
        self.wait_all(6)
        words = "aggregate run --map kv --from log --to 0,0,0:little --path trees".split()
        done = self.ctl("0,1,0", *words, code=1)
        self.assertIn("server 2,1,0: job 8 may have 2000000 bytes of memory there, and needs more (option job_memory)",
                      done.stderr)
        self.assertFalse(os.path.exists(self.lay("0,0,0", "little")))

    def copies(self):
        draw, dies, every = random.Random(7), "2,0,0", []
        for number, server in enumerate(SERVERS):
            lines = [f"{draw.getrandbits(60):015x}\t{number}\n" for _ in range(LINES)]
            every += lines
            self.write(server, "log", lines)
            self.write(SERVERS[(number + 1) % len(SERVERS)], "copies/" + server, lines)
        words = "aggregate run --map kv --from log --copies copies/% --to 0,0,0:all --path trees --json".split()
        with subprocess.Popen([lab_kit.OPTIONS.cwlab, "ctl", "0,0,0", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as order:
            end = time.monotonic() + lab_kit.LIMIT_S
            status = []
            while not any(row.get("settled_partitions", 0) > 0 for row in status):
                self.assertLess(time.monotonic(), end, "it does not run")
                status = lab_kit.lines("ctl", "0,0,0", "aggregate", "status")
            [job] = [row for row in status if row["role"] == "job"]
            self.assertEqual((job["job"], job["inputs"], job["results"], job["memory_limit_bytes"]),
                             (8, 1, 1, 128 << 20))
            self.assertGreater(job["memory_bytes"], 1 << 20)
            run("fail", dies)
            said, errors = order.communicate(timeout=lab_kit.LIMIT_S)
        self.assertEqual(order.returncode, 0, said + errors)
        self.assertIn('"stood_in":"2,0,0 by 2,1,0"', said)
        self.assertEqual(self.result("0,0,0", "all"), sorted(line.rstrip("\n") for line in every))


if __name__ == "__main__":
    lab_kit.main()

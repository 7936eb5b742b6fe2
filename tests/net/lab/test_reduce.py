# SPDX-License-Identifier: Apache-2.0
"""Reductions and sorted runs of daemons on cables while a server of theirs stops, is killed, or has a full disk: who
hangs is named by `status` within a second, a result without the dead is of exactly those that it names, and a run
whose spool is full says where."""

import array
import os
import random
import signal
import subprocess
import time

import lab_kit
from lab_kit import run

SERVERS = [f"{x},{y},0" for x in range(3) for y in range(2)]
ROOT, HANGS, DIES = "0,0,0", "2,1,0", "2,0,0"
ELEMENTS = 800_000  # of 8 bytes: on cables of 10 Mb/s a reduction takes some seconds
LINES = 20_000


def share(number):
    """What each element of a server's vector is: a sum of them says who is in it, and how often."""
    return 1 << 8 * number


class Reduce(lab_kit.Case):
    def lay(self, server, name):
        path = os.path.join(self.place, server + ".vectors", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def daemon(self, server):
        [pid] = [d["pid"] for d in lab_kit.rows("status", code=None) if d.get("server", d.get("name")) == server]
        return pid

    def order(self, *words):
        order = subprocess.Popen([lab_kit.OPTIONS.cwlab, "ctl", ROOT, *words, "--json"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(order.kill)
        return order

    def status(self, role):
        return [row for row in lab_kit.lines("ctl", ROOT, "aggregate", "status") if row["role"] == role]

    def until_it_runs(self, field):
        lab_kit.until("it is under way", lambda: any(row.get(field, 0) > 0 for row in self.status("root")))

    def hang(self, pid):
        """One stops, and goes on when `status` has named it. Gives for how long it was not named."""
        began = time.monotonic()
        os.kill(pid, signal.SIGSTOP)
        try:
            lab_kit.until("status names who hangs",
                          lambda: any(HANGS in row.get("waits_for", "") for row in self.status("root")), limit=5)
            return time.monotonic() - began
        finally:
            os.kill(pid, signal.SIGCONT)

    def test_who_hangs_dies_or_is_full(self):
        # Timers so long that who stops for a second does not count as dead.
        self.place = os.path.join(self.folder, self.up("3x2x1", "--rate", "10mbit", "--scale", "40")["lab"])
        self.wait_all(6)
        self.sums()
        self.records()
        self.full_spool()
        self.sum_without()

    def sums(self):
        for number, server in enumerate(SERVERS):
            with open(self.lay(server, "v"), "wb") as out:
                array.array("Q", [share(number)] * ELEMENTS).tofile(out)
        pid = self.daemon(HANGS)
        order = self.order("aggregate", "reduce", "sum", "uint64", "--from", "v", "--to", ROOT + ":sum")
        self.until_it_runs("settled_bytes")
        named = self.hang(pid)
        said, errors = order.communicate(timeout=lab_kit.LIMIT_S)
        self.assertEqual(order.returncode, 0, said + errors)
        self.check_sum("sum", SERVERS)
        print(f"a reduction in which a server stops: named after {named:.2f} s")
        self.assertLess(named, 1)

    def check_sum(self, name, of):
        got = array.array("Q")
        with open(self.lay(ROOT, name), "rb") as result:
            got.fromfile(result, ELEMENTS)
        self.assertEqual(set(got), {sum(share(SERVERS.index(server)) for server in of)})

    def records(self):
        draw, every = random.Random(11), []
        for number, server in enumerate(SERVERS):
            lines = [f"{draw.getrandbits(60):015x}\t{number}\n" for _ in range(LINES)]
            every += lines
            with open(self.lay(server, "log"), "w", encoding="utf-8") as out:
                out.writelines(lines)
        pid = self.daemon(HANGS)
        order = self.order("aggregate", "run", "--map", "kv", "--from", "log", "--to", ROOT + ":all", "--path", "trees")
        self.until_it_runs("settled_partitions")
        named = self.hang(pid)
        said, errors = order.communicate(timeout=lab_kit.LIMIT_S)
        self.assertEqual(order.returncode, 0, said + errors)
        with open(self.lay(ROOT, "all"), encoding="utf-8") as result:
            self.assertEqual(result.read().splitlines(), sorted(line.rstrip("\n") for line in every))
        print(f"a sorted run in which a server stops: named after {named:.2f} s")
        self.assertLess(named, 1)

    def full_spool(self):
        """Records that do not fit into memory go to a disk that has no room for them."""
        path = os.path.join(self.place, HANGS + ".conf")
        with open(path, encoding="utf-8") as conf:
            text = conf.read()
        run("fail", HANGS)
        with open(path, "w", encoding="utf-8") as conf:
            conf.write(text.replace("modules = ", "job_memory = 2M; modules = "))
        run("restore", HANGS)
        self.wait_all(6)
        spool = os.path.join(self.place, HANGS + ".spool")
        os.makedirs(spool, 0o700, exist_ok=True)
        inside = ["nsenter", "-t", str(self.daemon(HANGS)), *([] if os.geteuid() == 0 else
                                                               ["-U", "--preserve-credentials"]), "-m"]
        full = subprocess.run([*inside, "mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", spool], check=False)
        if full.returncode != 0:
            print("no tmpfs can be mounted here: the full spool was not tried")
            return
        self.addCleanup(subprocess.run, [*inside, "umount", spool], check=False, stderr=subprocess.DEVNULL)
        for server in SERVERS:
            with open(self.lay(server, "long"), "w", encoding="utf-8") as out:
                out.writelines(f"{server}{i:09}\t1\n" for i in range(200_000 if server == HANGS else 10))
        done = run("ctl", ROOT, "aggregate", "run", "--map", "kv", "--from", "long", "--to", ROOT + ":none", code=1)
        self.assertIn(f"server {HANGS}, long: its spool folder, or its disk, is full", done.stderr)
        self.assertFalse(os.path.exists(self.lay(ROOT, "none")))

    def sum_without(self):
        """One is killed in the middle: the sum is of exactly the others, and they are named."""
        order = self.order("aggregate", "reduce", "sum", "uint64", "--from", "v", "--to", ROOT + ":rest", "--without")
        self.until_it_runs("settled_bytes")
        run("fail", DIES)
        said, errors = order.communicate(timeout=lab_kit.LIMIT_S)
        self.assertEqual(order.returncode, 5, said + errors)
        self.check_sum("rest", [server for server in SERVERS if server != DIES])
        self.assertIn(DIES, said)


if __name__ == "__main__":
    lab_kit.main()

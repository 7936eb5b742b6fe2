# SPDX-License-Identifier: Apache-2.0
"""`cwlab up --service store`: values on the disks of 27 daemons outlive a kill -9 of all of them."""

import base64
import glob
import json
import os
import signal
import threading
import time

import lab_kit
from lab_kit import lines, rows, run, until

NAMES = 20
ACCOUNTS = [f"{{bank}}{i}" for i in range(5)]
EACH = 100


def put(server, name, value):
    """The version; None: it was not done."""
    done = run("ctl", server, "store", "put", name, value, code=None)
    return int(done.stdout.split()[1]) if done.returncode == 0 else None


def get(server, name):
    done = run("ctl", server, "store", "get", name, code=None)
    return done.stdout if done.returncode == 0 else None


def accounts(server, *names):
    """(version, amount) of each, as of one instant; None: no answer."""
    done = run("ctl", server, "store", "txn", *[f"get {name}" for name in names], "--json", code=None)
    if done.returncode != 0:
        return None
    told = [json.loads(line) for line in done.stdout.splitlines()][:len(names)]
    return [(row["version"], int(base64.b64decode(row["base64"]))) for row in told]


def transfer(server, one, other):
    """The exit code of a transaction that moves 1."""
    told = accounts(server, one, other)
    if told is None:
        return None
    (version, amount), (other_version, other_amount) = told
    return run("ctl", server, "store", "txn", f"if {one} = {version}", f"if {other} = {other_version}",
               f"put {one} {amount - 1}", f"put {other} {other_amount + 1}", code=None).returncode


def status_of(server):
    return lines("ctl", server, "store", "status")[0]


class Store(lab_kit.Case):
    def start_all(self, servers):
        for server in servers:
            run("restore", server)
        self.wait_all(len(servers))

    def empty_folder(self, server):
        """Of a server that is down: its disk is another one."""
        folders = [path for path in glob.glob(f"{self.folder}/**/*.store", recursive=True) if server in path
                   or server.replace(",", "-") in path]
        self.assertEqual(len(folders), 1, glob.glob(f"{self.folder}/**/*.store", recursive=True))
        for name in os.listdir(folders[0]):
            os.remove(os.path.join(folders[0], name))

    @staticmethod
    def until(what, servers, true):
        """A failure says what the servers say of themselves: it cannot be repeated at will."""
        try:
            until(what, true)
        except AssertionError as error:
            keys = ["member_of", "leading", "trying", "short", "members_lost", "to_replace", "filling", "registers",
                    "copies_missing", "replaced", "given", "strange", "disk"]
            seen = [status_of(server) for server in servers]
            raise AssertionError("\n".join([str(error)] + [
                f"{server}: " + ", ".join(f"{key} {status.get(key)}" for key in keys)
                for server, status in zip(servers, seen)])) from error

    def transfers(self, servers):
        """Money moves while the server that leads its shard is killed: none is lost or made."""
        run("ctl", "0,0,0", "store", "txn", *[f"put {name} {EACH}" for name in ACCOUNTS])
        leader = next(row["member"] for row in lines("ctl", "0,0,0", "store", "explain", ACCOUNTS[0]))
        askers = [server for server in servers if server != leader]
        codes, stop = [], threading.Event()

        def move(first):
            turn = first
            while not stop.is_set():
                codes.append(transfer(askers[(7 * turn) % 26], ACCOUNTS[turn % 5], ACCOUNTS[(turn + 1 + first) % 5]))
                turn += 1

        threads = [threading.Thread(target=move, args=(first,)) for first in range(3)]
        for thread in threads:
            thread.start()
        try:
            until("money moves", lambda: codes.count(0) >= 10)
            run("fail", leader)
            done = codes.count(0)
            until("it moves again", lambda: codes.count(0) >= done + 10)
            run("restore", leader, "--wait")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        for server in ("0,0,0", "2,1,2", leader):
            until(f"{server} tells all accounts", lambda server=server: accounts(server, *ACCOUNTS) is not None)
            self.assertEqual(sum(amount for _, amount in accounts(server, *ACCOUNTS)), EACH * len(ACCOUNTS), codes)

    def test_cold_start(self):
        self.up("3x3x3", "--service", "store", "--scale", "5")  # what is shown does not depend on time
        servers = [row["server"] for row in rows("status")]
        self.assertEqual(len(servers), 27)
        run("ctl", "0,0,0", "store", "create", "disk", "--r", "3")
        for i in range(NAMES):
            self.assertIsNotNone(put(servers[i % 27], f"name{i}", f"value{i}"))
        # One that restarts in time resumes, and whoever asks meanwhile is served.
        for victim in ("1,1,1", "0,2,1"):
            run("fail", victim)
            self.assertEqual(get("2,2,2", "name3"), "value3")
            run("restore", victim, "--wait")
            until(f"{victim} is a member again",
                  lambda victim=victim: status_of(victim)["disk"] == "recovered")
        self.transfers(servers)
        for pid in self.pids():
            os.kill(pid, signal.SIGKILL)
        time.sleep(1)
        self.start_all(servers)
        for i in range(NAMES):
            name, wanted = f"name{i}", f"value{i}"
            until(f"{name} is told", lambda name=name, wanted=wanted, i=i: get(servers[(i + 7) % 27], name) == wanted)
        status = [status_of(server) for server in servers]
        self.assertEqual({row["disk"] for row in status}, {"recovered"})
        self.assertEqual({row["member_of"] for row in status}, {144})
        self.assertEqual({row["members_lost"] for row in status}, {0})
        self.assertIsNotNone(put("0,0,0", "name0", "after"))
        self.assertEqual(get("1,2,0", "name0"), "after")
        # One whose disk comes back empty is another life, and is filled anew by the leaders of its shards.
        held = status_of("1,1,1")["registers"]
        self.assertGreater(held, 0)
        run("fail", "1,1,1")
        others = [server for server in servers if server != "1,1,1"]
        # Of a shard that nobody leads, both who are left count what is missing: each name is asked for, and so led.
        for i in range(NAMES):
            until(f"name{i} is told", lambda i=i: get("2,2,2", f"name{i}") is not None)
        until("the accounts are told", lambda: accounts("2,2,2", *ACCOUNTS) is not None)
        self.until("each of its registers is short of a copy, and no other", others,
                   lambda: sum(status_of(server)["copies_missing"] for server in others) == held)
        self.empty_folder("1,1,1")
        run("restore", "1,1,1", "--wait")
        self.until("the empty one is a member of all its shards again", servers,
                   lambda: status_of("1,1,1")["member_of"] == 144)
        self.until("no copy is missing", servers,
                   lambda: sum(status_of(server)["copies_missing"] for server in servers) == 0)
        self.assertEqual(get("1,1,1", "name3"), "value3")


if __name__ == "__main__":
    lab_kit.main()

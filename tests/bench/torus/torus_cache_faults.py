# SPDX-License-Identifier: Apache-2.0
"""A server of the cache fails while clients at all other servers read and write: what they are told, and for how long.

    torus_cache_faults.py --bin <folder of cwlab> [--smoke] [--rounds N] [nothing] [kill] [silent] [power] [leave]
    [pause] [back]

At every server but the one that fails, a client writes and another reads, each with one command out at a time; half of
the commands are for keys whose root is the one that fails. A value says its key and its version. Each key has one
writer, who counts the versions up, so every value that is read can be judged (exit code 1): it is of that key; it is
not older than what was acknowledged, or read by anybody, before the command began, and not newer than what was asked
for; only a write of which the writer was told that it may have happened may turn up at any time.
"""

import selectors
import signal
import statistics
import subprocess
import sys
import time

import torus_kit
from cache_kit import connect, home_of, keys_at, wait_for_writes
from torus_kit import LIMIT_S, Lab, options, program, smoke, table, title

PARTS = ["nothing", "kill", "silent", "power", "leave", "pause", "back"]
# What is done to the server, and what undoes it.
DOING = {"kill": ["fail"], "silent": ["fail", "--whole"], "power": ["fail", "--power"], "leave": ["leave"],
         "pause": ["pause", "300ms"]}
WORDS = {"nothing": "nothing is done", "kill": "daemon killed, its watcher says goodbye",
         "silent": "daemon and watcher killed", "power": "power lost: its links go dark",
         "leave": "leaves in order (SIGTERM)", "pause": "stopped for 300 ms (SIGSTOP)", "back": "comes back"}
KEYS = 40  # whose root is the victim, and as many of other roots
PAD = b"x" * 100
BEFORE_S, AFTER_S = 0.4, 1.0  # after it also twice the time in which silence leads to a new view


class History:
    """What was asked for and answered of each key; judges what is read."""

    def __init__(self):
        self.asked, self.known, self.maybe, self.wrong = {}, {}, {}, []

    def write_begins(self, key):
        self.asked[key] = self.asked.get(key, 0) + 1
        return self.asked[key]

    def write_ends(self, key, version, answer):
        if answer == b"STORED":
            self.known[key] = max(self.known.get(key, 0), version)
        else:
            self.maybe.setdefault(key, set()).add(version)

    def read_ends(self, key, floor, value):
        """floor: known[key] when the read began."""
        words = value.split(b" ")
        if len(words) != 3 or words[0].decode() != key or words[2] != PAD:
            self.wrong.append(f"{key}: another's value or half of one: {value[:60]}")
            return
        version = int(words[1])
        if version > self.asked.get(key, 0):
            self.wrong.append(f"{key}: version {version} was never written")
        elif version in self.maybe.get(key, ()):
            return
        elif version < floor:
            self.wrong.append(f"{key}: version {version} after {floor} had been seen")
        else:
            self.known[key] = max(self.known.get(key, 0), version)


class Client:
    """A connection with one command out at a time. keys: those it asks for, in turns."""

    def __init__(self, trial, pid, writes, keys):
        self.trial, self.writes, self.keys, self.turn = trial, writes, keys, 0
        self.socket = connect(pid)
        self.socket.setblocking(False)
        self.got = b""

    def fileno(self):
        return self.socket.fileno()

    def ask(self):
        self.key = self.keys[self.turn % len(self.keys)]
        self.turn += 1
        self.begun = time.monotonic()
        self.got = b""
        if self.writes:
            self.version = self.trial.history.write_begins(self.key)
            value = b"%s %d %s" % (self.key.encode(), self.version, PAD)
            self.socket.send(b"set %s 0 0 %d\r\n%s\r\n" % (self.key.encode(), len(value), value))
        else:
            self.floor = self.trial.history.known.get(self.key, 0)
            self.socket.send(b"get %s\r\n" % self.key.encode())

    def hear(self):
        """Reads what has come. When the answer is whole, judges it and sends the next command."""
        got = self.socket.recv(65536)
        if not got:
            raise RuntimeError("a server hung up on its client")
        self.got += got
        if not self.got.endswith(b"\r\n") or (self.got.startswith(b"VALUE ") and not self.got.endswith(b"\r\nEND\r\n")):
            return
        if self.writes:
            answer = self.got[:-2]
            self.trial.history.write_ends(self.key, self.version, answer)
        elif self.got.startswith(b"VALUE "):
            answer = b"hit"
            self.trial.history.read_ends(self.key, self.floor, self.got.split(b"\r\n", 1)[1][:-7])
        else:
            answer = b"miss" if self.got == b"END\r\n" else self.got[:-2]
        self.trial.told(self, answer.decode())
        self.ask()


class Trial:
    """A stretch of time in which one thing is done to one server."""

    def __init__(self, lab, victim, history, part):
        self.lab, self.victim, self.history = lab, victim, history
        self.rows = []  # (end, duration, is the key the victim's, was it a write, answer)
        servers = len(lab.servers)
        home = sorted(lab.servers, key=lambda name: tuple(map(int, name.split(",")))).index(victim)
        prefix = f"{part}{time.monotonic_ns()}:"
        self.own = keys_at(KEYS, servers, home, prefix)
        others = [key for key in keys_at(4 * KEYS, servers, None, prefix) if home_of(key, servers) != home][:KEYS]
        both = [key for pair in zip(self.own, others) for key in pair]
        self.mine = set(self.own)
        near = [server for name, server in lab.servers.items() if name != victim]
        self.clients = [Client(self, server.pid, True, both[i::len(near)]) for i,
                        server in enumerate(near) if both[i::len(near)]]
        self.clients += [Client(self, server.pid, False, both[i:] + both[:i]) for i, server in enumerate(near)]
        self.selector = selectors.DefaultSelector()
        for client in self.clients:
            self.selector.register(client, selectors.EVENT_READ)
            client.ask()

    def told(self, client, answer):
        now = time.monotonic()
        self.rows.append((now, now - client.begun, client.key in self.mine, client.writes, answer))

    def run(self, seconds, process=None):
        """Runs the clients for so long, and at least until the process has ended."""
        end = time.monotonic() + seconds
        while time.monotonic() < end or (process is not None and process.poll() is None):
            for key, _ in self.selector.select(0.01):
                key.fileobj.hear()

    def close(self):
        """Leaves commands under way: the next trial has keys of its own, so that they do no harm."""
        for client in self.clients:
            client.socket.close()
        self.selector.close()

    def result(self, since):
        rows = [row for row in self.rows if row[0] >= since]
        mine = [row for row in rows if row[2]]
        return {"commands": len(rows),
                "writes": gap(since, [row for row in mine if row[3] and row[4] == "STORED"], self.rows),
                "hits": gap(since, [row for row in mine if row[4] == "hit"], self.rows),
                "longest": max((row[1] for row in mine), default=0),
                "others": max((row[1] for row in rows if not row[2]), default=0),
                "misses": sum(row[4] == "miss" for row in mine),
                "misses of others": sum(row[4] == "miss" for row in rows if not row[2]),
                "said": [row[4] for row in rows if row[4] not in ("STORED", "hit", "miss")],
                "said of others": sum(row[4] not in ("STORED", "hit", "miss") for row in rows if not row[2])}


def gap(since, rows, all_rows):
    """The longest time between two answers of rows in a row, from the instant `since` to the last answer of all."""
    ends = [since, *(row[0] for row in rows), all_rows[-1][0]]
    return max(later - sooner for sooner, later in zip(ends, ends[1:]))


def cwlab(lab, *words):
    return subprocess.Popen([program("cwlab"), words[0], "--name", lab.name, *words[1:]], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def come_together(lab):
    end = time.monotonic() + LIMIT_S
    whole = len(lab.servers)
    while [lab.status()[field] for field in ("know_all", "all_links_up")] != [whole, whole]:
        if time.monotonic() > end:
            raise RuntimeError("the servers do not come together")
        time.sleep(0.02)


def timer(lab, name):
    """A timer of the lab's servers, in seconds."""
    text = next(row["value"] for row in next(iter(lab.servers.values())).ask("config")
                if row["key"] == "timers." + name)
    return float(text[:-2]) / 1e3 if text.endswith("ms") else float(text[:-1])


def once(lab, part, victim, history, patience):
    """Does it once. The result counts from the instant at which it was done."""
    back = part == "back"
    if back:
        cwlab(lab, "fail", victim, "--power").wait(LIMIT_S)
        time.sleep(patience)
    trial = Trial(lab, victim, history, part)
    trial.run(BEFORE_S)
    began = time.monotonic()
    words = ["restore", victim] if back else [DOING[part][0], victim, *DOING[part][1:]] if part in DOING else None
    trial.run(AFTER_S + 2 * patience, cwlab(lab, *words) if words else None)
    result = trial.result(began)
    trial.close()
    if part in ("kill", "silent", "power", "leave"):
        cwlab(lab, "restore", victim).wait(LIMIT_S)
    come_together(lab)
    lab.again(victim)
    return result


def show(part, results):

    def times(field):
        values = [r[field] * 1e3 for r in results]
        return f"{statistics.median(values):.0f} / {max(values):.0f}"

    said = {}
    for word in (word for r in results for word in r["said"]):
        said[word] = said.get(word, 0) + 1
    for word, count in said.items():
        print(f"  # {WORDS[part]}: {count} times: {word}")
    total = sum(r["commands"] for r in results)
    return [WORDS[part], total, times("writes"), times("hits"), times("longest"), times("others"),
            sum(len(r["said"]) for r in results),
            sum(r["misses"] for r in results), sum(r["said of others"] for r in results),
            sum(r["misses of others"] for r in results)]


def main():
    parts = options(PARTS)
    signal.alarm(smoke(100, 280))
    if torus_kit.OPTIONS.smoke:
        parts = ["power", "back"]
    history, rows = History(), []
    with Lab(smoke("3x3x1", "3x3x3"), "--service", "kvcache") as lab:
        names = list(lab.servers)
        dead, hold = timer(lab, "dead"), timer(lab, "hold")
        wait_for_writes(lab[names[0]].pid)
        for part in parts:
            results = [once(lab, part, names[(number * 7 + 5) % len(names)], history, dead + hold)
                       for number in range(torus_kit.OPTIONS.rounds)]
            rows.append(show(part, results))
    title(f"a server of {len(names)} fails under load (dead {dead * 1e3:.0f} ms, hold {hold * 1e3:.0f} ms); ms: median "
          f"/ worst of the trials")
    table(["its keys:", "commands", "no write for", "no hit for", "longest", "others' longest", "refused", "misses",
           "others refused", "others' misses"], rows)
    for line in history.wrong[:20]:
        print("WRONG", line)
    print(f"values judged wrong: {len(history.wrong)}; {sum(map(len, history.maybe.values()))} writes of which nobody "
          f"knows")
    return len(history.wrong) > 0


if __name__ == "__main__":
    sys.exit(main())

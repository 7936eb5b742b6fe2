# SPDX-License-Identifier: Apache-2.0
"""Faults on real links: 27 daemons in namespaces (cwlab), a stream of one packet a millisecond to a key, and each fault
ten times to the key's root or to the cable before it. Prints the table of docs/benchmarks.md: how long the stream stood
still, what was lost and why, and whether anything was delivered where it does not belong (the exit code is 1 then).

    tests/bench/torus/bench_faults.py --bin build/bin [--times 10] [--timers fast] [--only sigstop,one-way]
        [--seconds 400] [--transit auto]                            # auto: in the kernel where they can
    tests/bench/torus/bench_faults.py --bin build/bin --smoke       # a few of them once, as the test suite does

Needs what cwlab up needs. The stream stands still for the longest time between two deliveries of it, wherever they are;
the first row is the same without any fault: what the machine itself does to a stream.
"""

import argparse
import json
import os
import select
import signal
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SENDER = "0,0,0"
LIMIT_S = 60
BEFORE_S, AFTER_S = 0.3, 0.5


class Lab:
    def __init__(self, program, timers, realtime, transit):
        self.program = program
        first = ["chrt", "-r", "1"] if realtime else []
        # The lab ends with this command, and the command with the bench, however that ends.
        words = ["setpriv", "--pdeathsig", "KILL", *first, program, "up", "3x3x3", "--timers", timers, "--transit",
                 transit, "--json", "--foreground"]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        ready = select.select([self.process.stdout], [], [], LIMIT_S)[0]
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.process.kill()
            raise RuntimeError(f"{' '.join(words)}: the lab does not come up")
        said = json.loads(line)
        print(f"# 27 daemons, timers {timers}, transit {transit}: run after {said['built_ns'] / 1e9:.2f} s, "
              f"all know each other after {said['converged_ns'] / 1e9:.2f} s", flush=True)

    def run(self, *words, fine=(0,)):
        done = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if done.returncode not in fine:
            raise RuntimeError(f"cwlab {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def lines(self, *words, fine=(0,)):
        return [json.loads(line) for line in self.run(*words, "--json", fine=fine).splitlines()]

    def ask(self, *words, fine=(0,)):
        return self.lines(*words, fine=fine)[-1]

    def rows(self, server, *words):
        return [json.loads(line) for line in self.run("ctl", server, *words, "--json").splitlines() if line[:1] == "{"]

    def witness(self, *words):
        self.run("ctl", SENDER, "service", "witness", *words)

    def whole(self):
        end = time.monotonic() + LIMIT_S
        while [self.ask("status", fine=(0, 1))[field] for field in ("know_all", "all_links_up")] != [27, 27]:
            if time.monotonic() > end:
                raise RuntimeError("the servers do not come together")
            time.sleep(0.05)

    def drops(self):
        """The packets that were dropped, by server and cause."""
        found = {}
        for daemon in self.lines("status", fine=(0, 1))[:-1]:
            if daemon["state"] == "running":
                for row in self.rows(daemon["server"], "drops"):
                    if "cause" in row:
                        found[daemon["server"], row["cause"]] = row["packets"]
        return found

    def way(self, key):
        """The servers from the sender to the key's root."""
        return [row["server"] for row in self.rows(SENDER, "key", "explain", key, "--job", "witness")
                if row["part"] == "path" and row["leg"] == "now"]

    def keys(self, count):
        """Keys whose roots differ, and are not the sender: links that flap are held down for longer each time."""
        found = {}
        for n in range(1000):
            way = self.way(f"key {n}")
            if len(way) > 1:
                found.setdefault(way[-1], f"key {n}")
            if len(found) >= min(count, 26):
                return list(found.values())
        raise RuntimeError("keys do not spread")


def links_between(left, right):
    """The link of left that leads to right, and right's to left."""
    a, b = ([int(n) for n in name.split(",")] for name in (left, right))
    axis = next(i for i in range(3) if a[i] != b[i])
    up = (a[axis] + 1) % 3 == b[axis]
    return ("+-"[not up] + "xyz"[axis]), ("+-"[up] + "xyz"[axis])


# What is done, what undoes it, and how many seconds lie between the two. R is the root, P the server before the root on
# the way, p the link of P to the root, r the link of the root to P.
FAULTS = [
    ("nothing", "", "", 1.0),
    ("kill -9", "fail R", "restore R", 0),
    ("kill -9, the watcher too", "fail R --whole", "restore R", 0),
    ("kill -9, restarted at once", "fail R; restore R", "", 0.5),
    ("leave (SIGTERM)", "leave R", "restore R", 0),
    ("SIGSTOP 10 ms", "pause R 10ms", "", 0.3),
    ("SIGSTOP 50 ms", "pause R 50ms", "", 0.3),
    ("SIGSTOP 100 ms", "pause R 100ms", "", 0.4),
    ("SIGSTOP 300 ms", "pause R 300ms", "", 0.6),
    ("SIGSTOP 1 s", "pause R 1s", "", 1.3),
    ("SIGSTOP 5 s", "pause R 5s", "", 5.3),
    ("link down, on the way", "link R r down", "link R r up", 0),
    ("one-way loss, to the root", "loss P p all", "loss P p none", 0),
    ("one-way loss, from the root", "loss R r all", "loss R r none", 0),
]


def commands(text, way):
    p, r = links_between(way[-2], way[-1])
    mean = {"R": way[-1], "P": way[-2], "p": p, "r": r}
    return [[mean.get(word, word) for word in one.split()] for one in text.split(";") if one]


def once(lab, key, doing, undoing, wait):
    began = time.monotonic()
    lab.witness("stream", key, "rate=1000")
    time.sleep(BEFORE_S)
    for words in doing:
        lab.run(*words)
    time.sleep(wait + AFTER_S)
    lab.witness("stop")
    time.sleep(0.25)
    said = lab.lines("judge", "--last", f"{int((time.monotonic() - began) * 1000)}ms", fine=(0, 1))
    for words in undoing:
        lab.run(*words)
    lab.whole()
    return said


def measure(lab, fault, keys, until):
    name, doing, undoing, wait = fault
    gaps, lost, sent, wrong, turn, first = [], [], 0, 0, 0.0, ""
    before = lab.drops()
    for key in keys:
        if time.monotonic() > until:
            break
        way = lab.way(key)
        *rows, said = once(lab, key, commands(doing, way), commands(undoing, way), wait)
        stream = next(row for row in rows if "from" in row)
        gaps.append(stream["gap_worst_ns"] / 1e6)
        lost.append(stream["lost"])
        sent += stream["sent"]
        wrong += said["misdelivered"]
        turn = max(turn, said["turn_worst_ns"] / 1e6)
        first = first or said.get("first", "")
    causes = {}
    for (server, cause), packets in lab.drops().items():
        known = before.get((server, cause), 0)
        causes[cause] = causes.get(cause, 0) + (packets - known if packets >= known else packets)
    counted = ", ".join(f"{cause} {n}" for cause, n in sorted(causes.items(), key=lambda item: -item[1]) if n > 0)
    if not gaps:
        print(f"| {name} | not measured: out of time |", flush=True)
        return 0
    print(f"| {name} | {len(gaps)} | {statistics.median(gaps):.1f} / {max(gaps):.1f} | {statistics.median(lost):.0f} / "
          f"{max(lost)} | "
          f"{sum(lost)} of {sent} | {counted or '-'} | {wrong} | {turn:.1f} |", flush=True)
    if first:
        print(f"# {first}", flush=True)
    return wrong


def end_once(*_):
    """A second SIGTERM, which timeout(1) sends to the group, must not end the ending."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--timers", default="default")
    parser.add_argument("--transit", default="user", choices=["auto", "kernel", "user"])
    parser.add_argument("--only", default="", help="words of the faults' names, with commas")
    parser.add_argument("--seconds", type=float, default=400, help="no repetition begins later")
    parser.add_argument("--realtime", action="store_true", help="daemons get SCHED_RR: the machine has other work")
    parser.add_argument("--smoke", action="store_true",
                        help="a few faults, once each; exit code 77 where there are no namespaces")
    options = parser.parse_args()
    if options.smoke:
        options.times, options.only, options.seconds = 1, "nothing,kill -9,100 ms,link down,to the root", 30
        if subprocess.run(["unshare", "--user", "--net", "true"] if os.geteuid() else ["unshare", "--net", "true"],
                          capture_output=True, check=False).returncode != 0:
            print("skipped: no network namespaces here")
            return 77
    signal.signal(signal.SIGTERM, end_once)
    folder = os.environ["CWLAB_DIR"] = tempfile.mkdtemp(prefix="cwlab-")
    program = os.path.join(os.path.abspath(options.bin), "cwlab")
    until = time.monotonic() + options.seconds
    wrong = 0
    try:
        lab = Lab(program, options.timers, options.realtime, options.transit)
        lab.whole()
        ping = lab.ask("pingall", fine=(0, 1))
        print("# all-pairs ping: "
              + ", ".join(f"{key} {value}" for key, value in ping.items() if not isinstance(value, list)))
        keys = lab.keys(options.times)
        print("| fault | times | stood still, ms: median / worst | lost of 1,000/s: median / worst | lost | dropped, "
              "by cause | "
              "misdelivered | longest delivery, ms |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
        for fault in FAULTS:
            if not options.only or any(word.lower() in fault[0].lower() for word in options.only.split(",")):
                wrong += measure(lab, fault, keys, until)
    finally:
        subprocess.run([program, "down", "--all", "--yes"], capture_output=True, timeout=LIMIT_S, check=False)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"# misdelivered in all: {wrong}; load of the machine: {os.getloadavg()[0]:.0f}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""One TCP connection over the tunnel (service ip), beside the kernel's routes over the same cables.

neighbours  between two neighbours over cables without a rate, beside the kernel's route and beside the least program
            that does the same (tunnel_bare: a tun, the same cut and join, a packet socket); with what daemons and that
            program take of the processors for a GB, and the round trip of a ping
hops        over three hops in 27 servers whose cables have 20 Mb/s, beside the kernel's route, which is one path
longer      between two neighbours of 27 servers whose cables have 20 Mb/s, by six paths (spread = disjoint), beside the
            kernel's route, which is one cable
memory      what the tunnel adds to a daemon of 27 at rest, each having spoken with all others once

The first three are iperf3's figures at the receiver. Needs iperf3, ping and iproute2.
"""

import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

import torus_kit
from torus_cache import Network
from torus_kit import LIMIT_S, SKIP, Lab, judged, median, memory, options, program, rounds, smoke, table, title

PARTS = ["neighbours", "hops", "longer", "memory"]
PORT, MTU = "5301", 8944
PATIENT = ("--tunnel", "--scale", "10")  # long timers: no bench here depends on how soon a death is noticed
RATE_MBIT = 20
OF_BARE, CPU_OF_BARE = 0.85, 1.25  # what must be reached beside the bare program: at least, at most
TRIES = 3  # of iperf3, before the cause is told and the bench ends


class Server:
    """iperf3 in a server's namespace, for as long as the part runs."""

    def __init__(self, server):
        self.process = subprocess.Popen(server.inside("iperf3", "-s", "-p", PORT), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        torus_kit.atexit.register(self.process.kill)
        end = time.monotonic() + LIMIT_S
        while f":{int(PORT):04X} " not in server.run("cat", "/proc/net/tcp", "/proc/net/tcp6"):
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("iperf3 does not listen")
            time.sleep(0.01)


class Bare:
    """tunnel_bare on both ends of a cable."""

    def __init__(self, near, far, mtu):
        words = program("tunnel_bare")
        ends = [(near, "px", "1", "2"), (far, "mx", "2", "1")]
        # As daemons, it goes before other work (docs/testbed.md).
        self.processes = [
            subprocess.Popen(server.inside("nice", "-n", "-10", words, "bare0", link, own, other, str(mtu)),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for server, link, own, other in ends]
        for process in self.processes:
            torus_kit.atexit.register(process.kill)
            said = process.stderr.readline()
            if said != "ready\n":
                raise RuntimeError(f"tunnel_bare: {said}")

    def cpu_ns(self):
        return sum(task_ns(process.pid) for process in self.processes)

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()
            torus_kit.atexit.unregister(process.kill)


def task_ns(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as text:
        return int(text.read().split()[0])


def machine_ns():
    """Processor time that the machine was busy for."""
    with open("/proc/stat", encoding="ascii") as text:
        user, nice, system, _, _, irq, softirq, *_ = map(int, text.readline().split()[1:])
    return (user + nice + system + irq + softirq) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def flow(server, address, seconds, cpu_ns=lambda: 0):
    """Megabits a second at the receiver, segments that TCP sent again, and processor time for a GB: of those that
    cpu_ns knows, and of the machine."""
    causes = []
    for _ in range(TRIES):
        before, machine = cpu_ns(), machine_ns()
        done = subprocess.run(server.inside("iperf3", "-J", "-p", PORT, "-c", address, "-t", str(seconds)), check=False,
                              capture_output=True, text=True, timeout=LIMIT_S + seconds)
        end, cause = figures(done)
        if cause is None:
            received = end["sum_received"]
            return {"mbit": received["bits_per_second"] / 1e6, "again": end["sum_sent"]["retransmits"],
                    "cpu": (cpu_ns() - before) / max(received["bytes"], 1),  # ns a byte are s a GB
                    "machine": (machine_ns() - machine) / max(received["bytes"], 1)}
        causes.append(cause)
        print(f"iperf3 to {address}: {cause}; once more", file=sys.stderr)
    raise RuntimeError(f"iperf3 to {address} gave no figures {TRIES} times: {'; '.join(causes)}")


def figures(done):
    """
    What a run of iperf3 says of its end, and None; or why there is nothing, in words. It may end with exit code 0 and
    an error in its report: when the other end closes the connection by which both exchange their results.
    """
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return None, f"exit code {done.returncode} and no report: {(done.stderr or done.stdout).strip()[-200:]}"
    end = said.get("end", {})
    missing = [name for name in ("sum_received", "sum_sent") if name not in end]
    if done.returncode != 0 or "error" in said or missing:
        return None, f"exit code {done.returncode}, {said.get('error', 'no error named')}" + (
            f", without {' and '.join(missing)}" if missing else "")
    return end, None


def reach(server, address):
    """Waits until the address answers."""
    end = time.monotonic() + LIMIT_S
    while subprocess.run(server.inside("ping", "-q", "-c", "1", "-W", "1", address), check=False,
                         capture_output=True).returncode != 0:
        if time.monotonic() > end:
            raise RuntimeError(f"{address} does not answer")


def ping(server, address):
    """The median of groups, in microseconds."""
    times = []
    for _ in range(smoke(1, 5)):
        said = server.run("ping", "-q", "-c", str(smoke(10, 200)), "-i", "0.002", address)
        times.append(float(re.search(r"= [\d.]+/([\d.]+)/", said)[1]) * 1e3)
    return {"us": statistics.median(times)}


def neighbours():
    for mtu in smoke([MTU], [MTU, 1500]):
        neighbours_with(mtu)


def neighbours_with(mtu):
    seconds = smoke(1, 2)
    with Lab("3x1x1", *PATIENT) as lab:
        if mtu != MTU:
            for name in "0,0,0", "1,0,0":
                begin_with(lab, name, 'service "ip" { }', f'network "ip" {{ mtu = {mtu}; }}')
            for name in "0,0,0", "1,0,0":
                lab.again(name)
        near, far = lab["0,0,0"], lab["1,0,0"]
        reach(near, "10.64.1.1")
        for server, link, own, other in (near, "px", 1, 2), (far, "mx", 2, 1):
            server.address(link, f"10.77.0.{own}/24")
            if mtu != MTU:
                server.run("ip", "route", "add", f"10.77.0.{other}/32", "dev", link, "mtu", str(mtu))
        listens, bare = Server(far), Bare(near, far, mtu)
        daemons = lambda: near.cpu_ns() + far.cpu_ns()
        flows = rounds(lambda: flow(near, "10.64.1.1", seconds, daemons),
                       lambda: flow(near, "10.96.2.1", seconds, bare.cpu_ns),
                       lambda: flow(near, "10.77.0.2", seconds))
        pings = rounds(*(lambda a=address: ping(near, a) for address in ("10.64.1.1", "10.96.2.1", "10.77.0.2")))
        title(f"one flow between neighbours, cables without a rate, MTU {mtu}"
              f"{' (of the kernel 9000)' if mtu == MTU else ''}")
        mbit, cpu, machine = ([median(result, field) for result in flows] for field in ("mbit", "cpu", "machine"))
        rows = []
        for i, name in enumerate(("tunnel", "bare program", "kernel's route")):
            is_bare = i == 1
            rows.append([name, mbit[i], *judged(mbit[0] / mbit[i], OF_BARE if is_bare else None, True),
                         median(flows[i], "again"), cpu[i],
                         *(judged(cpu[0] / cpu[i], CPU_OF_BARE) if is_bare else ["", "", ""]), machine[i],
                         machine[0] / machine[i], median(pings[i], "us")])
        table(["", "Mb/s", "tunnel of it", "must", "", "sent again", "s a GB", "tunnel of it", "must", "",
               "machine, s a GB", "tunnel of it", "ping us"], rows)
        listens.process.kill()
        bare.end()


def hops():
    seconds, length, number = smoke((1, 2, 7), (10, 3, 13))  # of the torus, and of server 1,1,1
    with Lab(f"{length}x{length}x{length}", "--rate", f"{RATE_MBIT}mbit", *PATIENT) as lab:
        near, far = lab["0,0,0"], lab["1,1,1"]
        network = Network(lab, (length,) * 3)
        listens = Server(far)
        ends = (f"10.64.{number}.1", network.address((1, 1, 1)))
        flows = rounds(*(lambda a=address: flow(near, a, seconds) for address in ends))
        title(f"one flow over three hops, cables of {RATE_MBIT} Mb/s")
        mbit = [median(result, "mbit") for result in flows]
        table(["", "Mb/s", "of the kernel's", "sent again"],
              [[name, rate, rate / mbit[1], median(result, "again")]
               for name, result, rate in zip(("tunnel, three paths", "kernel's route, one path"), flows, mbit)])
        listens.process.kill()


def begin_with(lab, name, old, new):
    """The server's daemon starts anew with another text in its configuration."""
    conf, = glob.glob(os.path.join(lab.folder, "**", f"{name}.conf"), recursive=True)
    with open(conf, encoding="ascii") as file:
        text = file.read()
    if old not in text:
        raise RuntimeError(f"{conf} has no {old}")
    lab.cwlab("fail", name)
    with open(conf, "w", encoding="ascii") as file:
        file.write(text.replace(old, new))
    lab.cwlab("restore", name)


def longer():
    seconds, goal = smoke((1, 10), (10, 100))
    with Lab("3x3x3", "--rate", f"{RATE_MBIT}mbit", *PATIENT) as lab:
        for name in "0,0,0", "1,0,0":
            begin_with(lab, name, 'service "ip" { }', 'network "ip" { spread = disjoint; }')
        for name in "0,0,0", "1,0,0":
            lab.again(name)
        network = Network(lab, (3, 3, 3))  # not before: a daemon refuses to start beside routes into its subnet
        near, far = lab["0,0,0"], lab["1,0,0"]
        reach(near, "10.64.9.1")
        listens = Server(far)
        flows = rounds(*(lambda a=address: flow(near, a, seconds)
                         for address in ("10.64.9.1", network.address((1, 0, 0)))))
        title(f"one flow between neighbours of 27, cables of {RATE_MBIT} Mb/s (goal {goal} Mb/s)")
        mbit = [median(result, "mbit") for result in flows]
        table(["", "Mb/s", "of the kernel's", "sent again"],
              [[name, rate, rate / mbit[1], median(result, "again")]
               for name, result, rate in zip(("tunnel, six paths", "kernel's route, one cable"), flows, mbit)])
        listens.process.kill()


def memory_at_rest():
    goal, own = 2.0, {}
    length = smoke(2, 3)
    for words in ((), ("--tunnel",)):
        with Lab(f"{length}x{length}x{length}", *words, "--scale", "10") as lab:
            servers = list(lab.servers.values())
            for server in servers if words else ():
                for number in range(len(servers)):
                    server.run("ping", "-q", "-c", "1", f"10.64.{number}.1")
            torus_kit.rest(smoke(0.5, 5))
            own[words] = statistics.median(memory(server.pid)[2] / 1024 for server in servers)
    more = own[("--tunnel",)] - own[()]
    title(f"memory of a daemon's own at rest, median of {length ** 3} servers")
    table(["", "MiB"], [["without the tunnel", own[()]], ["with it, all having spoken", own[("--tunnel",)]],
                        [f"the tunnel (goal {goal}{'' if more <= goal else ', missed'})", more]])


def main():
    parts = options(PARTS)
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        print("skipped: no /dev/net/tun here")
        sys.exit(SKIP)
    for needed in "iperf3", "ping":
        if shutil.which(needed) is None:
            print(f"skipped: no {needed} here")
            sys.exit(SKIP)
    for part in parts:
        {"neighbours": neighbours, "hops": hops, "longer": longer, "memory": memory_at_rest}[part]()


if __name__ == "__main__":
    main()

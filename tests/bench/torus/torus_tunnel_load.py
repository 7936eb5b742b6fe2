# SPDX-License-Identifier: Apache-2.0
"""The tunnel (service ip) under what programs do to a network, beside the kernel's routes over the same cables.

trips   round trips of 64 bytes over one hop and three, all on one processor, with transit in the kernel and in user
        space
path    a flow over three paths to a server three hops away, while a server on one of them is killed: how often TCP ran
        into its time-out for sending again, and for how long nothing was sent
queue   what stands in queues at a cable of 200 Mb/s that one flow, or eight, keep full: a ping beside them, less a ping
        without
web     requests a second of wrk with 16 connections, at nginx on a neighbour
steady  27 servers, a flow from each to each (702), cables of 10 Mb/s, and of 20: what all cables carry to its end, of
        what they can (a flow's rate counts once for each cable of its way, so that near flows do not count for more
        than they take), the mean of what a server receives, and how equal the flows are (Jain's index)
fixed   the same flows with a fixed number of bytes each: what the median server received a second, until it had all

The kernel's routes are what a routing daemon with equal costs would make: all shortest ways from each server, one of
them for each flow by the hash of addresses and ports. Needs what torus_tunnel.py needs.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import torus_kit
from chain_kit import RING, pin, plain, routes
from relay_kit import relayed_lab
from torus_cache import Network
from torus_kit import LIMIT_S, SKIP, Lab, judged, median, options, program, rounds, smoke, table, title
from torus_tunnel import PATIENT, PORT, RATE_MBIT, Server, ping, reach

PARTS = ["trips", "path", "queue", "web", "steady", "fixed"]
TRIPS_MUST = {1: 20.0, 3: 42.0}  # us, at most
# Of a cable; what each server can receive at most, of a cable's rate, if all flows are equal: six cables, and 54 / 26
# hops on the way to each other server.
ALL_MBIT, FASTER_MBIT, CABLES, BOUND = 10, 20, 6, 6 * 26 / 54
STEADY_MUST, FIXED_MUST, WEB_MUST = 0.95, 0.85, 0.5
QUEUE_MBIT, SEGMENT, TARGET_FRAMES, FRAME = 200, 8892, 4, 9038
WEB_PORT, ALL_PORT = 8088, 5400
TUNNEL_MTU = 8944  # as the daemon sets it


def number_of(place, dims):
    x, y, z = place
    return (x * dims[1] + y) * dims[2] + z


def tunnel_address(place, dims):
    return f"10.64.{number_of(place, dims)}.1"


# ---- Round trips


def trips():
    with relayed_lab(RING, "--mtu", "9000", *PATIENT) as lab:
        pin(lab, lab.servers, 0)
        routes(lab)
        near, rows = lab["0,0,0"], []
        for hops in (1, 3):
            far, own, its = lab[f"{hops},0,0"], "10.64.0.1", f"10.64.{hops}.1"
            reach(near, its)

            def with_relay(state):
                for i in range(1, hops):
                    lab[f"{i},0,0"].ask("relay", state)
                time.sleep(0.05)
                try:
                    return plain(near, far, f"{own}@{its}", f"{its}@{own}", 64, 0)
                finally:
                    for i in range(1, hops):
                        lab[f"{i},0,0"].ask("relay", "on")

            def routed():
                ends = f"10.77.0.1@10.77.{hops - 1}.2", f"10.77.{hops - 1}.2@10.77.0.1"
                return plain(near, far, *ends, 64, 0)

            us = [median(result, "us") for result in rounds(lambda: with_relay("on"), lambda: with_relay("off"),
                                                            routed)]
            rows.append([f"{hops} hop{'s' if hops > 1 else ''}", us[0], TRIPS_MUST[hops],
                         "yes" if us[0] <= TRIPS_MUST[hops] else "NO", us[1], us[2], us[0] / us[2], us[1] / us[2]])
        title("round trips of UDP with 64 bytes by the tunnel, all on one processor, us")
        table(["", "relay", "must", "", "relay off", "kernel routes", "relay, of it", "off, of it"], rows)


# ---- A path is lost


def timeouts(server):
    """How often TCP of the server's namespace ran into its time-out for sending again."""
    names, values = [line.split() for line in server.run("cat", "/proc/net/netstat").splitlines()
                     if line.startswith("TcpExt:")]
    return int(dict(zip(names, values))["TCPTimeouts"])


def path():
    seconds, length = smoke(2, 6), 3
    dims, step = (length,) * 3, 0.1
    with Lab("x".join(map(str, dims)), "--rate", f"{RATE_MBIT}mbit", "--tunnel") as lab:
        near, far, victim = lab["0,0,0"], lab["1,1,1"], "1,0,0"
        address = tunnel_address((1, 1, 1), dims)
        listens = Server(far)

        def once(break_it):
            reach(near, address)
            before = timeouts(near)
            run = subprocess.Popen(near.inside("iperf3", "-J", "-p", PORT, "-c", address, "-t", str(seconds), "-i",
                                               str(step)), stdout=subprocess.PIPE, text=True)
            time.sleep(seconds / 2)
            if break_it:
                lab.cwlab("fail", victim)
            said = json.loads(run.communicate(timeout=LIMIT_S + seconds)[0])
            if break_it:
                lab.cwlab("restore", victim, "--wait")
            still = longest = 0
            for one in said["intervals"]:
                still = still + step if one["sum"]["bytes"] == 0 else 0
                longest = max(longest, still)
            return {"mbit": said["end"]["sum_received"]["bits_per_second"] / 1e6, "still": longest,
                    "again": said["end"]["sum_sent"]["retransmits"], "timeouts": timeouts(near) - before}

        results = rounds(lambda: once(False), lambda: once(True))
        title(f"one flow over three paths of {RATE_MBIT} Mb/s; half way a server on one of them is killed")
        table(["", "Mb/s", "sent again", "nothing sent for, s", "time-outs, most", "must", ""],
              [[name, median(result, "mbit"), median(result, "again"), max(one["still"] for one in result),
                *judged(max(one["timeouts"] for one in result), 0)]
               for name, result in zip(("nothing happens", f"{victim} is killed"), results)])
        listens.process.kill()


# ---- What stands in queues


def queue():
    seconds = smoke(2, 4)
    with Lab("3x1x1", "--rate", f"{QUEUE_MBIT}mbit", *PATIENT) as lab:
        near, far = lab["0,0,0"], lab["1,0,0"]
        near.address("px", "10.77.0.1/24")
        far.address("mx", "10.77.0.2/24")
        listens = Server(far)

        def once(address, flows):
            reach(near, address)
            calm = ping(near, address)["us"]
            run = subprocess.Popen(near.inside("iperf3", "-J", "-p", PORT, "-c", address, "-t", str(seconds), "-P",
                                               str(flows)), stdout=subprocess.PIPE, text=True)
            time.sleep(seconds / 2)
            said = near.run("ping", "-q", "-c", str(int(seconds * 20)), "-i", "0.01", address)
            busy = float(said.rsplit("= ", 1)[1].split("/")[1]) * 1e3
            end = json.loads(run.communicate(timeout=LIMIT_S + seconds)[0])["end"]
            return {"ms": (busy - calm) / 1e3, "mbit": end["sum_received"]["bits_per_second"] / 1e6,
                    "again": end["sum_sent"]["retransmits"]}

        rows = []
        for flows in (1, 8):
            ours, its = rounds(lambda: once("10.64.1.1", flows), lambda: once("10.77.0.2", flows))
            target = TARGET_FRAMES * FRAME * 8 / QUEUE_MBIT / 1e3
            goal = max(2 * target, 2 * flows * SEGMENT * 8 / QUEUE_MBIT / 1e3)
            rows.append([flows, *judged(median(ours, "ms"), goal), median(ours, "mbit"), median(ours, "again"),
                         median(its, "ms"), median(its, "mbit"), median(its, "again"),
                         median(ours, "ms") / median(its, "ms")])
        title(f"what stands in queues at a cable of {QUEUE_MBIT} Mb/s, CUBIC")
        table(["flows", "tunnel, ms", "must", "", "Mb/s", "sent again", "kernel's route, ms", "Mb/s", "sent again",
               "of it"], rows)
        listens.process.kill()


# ---- A web server


def web():
    for needed in ("nginx", "wrk"):
        if shutil.which(needed) is None:
            print(f"web: left out: no {needed} here")
            return
    seconds = smoke(1, 2)
    with Lab("3x1x1", *PATIENT) as lab, tempfile.TemporaryDirectory(prefix="cubeway-bench-") as folder:
        near, far = lab["0,0,0"], lab["1,0,0"]
        near.address("px", "10.77.0.1/24")
        far.address("mx", "10.77.0.2/24")
        conf = os.path.join(folder, "nginx.conf")
        with open(conf, "w", encoding="ascii") as out:
            out.write(f"daemon off; pid {folder}/pid; error_log /dev/null; worker_processes 1;\n"
                      "events { worker_connections 256; }\n"
                      f"http {{ access_log off; server {{ listen {WEB_PORT}; "
                      f"location / {{ return 200 '{'x' * 1000}'; }} }} }}\n")
        server = subprocess.Popen(far.inside("nginx", "-e", "/dev/null", "-c", conf), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        torus_kit.atexit.register(server.terminate)

        def once(address):
            said = near.run("wrk", "-t", "1", "-c", "16", "-d", f"{seconds}s", "--latency",
                            f"http://{address}:{WEB_PORT}/")
            line = next(line for line in said.splitlines() if line.startswith("Requests/sec:"))
            return {"rate": float(line.split()[1])}

        reach(near, "10.64.1.1")
        end = time.monotonic() + LIMIT_S
        while f":{WEB_PORT:04X} " not in far.run("cat", "/proc/net/tcp"):
            if time.monotonic() > end:
                raise RuntimeError("nginx does not listen")
            time.sleep(0.02)
        ours, its = (median(result, "rate") for result in rounds(lambda: once("10.64.1.1"), lambda: once("10.77.0.2")))
        title("nginx on a neighbour, wrk with 16 connections, answers of 1,000 bytes: requests/s")
        table(["", "tunnel", "kernel's route", "ratio", "must", ""], [["", ours, its,
                                                                      *judged(ours / its, WEB_MUST, True)]])
        server.terminate()
        server.wait()
        torus_kit.atexit.unregister(server.terminate)


# ---- All to all


class EqualCosts(Network):
    """All shortest ways, one for each flow. mtu: of what is sent by them."""

    mtu = 9000

    def route(self, place, far):
        hops = []
        for axis in range(3):
            if place[axis] != far[axis]:
                forward = (far[axis] - place[axis]) % self.dims[axis] * 2 <= self.dims[axis]
                hops.append(self.cable(place, axis, 2) if forward else
                            self.cable(self.step(place, axis, -1), axis, 1))
        ways = f"via {hops[0]}" if len(hops) == 1 else " ".join(f"nexthop via {hop}" for hop in hops)
        return f"route replace {self.address(far)}/32 src {self.address(place)} mtu {self.mtu} {ways}"

    def set_mtu(self, mtu):
        self.mtu = mtu
        for number, place in enumerate(self.places):
            self.batch(number, [self.route(place, far) for far in self.places if far != place])


class AllToAll:
    def __init__(self, mbit):
        self.dims = smoke((2, 2, 2), (3, 3, 3))
        self.lab = Lab("x".join(map(str, self.dims)), "--rate", f"{mbit}mbit", *PATIENT)
        self.network = EqualCosts(self.lab, self.dims)
        self.mtu = {True: TUNNEL_MTU, False: EqualCosts.mtu}
        self.turn = 0
        for server in self.lab.servers.values():
            server.run("sysctl", "-q", "net.ipv4.fib_multipath_hash_policy=1")
        for place in self.network.places:  # and each has an estimate of each
            reach(self.lab["0,0,0"], tunnel_address(place, self.dims))

    def set_mtu(self, by_tunnel, mtu):
        if mtu == self.mtu[by_tunnel]:
            return
        self.mtu[by_tunnel] = mtu
        if not by_tunnel:
            self.network.set_mtu(mtu)
            return
        for server in self.lab.servers.values():
            server.run("ip", "link", "set", "cw0", "mtu", str(mtu))

    def run(self, by_tunnel, mtu, warm_s, seconds, size):
        """What each server's program said, with "received" as a list of hops and bytes."""
        self.set_mtu(by_tunnel, mtu)
        address = (lambda place: tunnel_address(place, self.dims)) if by_tunnel else self.network.address
        places = self.network.places
        begin = time.time() + smoke(0.5, 2)
        self.turn += 1  # another port each time: what is left of the former round does not meet this one
        programs = [subprocess.Popen(
            self.lab[",".join(map(str, place))].inside(
                program("all_to_all"), address(place), str(ALL_PORT + self.turn), f"{begin:.3f}",
                str(int(warm_s * 1e3)), str(int(seconds * 1e3)), str(size),
                *(address(far) for far in places if far != place)),
            stdout=subprocess.PIPE, text=True) for place in places]
        try:
            said = [json.loads(one.stdout.readline()) for one in programs]
        finally:
            for one in programs:
                one.kill()
                one.communicate()
        place_of = {address(place): place for place in places}
        for place, one in zip(places, said):
            one["received"] = [(self.hops(place_of[far], place), count) for far, count in one["received"].items()]
        return said

    def hops(self, place, far):
        return sum(min((b - a) % n, (a - b) % n) for a, b, n in zip(place, far, self.dims))


# Name, whether by the tunnel, MTU. The first one is judged.
CONTENDERS = [("tunnel", True, TUNNEL_MTU), ("tunnel, MTU 1,500", True, 1500),
              ("kernel's routes, MTU 9,000", False, 9000), ("kernel's routes, MTU 1,500", False, 1500)]


def steady():
    # What the cables carry is judged at 10 Mb/s only: at 20 the processors of one machine may be what is full.
    for mbit, must in smoke([(ALL_MBIT, None)], [(ALL_MBIT, STEADY_MUST), (FASTER_MBIT, None)]):
        steady_at(mbit, must)


def steady_at(mbit, must):
    # What came behind a hole counts when that is filled, and in the first seconds there are many: after 6 s, 10 s had
    # more than the cables carry.
    warm, seconds = smoke(1, 20), smoke(1, 20)
    world = AllToAll(mbit)
    with world.lab:
        def once(by_tunnel, mtu):
            said = world.run(by_tunnel, mtu, warm, seconds, 0)
            hops, flows = zip(*((hops, 8 * count / seconds / 1e6) for one in said for hops, count in one["received"]))
            carried = sum(near * flow for near, flow in zip(hops, flows))
            by_hops = [statistics.mean(flow for near, flow in zip(hops, flows) if near == n) for n in sorted(set(hops))]
            return {"mbit": sum(flows) / len(said), "least": min(flows), "most": max(flows),
                    "cables": carried / (mbit * CABLES * len(said)), "by": by_hops,
                    "jain": sum(flows) ** 2 / len(flows) / sum(flow * flow for flow in flows)}

        results = rounds(*(lambda how=how: once(*how) for _, *how in CONTENDERS))
        theirs = [result for (_, by_tunnel, _), result in zip(CONTENDERS, results) if not by_tunnel]
        kernel = max(median(result, "cables") for result in theirs)
        fair = max(median(result, "jain") for result in theirs)
        title(f"{len(world.lab.servers)} servers, a flow from each to each, cables of {mbit} Mb/s: what a server "
              f"receives, {warm} to {warm + seconds} s after all began")
        rows = []
        for (name, *_), result in zip(CONTENDERS, results):
            cabled, jain = median(result, "cables"), median(result, "jain")
            ours = result is results[0]
            by_hops = [statistics.median(one["by"][n] for one in result) for n in range(len(result[0]["by"]))]
            rows.append([name, median(result, "mbit"), *judged(cabled, must if ours else None, True),
                         *judged(cabled / kernel, 1.0 if ours else None, True),
                         jain, *judged(jain / fair, 1.0 if ours else None, True), median(result, "least"),
                         median(result, "most"), " / ".join(f"{flow:.2f}" for flow in by_hops)])
        table(["", "Mb/s", "of all cables", "must", "", "of the kernel's better", "must", "", "Jain's",
               "of the kernel's", "must", "", "least flow", "most", "mean by hops"], rows)


def fixed():
    size, limit = smoke((200_000, 20), (1_000_000, 40))
    world = AllToAll(ALL_MBIT)
    with world.lab:
        def once(by_tunnel, mtu):
            said = world.run(by_tunnel, mtu, 0, limit, size)
            whole = [one for one in said if one["whole"]]
            rates = [8 * sum(count for _, count in one["received"]) / max(one["seconds"], 1) / 1e6 for one in said]
            return {"mbit": statistics.median(rates), "least": min(rates), "whole": len(whole)}

        results = rounds(*(lambda how=how: once(*how) for _, *how in CONTENDERS))
        bound = BOUND * ALL_MBIT if not torus_kit.OPTIONS.smoke else float("nan")
        kernel = max(median(result, "mbit") for (_, by_tunnel, _), result in zip(CONTENDERS, results) if not by_tunnel)
        title(f"{len(world.lab.servers)} servers, {size / 1e6:g} MB from each to each, cables of {ALL_MBIT} Mb/s: what "
              "a server received a second, until it had all")
        table(["", "Mb/s, median", "of the bound", "must", "", "of the kernel's better", "slowest server",
               "servers that had all"],
              [[name, median(result, "mbit"),
                *judged(median(result, "mbit") / bound, FIXED_MUST if result is results[0] else None, True),
                median(result, "mbit") / kernel, median(result, "least"), min(one["whole"] for one in result)]
               for (name, *_), result in zip(CONTENDERS, results)])


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
        {"trips": trips, "path": path, "queue": queue, "web": web, "steady": steady, "fixed": fixed}[part]()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The key-value cache behind its memcached front end, beside Debian's memcached with one thread: the same clients, the
same namespaces and cables.

local   values whose root is the server that is asked, beside a memcached in the same namespace
across  values whose root is one, two and three hops away, beside a memcached there that is reached by the kernel's
        routed IP over the same cables
hops    gets of one connection over one, two and three hops by turns, whose transit is relayed in the kernel, beside
        memcached behind a proxy (Debian's nutcracker) on the client's server, as many wake-ups as ours, and beside
        memcached alone; what must be reached stands beside a ratio
before  16 connections, gets of the server itself and over two hops, beside the daemons of another build (--before)
copies  gets over two hops as in `across`, with extra keys as they are by default: copies of a key that is read again
        come near the reader
total   27 servers, each asked for values of all, beside one twemproxy (Debian's nutcracker) in front of 27 memcacheds

What is compared is requests a second and the time to an answer, of a closed loop of 1, 16 and 150 connections
(mc_load). With one connection everything is on one processor: a wake-up across processors would be most of what is
measured. With more the client of `local` has a processor of its own, and nothing is pinned elsewhere.
"""

import contextlib
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import torus_kit
from cache_kit import PORT, keys_at, wait_for_writes
from relay_kit import passed_on, relayed_lab
from torus_kit import LIMIT_S, SKIP, Lab, judged, options, program, rounds, smoke, table, title

PARTS = ["local", "across", "hops", "before", "copies", "total"]
KEYS, TRIES = 1000, 5
PATIENT = ("--service", "kvcache", "--scale", "10")  # long timers: no bench here depends on how soon a death is noticed
PEER_PORT, PROXY_PORT = 11222, 11233
FAR_OF_NEAR, OF_PROXY, OF_BEFORE = 1.15, 1.0, 1.05  # medians and, before, processor time: at most
FIELDS = ["rate", "p50", "p95", "p99"]
FOLDER = tempfile.TemporaryDirectory(prefix="cubeway-bench-")


def keys_of(servers, home=None):
    """Writes a file of keys whose root is that server; None: any server."""
    path = os.path.join(FOLDER.name, f"keys-{servers}-{home}")
    if not os.path.exists(path):
        with open(path, "w", encoding="ascii") as out:
            out.write("\n".join(keys_at(KEYS, servers, home)) + "\n")
    return path


# ---- Peers


class Program:
    """Starts a peer's server program in a server's namespace, and waits until it listens; port None: does not wait."""

    def __init__(self, server, port, cpu, *words):
        pin = [] if cpu is None else ["taskset", "-c", str(cpu)]
        self.process = subprocess.Popen(server.inside(*pin, *words), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        torus_kit.atexit.register(self.process.kill)
        self.pid = self.process.pid  # nsenter and taskset become the program
        if port is None:
            return
        end = time.monotonic() + LIMIT_S
        listens = f":{port:04X} 00000000:0000 0A"
        while listens not in server.run("cat", "/proc/net/tcp"):
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f"{words} does not listen")
            time.sleep(0.01)

    def pin(self, cpu):
        cpus = f"0-{os.cpu_count() - 1}" if cpu is None else str(cpu)
        subprocess.run(["taskset", "-a", "-p", "-c", cpus, str(self.pid)], check=True, capture_output=True)

    def end(self):
        self.process.kill()
        self.process.wait()
        torus_kit.atexit.unregister(self.process.kill)


def memcached(server, address, cpu=None):
    return Program(server, PEER_PORT, cpu, "memcached", "-u", "nobody", "-t", "1", "-c", "4096", "-m", "64", "-U", "0",
                   "-l", address, "-p", str(PEER_PORT))


class Network:
    """A lab's cables as an IP network: every server has an address on loopback, and the kernel routes by axes, the
    shorter way round."""

    def __init__(self, lab, dims):
        self.lab, self.dims = lab, dims
        self.places = [(x, y, z) for x in range(dims[0]) for y in range(dims[1]) for z in range(dims[2])]
        for number, place in enumerate(self.places):
            lines = [f"address add {self.address(place)}/32 dev lo"]
            for axis in range(3):
                if dims[axis] > 1:
                    lines.append(f"address add {self.cable(place, axis, 1)}/30 dev p{'xyz'[axis]}")
                    lines.append(f"address add {self.cable(self.step(place, axis, -1), axis, 2)}/30 dev m{'xyz'[axis]}")
            lines += [self.route(place, far) for far in self.places if far != place]
            self.batch(number, lines)

    def address(self, place):
        number = self.places.index(place) + 1
        return f"10.78.{number >> 8}.{number & 255}"

    def cable(self, place, axis, end):
        """The address of an end of the cable in the axis' plus direction: end 1 is here, 2 at the neighbour."""
        number = (self.places.index(place) * 3 + axis) * 4 + end
        return f"10.79.{number >> 8}.{number & 255}"

    def step(self, place, axis, way):
        far = list(place)
        far[axis] = (far[axis] + way) % self.dims[axis]
        return tuple(far)

    def route(self, place, far):
        axis = next(a for a in range(3) if place[a] != far[a])
        forward = (far[axis] - place[axis]) % self.dims[axis] * 2 <= self.dims[axis]
        via = self.cable(place, axis, 2) if forward else self.cable(self.step(place, axis, -1), axis, 1)
        return f"route add {self.address(far)}/32 via {via} src {self.address(place)}"

    def batch(self, number, lines):
        server = self.lab[",".join(map(str, self.places[number]))]
        server.run("sysctl", "-q", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0",
                   "net.ipv4.conf.default.rp_filter=0")
        subprocess.run(server.inside("ip", "-batch", "-"), input="\n".join(lines) + "\n", text=True, check=True,
                       capture_output=True, timeout=LIMIT_S)


# ---- Load


def load_words(server, address, port, op, connections, size, ms, keys, *more, cpu=None):
    pin = [] if cpu is None else ["taskset", "-c", str(cpu)]
    return server.inside(*pin, program("mc_load"), address, str(port), op, str(connections), str(size), str(ms), keys,
                         *more)


def cpu_ns(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as text:
            total += int(text.read().split()[0])
    return total


def children_us():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1e6


def load(pids, *words, ms, keys, **more):
    """A run of mc_load: its figures, and the processor time of those processes for a request, with what storing the
    values cost. On a machine that is busy with other work a server may be counted out for a moment, and then a value is
    not stored, or lost: once more."""
    for _ in range(TRIES):
        before, client = sum(map(cpu_ns, pids)), children_us()
        done = subprocess.run(load_words(*words, ms, keys, **more), capture_output=True, text=True, timeout=LIMIT_S,
                              check=False)
        if done.returncode == 0:
            break
        print(f"  # {' '.join(map(str, words[1:]))}: once more: {done.stderr.strip()}")
        time.sleep(1)
    else:
        raise RuntimeError(f"mc_load {words[1:]}: {done.stderr}")
    result = dict(zip(FIELDS, map(float, done.stdout.split())))
    requests = result["rate"] * ms / 1e3 + KEYS
    result["cpu"] = (sum(map(cpu_ns, pids)) - before) / 1e3 / requests
    result["all"] = result["cpu"] + (children_us() - client) / requests
    return result


def medians(results):
    return {field: statistics.median(r[field] for r in results) for field in results[0]}


HEADS = ["", "conns", "req/s", "p50", "p95", "p99 us", "memcached", "p50", "p95", "p99 us", "req/s of it", "p50 of it"]


def row(words, connections, ours, peer):
    return [words, connections, *(ours[f] for f in FIELDS), *(peer[f] for f in FIELDS), ours["rate"] / peer["rate"],
            ours["p50"] / peer["p50"]]


def cases(ops=("get", "set")):
    for op in ops:
        for size in smoke((3550,), (100, 3550)):
            for connections in smoke((16,), (1, 16, 150)):
                yield op, size, connections


# ---- Parts


def local():
    ms = smoke(50, 300)
    with Lab("3x1x1", *PATIENT) as lab:
        server, keys, rows = lab["0,0,0"], keys_of(3, 0), []
        wait_for_writes(server.pid)
        peer = memcached(server, "127.0.0.1", 0)
        server.pin(0)
        for op, size, connections in cases():
            ports = [(PORT, server.pid), (PEER_PORT, peer.pid)]
            results = rounds(*(lambda port=port, pid=pid: load([pid], server, "127.0.0.1", port, op, connections, size,
                                                               keys=keys, ms=ms, cpu=0 if connections == 1 else 1)
                               for port, pid in ports))
            ours, its = map(medians, results)
            rows.append(row(f"{op} {size}", connections, ours, its) + [ours["cpu"], its["cpu"],
                                                                       ours["cpu"] / its["cpu"]])
        peer.end()
        title("values of the server itself, us; cpu: of the server, for a request")
        table(HEADS + ["cpu us", "memcached", "of it"], rows)


def extras(lab, number):
    for server in lab.servers.values():
        server.service("kvcache", "extras", str(number))


def across():
    chain(smoke([2], [1, 2, 3]), ("get", "set"), 0)


def copies():
    chain([2], ["get"], None)


def chain(all_hops, ops, extra_keys):
    ms = smoke(50, 200)
    with Lab("7x1x1", *PATIENT) as lab:
        network = Network(lab, (7, 1, 1))
        near = lab["0,0,0"]
        wait_for_writes(near.pid)
        if extra_keys is not None:
            extras(lab, extra_keys)
        for hops in all_hops:
            far, keys, rows = lab[f"{hops},0,0"], keys_of(7, hops), []
            address = network.address((hops, 0, 0))
            peer = memcached(far, address)
            for op, size, connections in cases(ops):
                cpu = 0 if connections == 1 else None
                for server in lab.servers.values():
                    server.pin(cpu)
                peer.pin(cpu)
                path = [lab[f"{i},0,0"].pid for i in range(hops + 1)]
                ours, its = map(medians, rounds(lambda: load(path, near, "127.0.0.1", PORT, op, connections, size,
                                                             keys=keys, ms=ms, cpu=cpu),
                                                lambda: load([peer.pid], near, address, PEER_PORT, op, connections,
                                                             size, keys=keys, ms=ms, cpu=cpu)))
                rows.append(row(f"{op} {size}", connections, ours, its) + [ours["all"], its["all"],
                                                                           ours["all"] / its["all"]])
            peer.end()
            title(f"values {hops} hop{'s' if hops > 1 else ''} away, {'no' if extra_keys == 0 else 'with'} copies, "
                  f"beside memcached over routed IP, us; cpu: of all, the client too, for a request")
            table(HEADS + ["cpu us", "memcached", "of it"], rows)


def twemproxy(server, pools):
    """Starts one that listens at each of the ports, for a list of memcacheds. pools: {port: their addresses}."""
    path = os.path.join(FOLDER.name, "proxy.yml")
    with open(path, "w", encoding="ascii") as out:
        for port, addresses in pools.items():
            out.write(f"pool{port}:\n  listen: 0.0.0.0:{port}\n  hash: fnv1a_64\n  distribution: ketama\n"
                      "  backlog: 1024\n  preconnect: true\n  servers:\n")
            for address in addresses:
                out.write(f"   - {address}:{PEER_PORT}:1\n")
    return Program(server, next(iter(pools)), None, shutil.which("nutcracker") or "/usr/sbin/nutcracker", "-c", path,
                   "-v", "0", "-o", "/dev/null", "-p", path + ".pid")


def has_proxy():
    if shutil.which("nutcracker") is None and not os.path.exists("/usr/sbin/nutcracker"):
        print("skipped: there is no nutcracker to compare with (apt-get install nutcracker)")
        return False
    return True


def proxy(lab, network):
    """One twemproxy at the first server, a memcached at each."""
    addresses = [network.address(place) for place in network.places]
    peers = [memcached(lab[",".join(map(str, place))], address) for place, address in zip(network.places, addresses)]
    return peers + [twemproxy(lab["0,0,0"], {PROXY_PORT: addresses})]


def hops():
    if not has_proxy():
        return
    ms, all_hops = smoke(50, 200), (1, 2, 3)
    with relayed_lab("7x1x1", *PATIENT) as lab, contextlib.ExitStack() as stack:
        network, near = Network(lab, (7, 1, 1)), lab["0,0,0"]
        wait_for_writes(near.pid)
        extras(lab, 0)
        addresses = {number: network.address((number, 0, 0)) for number in all_hops}
        peers = [memcached(lab[f"{number},0,0"], address) for number, address in addresses.items()]
        peers.append(twemproxy(near, {PROXY_PORT + number: [address] for number, address in addresses.items()}))
        for peer in peers:
            stack.callback(peer.end)
        for one in [*lab.servers.values(), *peers]:
            one.pin(0)
        targets = [(number, *target) for number in all_hops
                   for target in (("127.0.0.1", PORT), ("127.0.0.1", PROXY_PORT + number),
                                  (addresses[number], PEER_PORT))]
        before = passed_on(lab["1,0,0"])
        results = rounds(*(lambda t=target: load([], near, t[1], t[2], "get", 1, 100, keys=keys_of(7, t[0]), ms=ms,
                                                 cpu=0) for target in targets))
        if passed_on(lab["1,0,0"]) == before:
            raise RuntimeError("nothing was relayed")
        p50 = [statistics.median(one["p50"] for one in result) for result in results]
        ours = p50[::3]
        rows = []
        for number, mine, behind, alone in zip(all_hops, ours, p50[1::3], p50[2::3]):
            rows.append([f"{number} hop{'s' if number > 1 else ''}", mine, behind, *judged(mine / behind, OF_PROXY),
                         alone, mine / alone,
                         *judged(mine / ours[0], FAR_OF_NEAR if number == all_hops[-1] else None)])
        title("gets of 100 bytes, one connection, transit in the kernel, no copies, all on one processor: p50, us")
        table(["", "us", "proxy", "of it", "must", "", "memcached", "of it", "of 1 hop", "must", ""], rows)


def before():
    if torus_kit.OPTIONS.before is None:
        print("before: left out: --before names no other build")
        return
    ms, rows = smoke(50, 300), []
    words = ("5x1x1", *PATIENT)
    older = os.path.abspath(torus_kit.OPTIONS.before)
    with Lab(*words, "--transit", "auto") as now, Lab(*words, programs=older) as then:
        for lab in (now, then):
            wait_for_writes(lab["0,0,0"].pid)
            extras(lab, 0)
            for server in lab.servers.values():
                server.pin(0)
        for number in (0, 2):
            def turn(lab, home=number):
                path = [lab[f"{i},0,0"].pid for i in range(home + 1)]
                return load(path, lab["0,0,0"], "127.0.0.1", PORT, "get", 16, 100, keys=keys_of(5, home), ms=ms,
                            cpu=1)

            ours, its = map(medians, rounds(lambda: turn(now), lambda: turn(then)))
            rows.append([f"{number} hops" if number else "local", ours["p50"], its["p50"],
                         *judged(ours["p50"] / its["p50"], OF_BEFORE), ours["cpu"], its["cpu"],
                         *judged(ours["cpu"] / its["cpu"], OF_BEFORE), ours["rate"] / its["rate"]])
    title("gets of 100 bytes, 16 connections, no copies, beside the daemons before, daemons and clients on a processor "
          "each; cpu: of the daemons on the way, for a request")
    table(["", "p50 us", "before", "of it", "must", "", "cpu us", "before", "of it", "must", "", "req/s of it"], rows)


def store(lab, target, size, keys):
    """Stores the values. False: not all were stored."""
    words = load_words(lab["0,0,0"], *target, "set", 1, size, 0, keys)
    return subprocess.run(words, capture_output=True, timeout=LIMIT_S, check=False).returncode == 0


def all_at_once(lab, target, connections, size, ms, keys):
    """Every server's clients at the same time: gets a second of all, the medians of their medians and 95th percentiles,
    the worst 99th. A value that was lost is stored again, and all begin anew."""
    for _ in range(TRIES):
        begin = time.time() + 0.3 + 0.02 * len(lab.servers)
        loads = [subprocess.Popen(load_words(server, *target, "get", connections, size, ms, keys, f"{begin:.6f}"),
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True) for server in lab.servers.values()]
        said = [one.communicate(timeout=LIMIT_S)[0] for one in loads]
        if not any(one.returncode for one in loads):
            break
        print("  # a value was lost: once more")
        store(lab, target, size, keys)
    else:
        raise RuntimeError("values are lost again and again")
    results = [dict(zip(FIELDS, map(float, out.split()))) for out in said]
    return {"rate": sum(r["rate"] for r in results), "p50": statistics.median(r["p50"] for r in results),
            "p95": statistics.median(r["p95"] for r in results), "p99": max(r["p99"] for r in results)}


def total():
    if not has_proxy():
        return
    ms = smoke(100, 1000)
    with Lab("3x3x3", *PATIENT) as lab, contextlib.ExitStack() as stack:
        network, keys, rows = Network(lab, (3, 3, 3)), keys_of(27), []
        wait_for_writes(lab["0,0,0"].pid)
        for peer in proxy(lab, network):
            stack.callback(peer.end)
        for size in (100, 3550):
            targets = ("127.0.0.1", PORT), (network.address((0, 0, 0)), PROXY_PORT)
            for target in targets:
                store(lab, target, size, keys)
            for connections in smoke((1,), (1, 16)):
                ours, its = map(medians, rounds(*(lambda target=target: all_at_once(lab, target, connections, size, ms,
                                                                                    keys) for target in targets)))
                rows.append(row(f"get {size}", connections, ours, its))
        title("27 servers, clients at each, values of all; beside one twemproxy before 27 memcacheds, us")
        table([head.replace("memcached", "twemproxy").replace("conns", "conns each") for head in HEADS], rows)


def main():
    parts = options(PARTS, lambda parser: parser.add_argument(
        "--before", help="folder of another build's programs, for the part of that name"))
    if shutil.which("memcached") is None:
        print("skipped: there is no memcached to compare with (apt-get install memcached)")
        return SKIP
    for part in parts:
        {"local": local, "across": across, "hops": hops, "before": before, "copies": copies, "total": total}[part]()
    return 0


if __name__ == "__main__":
    sys.exit(main())

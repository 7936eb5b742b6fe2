# SPDX-License-Identifier: Apache-2.0
"""The key-value store beside Redis and etcd, three copies each, in the same namespaces and on the same disk.

durable  puts that are on three disks before they are answered, and gets. Redis: appendfsync always, SET and then WAIT
         for both replicas. etcd: three members, by its JSON gateway, which costs it something: so its figures are below
         what its own protocol gives
large    as durable, values of 1.47 MB (an image of CamCubeOS 5.3), 15 at once, of 24 names
memory   puts that are in the memory of three servers. Redis: no file is written, SET and WAIT as above

A closed loop of 1 and of 150 operations at once. For Redis and etcd these are 150 connections of a client in the
namespace of the first server, where Redis' master and etcd's leader are (mc_load); for the store they are operations of
a service in the daemon of that server, which is a member of every shard and leads a third of them (storeload). What a
client's socket costs is therefore in the peers' figures alone.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

import torus_kit
from torus_cache import FIELDS, Network, Program, cpu_ns, keys_of, load_words, medians
from torus_kit import LIMIT_S, SKIP, Lab, options, rounds, smoke, table, title

PARTS = ["durable", "memory", "large"]
REDIS_PORT, ETCD_PORT, ETCD_PEERS = 11611, 11612, 11613
SERVERS = ["0,0,0", "1,0,0", "2,0,0"]
SIZE = 3550
LARGE, LARGE_NAMES, LARGE_AT_ONCE = 1470000, 24, 15
TRIES = 3
READING_S = 5


def names(size):
    """A file of the names that mc_load uses: few of large values, and in a smoke run."""
    path = keys_of(3)
    if not torus_kit.OPTIONS.smoke and size != LARGE:
        return path
    with open(path, encoding="ascii") as file:
        few = file.read().split("\n")[:20 if torus_kit.OPTIONS.smoke else LARGE_NAMES]
    with open(path + "-few", "w", encoding="ascii") as file:
        file.write("\n".join(few) + "\n")
    return path + "-few"


def store_lab(kind):
    module = os.path.join(os.path.dirname(torus_kit.OPTIONS.bin), "tests", "bench", "torus", "storeload.so")
    lab = Lab("3x1x1", "--service", "store", "--service", module, "--mtu", "9000", "--scale", "10")
    for left in range(READING_S * 10, -1, -1):
        try:
            lab["0,0,0"].service("store", "create", kind, "copies=3")
            return lab
        except RuntimeError as error:  # a server that has just begun is still reading its folder
            if left == 0 or "try again" not in str(error):
                raise
            time.sleep(0.1)
    return lab


def store_load(lab, op, at_once, ms, size):
    for _ in range(TRIES):
        before = sum(cpu_ns(server.pid) for server in lab.servers.values())
        row = lab["0,0,0"].service("storeload", "run", f"op={op}", f"at_once={at_once}", f"bytes={size}", f"ms={ms}",
                                   f"keys={LARGE_NAMES if size == LARGE else 1000}")
        if row["failed"] == 0:
            break
        print(f"  # store {op} {at_once}: {row['failed']} failed: once more")
        time.sleep(1)
    else:
        raise RuntimeError(f"store {op}: operations fail")
    spent = sum(cpu_ns(server.pid) for server in lab.servers.values()) - before
    done = row["rate"] * ms / 1e3 + (1000 if op == "get" else 0)
    return {"rate": row["rate"], "p50": row["p50"] / 1e3, "p95": row["p95"] / 1e3, "p99": row["p99"] / 1e3,
            "cpu": spent / 1e3 / max(done, 1)}


def peer_load(lab, peers, address, port, op, at_once, ms, size):
    before = sum(cpu_ns(peer.pid) for peer in peers)
    done = subprocess.run(load_words(lab["0,0,0"], address, port, op, at_once, size, ms, names(size)),
                          check=False,
                          capture_output=True, text=True, timeout=2 * LIMIT_S)
    if done.returncode != 0:
        raise RuntimeError(f"mc_load {op}: {done.stderr}")
    result = dict(zip(FIELDS, map(float, done.stdout.split())))
    spent = sum(cpu_ns(peer.pid) for peer in peers) - before
    stored = LARGE_NAMES if size == LARGE else 1000
    result["cpu"] = spent / 1e3 / max(result["rate"] * ms / 1e3 + stored, 1)
    return result


def redis(lab, network, folder, durable):
    """A master and two replicas, which have found it."""
    peers, master = [], network.address((0, 0, 0))
    for number, name in enumerate(SERVERS):
        place = os.path.join(folder, f"redis-{number}")
        os.mkdir(place)
        address = network.address((number, 0, 0))
        words = ["redis-server", "--port", str(REDIS_PORT), "--bind", address, "--dir", place, "--save", "",
                 "--appendonly", "yes" if durable else "no", "--appendfsync", "always", "--protected-mode", "no",
                 "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"]
        if number > 0:
            words += ["--replicaof", master, str(REDIS_PORT)]
        peers.append(Program(lab[name], REDIS_PORT, None, *words))
    end = time.monotonic() + LIMIT_S
    ask = ["redis-cli", "-h", master, "-p", str(REDIS_PORT), "info", "replication"]
    while lab["0,0,0"].run(*ask).count("state=online") < 2:
        if time.monotonic() > end:
            raise RuntimeError("redis: the replicas do not find their master")
        time.sleep(0.1)
    return peers


def etcd(lab, network, folder):
    """Three members, of which the first, which begins alone, leads as long as nobody falls silent."""
    urls = {name: f"http://{network.address((number, 0, 0))}" for number, name in enumerate(SERVERS)}
    cluster = ",".join(f"m{number}={urls[name]}:{ETCD_PEERS}" for number, name in enumerate(SERVERS))
    started = []
    for number, name in enumerate(SERVERS):
        words = ["etcd", "--name", f"m{number}", "--data-dir", os.path.join(folder, f"etcd-{number}"),
                 "--listen-client-urls", f"{urls[name]}:{ETCD_PORT}", "--advertise-client-urls",
                 f"{urls[name]}:{ETCD_PORT}", "--listen-peer-urls", f"{urls[name]}:{ETCD_PEERS}",
                 "--initial-advertise-peer-urls", f"{urls[name]}:{ETCD_PEERS}", "--initial-cluster", cluster,
                 "--initial-cluster-state", "new", "--logger", "zap", "--log-level", "error",
                 "--max-request-bytes", str(8 << 20), "--quota-backend-bytes", str(8 << 30)]
        started.append((lab[name], words))
    # They wait for one another before they listen: all are begun, and then waited for.
    peers = [Program(server, None, None, *words) for server, words in started]
    end = time.monotonic() + LIMIT_S
    ask = lab["0,0,0"].inside("curl", "--silent", "--max-time", "5", f"{urls[SERVERS[0]]}:{ETCD_PORT}/health")
    while "true" not in subprocess.run(ask, capture_output=True, check=False, text=True, timeout=LIMIT_S).stdout:
        if time.monotonic() > end:
            raise RuntimeError("etcd: the members do not find each other")
        time.sleep(0.2)
    return peers


HEADS = ["", "at once", "op/s", "p50", "p99 us", "cpu us", "peer", "op/s", "p50", "p99 us", "cpu us", "op/s of it",
         "p50 of it"]


def rows_of(lab, network, ms, ops, peers, size=SIZE, crowds=(1, 150)):
    """peers: name, its processes, its port and what it calls each of the operations; None: it is left out."""
    rows = []
    for op in ops:
        for at_once in crowds:
            names = [(name, started, port, calls[op]) for name, started, port, calls in peers if calls.get(op)]
            contenders = [lambda: store_load(lab, op, at_once, ms, size)]
            for _, started, port, its_op in names:
                contenders.append(lambda started=started, port=port, its_op=its_op: peer_load(
                    lab, started, network.address((0, 0, 0)), port, its_op, at_once, ms, size))
            ours, *others = map(medians, rounds(*contenders))
            for (name, *_), its in zip(names, others):
                rows.append([op, at_once, ours["rate"], ours["p50"], ours["p99"], ours["cpu"], name, its["rate"],
                             its["p50"], its["p99"], its["cpu"], ours["rate"] / max(its["rate"], 1),
                             ours["p50"] / its["p50"]])
    return rows


def durable():
    ms = smoke(200, 2000)
    with store_lab("disk") as lab, tempfile.TemporaryDirectory(dir=os.path.dirname(lab.folder)) as folder:
        network = Network(lab, (3, 1, 1))
        peers = [("redis", redis(lab, network, folder, True), REDIS_PORT, {"put": "redis:set"})]
        if shutil.which("etcd") is not None:
            peers.append(("etcd", etcd(lab, network, folder), ETCD_PORT, {"put": "etcd:set", "get": "etcd:get"}))
        rows = rows_of(lab, network, ms, ["put", "get"], peers)
        end(peers)
        files = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=True).stdout
        title(f"values of {SIZE} bytes, three copies on {files.strip()}, us; cpu: of the three servers, an operation")
        table(HEADS, rows)


def large():
    ms = smoke(500, 2000)
    with store_lab("disk") as lab, tempfile.TemporaryDirectory(dir=os.path.dirname(lab.folder)) as folder:
        network = Network(lab, (3, 1, 1))
        peers = [("redis", redis(lab, network, folder, True), REDIS_PORT, {"put": "redis:set"})]
        if shutil.which("etcd") is not None:
            peers.append(("etcd", etcd(lab, network, folder), ETCD_PORT, {"put": "etcd:set"}))
        rows = rows_of(lab, network, ms, ["put"], peers, LARGE, (1, LARGE_AT_ONCE))
        end(peers)
        title(f"values of {LARGE} bytes, three copies on disks, us; cpu: of the three servers, an operation")
        table(HEADS, rows)


def memory():
    ms = smoke(200, 1000)
    with store_lab("memory") as lab, tempfile.TemporaryDirectory(dir=os.path.dirname(lab.folder)) as folder:
        network = Network(lab, (3, 1, 1))
        peers = [("redis", redis(lab, network, folder, False), REDIS_PORT, {"put": "redis:set"})]
        rows = rows_of(lab, network, ms, ["put"], peers)
        end(peers)
        title(f"values of {SIZE} bytes, three copies in memory, us; cpu: of the three servers, an operation")
        table(HEADS, rows)


def end(peers):
    for _, started, *_ in peers:
        for one in started:
            one.end()


def main():
    parts = options(PARTS)
    if shutil.which("redis-server") is None:
        print("skipped: there is no redis-server to compare with (apt-get install redis-server etcd-server)")
        return SKIP
    for part in parts:
        {"durable": durable, "memory": memory, "large": large}[part]()
    return 0


if __name__ == "__main__":
    sys.exit(main())

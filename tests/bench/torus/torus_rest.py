# SPDX-License-Identifier: Apache-2.0
"""What 27 daemons cost that have nothing to do: bytes of control on a link, memory, processor time; default timers."""

import statistics
import time

from torus_kit import Lab, memory, options, rest, smoke, table, title

GIGABIT_BYTES = 125e6
DEVICES = ("px", "mx", "py", "my", "pz", "mz")


def watcher_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as text:
        return [int(word) for word in text.read().split()]


def spread(name, values):
    return [name, float(min(values)), float(statistics.median(values)), float(max(values))]


def main():
    options(["all"])
    with Lab("3x3x3") as lab:
        servers = lab.servers.values()
        rest(smoke(0.5, 5))
        begin = time.monotonic()
        sent = [server.device_counts(device)[2] for server in servers for device in DEVICES]
        cpu = [server.cpu_ns() for server in servers]
        rest(smoke(0.5, 10))
        cpu = [server.cpu_ns() - before for server, before in zip(servers, cpu)]
        now = [server.device_counts(device)[2] for server in servers for device in DEVICES]
        seconds = time.monotonic() - begin
        rates = [(after - before) / seconds for before, after in zip(sent, now)]
        sizes = [memory(server.pid) for server in servers]
        watchers = [memory(pid) for server in servers for pid in watcher_of(server.pid)]
        title(f"27 servers at rest for {seconds:.0f} s, default timers: least, median, most")
        table(["", "least", "median", "most"], [
            spread("control on a link, each way, bytes/s", rates),
            spread("of 1 Gb/s, %", [100 * rate / GIGABIT_BYTES for rate in rates]),
            spread("processor of a daemon, % of one", [100 * used / seconds / 1e9 for used in cpu]),
            spread("memory resident, MiB", [size[0] / 1024 for size in sizes]),
            spread("memory, shared parts divided (PSS), MiB", [size[1] / 1024 for size in sizes]),
            spread("memory of its own, MiB", [size[2] / 1024 for size in sizes]),
            spread("the watcher beside it (PSS), MiB", [size[1] / 1024 for size in watchers] or [0]),
        ])


main()

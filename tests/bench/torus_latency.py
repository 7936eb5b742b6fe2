# SPDX-License-Identifier: Apache-2.0
"""How long a packet takes, there and back, between services of two daemons that wait for events.

hop     one hop, against UDP sockets over the same cable: waiting for events as a daemon must, and waiting in recv()
further each further hop of a chain, against programs that pass on raw frames and against the kernel's IP forwarding
"""

import statistics

from torus_kit import Lab, median, options, rounds, smoke, table, title

PARTS = ["hop", "further"]
GROUPS, COUNT = 20, 50
SIZES = [64, 512, 1400, 4096, 8900]
FAR = 4  # half of a ring of nine
DEVICE_UP, DEVICE_DOWN = "px", "mx"


def pin(lab, names, cpu):
    for name in names:
        lab[name].pin(cpu)


def ping(lab, server, size, hops=1):
    """Microseconds of a round trip: the median of the means of groups. Rows for single packets would be part of what is
    measured."""
    means = []
    for _ in range(20 * GROUPS):
        for link in ("+x", "-x"):
            lab["0,0,0"].settle(link)
        try:
            row = lab["0,0,0"].service("ping", "to", server, f"count={COUNT}", f"size={size}")
        except RuntimeError:
            continue  # a daemon waited for a processor for so long that it was taken for dead: try again
        if row["lost"] == 0 and row["hops_there_max"] == row["hops_back_max"] == hops:
            means.append(row["rtt_mean_ns"])
        if len(means) == GROUPS:
            break
    else:
        raise RuntimeError(f"{server} is not {hops} hops away")
    return {"us": statistics.median(means) / 1e3}


def plain(near, far, near_end, far_end, size, cpu, events=1):
    echo = far.peer("echo", far_end, f"events={events}", cpu=cpu)
    result = near.peer("ping", near_end, f"bytes={size}", f"groups={GROUPS}", f"count={COUNT}",
                       f"events={events}", cpu=cpu).result()
    echo.end()
    return {"us": result["mean_ns"] / 1e3}


def hop():
    with Lab("3x1x1", "--mtu", "9000") as lab:
        near, far = lab["0,0,0"], lab["1,0,0"]
        near.address(DEVICE_UP, "10.77.0.1/24")
        far.address(DEVICE_DOWN, "10.77.0.2/24")
        for cpu, word in ((0, "both ends on one processor"), (None, "on any processor")):
            pin(lab, lab.servers, cpu)
            rows = []
            for size in smoke([64], SIZES):
                ends = ("10.77.0.1@10.77.0.2", "10.77.0.2@10.77.0.1")
                results = rounds(lambda: ping(lab, "1,0,0", size), lambda: plain(near, far, *ends, size, cpu),
                                 lambda: plain(near, far, *ends, size, cpu, events=0),
                                 lambda: plain(near, far, DEVICE_UP, DEVICE_DOWN, size, cpu))
                us = [median(result, "us") for result in results]
                rows.append([size, us[0], *(x for peer in us[1:] for x in (peer, us[0] / peer))])
            title(f"round trip of one hop, {word}")
            table(["payload", "us", "UDP, events", "of it", "UDP, recv()", "of it", "raw, events", "of it"], rows)


def forwarded(lab, hops, size):
    """The same, but by way of programs that pass on raw frames, one for each server in between."""
    between = [lab[f"{i},0,0"].peer("forward", DEVICE_DOWN, DEVICE_UP, cpu=0) for i in range(1, hops)]
    result = plain(lab["0,0,0"], lab[f"{hops},0,0"], DEVICE_UP, DEVICE_DOWN, size, 0)
    for forwarder in between:
        forwarder.end()
    return result


def routes(lab):
    """Sets up the chain's IP network: cable i has 10.77.i.1 and .2, and every server has a route to all."""
    for i in range(FAR + 1):
        server = lab[f"{i},0,0"]
        if i < FAR:
            server.address(DEVICE_UP, f"10.77.{i}.1/24")
        if i > 0:
            server.address(DEVICE_DOWN, f"10.77.{i - 1}.2/24")
        server.run("sysctl", "-q", "net.ipv4.ip_forward=1")
        for j in range(FAR):
            if j > i:
                server.run("ip", "route", "add", f"10.77.{j}.0/24", "via", f"10.77.{i}.2")
            elif j < i - 1:
                server.run("ip", "route", "add", f"10.77.{j}.0/24", "via", f"10.77.{i - 1}.1")


def routed(lab, hops, size):
    return plain(lab["0,0,0"], lab[f"{hops},0,0"], f"10.77.0.1@10.77.{hops - 1}.2", f"10.77.{hops - 1}.2@10.77.0.1",
                 size, 0)


def further():
    with Lab(f"{2 * FAR + 1}x1x1", "--mtu", "9000") as lab:
        pin(lab, lab.servers, 0)
        routes(lab)
        for size in smoke([64], [64, 1400, 8900]):
            rows, ends = [], {}
            for hops in range(1, FAR + 1):
                results = rounds(lambda: ping(lab, f"{hops},0,0", size, hops), lambda: forwarded(lab, hops, size),
                                 lambda: routed(lab, hops, size))
                us = ends[hops] = [median(result, "us") for result in results]
                rows.append([hops, *us, us[0] / us[1], us[0] / us[2]])
            each = [(far - near) / (FAR - 1) for near, far in zip(ends[1], ends[FAR])]
            rows.append(["each further", *each, each[0] / each[1], each[0] / each[2]])
            title(f"round trip over a chain, {size} bytes, all on one processor, blocking")
            table(["hops", "us", "raw forwarders", "kernel IP", "of raw", "of IP"], rows)


for part in options(PARTS):
    {"hop": hop, "further": further}[part]()

# SPDX-License-Identifier: Apache-2.0
"""Round trips over a chain of servers: by the daemons, by programs that pass on raw frames, by the kernel's IP."""

import statistics

from torus_kit import median, rounds

GROUPS, COUNT = 20, 50
FAR = 4  # half of a ring of nine
RING = f"{2 * FAR + 1}x1x1"
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


def contenders(lab, hops, size):
    """Round trips over so many hops: of the daemons, of raw forwarders, of kernel IP."""
    return [lambda: ping(lab, f"{hops},0,0", size, hops), lambda: forwarded(lab, hops, size),
            lambda: routed(lab, hops, size)]


def chain(lab, hops, size):
    """Medians of contenders(), in microseconds."""
    return [median(result, "us") for result in rounds(*contenders(lab, hops, size))]


def near_and_far(lab, size):
    """Of each of contenders(): the medians for 1 hop and for FAR, and what each hop behind the first adds. That is the
    median of the rounds' own differences, in which the two are measured one after the other: what this machine does to
    one round is in both."""
    results = rounds(*(one for pair in zip(contenders(lab, 1, size), contenders(lab, FAR, size)) for one in pair))
    return [(median(near, "us"), median(far, "us"),
             statistics.median((b["us"] - a["us"]) / (FAR - 1) for a, b in zip(near, far)))
            for near, far in zip(results[::2], results[1::2])]


def each_further(near, far):
    """What each hop behind the first adds, by what chain() gave for 1 hop and for FAR."""
    return [(b - a) / (FAR - 1) for a, b in zip(near, far)]

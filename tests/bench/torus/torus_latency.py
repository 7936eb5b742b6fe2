# SPDX-License-Identifier: Apache-2.0
"""How long a packet takes, there and back, between services of two daemons that wait for events.

hop     one hop, against UDP sockets over the same cable: waiting for events as a daemon must, and waiting in recv()
further each further hop of a chain, against programs that pass on raw frames and against the kernel's IP forwarding
"""

from chain_kit import DEVICE_DOWN, DEVICE_UP, FAR, RING, chain, each_further, pin, ping, plain, routes
from torus_kit import Lab, judged, median, options, rounds, smoke, table, title

PARTS = ["hop", "further"]
SIZES = [64, 512, 1400, 4096, 8900]
OF_UDP = 1.11  # at 64 bytes and on one processor, at most


def hop():
    with Lab("3x1x1", "--mtu", "9000", "--transit", "auto") as lab:
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
                must = OF_UDP if size == 64 and cpu == 0 else None
                rows.append([size, us[0], us[1], *judged(us[0] / us[1], must),
                             *(x for peer in us[2:] for x in (peer, us[0] / peer))])
            title(f"round trip of one hop, {word}")
            table(["payload", "us", "UDP, events", "of it", "must", "", "UDP, recv()", "of it", "raw, events", "of it"],
                  rows)


def further():
    with Lab(RING, "--mtu", "9000") as lab:
        pin(lab, lab.servers, 0)
        routes(lab)
        for size in smoke([64], [64, 1400, 8900]):
            rows, ends = [], {}
            for hops in range(1, FAR + 1):
                us = ends[hops] = chain(lab, hops, size)
                rows.append([hops, *us, us[0] / us[1], us[0] / us[2]])
            each = each_further(ends[1], ends[FAR])
            rows.append(["each further", *each, each[0] / each[1], each[0] / each[2]])
            title(f"round trip over a chain, {size} bytes, all on one processor, blocking")
            table(["hops", "us", "raw forwarders", "kernel IP", "of raw", "of IP"], rows)


for part in options(PARTS):
    {"hop": hop, "further": further}[part]()

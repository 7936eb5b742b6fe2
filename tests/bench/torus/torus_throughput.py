# SPDX-License-Identifier: Apache-2.0
"""How much a daemon sends over cables, and what a packet costs a server that passes it on.

one      one link kept full by the service bench, against raw sockets that do nothing else (and UDP for small packets);
         daemons as they are by default, with relays where they can have them
transit  processor time of a packet in a server between two others, against a raw receive and send of the same frame
shaped   1 to 6 links of a known rate kept full, against what the cables bear, and against raw sockets that fill the
same links
"""

import os
import time

import torus_kit
from torus_kit import (ETHERNET_HEADER, FRAME_HEADER, PACKET_HEADER, Lab, judged, median, options, rest, rounds, smoke,
                       table, title)

PARTS = ["one", "transit", "shaped"]
SPAN_S, WARM_S = 0.3, 0.1
OF_RAW = {1500: 0.87, 9000: 0.93}  # frames/s of full frames, at least
RX_OF_RAW = 1.05
# Pinned: the scheduler would put both ends on one processor or on two, as it likes, which halves the rate or not.
SENDER_CPU, RECEIVER_CPU = 0, os.cpu_count() - 1
LEFT, MIDDLE, RIGHT = "0,0,0", "1,0,0", "2,0,0"
# The links of the left server of 3x3x3, in the order in which the service bench uses them: (neighbour, our device, its
# device).
CABLES = [("1,0,0", "px", "mx"), ("2,0,0", "mx", "px"), ("0,1,0", "py", "my"), ("0,2,0", "my", "py"),
          ("0,0,1", "pz", "mz"),
          ("0,0,2", "mz", "pz")]


def span():
    return smoke(0.05, SPAN_S)


def one_cubeway(lab, size):
    """One round over +x of the left server: its bench sends, and that of the middle server counts."""
    sender, receiver = lab[LEFT], lab[MIDDLE]
    sender.pin(SENDER_CPU)
    receiver.pin(RECEIVER_CPU)
    sender.settle("+x")
    sender.service("bench", "start", "mode=links", "count=1", f"size={size}")
    rest(smoke(0.02, WARM_S))
    before, begin, tx, rx = receiver.service("bench", "stats"), time.monotonic(), sender.cpu_ns(), receiver.cpu_ns()
    sent = sender.service("bench", "stats")["sent"]
    rest(span())
    after, seconds = receiver.service("bench", "stats"), time.monotonic() - begin
    tx, rx, sent = sender.cpu_ns() - tx, receiver.cpu_ns() - rx, sender.service("bench", "stats")["sent"] - sent
    sender.service("bench", "stop")
    rest(0.05)
    packets = after["received"] - before["received"]
    return {"rate": packets / seconds, "tx_us": tx / max(sent, 1) / 1e3, "rx_us": rx / max(packets, 1) / 1e3}


def one_plain(lab, left, right, size):
    sink = lab[MIDDLE].peer("sink", right, cpu=RECEIVER_CPU)
    blast = lab[LEFT].peer("blast", left, f"bytes={size}", f"ms={span() * 1000:.0f}", cpu=SENDER_CPU).result()
    rest(0.02)
    sunk = sink.end()
    return {"rate": sunk["received"] / max(sunk["seconds"], 1e-3),
            "tx_us": blast["cpu_ns"] / max(blast["sent"], 1) / 1e3,
            "rx_us": sunk["cpu_ns"] / max(sunk["received"], 1) / 1e3}


def one():
    rows = []
    for mtu in (1500, 9000):
        with Lab("3x1x1", "--mtu", str(mtu), "--transit", torus_kit.OPTIONS.transit or "auto") as lab:
            lab[LEFT].address("px", "10.77.0.1/24")
            lab[MIDDLE].address("mx", "10.77.0.2/24")
            full = mtu - FRAME_HEADER - PACKET_HEADER
            for size in (100, full) if mtu == 1500 else (100, 1460, full):
                frame = size + FRAME_HEADER + PACKET_HEADER
                mine, raw, udp = rounds(lambda: one_cubeway(lab, size), lambda: one_plain(lab, "px", "mx", frame),
                                        lambda: one_plain(lab, "10.77.0.1@10.77.0.2", "10.77.0.2@10.77.0.1",
                                                          min(size, mtu - 28)))
                rate, is_full = median(mine, "rate"), size == full
                rows.append([f"mtu {mtu}", size, rate / 1e3, rate * size * 8e-9,
                             *judged(rate / median(raw, "rate"), OF_RAW[mtu] if is_full else None, True),
                             rate / median(udp, "rate"), median(mine, "tx_us"),
                             median(mine, "tx_us") / median(raw, "tx_us"), median(mine, "rx_us"),
                             *judged(median(mine, "rx_us") / median(raw, "rx_us"), RX_OF_RAW if is_full else None)])
    title("one link kept full, two daemons on two processors")
    table(["", "payload", "packets/ms", "Gb/s", "of raw", "must", "", "of UDP", "tx us", "of raw", "rx us", "of raw",
           "must", ""], rows)


def transit_cubeway(lab, size, rate, burst):
    middle, right = lab[MIDDLE], lab[RIGHT]
    lab[LEFT].settle("+x", "-x")
    middle.settle("+x", "-x")
    lab[LEFT].service("stream", "start", f"to={RIGHT}", f"size={size}", f"rate={rate}", f"burst={burst}")
    rest(smoke(0.02, WARM_S))
    before, cpu = right.service("stream", "stats"), middle.cpu_ns()
    rest(span())
    after, cpu = right.service("stream", "stats"), middle.cpu_ns() - cpu
    lab[LEFT].service("stream", "stop")
    rest(0.05)
    packets = after["received"] - before["received"]
    return {"us": cpu / max(packets, 1) / 1e3, "hops": (after["hops"] - before["hops"]) / max(packets, 1),
            "rate": packets / span()}


def transit_plain(lab, size, rate, burst):
    forwarder, sink = lab[MIDDLE].peer("forward", "mx", "px"), lab[RIGHT].peer("sink", "mx")
    lab[LEFT].peer("blast", "px", f"bytes={size}", f"ms={span() * 1000:.0f}", f"rate={rate}", f"burst={burst}").result()
    rest(0.02)
    passed, _ = forwarder.end(), sink.end()
    return {"us": passed["cpu_ns"] / max(passed["passed"], 1) / 1e3, "rate": passed["passed"] / span()}


def transit():
    rows = []
    for mtu in (1500, 9000):
        with Lab("5x1x1", "--mtu", str(mtu)) as lab:
            full = mtu - FRAME_HEADER - PACKET_HEADER
            for burst, rate in ((32, 40000), (4, 20000)):
                mine, raw = rounds(lambda: transit_cubeway(lab, full, rate, burst),
                                   lambda: transit_plain(lab, mtu, rate, burst))
                rows.append([f"frames of {mtu}", burst, median(mine, "rate") / 1e3, median(raw, "rate") / 1e3,
                             median(mine, "hops"), median(mine, "us"), median(raw, "us"),
                             median(mine, "us") / median(raw, "us")])
    title("a server in transit: processor time of a packet")
    table(["", "burst", "packets/ms", "raw's", "hops", "us", "raw's us", "of raw"], rows)


def shaped_round(lab, count, size):
    """Payload bits a second of the left server's first `count` links, as its neighbours count them."""
    others = [s for name, s in lab.servers.items() if name != LEFT]
    lab[LEFT].settle("+x", "-x", "+y", "-y", "+z", "-z")
    lab[LEFT].service("bench", "start", "mode=links", f"count={count}", f"size={size}")
    rest(smoke(0.1, 0.25))
    begin = [(s.service("bench", "stats")["bytes"], time.monotonic()) for s in others]
    cpu = lab[LEFT].cpu_ns()
    rest(smoke(0.1, 0.6))
    cpu = (lab[LEFT].cpu_ns() - cpu) / smoke(0.1, 0.6) / 1e9
    end = [(s.service("bench", "stats")["bytes"], time.monotonic()) for s in others]
    lab[LEFT].service("bench", "stop")
    rest(0.1)
    return {"bits": sum(8 * (b[0] - a[0]) / (b[1] - a[1]) for a, b in zip(begin, end)), "cpu": cpu}


def shaped_plain(lab, count, mtu):
    """The same by raw sockets, one program for each link: what tbf and this machine let through."""
    sinks = [lab[name].peer("sink", theirs) for name, _, theirs in CABLES[:count]]
    blasts = [lab[LEFT].peer("blast", ours, f"bytes={mtu}", f"ms={smoke(100, 600)}") for _, ours,
              theirs in CABLES[:count]]
    for blast in blasts:
        blast.result()
    rest(0.05)
    full = mtu - FRAME_HEADER - PACKET_HEADER
    ends = [sink.end() for sink in sinks]
    return {"bits": sum(8 * full * end["received"] / max(end["seconds"], 1e-3) for end in ends)}


def shaped():
    for mtu, rate, word in ((9000, 200e6, "200mbit"), (1500, 200e6, "200mbit")):
        with Lab("3x3x3", "--mtu", str(mtu), "--rate", word, "--transit", torus_kit.OPTIONS.transit or "user") as lab:
            full = mtu - FRAME_HEADER - PACKET_HEADER
            counts = smoke([6], [1, 2, 3, 4, 5, 6])
            rows = []
            results = rounds(*[lambda count=count: shaped_round(lab, count, full) for count in counts])
            plain = rounds(*[lambda count=count: shaped_plain(lab, count, mtu) for count in counts])
            for count, result, peer in zip(counts, results, plain):
                bits = median(result, "bits")
                bears = count * rate * full / (mtu + ETHERNET_HEADER)
                rows.append([f"mtu {mtu}, {word}", count, bits / 1e6, bears / 1e6, bits / bears, bits / (count * rate),
                             median(peer, "bits") / bears, median(result, "cpu")])
        title("links kept full at a rate (tbf), 27 daemons, one sends")
        table(["", "links", "Mb/s", "bears", "of that", "of the rates", "raw sockets", "cores"], rows)
        if smoke(True, False):
            break


def more_options(parser):
    parser.add_argument("--transit", choices=["auto", "user"],
                        help="of the daemons in one (auto, where nothing is said) and in shaped (user)")


for part in options(PARTS, more_options):
    {"one": one, "transit": transit, "shaped": shaped}[part]()

# SPDX-License-Identifier: Apache-2.0
"""What a server in transit costs whose relay passes packets on in the kernel (docs/relay.md).

further    round trips: each further hop of a chain, against programs that pass on raw frames and against the kernel's
           IP forwarding; all on one processor
processor  processor time of a frame in a server in transit, against a raw receive and send of the same frame; all on
           one processor. The relay has no time of its own: it runs in the call of the sender. So its time is what the
           sender and the receiver of a stream take at four hops and not at one, by three servers in transit
frames     frames a second through one server in transit, against the same frames sent to a raw socket without it; and
           with the relay off, against a program that passes on raw frames

What must be reached stands beside each ratio. A part that cannot have a relay in the kernel says why and ends with 77.
"""

import statistics
import time

from chain_kit import FAR, RING, near_and_far, pin, routes
from relay_kit import passed_on, relayed_lab
from torus_kit import (FRAME_HEADER, PACKET_HEADER, judged, median, options, rest, rounds, smoke, table,
                       title)

PARTS = ["further", "processor", "frames"]
FIRST, MIDDLE, SECOND = "0,0,0", "1,0,0", "2,0,0"
SPAN_S, WARM_S = 0.4, 0.05
BURSTS = ((32, 40000), (4, 20000))
MUST = {"further of IP": 1.1, "further of raw": 0.12, "burst 32": 0.45, "burst 4": 0.2, "frames": 0.55, "user": 1.25}
TRIES = 5


def span():
    return smoke(0.05, SPAN_S)


def further():
    with relayed_lab(RING, "--mtu", "9000") as lab:
        pin(lab, lab.servers, 0)
        routes(lab)
        rows = []
        for size in smoke([64], [64, 1400, 8900]):
            before = passed_on(lab[MIDDLE])
            (near, far, each), (_, _, raw), (_, _, routed) = near_and_far(lab, size)
            if passed_on(lab[MIDDLE]) == before:
                raise RuntimeError("the pings were not relayed")
            rows.append([size, near, far, each, raw, routed, *judged(each / routed, MUST["further of IP"]),
                         *judged(each / raw, MUST["further of raw"])])
        title(f"round trips of 1 and {FAR} hops, all on one processor; each further hop in us")
        table(["payload", "1 hop", f"{FAR} hops", "each further", "raw forwarders", "kernel IP", "of IP", "must", "",
               "of raw", "must", ""], rows)


def stream(lab, to, size, rate, burst):
    """Processor time that both ends of a stream take for a packet."""
    near, far = lab[FIRST], lab[to]
    near.settle("+x", "-x")
    near.service("stream", "start", f"to={to}", f"size={size}", f"rate={rate}", f"burst={burst}")
    rest(WARM_S)
    before, cpu = far.service("stream", "stats"), near.cpu_ns() + far.cpu_ns()
    rest(span())
    after, cpu = far.service("stream", "stats"), near.cpu_ns() + far.cpu_ns() - cpu
    near.service("stream", "stop")
    rest(0.02)
    packets = after["received"] - before["received"]
    return {"us": cpu / max(packets, 1) / 1e3, "hops": (after["hops"] - before["hops"]) / max(packets, 1)}


def passed_raw(lab, size, rate, burst):
    """The same of a program that passes on raw frames: what it takes itself."""
    forwarder, sink = lab[MIDDLE].peer("forward", "mx", "px", cpu=0), lab[SECOND].peer("sink", "mx", cpu=0)
    lab[FIRST].peer("blast", "px", f"bytes={size}", f"ms={span() * 1000:.0f}", f"rate={rate}", f"burst={burst}",
                    cpu=0).result()
    rest(0.02)
    passed, _ = forwarder.end(), sink.end()
    return {"us": passed["cpu_ns"] / max(passed["passed"], 1) / 1e3}


def processor():
    rows = []
    for mtu in smoke([1500], [1500, 9000]):
        with relayed_lab(RING, "--mtu", str(mtu)) as lab:
            pin(lab, lab.servers, 0)
            full = mtu - FRAME_HEADER - PACKET_HEADER
            for burst, rate in smoke(BURSTS[:1], BURSTS):
                before = passed_on(lab[MIDDLE])
                near, far, raw = rounds(lambda: stream(lab, MIDDLE, full, rate, burst),
                                        lambda: stream(lab, f"{FAR},0,0", full, rate, burst),
                                        lambda: passed_raw(lab, mtu, rate, burst))
                if passed_on(lab[MIDDLE]) == before:
                    raise RuntimeError("the stream was not relayed")
                us = [median(result, "us") for result in (near, far, raw)]
                each = statistics.median((b["us"] - a["us"]) / (FAR - 1) for a, b in zip(near, far))
                rows.append([f"frames of {mtu}", burst, median(far, "hops"), us[0], us[1], each, us[2],
                             *judged(each / us[2], MUST[f"burst {burst}"])])
    title("processor time of a frame, us, all on one processor")
    table(["", "burst", "hops", "ends, 1 hop", f"ends, {FAR} hops", "each in transit", "raw receive and send", "of raw",
           "must", ""], rows)


def received_frames(server, device):
    return server.device_counts(device)[1]


def stale(server):
    """Packets that the server dropped since they were of another adjacency than the present one."""
    return sum(row["packets"] for row in server.ask("drops") if row["cause"] == "stale-link")


def flood(lab, size, mtu, passes):
    """Frames a second that come to the second server when copies of a daemon's own frame are sent by the first. passes:
    through the relay of the middle, so that it must have counted them."""
    first, middle, second = (lab[name] for name in (FIRST, MIDDLE, SECOND))
    for _ in range(TRIES):
        for server in (first, middle, second):
            server.settle("+x", "-x")
        before, lost = passed_on(middle), stale(middle)
        first.service("stream", "start", f"to={SECOND}", f"size={size}", "rate=100", "burst=1")
        came = received_frames(second, "mx")
        done = first.peer("blast", "px", f"bytes={mtu}", f"ms={span() * 1000:.0f}", "copy=1", cpu=0).result()
        first.service("stream", "stop")
        rest(0.1)
        came = received_frames(second, "mx") - came
        # A link that went down meanwhile has another session, and the copies are of none.
        if passed_on(middle) - before > 0.9 * done["sent"] if passes else stale(middle) - lost < 0.1 * done["sent"]:
            return {"rate": came / done["seconds"]}
    raise RuntimeError(f"{MIDDLE} does not pass on what is sent: {middle.ask('counters')} {middle.ask('drops')}")


def unhindered(lab, mtu, transit):
    """Raw sockets: without a server between, or with a program there that passes on."""
    forwarder = lab[MIDDLE].peer("forward", "mx", "px", cpu=1) if transit else None
    end = lab[SECOND if transit else MIDDLE]
    sink = end.peer("sink", "mx", cpu=1)
    came = received_frames(end, "mx")
    done = lab[FIRST].peer("blast", "px", f"bytes={mtu}", f"ms={span() * 1000:.0f}", cpu=0).result()
    rest(0.05)
    came = received_frames(end, "mx") - came
    sink.end()
    if forwarder is not None:
        forwarder.end()
    return {"rate": came / done["seconds"]}


def frames():
    mtu = 1500
    full = mtu - FRAME_HEADER - PACKET_HEADER
    # A daemon that shares its processor with a flooded one must not be taken for dead.
    with relayed_lab("5x1x1", "--mtu", str(mtu), "--scale", "20") as lab:
        pin(lab, lab.servers, 1)

        def in_user_space():
            lab[MIDDLE].ask("relay", "off")
            try:
                return flood(lab, full, mtu, False)
            finally:
                lab[MIDDLE].ask("relay", "on")
                time.sleep(0.1)

        relay, direct, user, forwarded = [
            median(result, "rate") / 1e3 for result in
            rounds(lambda: flood(lab, full, mtu, True), lambda: unhindered(lab, mtu, False), in_user_space,
                   lambda: unhindered(lab, mtu, True))]
    title(f"frames of {mtu} a millisecond, sender and the rest on a processor each")
    table(["", "frames/ms", "peer", "ratio", "must", ""],
          [["relay, of no server between", relay, direct, *judged(relay / direct, MUST["frames"], True)],
           ["relay off, of a raw forwarder", user, forwarded, *judged(forwarded / user, MUST["user"])]])


for part in options(PARTS):
    {"further": further, "processor": processor, "frames": frames}[part]()

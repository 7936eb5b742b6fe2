# SPDX-License-Identifier: Apache-2.0
"""What a service that may not send costs the others: `stream`, without a grant, tries as fast as it can on two of three
daemons, while `bench` keeps all links full at the rate of their cables. bench's throughput with and without the flood,
in alternating rounds, and the processor time of a refused packet.
"""

import subprocess
import time

from torus_kit import Lab, median, options, program, rest, rounds, smoke, table, title

PARTS = ["flood"]
LEFT, MIDDLE, RIGHT = "0,0,0", "1,0,0", "2,0,0"
WARM_S, SPAN_S = 0.2, 1.0


def without_grants():
    """The words for `up` that keep a lab from granting loaded services their own jobs, if it knows them."""
    text = subprocess.run([program("cwlab"), "up", "--help"], capture_output=True, text=True, check=False).stdout
    return ["--no-grants"] if "--no-grants" in text else []


def totals(lab):
    """Over all servers: what bench received, what stream was refused, and when this was read."""
    bench = sum(s.service("bench", "stats")["bytes"] for s in lab.servers.values())
    stream = [s.service("stream", "stats") for s in lab.servers.values()]
    return {"bytes": bench, "refused": sum(row["refused"] for row in stream),
            "sent": sum(row["sent"] for row in stream),
            "cpu": sum(s.cpu_ns() for s in lab.servers.values()), "at": time.monotonic()}


def once(lab, rate, burst):
    flooders = [LEFT, MIDDLE] if rate > 0 else []
    for server in flooders:
        lab[server].service("stream", "start", f"to={RIGHT}", "size=1000", f"rate={rate}", f"burst={burst}")
    rest(smoke(0.05, WARM_S))
    before = totals(lab)
    rest(smoke(0.1, SPAN_S))
    after = totals(lab)
    for server in flooders:
        lab[server].service("stream", "stop")
    if after["sent"] > 0:
        raise RuntimeError("stream has a grant: nothing was measured")
    seconds = after["at"] - before["at"]
    return {"bits": 8 * (after["bytes"] - before["bytes"]) / seconds,
            "refused": (after["refused"] - before["refused"]) / seconds,
            "cores": (after["cpu"] - before["cpu"]) / 1e9 / seconds}


def flood():
    rows = []
    with Lab("3x1x1", "--mtu", "9000", "--rate", "100mbit", *without_grants()) as lab:
        for server in lab.servers.values():
            server.settle("+x", "-x")
            server.service("bench", "start", "mode=links", "count=2", "size=8900")
        rest(smoke(0.1, 0.5))
        calm, some, many = rounds(lambda: once(lab, 0, 0), lambda: once(lab, 100000, 64),
                                  lambda: once(lab, 10000000, 64))
        still = median(calm, "cores")
        for name, result in (("calm", calm), ("0.1 M/s each", some), ("all it can", many)):
            refused = median(result, "refused")
            more = median(result, "cores") - still
            rows.append([name, refused / 1e6, median(result, "bits") / 1e6,
                         100 * (median(result, "bits") / median(calm, "bits") - 1),
                         median(result, "cores"), more * 1e9 / refused if refused > 0 else 0])
    title("links kept full at 100 Mb/s by bench, 3 daemons; a service without a grant floods on two of them")
    table(["flood", "refused M/s", "bench Mb/s", "change %", "cores", "ns a refusal"], rows)


for part in options(PARTS):
    {"flood": flood}[part]()

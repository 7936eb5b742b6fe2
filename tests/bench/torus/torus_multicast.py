# SPDX-License-Identifier: Apache-2.0
"""A message to many over six trees on real cables, beside what Debian has for a switch.

shaped  links of 20 Mb/s: the least rate of a member, of 1 to 26 members; beside it udpcast and uftp on a star of 27
        servers with 20 Mb/s each, each with the best of several tunings
deaths  the same links, servers lose power while the message is on its way: which members are complete, after how long,
        and the rate over time
bare    links without a rate: what a byte costs the processors on its way to 26 servers, against a chain of raw
        forwarders over the same cables
"""

import os
import random
import shutil
import tempfile
import threading
import time

from star_kit import Star, udpcast, uftp
from torus_kit import Lab, median, options, priority, rest, rounds, smoke, table, title

PARTS = ["shaped", "deaths", "bare"]
SOURCE, MTU, RATE, LINKS = "0,0,0", 9000, 20e6, 6
PIECE = 8920  # of a message in a full frame
COUNTS = (1, 6, 13, 26)
# The tunings of the programs for switched networks. udpcast asks each receiver after every slice; uftp sends at a fixed
# rate, whatever the receivers get of it.
UDPCAST = [["--full-duplex"], ["--full-duplex", "--slice-size", "500"],
           ["--full-duplex", "--slice-size", "1024", "--max-bitrate", "19900k"],
           ["--half-duplex", "--min-slice-size", "512"], ["--fec", "8x2/64", "--max-bitrate", "19900k"]]
UFTP = [["-R", rate, "-b", block, "-r", "0.05:0.01:1"] for rate, block in
        (("19000", "8800"), ("19500", "8800"), ("19700", "8800"), ("18800", "1450"))]


def lab_of(*words):
    """27 daemons fill two processors here: with patient timers none is called dead for that. Carrier that goes is seen
    at once all the same."""
    return Lab("3x3x3", "--mtu", str(MTU), "--scale", smoke("20", "4"), *words)


def shaped_lab():
    return lab_of("--rate", f"{RATE / 1e6:.0f}mbit")


def drawn(count):
    """Draws members, the same ones in every run."""
    others = [f"{x},{y},{z}" for x in range(3) for y in range(3) for z in range(3) if (x, y, z) != (0, 0, 0)]
    return sorted(random.Random(7).sample(others, count))


def message(lab, size, members):
    """From the command until the source knows that the slowest has everything; all have compared every byte."""
    cpu = sum(server.cpu_ns() for server in lab.servers.values())
    rows = lab[SOURCE].service_rows("multicast", "send", str(size), "to", *members)
    cpu = sum(server.cpu_ns() for server in lab.servers.values()) - cpu
    if rows[0]["complete"] != len(members):
        raise RuntimeError(f"not everybody has the message: {rows}")
    return {"bits": float(rows[0]["least_bits_per_s"]), "cpu_s": cpu / 1e9, "s": rows[0]["took_ns"] / 1e9,
            "again": rows[0]["repeated"]}


# ---- shaped ----------------------------------------------------------------------------------------------------------


class Files:
    """A folder in memory with a file of random bytes."""

    def __init__(self, size):
        self.folder = tempfile.mkdtemp(prefix="multicast-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.path, self.size = os.path.join(self.folder, "file"), size
        with open(self.path, "wb") as file:
            file.write(os.urandom(size))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


def best_tuning(star, program, tunings):
    """By a short file to all; those that fail are out."""
    results = []
    with Files(smoke(500_000, 10_000_000)) as files:
        for tuning in tunings:
            try:
                results.append((program(star, COUNTS[-1], files.path, files.folder, tuning), tuning))
            except RuntimeError as error:
                print(f"# {error}")
    for seconds, tuning in results:
        print(f"# {program.__name__} {' '.join(tuning)}: {8e-6 * files.size / seconds:.2f} Mb/s")
    return min(results)[1]


def peer(star, program, tuning, members, files):
    return {"bits": 8 * files.size / program(star, members, files.path, files.folder, tuning)}


def shaped():
    size = smoke(500_000, 30_000_000)
    programs = [(name, tunings) for name, tunings in ((udpcast, UDPCAST), (uftp, UFTP))
                if shutil.which({udpcast: "udp-sender", uftp: "uftp"}[name]) is not None]
    counts = smoke(COUNTS[-1:], COUNTS)
    with shaped_lab() as lab, Star(27, f"{RATE / 1e6:.0f}mbit", MTU, priority()) as star, Files(size) as files:
        tuned = [(program, best_tuning(star, program, tunings[:smoke(1, None)])) for program, tunings in programs]
        rows = []
        for count in counts:
            results = rounds(lambda count=count: message(lab, size, drawn(count)),
                             *[lambda p=program, t=tuning, c=count: peer(star, p, t, c, files) for program,
                               tuning in tuned])
            bits = median(results[0], "bits")
            row = [f"{count}", bits / 1e6, min(r["bits"] for r in results[0]) / 1e6, bits / (LINKS * RATE),
                   median(results[0], "cpu_s") / median(results[0], "s")]
            for result in results[1:]:
                row += [median(result, "bits") / 1e6, median(result, "bits") / RATE]
            row += [bits / max(median(result, "bits") for result in results[1:])] if tuned else []
            rows.append(row)
        title(f"{size / 1e6:.0f} MB to members of 3x3x3, links of {RATE / 1e6:.0f} Mb/s, least rate of a member")
        heads = ["members", "Mb/s", "worst round", "of six links", "cores"]
        for program, _ in tuned:
            heads += [f"{program.__name__} on a star", "of its link"]
        table(heads + (["times the best"] if tuned else []), rows)
    # To see whether the processors are the limit: the same at half the rate.
    if smoke(True, False):
        return
    with lab_of("--rate", f"{RATE / 2e6:.0f}mbit") as lab:
        result = rounds(lambda: message(lab, size // 2, drawn(26)))[0]
        bits = median(result, "bits")
        print(f"  26 members, links of {RATE / 2e6:.0f} Mb/s: {bits / 1e6:.1f} Mb/s, {bits / (LINKS * RATE / 2):.3f} "
              f"of six links")



# ---- deaths ----------------------------------------------------------------------------------------------------------


class Watch:
    """Samples how much a member has, for its rate over time."""

    STEP_S = 0.25

    def __init__(self, server):
        self.server, self.samples, self.over = server, [], threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        while not self.over.wait(self.STEP_S):
            rows = [row for row in self.server.service_rows("multicast", "status") if not row["ended"]]
            if rows:
                self.samples.append((time.monotonic(),
                                     rows[-1]["has"] * rows[-1]["bytes"] / max(rows[-1]["pieces"], 1)))

    def end(self):
        """Mb/s between the samples."""
        self.over.set()
        self.thread.join()
        return [8e-6 * (b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(self.samples, self.samples[1:])]


def whole(lab):
    """Waits until every daemon that died runs again and all servers reach all."""
    end = time.monotonic() + 30
    while True:
        status = lab.status()
        if status["know_all"] == 27 and status["all_links_up"] == 27:
            return
        if time.monotonic() > end:
            raise RuntimeError("the lab does not come together again")
        rest(0.1)


def deaths_round(lab, size, victims, watched):
    watch, rows = Watch(lab[watched]), []
    sender = threading.Thread(target=lambda: rows.extend(lab[SOURCE].service_rows("multicast", "send", str(size), "to",
                                                                                  *drawn(26))))
    sender.start()
    rest(smoke(0.1, 1.0))
    for victim in victims:
        lab.cwlab("fail", victim, "--power", "--quiet")
        rest(smoke(0.02, 0.3))
    sender.join()
    rates = watch.end()
    for victim in victims:
        lab.cwlab("restore", victim, "--quiet")
    whole(lab)
    for victim in victims:
        lab.again(victim)
    lost = {row["incomplete"]: row["status"] for row in rows if "incomplete" in row}
    if set(lost) - set(victims):
        raise RuntimeError(f"a member that lives is not complete: {rows}")
    return {"complete": rows[0]["complete"], "s": rows[0]["took_ns"] / 1e9, "again": rows[0]["repeated"],
            "rates": rates, "lost": len(lost)}


def deaths():
    size = smoke(2_000_000, 60_000_000)
    rng = random.Random(3)
    rows, shown = [], []
    with shaped_lab() as lab:
        for count in smoke([1], [0, 1, 3]):
            def one():
                victims = rng.sample(drawn(26), count)
                return deaths_round(lab, size, victims, next(name for name in drawn(26) if name not in victims))
            results = rounds(one)[0]
            rows.append([f"{count}", min(r["complete"] for r in results), median(results, "s"),
                         max(r["s"] for r in results),
                         8e-6 * size / median(results, "s"), max(r["again"] for r in results)])
            shown.append(f"  {count} die: " + " ".join(f"{rate:.0f}" for rate in results[-1]["rates"]))
    title(f"{size / 1e6:.0f} MB to 26, links of {RATE / 1e6:.0f} Mb/s, servers lose power from {smoke(0.1, 1.0)} s on")
    table(["die", "least complete", "s, median", "s, worst", "Mb/s", "most sent again"], rows)
    print(f"  Mb/s of one member over time, every {Watch.STEP_S} s, last round\n" + "\n".join(shown))


# ---- bare ------------------------------------------------------------------------------------------------------------


def snake():
    """All servers of 3x3x3, each a neighbour of the one before."""
    place = []
    for x in range(3):
        for y in range(3) if x % 2 == 0 else reversed(range(3)):
            for z in range(3) if (3 * x + y) % 2 == 0 else reversed(range(3)):
                place.append((x, y, z))
    return place


def devices(a, b):
    """The two ends of the cable from one to its neighbour."""
    axis = next(i for i in range(3) if a[i] != b[i])
    up = (b[axis] - a[axis]) % 3 == 1
    return ("p" if up else "m") + "xyz"[axis], ("m" if up else "p") + "xyz"[axis]


def chain(lab, *words):
    """Frames along a path through all servers, a raw socket's receive and send at each: the same 26 hops a byte as a
    tree has, with nothing kept, checked or asked for again."""
    place = snake()
    name = [",".join(map(str, c)) for c in place]
    ends = [devices(a, b) for a, b in zip(place, place[1:])]
    sink = lab[name[-1]].peer("sink", ends[-1][1])
    middle = [lab[name[i]].peer("forward", ends[i - 1][1], ends[i][0]) for i in range(1, 26)]
    blast = lab[name[0]].peer("blast", ends[0][0], f"bytes={MTU}", f"ms={smoke(100, 1500)}", *words).result()
    rest(0.3)
    passed, sunk = [m.end() for m in middle], sink.end()
    bytes_delivered = 26 * sunk["received"] * PIECE
    cpu = (sum(p["cpu_ns"] for p in passed) + blast["cpu_ns"] + sunk["cpu_ns"]) / 1e9
    return {"arrived": sunk["received"] / max(blast["sent"], 1), "s_per_gb": 1e9 * cpu / max(bytes_delivered, 1),
            "bits": 8 * PIECE * sunk["received"] / max(sunk["seconds"], 1e-3)}


def bare_message(lab, size):
    result = message(lab, size, drawn(26))
    return result | {"s_per_gb": 1e9 * result["cpu_s"] / (26 * size)}


def bare():
    rows = []
    # Frames a second, and how many at once. A link of 20 Mb/s bears 276, one at a time.
    free, full = [(2000, 32), (4000, 32), (6000, 32), (4000, 4)], [(270, 1)]
    kinds = (("links without a rate", [], smoke(2_000_000, 60_000_000), smoke(free[:1], free)),
             ("links of 20 Mb/s", ["--rate", "20mbit"], 30_000_000, full))
    for lab_name, words, size, speeds in kinds[:smoke(1, None)]:
        with lab_of(*words) as lab:
            chains = [lambda speed=speed: chain(lab, f"rate={speed[0]}", f"burst={speed[1]}") for speed in speeds]
            mine, *raw = rounds(lambda: bare_message(lab, size), *chains)
        for speed, result in zip(speeds, raw):
            print(f"# {lab_name}: chain, {speed[1]} at once: {median(result, 'bits') / 1e6:.0f} Mb/s, "
                  f"{median(result, 'arrived'):.3f} arrived, {median(result, 's_per_gb'):.2f} s/GB")
        fine = [result for result in raw if median(result, "arrived") > 0.98] or raw
        raw_cost = min(median(result, "s_per_gb") for result in fine)
        rows.append([lab_name, median(mine, "bits") / 1e6, 26 * median(mine, "bits") / 1e9,
                     median(mine, "cpu_s") / median(mine, "s"), median(mine, "s_per_gb"), raw_cost,
                     median(mine, "s_per_gb") / raw_cost])
    title("26 members: what a byte delivered costs, against a chain of raw forwarders")
    table(["", "Mb/s", "all, Gb/s", "cores", "s/GB", "raw chain's", "ratio"], rows)


for part in options(PARTS):
    {"shaped": shaped, "deaths": deaths, "bare": bare}[part]()

# SPDX-License-Identifier: Apache-2.0
"""A link that is full: what passes a server and what it sends itself have their shares by weight, with a relay, too;
and a server that only passes packets on loses no link to any number of them.
"""

import os
import struct
import time
import unittest

import lab_kit
from lab_kit import lines, run

PASSES, OWN = 8800, 8900  # bytes, which tell two streams apart; above half a frame, so that no two share one
HEADS = 14 + 8 + 32
FRAMES = 3000
TRIES = 3
FLOOD_S = 2


def frames_by_length(file):
    """How many Ethernet frames of packets a capture has, by their length."""
    with open(file, "rb") as source:
        blocks, counts, at = source.read(), {}, 0
    while at + 12 <= len(blocks):
        kind, length = struct.unpack_from("=II", blocks, at)
        if kind == 6 and blocks[at + 40:at + 42] == b"\x88\xb5":
            [frame] = struct.unpack_from("=I", blocks, at + 24)
            counts[frame] = counts.get(frame, 0) + 1
        at += length
    return counts


class Load(lab_kit.Case):
    def ring(self, *words):
        """Five servers: 1 passes on what 0 sends to 2."""
        self.up("5x1x1", "--transit", "auto", "--service", lab_kit.OPTIONS.module, "--service", "bench", *words)
        self.wait_all(5)
        if any("kernel" not in row["relay"] for row in lines("ctl", "1,0,0", "links") if row["link"][1] == "x"):
            raise unittest.SkipTest("no relay here")

    def stream(self, sender, receiver, size, rate):
        run("ctl", sender, "service", "stream", "start", f"to={receiver}", f"size={size}", f"rate={rate}", "burst=32")

    def share_of_own(self, weight):
        """The part of a link's frames that are the server's own."""
        run("ctl", "1,0,0", "services", "weight", "bench", str(weight))
        time.sleep(0.5)
        file = os.path.join(self.folder, f"{weight}.pcapng")
        run("ctl", "2,0,0", "capture", "-x", file, "--count", str(FRAMES))
        counts = frames_by_length(file)
        passed, own = counts[PASSES + HEADS] * PASSES, counts[OWN + HEADS] * OWN
        return own / (own + passed)

    def test_shares_by_weight(self):
        self.ring("--rate", "100mbit", "--scale", "5")
        self.stream("0,0,0", "2,0,0", PASSES, 3000)
        run("ctl", "1,0,0", "service", "bench", "start", "mode=links", "count=1", f"size={OWN}")
        for weight in (10, 30):
            shares = []
            while not shares or (abs(shares[-1] - weight / (weight + 10)) > 0.01 and len(shares) < TRIES):
                shares.append(self.share_of_own(weight))  # where a sender got no processor, the other had the link
            print(f"weights 10 and {weight}: the server's own frames have {shares} of the link")
            self.assertAlmostEqual(shares[-1], weight / (weight + 10), delta=0.01)

    def look(self):
        """How often links fell and daemons were kept waiting, and packets that were relayed, over all servers."""
        falls = sum(row["flaps"] for row in lines("ctl", "all", "links") if row["link"][1] == "x")
        stalls = sum(row["stalls"] for row in lines("ctl", "all", "status"))
        relayed = sum(row["value"] for row in lines("ctl", "1,0,0", "counters")
                      if (row["group"], row["counter"]) == ("stream", "relayed"))
        return falls, stalls, relayed

    def test_a_flood_past_an_idle_server(self):
        """At the usual timers: what passes in soft interrupts leaves its daemon time enough."""
        self.ring("--scale", "1")
        trials = []
        while not trials or (trials[-1][0] > 0 and len(trials) < TRIES):
            before = self.look()
            self.stream("0,0,0", "2,0,0", 1000, 300000)
            self.stream("2,0,0", "0,0,0", 1000, 300000)
            time.sleep(FLOOD_S)
            for server in ("0,0,0", "2,0,0"):
                run("ctl", server, "service", "stream", "stop")
            trials.append([now - then for now, then in zip(self.look(), before)])
            self.wait_all(5)
        print(f"links that fell, daemons that were kept waiting, packets relayed, in {FLOOD_S} s: {trials}")
        if trials[-1][0] > 0 and all(trial[1] > 0 for trial in trials):
            self.skipTest("this machine keeps daemons waiting for a processor")
        self.assertEqual(trials[-1][0], 0)
        self.assertGreater(trials[-1][2], 10000)


if __name__ == "__main__":
    lab_kit.main()

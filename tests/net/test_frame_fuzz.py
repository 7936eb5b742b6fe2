# SPDX-License-Identifier: Apache-2.0
"""A live daemon with a neighbour that has gone mad: garbage and mutated real frames on one cable, five good neighbours
on the others.

    test_frame_fuzz.py --cubewayd <program> --cwctl <program> [unittest's words]

Every frame is a function of CUBEWAY_FUZZ_SEED (1). 20,000 frames a test; 20 times as many with CUBEWAY_SOAK=1.
"""

import collections
import json
import os
import random
import re
import socket
import subprocess
import threading
import time

import net_kit
from net_kit import LINKS, cable, port_name

VERSION = 2
ETHERTYPE = 0x88B5
ETHERTYPE_CONTROL = 0x88B6
ETHERTYPES = (ETHERTYPE, ETHERTYPE_CONTROL)
ETH_ALL = 3
HEADER = 14
HELLO, GOODBYE, STREAM = 1, 2, 3
OUTGOING = 4  # the kernel's name for what this side sends
# Timers so long that only a daemon that hangs is taken for dead, however busy the machine is.
TIMERS = "timers { hello = 100ms; dead = 3s; hold = 3100ms; flood_bound = 100ms; pending_limit = 10s }\n"
SERVER = 'torus {{ dims = "3x3x3"; coordinate = "{}" }} links {{ {} }}\n'
MIDDLE = "1,1,1"
ROUND = {"+x": "2,1,1", "-x": "0,1,1", "+y": "1,2,1", "-y": "1,0,1", "+z": "1,1,2", "-z": "1,1,0"}
MAD = "-x"
SEED = int(os.environ.get("CUBEWAY_FUZZ_SEED", "1"))
FRAMES = 20_000 * (20 if os.environ.get("CUBEWAY_SOAK") else 1)
# Freed memory stays with the sanitizer for a while.
GROWTH_KB = 160 * 1024 if "ASAN_OPTIONS" in os.environ else 4 * 1024


class Here:
    """The namespace of this test itself, so that a cable can end in it."""

    class holder:
        pid = os.getpid()

    @staticmethod
    def ip(*words):
        net_kit.run("ip", *words)


def opposite(link):
    return ("-" if link[0] == "+" else "+") + link[1]


def tap(interface):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)  # hears nothing until it is bound
    raw.bind((interface, ETH_ALL))
    raw.settimeout(0.02)
    return raw


def controls(frame):
    """(type, offset) of each control packet that lies whole inside the frame (docs/wire.md)."""
    at = 8
    for _ in range(frame[1] if len(frame) > 1 else 0):
        if at + 8 > len(frame):
            return
        length = int.from_bytes(frame[at + 2:at + 4], "big")
        if length < 8 or at + length > len(frame):
            return
        if frame[at] == VERSION << 4 | 4:
            yield frame[at + 1], at
        at += length


def headed(header, frame):
    """The frame behind an Ethernet header with the EtherType that a daemon would give it (docs/wire.md)."""
    at = 32 if len(frame) > 0 and frame[0] & 1 else 8
    control = len(frame) >= at + 8 and frame[0] >> 4 == VERSION and frame[at] == VERSION << 4 | 4
    lane = ETHERTYPE_CONTROL if control and frame[at + 1] in (1, 3, 4, 5, 6) else ETHERTYPE
    return header[:12] + lane.to_bytes(2, "big") + frame


class Adjacency:
    """The numbers of the living adjacency between the mad one and the middle, as their hellos tell them."""

    def __init__(self):
        self.mad = self.middle = self.taken = self.said = bytes(4)

    def hear(self, frame, from_mad):
        for kind, at in controls(frame):
            if kind == HELLO and from_mad:
                self.mad = frame[at + 4:at + 8]
            elif kind == HELLO:
                self.middle, self.said, self.taken = frame[at + 4:at + 8], frame[at + 48:at + 52], frame[at + 52:at
                                                                                                         + 56]

    def renew(self, frame):
        """The frame with the numbers of the living adjacency, so that it is listened to."""
        frame = bytearray(frame)
        if len(frame) >= 8:
            frame[2:4] = self.mad[2:]
        for kind, at in controls(bytes(frame)):
            frame[at + 4:at + 8] = self.mad
            if kind == STREAM and at + 24 <= len(frame):
                following = (int.from_bytes(self.taken, "big") + 1) % 2**32
                frame[at + 8:at + 20] = self.middle + self.said + following.to_bytes(4, "big")
        return bytes(frame)


class Mutator:
    """Frames that are nearly right, and frames that are not."""

    def __init__(self, seed, frames):
        self.dice = random.Random(seed)
        self.frames = frames
        self.ways = [self.garbage, self.headed, self.flips, self.flips, self.cut, self.longer, self.lengths, self.count,
                     self.spliced,
                     self.bytes, self.verbatim]

    def some(self):
        return bytearray(self.dice.choice(self.frames))

    def garbage(self):
        return self.dice.randbytes(self.dice.randrange(0, 1500))

    def headed(self):
        """Garbage that says it is a frame of this version, with a few packets."""
        head = bytes([VERSION << 4 | self.dice.choice([0, 0, 0, 1, 2, 15]),
                      self.dice.choice([0, 1, 1, 2, 255])]) + self.dice.randbytes(6)
        kind = bytes([VERSION << 4 | self.dice.randrange(6), self.dice.randrange(16)])
        body = self.dice.randbytes(self.dice.choice([0, 4, 16, 20, 28, 60, 124, 1000]))
        return head + kind + (len(body) + 4).to_bytes(2, "big") + body

    def flips(self):
        frame = self.some()
        for _ in range(self.dice.choice([1, 1, 1, 2, 8])):
            at = self.dice.randrange(len(frame) * 8)
            frame[at // 8] ^= 1 << at % 8
        return frame

    def cut(self):
        frame = self.some()
        return frame[:self.dice.randrange(len(frame))]

    def longer(self):
        return self.some() + self.dice.randbytes(self.dice.randrange(1, 400))

    def lengths(self):
        """Makes the length of the first packet wrong, or any other word."""
        frame = self.some()
        at = self.dice.choice([10, 10, 2 * self.dice.randrange(len(frame) // 2)])
        frame[at:at + 2] = self.dice.choice([0, 1, 7, 8, 31, 32, 255, 0x7FFF, 0x8000, 0xFFFF,
                                             len(frame) - 8]).to_bytes(2, "big")
        return frame

    def count(self):
        frame = self.some()
        frame[1] = self.dice.choice([0, 1, 2, 3, 255])
        return frame

    def spliced(self):
        one, two = self.some(), self.some()
        return one[:self.dice.randrange(len(one))] + two[self.dice.randrange(len(two)):]

    def bytes(self):
        frame = self.some()
        for _ in range(self.dice.choice([1, 2, 4])):
            frame[self.dice.randrange(len(frame))] = self.dice.choice([0, 1, 0x7F, 0x80, 0xFF,
                                                                       self.dice.randrange(256)])
        return frame

    def verbatim(self):
        return self.some()

    def next(self):
        return bytes(self.dice.choice(self.ways)())[:1500]


class Bridge:
    """Passes frames between "far", where the mad neighbour is, and "mad", where the middle is; garbles them when asked
    to."""

    def __init__(self):
        self.far, self.mad = tap("far"), tap("mad")
        self.mutator = Mutator(SEED, [])
        self.lately = collections.deque(maxlen=200)
        self.sent = self.wanted = 0
        self.hellos = True
        self.header = b""
        self.adjacency = Adjacency()
        self.done = False
        self.threads = [threading.Thread(target=self.carry, args=way)
                        for way in ((self.mad, self.far, False), (self.far, self.mad, True))]
        for thread in self.threads:
            thread.start()

    def carry(self, source, sink, garbled):
        while not self.done:
            try:
                frame, sender = source.recvfrom(2000)
            except TimeoutError:
                frame, sender = b"", (None, None, OUTGOING)
            if sender[2] != OUTGOING and sender[1] in ETHERTYPES:
                self.adjacency.hear(frame[HEADER:], garbled)
                sink.send(self.garbled(frame) if garbled else frame)
            if garbled and self.sent < self.wanted and self.lately:
                self.mutator.frames = list(self.lately)
                for _ in range(16):
                    frame = self.mutator.next()
                    frame = frame if self.hellos else self.adjacency.renew(frame)
                    sink.send(headed(self.header, frame))
                self.sent += 16
                source.settimeout(0.001)

    def garbled(self, frame):
        self.header = frame[:HEADER]
        if not self.hellos and any(kind in (HELLO, GOODBYE) for kind, _ in controls(frame[HEADER:])):
            return frame
        self.lately.append(frame[HEADER:])
        if self.sent >= self.wanted or self.mutator.dice.random() < 0.5:
            return frame
        self.mutator.frames = [frame[HEADER:]]
        return self.header + bytes(self.mutator.flips())

    def garble(self, count, sample):
        """Waits until so many frames were made up. Returns what sample() gave after each tenth of them."""
        sizes = []
        for _ in range(10):
            self.wanted = self.sent + count // 10
            while self.sent < self.wanted:
                time.sleep(0.005)
            sizes.append(sample())
        return sizes

    def close(self):
        self.done = True
        for thread in self.threads:
            thread.join()
        self.far.close()
        self.mad.close()


class FrameFuzz(net_kit.Case):
    def star(self, between):
        """
        The server in the middle and its six neighbours, each in a namespace of its own. The mad one's cable comes
        through here: its end of it is here, or the whole of it and a second one.
        """
        for end in ("mad", "far"):  # a namespace may end late, and its cables with it
            self.addCleanup(subprocess.run, ["ip", "link", "del", end], capture_output=True, check=False)
        self.middle_space = self.space()
        spaces = {link: Here if link == MAD else self.space() for link in LINKS}
        mad_space = None
        for link, space in spaces.items():
            cable(self.middle_space, port_name(link), space, "mad" if link == MAD else "eth0")
        if between:
            mad_space = self.space()
            cable(mad_space, "eth0", Here, "far")
            self.bridge = Bridge()
            self.addCleanup(self.bridge.close)
        links = " ".join(f'"{link}" {{ shim = raw; interface = {port_name(link)} }}' for link in LINKS)
        self.socket = self.folder + "/middle.sock"
        self.middle = self.daemon("middle", TIMERS + SERVER.format(MIDDLE, links), self.middle_space,
                                  control=self.socket)
        self.good = {}
        for link, space in spaces.items():
            name = "mad" if link == MAD and not between else "eth0"
            config = TIMERS + SERVER.format(ROUND[link], f'"{opposite(link)}" {{ shim = raw; interface = {name} }}')
            if link == MAD:
                self.mad = self.daemon("mad", config, mad_space, control=self.folder + "/mad.sock")
            else:
                self.good[link] = self.daemon("good" + link, config, space)
        self.all_see(7)

    def all_see(self, count, marks=None):
        for daemon in (self.middle, *self.good.values()):
            daemon.wait_for(f"count={count} of=27", marks[daemon] if marks else 0)

    def ctl(self, *words, sock=None, code=0):
        done = subprocess.run([net_kit.OPTIONS.cwctl, "--socket", sock or self.socket, "--json", *words],
                              capture_output=True, text=True,
                              timeout=net_kit.LIMIT_S, check=False)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout[-2000:]}{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def counters(self):
        return {(row["group"], row["counter"]): row["value"] for row in self.ctl("counters")}

    def links(self):
        return {row["link"]: row for row in self.ctl("links")}

    def resident_kb(self):
        with open(f"/proc/{self.middle.process.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))

    def marks(self):
        return {daemon: len(daemon.log()) for daemon in (self.middle, *self.good.values())}

    def nobody_died(self):
        for name, daemon in (("middle", self.middle), *self.good.items()):
            self.assertIsNone(daemon.process.poll(), f"seed {SEED}: {name} died\n{daemon.log()[-4000:]}")

    def good_ones_stayed(self, before, marks):
        """The links as they are now, of which the five good ones must not have gone down since before."""
        self.nobody_died()
        rows = self.links()
        for link, daemon in self.good.items():
            self.assertTrue(rows[link]["up"], f"seed {SEED}: {link}")
            self.assertLessEqual(rows[link]["flaps"], before[link]["flaps"],
                                 f"seed {SEED}: {link}\n{self.middle.log()[-8000:]}")
            self.assertNotIn("link is down", daemon.log()[marks[daemon]:])
        return rows

    def causes(self, before):
        return {name: value - before[name] for name, value in self.counters().items() if value != before[name]}

    @staticmethod
    def sees(daemon):
        return re.findall(r"count=(\d+) of=27", daemon.log())[-1]

    def back_to_order(self, marks):
        """All seven know each other, and packets pass between the one that was mad and all others."""
        limit = time.monotonic() + 3 * net_kit.LIMIT_S
        while True:
            mad = subprocess.run([net_kit.OPTIONS.cwctl, "--socket", self.folder + "/mad.sock", "--json", "ping",
                                  "all"],
                                 capture_output=True, text=True, timeout=net_kit.LIMIT_S, check=False)
            # 1: of 27
            heard = mad.returncode in (0, 1) and mad.stdout and json.loads(mad.stdout.splitlines()[-1])["received"] == 6
            if heard and all(self.sees(daemon) == "7" for daemon in (self.middle, *self.good.values())):
                break
            self.nobody_died()
            if time.monotonic() > limit:
                raise AssertionError(f"seed {SEED}: no order again\n{mad.stdout}{mad.stderr}\n"
                                     f"{self.middle.log()[marks[self.middle]:][-4000:]}")
            time.sleep(0.2)

    def all_end(self):
        for daemon in (self.middle, self.mad, *self.good.values()):
            self.assertEqual(daemon.end(), 0, daemon.log()[-4000:])

    def test_a_dead_neighbours_voice(self):
        """The neighbour is dead; what comes over its cable is what it once said, mutated, and garbage."""
        self.star(between=False)
        frames = self.record()
        self.mad.end(9)
        self.middle.wait_for("link is down.*link=-x")
        self.all_see(6)
        marks, before, links = self.marks(), self.counters(), self.links()
        sizes = self.attack(frames)
        rows, causes = self.good_ones_stayed(links, marks), self.causes(before)
        self.assertGreater(rows[MAD]["rx_frames"] - links[MAD]["rx_frames"] + rows[MAD]["rx_dropped"], 0.99 * FRAMES)
        for cause in (("drop", "malformed"), ("drop", "stale-link"), ("links", "strays"), ("links", "miswired")):
            self.assertGreater(causes.get(cause, 0), FRAMES / 1000, f"{cause}: {causes}")
        self.assertLess(sizes[-1] - sizes[1], GROWTH_KB, f"seed {SEED}: resident {sizes} KiB")
        self.mad.start()
        self.back_to_order(marks)
        self.all_end()

    def garbled(self, hellos):
        """
        The neighbour is well, but what it says is garbled on the way: a share of its frames is mutated, and mutations
        of what it said lately, with all numbers of the living adjacency, come in between. No checksum of ours finds
        that, so the view of the cluster may go wrong for as long as it lasts, and servers find that somebody speaks in
        their name and begin anew; but nobody dies, and it heals.
        """
        self.star(between=True)
        self.bridge.hellos = hellos
        self.bridge.lately.clear()
        marks = self.marks()
        self.mad.end(9)
        self.mad.start()  # so that it sends all kinds of frames
        self.back_to_order(marks)
        before = self.counters()
        sizes = self.bridge.garble(FRAMES, self.sample)
        causes = self.causes(before)
        self.assertGreater(causes.get(("drop", "malformed"), 0), FRAMES / 1000, causes)
        self.assertLess(sizes[-1] - sizes[1], GROWTH_KB, f"seed {SEED}: resident {sizes} KiB")
        self.back_to_order(marks)
        self.all_end()
        return causes

    def test_garbled(self):
        causes = self.garbled(hellos=True)
        self.assertGreater(causes.get(("links", "teardowns"), 0), 0, causes)

    def test_garbled_but_for_hellos(self):
        """The adjacency lives on, and what is garbled is listened to: records, acknowledgements, packets."""
        causes = self.garbled(hellos=False)
        self.assertGreater(causes.get(("links", "strays"), 0), FRAMES / 1000, causes)

    def sample(self):
        """The daemon has caught up, and answers: its resident size."""
        self.nobody_died()
        self.ctl("log", "level")
        return self.resident_kb()

    def record(self):
        """What the neighbour sends while it is in order: hellos, records, acknowledgements, pings."""
        frames = set()
        with tap("mad") as raw:
            self.mad.end(9)
            self.mad.start()
            end = time.monotonic() + 1.5
            pings = None
            while time.monotonic() < end or len(frames) < 60:
                self.assertLess(time.monotonic(), end + net_kit.LIMIT_S)
                if pings is None and os.path.exists(self.folder + "/mad.sock"):
                    pings = subprocess.Popen([net_kit.OPTIONS.cwctl, "--socket", self.folder + "/mad.sock", "ping",
                                              "all", "--count", "3"],
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    frame, sender = raw.recvfrom(2000)
                except TimeoutError:
                    if pings is not None and pings.poll() not in (None, 0):
                        pings = None
                    continue
                if sender[1] in ETHERTYPES and sender[2] == OUTGOING:
                    frames.add(frame[HEADER:])
            if pings is not None:
                pings.wait(net_kit.LIMIT_S)
        return sorted(frames)

    def attack(self, frames):
        """FRAMES frames; the middle's resident size after each tenth."""
        mutator, sizes = Mutator(SEED, frames), []
        header = b"\xff" * 6 + b"\x02\0\0\0\0\x01" + bytes(2)
        with tap("mad") as raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            raw.settimeout(None)
            for sent in range(1, FRAMES + 1):
                raw.send(headed(header, mutator.next()))
                if sent % 32 == 0:
                    time.sleep(0.001)
                if sent % (FRAMES // 10) == 0:
                    sizes.append(self.sample())
        return sizes


if __name__ == "__main__":
    net_kit.main(network=True)

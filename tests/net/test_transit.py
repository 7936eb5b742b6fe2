# SPDX-License-Identifier: Apache-2.0
"""Transit through the kernel, and through the daemon: the same packets arrive, whatever becomes of the daemons.

A ring of seven: from 0 to 3 packets cross 1 and 2, or, where these are not there, 6, 5 and 4.
"""

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time

import net_kit
from net_kit import cable

SERVERS = 7
DEAD_S = 2
HOLD_S = 2.1
# Far longer than a busy machine keeps one of seven daemons waiting, so that none is counted out that was not stopped.
TIMERS = (f"timers {{ hello = 100ms; dead = {DEAD_S}s; hold = {round(HOLD_S * 1000)}ms; flood_bound = 100ms; "
          "pending_limit = 10s }\n")
STILL_S = HOLD_S + 0.2 + 0.5  # no packet is held for longer than hold + 200 ms, and half a second is for its way
LOST_AFTER = "3s"  # on a busy machine an answer may take longer than the usual second
TRIALS = 5
RATE = 2000  # packets to keys that each server sends a second
SIZE = 200
STOPPED_S = 5
BY_CHOICE = 2  # the server that is told to pass packets on in user space
IN_USER_NAMESPACE = 4
BY_CLSACT = 2  # the server whose relay is a filter of clsact, where the others have tcx
WITH_A_THREAD = 5  # the server one of whose links has a thread of its own, and so no relay
LEFT_OUT = "transit that comes by a link goes through user space"
METRICS = 9464
LOOK_S = 1.1  # what devices have dropped is looked at once a second
# By a seccomp filter bpf(BPF_LINK_CREATE, ..) fails with EINVAL, as it does in kernels that are older than tcx.
WITHOUT_TCX = """
import ctypes, os, platform, struct, sys
NUMBER = 321 if platform.machine() == "x86_64" else 280  # of the system call bpf
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
FILTER = [(LOAD, 0, 0, 0), (IF_EQUAL, 0, 3, NUMBER), (LOAD, 0, 0, 16), (IF_EQUAL, 0, 1, 28),
          (RETURN, 0, 0, 0x50000 | 22), (RETURN, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in FILTER))
head = ctypes.create_string_buffer(struct.pack("HP", len(FILTER), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
for words in ((38, 1, 0, 0, 0), (22, 2, ctypes.addressof(head))):  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
    if libc.prctl(*(ctypes.c_ulong(word) for word in words)) != 0:
        sys.exit("no seccomp: " + os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
"""


class Transit(net_kit.Case):
    def run_ctl(self, x, *words):
        return subprocess.run([net_kit.OPTIONS.cwctl, "--json", *words], capture_output=True, text=True, check=False,
                              timeout=net_kit.LIMIT_S,
                              env={**os.environ, "CUBEWAY_SOCKET": os.path.join(self.folder, f"{x}.sock")})

    def ask(self, x, *words):
        done = self.run_ctl(x, *words)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return [json.loads(row) for row in done.stdout.splitlines()]

    def ring(self, words=(), programs=None, by_choice=None, in_user_namespace=None, with_a_thread=None):
        """programs: by server, what runs in place of cubewayd."""
        self.spaces = [self.space(x == in_user_namespace) for x in range(SERVERS)]
        self.spaces[1].ip("link", "set", "lo", "up")
        for x in range(SERVERS):
            cable(self.spaces[x], "px", self.spaces[(x + 1) % SERVERS], "mx")
        self.daemons = []
        for x in range(SERVERS):
            more = "transit = user\n" if x == by_choice else "transit = auto\n"
            more += f'metrics {{ listen = "127.0.0.1:{METRICS}" }}\n' if x == 1 else ""
            config = (f'torus {{ dims = "{SERVERS}x1x1"; coordinate = "{x},0,0" }}\n{more}'
                      'links { "+x" { shim = raw; interface = px } "-x" { shim = raw; interface = mx } }\n'
                      f'service bench {{ }}\n{TIMERS}')
            if x == with_a_thread:
                config = config.replace("interface = px", "interface = px; io_thread = true")
            self.daemons.append(self.daemon(f"server-{x}", config, self.spaces[x], words,
                                            os.path.join(self.folder, f"{x}.sock"), (programs or {}).get(x)))
        self.wait_for_all()

    def wait_for_all(self):
        for daemon in self.daemons:
            daemon.wait_for(f"count={SERVERS} of={SERVERS}")
        self.wait_until(lambda: all(row["reachable"] == SERVERS for x in range(SERVERS)
                                    for row in self.ask(x, "status")))

    def wait_until(self, what):
        end = time.monotonic() + net_kit.LIMIT_S
        while not what():
            self.assertLess(time.monotonic(), end, "it does not come to pass")
            time.sleep(0.02)

    def script(self, name, text):
        """A program that ends by starting cubewayd."""
        program = os.path.join(self.folder, name)
        with open(program, "w", encoding="utf-8") as out:
            out.write(f'#!/bin/sh\nexec {text} {net_kit.OPTIONS.cubewayd} "$@"\n')
        os.chmod(program, 0o755)
        return program

    def without_tcx(self):
        """Words that start a program to which the kernel seems to have no tcx."""
        program = os.path.join(self.folder, "without_tcx.py")
        with open(program, "w", encoding="utf-8") as out:
            out.write(WITHOUT_TCX)
        return f"{sys.executable} -B {program}"

    def kernel_ring(self, words=()):
        """A ring whose transit goes through the kernel; skipped where that cannot be had."""
        self.ring(words=words, programs={BY_CLSACT: self.script("clsact", self.without_tcx())},
                  with_a_thread=WITH_A_THREAD)
        log = self.daemons[0].log()
        if "transit goes through user space" in log:
            self.skipTest([line for line in log.splitlines() if "transit goes" in line][0])
        self.wait_until(lambda: all("kernel" in self.says(x) for x in range(SERVERS)))
        self.assertEqual(self.says(WITH_A_THREAD), {"kernel", "it has a thread of its own"})
        for x, links in ((0, "2"), (WITH_A_THREAD, "1")):
            self.assertRegex(self.daemons[x].log(), f'transit goes through the kernel" links={links}')
            said = [line for line in self.daemons[x].log().splitlines() if LEFT_OUT in line]
            self.assertEqual(len(said), 2 - int(links), said)
            self.assertTrue(all("link=+x" in line and "a thread of its own" in line for line in said), said)

    def says(self, x):
        return {row["relay"] for row in self.ask(x, "links") if row["link"][1] == "x"}

    def counters(self, x, of):
        return {row["counter"]: row["value"] for row in self.ask(x, "counters") if row["group"] == of}

    def relayed(self, x):
        return self.counters(x, "ping").get("relayed", 0)

    def ping(self, count=20, to=3, interval="2ms", size=64):
        rows = self.ask(0, "ping", f"{to},0,0", "--count", str(count), "--interval", interval,
                        "--lost-after", LOST_AFTER, "--size", str(size))
        return rows[-1]

    def three_hops_with_the_relay_and_without(self):
        for x in (1, 2):
            self.assertEqual(self.run_ctl(x, "daemon", "relay").returncode, 0)
        before = [self.relayed(x) for x in range(SERVERS)]
        answer = self.ping()
        self.assertEqual(answer["lost"], 0, answer)
        self.assertEqual(answer["hops_there_max"], 3, answer)
        after = [self.relayed(x) for x in range(SERVERS)]
        for x in (1, 2):
            self.assertGreaterEqual(after[x] - before[x], 20, "pings are relayed")  # both ways, or nearly
        self.assertEqual(after[3] - before[3], 0, "what arrives is not")
        metrics = net_kit.run(*self.spaces[1].enter(sys.executable, "-c", "import sys, urllib.request as u; "
                                                    "sys.stdout.write(u.urlopen(sys.argv[1]).read().decode())",
                                                    f"http://127.0.0.1:{METRICS}/metrics")).stdout
        metrics = "\n".join(line for line in metrics.splitlines() if "_relay" in line)
        self.assertRegex(metrics, r'(?m)^cubeway_relayed_packets_total\{.*service="ping".*\} [1-9]')
        self.assertRegex(metrics, r'(?m)^cubeway_relayed_bytes_total\{.*link="\+x".*\} [1-9]')
        self.assertRegex(metrics, r'(?m)^cubeway_relay_handed_up_total\{.*reason="[a-z]+".*\} [1-9]')
        self.assertRegex(metrics, r'(?m)^cubeway_relay_lost_behind_total\{.*link="-x".*\} 0$')

        self.ask(1, "daemon", "relay", "off")
        self.assertEqual(self.says(1), {"switched off by an operator"})
        self.wait_until(lambda: self.run_ctl(1, "status").returncode == 0)
        before = self.relayed(1)
        self.assertEqual(self.ping()["lost"], 0)
        self.assertEqual(self.relayed(1), before)
        self.ask(1, "daemon", "relay", "on")
        self.wait_until(lambda: self.says(1) == {"kernel"})
        self.assertEqual(self.ping()["lost"], 0)
        self.assertGreater(self.relayed(1), before)

        # A capture sees all transit while it runs: nothing passes by it in the kernel.
        out = os.path.join(self.folder, "transit.pcapng")
        capture = subprocess.Popen([net_kit.OPTIONS.cwctl, "capture", "+x", out],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "CUBEWAY_SOCKET": os.path.join(self.folder, "1.sock")})
        self.wait_until(lambda: os.path.exists(out))
        up = self.counters(1, "relay")["up: link"]
        self.wait_until(lambda: self.ping(count=1)["lost"] == 0 and self.counters(1, "relay")["up: link"] > up)
        relayed = self.counters(1, "relay").get("relayed by +x", 0)
        self.assertEqual(self.ping(count=100, size=1000)["lost"], 0)  # too large for two to share a frame
        self.assertEqual(self.counters(1, "relay").get("relayed by +x", 0), relayed)
        self.wait_until(lambda: self.data_frames(out) >= 200)  # 100 pings there, and their answers
        capture.send_signal(signal.SIGINT)
        self.assertEqual(capture.wait(net_kit.LIMIT_S), 0)
        self.assertEqual(self.ping()["lost"], 0)

    @staticmethod
    def data_frames(file):
        """Frames of packets, not of control, in a capture: enhanced packet blocks with Ethernet frames."""
        with open(file, "rb") as source:
            blocks, count, at = source.read(), 0, 0
        while at + 12 <= len(blocks):
            kind, length = struct.unpack_from("=II", blocks, at)
            count += kind == 6 and blocks[at + 28 + 12:at + 28 + 14] == b"\x88\xb5"
            at += length
        return count

    def calm(self, x):
        """What tells of server x whether it, or a link of it, was disturbed between two looks."""
        [row] = self.ask(x, "status")
        return (row["stalls"], row["reachable"])

    def trial_of_standing_still(self, span, still):
        """That server stands still for so long while packets pass it. False: the machine was too busy."""
        self.wait_until(lambda: self.says(still) == {"kernel"})
        self.wait_until(lambda: self.ask(0, "routes", "3,0,0")[0]["hops"] == 3)
        calm, before = [self.calm(x) for x in range(SERVERS)], self.relayed(still)
        ping = subprocess.Popen([net_kit.OPTIONS.cwctl, "--json", "ping", "3,0,0", "--count", "40", "--interval",
                                 "10ms", "--lost-after", LOST_AFTER], stdout=subprocess.PIPE, text=True,
                                env={**os.environ, "CUBEWAY_SOCKET": os.path.join(self.folder, "0.sock")})
        time.sleep(0.05)
        began = time.monotonic()
        self.daemons[still].process.send_signal(signal.SIGSTOP)
        time.sleep(span)
        self.daemons[still].process.send_signal(signal.SIGCONT)
        stood = time.monotonic() - began
        answer = json.loads(ping.communicate(timeout=net_kit.LIMIT_S)[0].splitlines()[-1])
        good = (answer["lost"], answer["hops_there_max"]) == (0, 3) and self.relayed(still) > before
        if good:
            return True
        disturbed = stood > DEAD_S / 2 or calm != [self.calm(x) for x in range(SERVERS)]
        self.assertTrue(disturbed, answer)
        return False

    def servers_stand_still(self):
        # Shorter than `dead`: what a server passes on goes on, by tcx and by clsact.
        for span, still in ((0.01, 1), (0.1, 1), (0.2, 1), (0.1, BY_CLSACT)):
            if not any(self.trial_of_standing_still(span, still) for _ in range(TRIALS)):
                self.skipTest("this machine keeps its daemons waiting")
        still = [self.daemons[x].process for x in (1, BY_CLSACT)]
        for process in still:  # longer: neighbours count them out, although they relay to the last
            process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        self.wait_until(lambda: self.ask(0, "routes", "3,0,0")[0]["hops"] == 4)
        self.ping_until_none_is_lost(4)
        time.sleep(max(0, began + STOPPED_S - time.monotonic()))
        for process in still:
            process.send_signal(signal.SIGCONT)
        self.wait_until(lambda: self.ask(0, "routes", "3,0,0")[0]["hops"] == 3)
        self.wait_until(lambda: self.says(1) == self.says(BY_CLSACT) == {"kernel"})
        self.ping_until_none_is_lost(3)

    def a_cable_is_made_again(self):
        """Its ends are other interfaces then, for which the daemons have no right left."""
        self.spaces[3].ip("link", "del", "px")
        self.wait_until(lambda: self.ask(0, "routes", "4,0,0")[0]["hops"] == 3)
        self.assertNotIn(LEFT_OUT, self.daemons[3].log())
        cable(self.spaces[3], "px", self.spaces[4], "mx")
        for x in (3, 4):
            self.daemons[x].wait_for(f'{LEFT_OUT}" link=[+-]x why=.*made again.*restart')
            self.wait_until(lambda x=x: len(self.says(x)) == 2)
            self.assertTrue(any("made again" in why for why in self.says(x)), self.says(x))
        self.wait_until(lambda: self.ask(0, "routes", "4,0,0")[0]["hops"] == 3 and
                        self.ask(3, "routes", "4,0,0")[0]["hops"] == 1)

    def ping_until_none_is_lost(self, hops):
        """Soon every ping of a series comes back, by so many hops there: not all servers change their routes at the
        same time."""
        def none_is_lost():
            answer = self.ping()
            return (answer["lost"], answer["hops_there_max"]) == (0, hops)

        self.wait_until(none_is_lost)

    def filters(self, x):
        """Filters of clsact that relays have left or use at a link of the server; None: there is no way to ask."""
        if shutil.which("tc") is None:
            return None
        return net_kit.run(*self.spaces[x].enter("tc", "filter", "show", "dev", "px", "ingress")).stdout.count("0xc0be")

    def two_servers_are_killed(self):
        """The relay of one is attached by tcx, that of the other by clsact. Returns how many seconds passed until the
        others did without them."""
        killed = [self.daemons[1], self.daemons[BY_CLSACT]]
        began = time.monotonic()
        for daemon in killed:
            daemon.process.kill()
        self.wait_until(lambda: self.ask(0, "routes", "3,0,0")[0]["hops"] == 4)
        took = time.monotonic() - began
        self.ping_until_none_is_lost(4)
        self.assertIn((self.filters(1), self.filters(BY_CLSACT)), [(0, 1), (None, None)], "what the dead left")
        for daemon in killed:
            daemon.kill()
            daemon.start()
        for daemon in killed:
            daemon.wait_for("transit goes through the kernel")
        self.wait_until(lambda: self.ask(0, "routes", "3,0,0")[0]["hops"] == 3)
        self.wait_until(lambda: self.says(1) == self.says(BY_CLSACT) == {"kernel"})
        self.assertIn((self.filters(1), self.filters(BY_CLSACT)), [(0, 1), (None, None)], "replaced, not doubled")
        before = [self.relayed(x) for x in (1, BY_CLSACT)]
        self.ping_until_none_is_lost(3)
        for x, count in zip((1, BY_CLSACT), before):
            self.assertGreater(self.relayed(x), count)
        return took

    def lost_behind(self):
        return sum(value for x in range(SERVERS) for name, value in self.counters(x, "relay").items()
                   if name.startswith("lost behind"))

    def conserve(self):
        """Every packet to a key is sent, and arrives, once."""
        for x in range(SERVERS):
            self.ask(x, "service", "bench", "start", "mode=keys", f"rate={RATE}", f"size={SIZE}")
        time.sleep(1)
        for x in range(SERVERS):
            self.ask(x, "service", "bench", "stop")
        stats, since = {}, time.monotonic()

        def still():
            nonlocal stats, since
            before, stats = stats, {x: self.ask(x, "service", "bench", "stats")[0] for x in range(SERVERS)}
            since = since if before == stats else time.monotonic()
            return time.monotonic() - since > STILL_S

        self.wait_until(still)
        sent, received = (sum(row[name] for row in stats.values()) for name in ("sent", "received"))
        self.assertGreater(sent, SERVERS * RATE / 10)
        dropped = sum(row["packets"] for x in range(SERVERS) for row in self.ask(x, "drops"))
        self.lost_behind()  # what devices dropped is looked at after a question, and told to the next one
        time.sleep(LOOK_S)
        self.lost_behind()
        time.sleep(LOOK_S)
        lost = self.lost_behind()
        self.assertEqual(sent, received + dropped + lost, stats)
        self.assertEqual(sum(row["duplicated"] for row in stats.values()), 0)

    def test_in_the_kernel(self):
        self.kernel_ring()
        self.three_hops_with_the_relay_and_without()
        self.conserve()
        self.assertGreater(sum(self.counters(x, "bench")["relayed"] for x in range(SERVERS)), 100)
        self.servers_stand_still()
        # The watcher says goodbye, so that nobody waits for silence; on a busy machine it may come late once.
        self.assertTrue(any(self.two_servers_are_killed() < DEAD_S - 0.2 for _ in range(TRIALS)))
        self.a_cable_is_made_again()
        self.assertEqual([daemon.end() for daemon in self.daemons], [0] * SERVERS)

    def test_without_a_watcher(self):
        self.kernel_ring(("--no-watcher",))
        self.two_servers_are_killed()

    def test_without_rights(self):
        if shutil.which("setpriv") is None:
            self.skipTest("no setpriv")
        program = self.script("cubewayd", "setpriv --bounding-set -cap_39")
        in_user_namespace = IN_USER_NAMESPACE if net_kit.can_have_users() else None
        programs = {x: program for x in range(SERVERS) if x != in_user_namespace}
        self.ring(programs=programs, by_choice=BY_CHOICE, in_user_namespace=in_user_namespace)
        self.assertEqual(self.says(BY_CHOICE), {"transit = user"})
        self.assertNotIn("transit goes", self.daemons[BY_CHOICE].log())
        for x in set(range(SERVERS)) - {BY_CHOICE}:
            said = [line for line in self.daemons[x].log().splitlines() if "transit goes" in line]
            self.assertEqual(len(said), 1, said)
            why = "user namespace|no relay" if x == in_user_namespace else "CAP_BPF|no relay"
            self.assertRegex(said[0], f"user space.*({why})")
            self.assertRegex(self.says(x).pop(), why)
        answer = self.ping()
        self.assertEqual((answer["lost"], answer["hops_there_max"]), (0, 3), answer)
        self.conserve()
        refused = self.run_ctl(1, "daemon", "relay", "on")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("there is no relay", refused.stderr + refused.stdout)
        self.daemons[0].end()
        with open(self.daemons[0].file, encoding="utf-8") as file:
            config = file.read()
        with open(self.daemons[0].file, "w", encoding="utf-8") as file:
            file.write(config.replace("transit = auto", "transit = kernel"))
        self.daemons[0].start()
        self.assertEqual(self.daemons[0].process.wait(net_kit.LIMIT_S), 1)
        self.assertRegex(self.daemons[0].log(), "transit = kernel cannot be had")


if __name__ == "__main__":
    net_kit.main(network=True)

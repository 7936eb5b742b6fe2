# SPDX-License-Identifier: Apache-2.0
"""Eight servers on cables, each fault made, and what the doctor says of it: on the server itself, and of all servers
from another one. Then what has happened (cwctl events), and a server that is drained."""

import json
import os
import re
import signal
import subprocess
import time

import net_kit
from net_kit import AXES, LINKS, cable, port_name

MTU = 3000
PLACES = [(x, y, z) for x in range(2) for y in range(2) for z in range(2)]
HERE, PATIENT, SICK = (0, 0, 0), (0, 1, 1), (1, 1, 1)
RAW = '"{}" {{ shim = raw; interface = {}; {} }}\n'


def name(place):
    return ",".join(map(str, place))


class Doctor(net_kit.Case):
    def setUp(self):
        """Cables first; each server is started as its test wants it."""
        super().setUp()
        self.spaces = {place: self.space() for place in PLACES}
        self.daemons = {}
        for place in PLACES:
            for axis in range(3):
                far = list(place)
                far[axis] = (far[axis] + 1) % 2
                cable(self.spaces[place], "p" + AXES[axis], self.spaces[tuple(far)], "m" + AXES[axis], MTU)

    def start(self, place, coordinate=None, ports=None, faults=None, more=""):
        """ports: which interface a link has; faults: what a link does to its frames."""
        ports, faults = ports or {}, faults or {}
        links = "".join(RAW.format(link, ports.get(link, port_name(link)), faults.get(link, "")) for link in LINKS)
        config = (f'torus {{ dims = 2x2x2; coordinate = "{name(coordinate or place)}" }} name = "{name(place)}"\n'
                  f"links {{ {links} }}\n{more}")
        self.daemons[place] = self.daemon("server-" + name(place), config, self.spaces[place],
                                          control=os.path.join(self.folder, name(place)))

    def start_all(self, but=()):
        for place in PLACES:
            if place not in but:
                self.start(place)

    def settle(self, count=8, but=()):
        for place, daemon in self.daemons.items():
            daemon.wait_for("msg=ready")
            if place not in but:
                daemon.wait_for(f"count={count} of=8 delivers_keys=yes")

    def cwctl(self, place, line, code=0):
        words = [net_kit.OPTIONS.cwctl, "--socket", os.path.join(self.folder, name(place)), *line.split()]
        done = subprocess.run(words, capture_output=True, text=True, timeout=net_kit.LIMIT_S, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def findings(self, place, line="doctor"):
        done = subprocess.run([net_kit.OPTIONS.cwctl, "--json", "--socket", os.path.join(self.folder, name(place)),
                               *line.split()], capture_output=True, text=True, timeout=net_kit.LIMIT_S, check=False)
        rows = [json.loads(row) for row in done.stdout.splitlines()]
        self.assertEqual(done.returncode, 1 if rows else 0, done.stderr)
        return rows

    def expect(self, place, line, *wanted):
        """Soon the findings are these, in this order: (server, cause, pattern of the sentence, and of what to do)."""
        end = time.monotonic() + net_kit.LIMIT_S
        while True:
            rows = self.findings(place, line)
            if len(rows) == len(wanted) and all(
                    (row["server"], row["cause"]) == (name(server), cause) and re.search(text, row["text"])
                    and re.search(do, row["do"]) for row, (server, cause, text, do) in zip(rows, wanted)):
                return
            if time.monotonic() > end:
                self.fail("\n".join(f'{r["server"]} {r["cause"]}: {r["text"]} -> {r["do"]}' for r in rows))
            time.sleep(0.1)

    def test_sound(self):
        """And what has happened, and how a server leaves."""
        self.start_all()
        self.settle()
        self.assertEqual(self.cwctl(SICK, "doctor"),
                         "nothing is wrong with 1,1,1; cwctl doctor --all asks every server\n")
        self.assertEqual(self.cwctl(SICK, "doctor --all"), "nothing is wrong: 8 servers asked\n")
        self.events_and_drain()

    def events_and_drain(self):
        rows = [json.loads(row) for row in self.cwctl(HERE, "--json events --all").splitlines()]
        self.assertEqual({row["server"] for row in rows if "server" in row}, {name(place) for place in PLACES})
        at = [row["at_us"] for row in rows]
        self.assertEqual(at, sorted(at))
        follower = subprocess.Popen([net_kit.OPTIONS.cwctl, "--socket", os.path.join(self.folder, name(HERE)), "events",
                                     "--follow"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(follower.wait)
        self.addCleanup(follower.kill)
        self.addCleanup(follower.stdout.close)
        said = self.cwctl(SICK, "drain")
        self.assertRegex(said, r"its keys go to 0,1,1 \(\d+ parts\), 1,0,1 \(\d+ parts\), 1,1,0 \(\d+ parts\);")
        self.assertTrue(said.endswith("1,1,1 has left: its heirs deliver its keys, and its daemon has ended\n"), said)
        self.assertEqual(self.daemons.pop(SICK).process.wait(net_kit.LIMIT_S), 0)
        for line in follower.stdout:
            if re.search(r"view +1,1,1 went$", line):
                break
        heir = self.cwctl((1, 1, 0), "events")
        self.assertRegex(heir, r"1,1,0 +keys +of the keys of 1,1,1, \d+ of 48 parts come here now, and 0 before\n")
        down = (SICK, "server-down", "1,1,1 is down: none of its neighbours hears it", "systemctl status cubewayd")
        self.expect(HERE, "doctor --all", down)
        text = self.cwctl(HERE, "doctor --all", code=1)
        self.assertRegex(text, r"^broken   1,1,1\n    1,1,1 is down: .*\n    do: on 1,1,1: systemctl status cubewayd\n"
                               r"\n1 finding, worst first; 7 of 7 servers answered\n$")
        self.no_majority()

    def no_majority(self):
        """Five of eight are one too few for another one to leave."""
        at = len(self.daemons[HERE].log())
        for place in (PATIENT, (1, 0, 1)):
            self.assertEqual(self.daemons.pop(place).end(), 0)
        self.daemons[HERE].wait_for("count=5 of=8 delivers_keys=yes", at)
        words = [net_kit.OPTIONS.cwctl, "--socket", os.path.join(self.folder, name(HERE)), "drain"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=net_kit.LIMIT_S, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("cwctl: it stays: without it the servers that are left are no majority", done.stderr)
        self.assertIn("0,0,0 has left", self.cwctl(HERE, "drain --force"))

    def test_interfaces(self):
        self.start_all()
        self.settle()
        self.spaces[SICK].ip("link", "set", "px", "down")
        switched_off = ((SICK, "interface-down", "^px, the interface of .x, is switched off$", "ip link set px up"),)
        self.expect(SICK, "doctor", *switched_off)
        self.expect(HERE, "doctor --all", *switched_off)
        self.spaces[SICK].ip("link", "set", "px", "mtu", "1500", "up")
        narrow = ((SICK, "mtu", "^px, the interface of .x, has mtu 1500, and frames here have 3000 bytes$",
                   "ip link set px mtu 3000"),)
        self.expect(SICK, "doctor", *narrow)
        self.expect(HERE, "doctor --all", *narrow)
        self.spaces[SICK].ip("link", "delete", "px")
        self.expect(SICK, "doctor", (SICK, "interface-missing", "^px, .* does not exist now; the daemon waits for it",
                                     "ip link show"))

    def test_mtu_from_the_start(self):
        self.start_all(but=[SICK])
        self.spaces[SICK].ip("link", "set", "px", "mtu", "1500")
        self.start(SICK)
        self.settle(7, but=[SICK])
        self.expect(SICK, "doctor", (SICK, "mtu", r"^px \(.x\) of this server has mtu 1500 where 0,1,1 has 3000: .* "
                                     r"\(\d links\)$", "ip link set px mtu 3000 && systemctl restart cubewayd"))
        self.expect(HERE, "doctor --all", (PATIENT, "mtu", "have 3000 bytes, and those of 1,1,1 have 1500", "on 1,1,1"))

    def test_twin(self):
        self.start_all(but=[SICK])
        self.start(SICK, coordinate=(0, 1, 1))
        self.settle(7, but=[SICK])
        self.expect(SICK, "doctor", (
            (0, 1, 1), "place", "^this server is configured as 0,1,1, and by its cables it is 1,1,1$",
            'set torus.coordinate = "1,1,1" in .*conf, then: systemctl restart cubewayd'))
        self.expect(HERE, "doctor --all", (
            SICK, "twin", "^the server that is cabled as 1,1,1 says that it is 0,1,1: by its cables it is 1,1,1$",
            'on the machine at 1,1,1: set torus.coordinate = "1,1,1"'))

    def test_exchanged_plugs(self):
        self.start_all(but=[SICK])
        self.start(SICK, ports={"+x": "my", "-y": "px"})
        self.settle(but=[])
        said = (SICK, "swapped", "^the cables in .x and -y of this server are exchanged: .x leads to .y of 1,0,1, and "
                "-y to -x of 0,1,1$", "on 1,1,1: exchange the plugs in .x and -y, then: cwctl wiring")
        self.expect(SICK, "doctor", said)
        self.expect(HERE, "doctor --all", said)

    def test_half_a_cable(self):
        self.start_all(but=[SICK])
        self.start(SICK, faults={"+x": "fault { loss = 100% }"})
        self.settle()
        half = (SICK, "half",
                "^-x of 0,1,1 is heard over .x and does not hear us: the cable works in one direction only$",
                "on 0,1,1: cwctl links -x")
        self.expect(SICK, "doctor", half)
        self.expect(PATIENT, "doctor", (PATIENT, "deaf", "^1,1,1 is alive, and nothing comes from it over -x: ",
                                        "ip -s link show mx"))
        self.expect(HERE, "doctor --all", half)

    def test_lossy_cable(self):
        self.start_all(but=[SICK])
        self.start(SICK, faults={"+x": "fault { loss = 75% }"})
        self.settle()
        end = time.monotonic() + 2 * net_kit.LIMIT_S
        while not any(row["cause"] == "flapping" and re.search("^the link .x to 0,1,1 went down [0-9]+ times lately",
                                                               row["text"]) for row in self.findings(SICK)):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.2)

    def test_stalled(self):
        self.start_all()
        self.settle()
        daemon = self.daemons[SICK]
        at, before = len(daemon.log()), len(self.daemons[HERE].log())
        daemon.process.send_signal(signal.SIGSTOP)
        self.daemons[HERE].wait_for("count=7 of=8", before)
        daemon.process.send_signal(signal.SIGCONT)
        daemon.wait_for("no neighbour has heard us for too long", at)
        [row] = [row for row in self.findings(SICK) if row["cause"] == "stalled"]
        self.assertRegex(row["text"], r"^all 6 links of this server went down at the same moment.*: not its cables, "
                                      r"but the server itself stood still for longer than timers.dead \(500ms\)$")

    def test_another_cluster(self):
        self.start_all(but=[SICK])
        self.start(SICK, more="cluster = 9")
        self.settle(7, but=[SICK])
        self.expect(SICK, "doctor --all", *[(SICK, "cluster", "belongs to cluster 1, and this one to cluster 9", ".")])
        self.expect(HERE, "doctor --all", (PATIENT, "cluster", "belongs to cluster 9, and this one to cluster 1 "
                                           r"\(so say 0,1,1 1,0,1 1,1,0\)$", "set cluster = 1 there"))

    def test_another_version(self):
        """Frames of our EtherType, whose first half byte, the version, is none that we know."""
        self.start_all(but=[SICK])
        self.settle(7)
        send = ("import socket; s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('px', 0x88b5));"
                "[s.send(b'\\xff' * 6 + b'\\x02' * 6 + b'\\x88\\xb5' + b'\\xf0' * 64) for _ in range(10)]")
        net_kit.run(*self.spaces[SICK].enter("python3", "-c", send))
        rows = self.findings(PATIENT)
        self.assertIn("version", [row["cause"] for row in rows])
        [row] = [row for row in rows if row["cause"] == "version"]
        self.assertRegex(row["text"], "^10 frames came over -x, and this version understands none: 1,1,1 speaks "
                                      "another version of the wire, or is no cubeway$")
        self.assertRegex(row["do"], "^on 1,1,1: cubewayd --version")


if __name__ == "__main__":
    net_kit.main(network=True)

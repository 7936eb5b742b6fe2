# SPDX-License-Identifier: Apache-2.0
"""cwctl wiring: which cable should go where, and what is wrong, in words."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import ctl_kit


class Wiring(ctl_kit.Case):
    def test_wiring(self):
        text = self.cwctl("wiring")
        self.assertIn("0,0,0   -z    +z of 0,0,2   +z of 0,0,2  up     yes\n", text)
        self.assertTrue(text.endswith("\n6 of 6 are right\n"))
        rows = self.rows("wiring --all")
        self.assertEqual(len(rows), 81)
        self.assertEqual({(row["state"], row["ok"]) for row in rows}, {("up", True)})

    def test_a_cut_cable(self):
        self.cwctl("--server 1,1,1 cut +x")
        text = self.cwctl("--server 1,1,1 wiring", code=1)
        self.assertIn("5 of 6 are right", text)
        self.assertIn("+x of 1,1,1: no carrier: is the cable to -x of 2,1,1 plugged in at both ends?", text)
        [row] = self.rows("--server 2,1,1 links -x")
        self.assertEqual((row["state"], row["up"], row["carrier"]), ("no-carrier", False, False))
        self.cwctl("--server 1,1,1 status", code=1)
        self.cwctl("--server 1,1,1 mend +x")
        self.settle()

    def test_the_cables_of_who_is_away(self):
        """A cable that works, and whose far end is dead, is not one that works in one direction only."""
        self.cwctl("--server 1,1,1 fail")
        until = time.monotonic() + ctl_kit.LIMIT_S
        while not self.gone() and time.monotonic() < until:
            time.sleep(0.05)
        text = self.cwctl("wiring --all", code=1)
        self.assertIn("\n75 of 81 are right\n1,1,1 is reached by no server: nothing can be said of its cables", text)
        self.cwctl("--server 1,1,1 restore")
        self.settle()

    def gone(self):
        rows = [json.loads(row) for row in self.raw("--json", "wiring", "--all").stdout.splitlines()]
        cables = [row["state"] for row in rows if row["part"] == "cable"]
        return (cables.count("down"), cables.count("half")) == (6, 0)


def free_ports(count):
    """UDP ports that were free a moment ago."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Daemons(unittest.TestCase):
    """Daemons that are joined by UDP flows."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cubeway-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.ports = free_ports(4)

    def start(self, name, coordinate, links, more="", dims="2x1x1"):
        """links: {link: (our port, the other server's)}, as indexes of self.ports."""
        name = os.path.join(self.folder, name)
        flows = "".join(f'"{link}" {{ shim = udp; local = "127.0.0.1:{self.ports[near]}"; '
                        f'remote = "127.0.0.1:{self.ports[far]}" }}\n' for link, (near, far) in links.items())
        with open(name + ".conf", "w", encoding="utf-8") as out:
            out.write(ctl_kit.TIMERS + f'''
                name = "{os.path.basename(name)}"
                torus {{ dims = {dims}; coordinate = "{coordinate}" }}
                state_dir = "{self.folder}/state"; watcher = no
                control {{ socket = "{name}.sock"; mode = 0600 }}
                links {{ {flows} }}
                {more}
            ''')
        with open(name + ".log", "wb") as log:
            daemon = subprocess.Popen([ctl_kit.OPTIONS.cubewayd, "-c", name + ".conf"], stderr=log)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)

    def until(self, name, line, words, code):
        """Waits until the daemon says so, and cwctl ends with that code."""
        end = time.monotonic() + ctl_kit.LIMIT_S
        while True:
            done = subprocess.run([ctl_kit.OPTIONS.cwctl, "--socket", f"{self.folder}/{name}.sock", *line.split()],
                                  capture_output=True, text=True, check=False, timeout=ctl_kit.LIMIT_S)
            if done.returncode == code and words in done.stdout:
                return done.stdout
            if time.monotonic() > end:
                with open(f"{self.folder}/{name}.log", encoding="utf-8") as log:
                    self.fail(f"{words}\n{done.stdout}{done.stderr}{log.read()}")
            time.sleep(0.05)


class Miswired(Daemons):
    """Two of them, joined by one cable that is in the wrong port at one end."""

    def start_one(self, place, link, here, more=""):
        self.start(place, place, {link: (here, 1 - here)}, more)

    def wiring(self, place, link, words):
        return self.until(place, "wiring", f"{link} of {place}: {words}", 1)

    def test_the_wrong_port(self):
        self.start_one("0,0,0", "+x", 0)
        self.start_one("1,0,0", "+x", 1)
        text = self.wiring("0,0,0", "+x", "the cable goes to +x of 1,0,0; plug it into -x of 1,0,0")
        self.assertIn("0,0,0   +x    -x of 1,0,0   +x of 1,0,0  miswired      no\n", text)
        self.assertIn("-x of 0,0,0: no interface is configured for this port; its cable goes to +x of 1,0,0", text)

    def test_another_cluster(self):
        self.start_one("0,0,0", "+x", 0)
        self.start_one("1,0,0", "-x", 1, "cluster = 9")
        self.wiring("0,0,0", "+x", "the cable goes to a server of cluster 9, and this is cluster")

    def test_nobody_there(self):
        self.start_one("0,0,0", "+x", 0)
        text = self.wiring("0,0,0", "+x", "nothing is heard; is the daemon at -x of 1,0,0 running?")
        self.assertNotIn("hears nothing", text)  # the same fault, as the bootstrap says it

    def test_other_dims(self):
        """The fault is said once, and no cable is blamed for it."""
        self.start_one("0,0,0", "+x", 0)
        self.start("1,0,0", "1,0,0", {"-x": (1, 0)}, dims="3x1x1")
        text = self.wiring("0,0,0", "+x", "1,0,0 has torus.dims = 3x1x1, and 0,0,0 has 2x1x1")
        self.assertNotIn("leads to", text)
        self.assertEqual(text.count("\n+x of 0,0,0: "), 1)


class Found(Daemons):
    """They know their ports, and find out where they are."""

    def test_a_place_is_found(self):
        cables = {"+x": (0, 3), "-x": (1, 2)}, {"+x": (2, 1), "-x": (3, 0)}
        self.start("one", "auto", cables[0])
        text = self.until("one", "wiring", "searching for a place", 1)
        self.assertRegex(text, r"(?m)^NUMBER +PORT +STATE")
        self.until("one", "status", "searching", 1)
        done = subprocess.run([ctl_kit.OPTIONS.cwctl, "--socket", self.folder + "/one.sock", "servers"], check=False,
                              capture_output=True, text=True, timeout=ctl_kit.LIMIT_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no place in a torus", done.stderr)
        self.start("two", "auto", cables[1])
        self.until("one", "wiring", "2 of 2 are right", 0)
        self.until("two", "status", "serving", 0)
        self.assertIn("2x1x1", self.until("two", "status", "torus", 0))


if __name__ == "__main__":
    ctl_kit.main()

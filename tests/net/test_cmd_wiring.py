# SPDX-License-Identifier: Apache-2.0
"""cwctl wiring: which cable should go where, and what is wrong, in words."""

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


def free_ports(count):
    """UDP ports that were free a moment ago."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Miswired(unittest.TestCase):
    """Two daemons, joined by one cable that is in the wrong port at one end."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cubeway-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.ports = free_ports(2)

    def start(self, place, link, here, more=""):
        name = os.path.join(self.folder, place)
        near, far = self.ports[here], self.ports[1 - here]
        with open(name + ".conf", "w", encoding="utf-8") as out:
            out.write(ctl_kit.TIMERS + f'''
                torus {{ dims = 2x1x1; coordinate = "{place}" }}
                state_dir = "{self.folder}/state"; watcher = no
                control {{ socket = "{name}.sock"; mode = 0600 }}
                links {{ "{link}" {{ shim = udp; local = "127.0.0.1:{near}"; remote = "127.0.0.1:{far}" }} }}
                {more}
            ''')
        with open(name + ".log", "wb") as log:
            daemon = subprocess.Popen([ctl_kit.OPTIONS.cubewayd, "-c", name + ".conf"], stderr=log)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)

    def wiring(self, place, link, words):
        """Until the fault of that port says so."""
        end = time.monotonic() + ctl_kit.LIMIT_S
        while True:
            done = subprocess.run([ctl_kit.OPTIONS.cwctl, "--socket", f"{self.folder}/{place}.sock", "wiring"],
                                  capture_output=True, text=True, check=False, timeout=ctl_kit.LIMIT_S)
            if done.returncode == 1 and f"{link} of {place}: {words}" in done.stdout:
                return done.stdout
            if time.monotonic() > end:
                with open(f"{self.folder}/{place}.log", encoding="utf-8") as log:
                    self.fail(f"{words}\n{done.stdout}{done.stderr}{log.read()}")
            time.sleep(0.05)

    def test_the_wrong_port(self):
        self.start("0,0,0", "+x", 0)
        self.start("1,0,0", "+x", 1)
        text = self.wiring("0,0,0", "+x", "the cable goes to +x of 1,0,0; plug it into -x of 1,0,0")
        self.assertIn("0,0,0   +x    -x of 1,0,0   +x of 1,0,0  miswired      no\n", text)
        self.assertIn("-x of 0,0,0: no interface is configured for this port; its cable goes to +x of 1,0,0", text)

    def test_another_cluster(self):
        self.start("0,0,0", "+x", 0)
        self.start("1,0,0", "-x", 1, "cluster = 9")
        self.wiring("0,0,0", "+x", "the cable goes to a server of cluster 9, and this is cluster")

    def test_nobody_there(self):
        self.start("0,0,0", "+x", 0)
        self.wiring("0,0,0", "+x", "nothing is heard; is the daemon at -x of 1,0,0 running?")


if __name__ == "__main__":
    ctl_kit.main()

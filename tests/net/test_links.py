# SPDX-License-Identifier: Apache-2.0
"""Daemons on real cables: they meet, they are killed, stopped, told to go; wrong cables and second daemons are
named."""

import json
import os
import re
import signal
import socket
import time

import net_kit
from net_kit import cable

PAIR = 'torus {{ dims = "3x1x1"; coordinate = "{},0,0" }} links {{ "{}" {{ shim = raw; interface = {} }} }} {}'


class Links(net_kit.Case):
    def pair(self, second="", link="-x", place=1, first=""):
        spaces = self.space(), self.space()
        cable(spaces[0], "eth0", spaces[1], "eth0")
        return (self.daemon("a", PAIR.format(0, "+x", "eth0", first), spaces[0]),
                self.daemon("b", PAIR.format(place, link, "eth0", second), spaces[1]), spaces)

    def test_meet_and_leave(self):
        a, b, _ = self.pair()
        at = a.wait_for("link is up.*link=.x neighbour=1,0,0")
        b.wait_for("count=2 of=3 delivers_keys=yes")
        self.assertEqual(b.end(), 0)
        a.wait_for("link is down", at)

    def test_killed_and_back(self):
        a, b, _ = self.pair()
        at = a.wait_for("link is up")
        b.wait_for("link is up")
        self.assertEqual(b.end(signal.SIGKILL), -signal.SIGKILL)
        at = a.wait_for("link is down", at)
        b.start()
        a.wait_for("link is up", at)

    def watcher(self, daemon):
        """The daemon's watcher process, once it has given itself its name."""
        end = time.monotonic() + net_kit.LIMIT_S
        while (found := self.find_watcher(daemon)) is None:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)
        return found

    @staticmethod
    def find_watcher(daemon):
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8") as stat:
                    _, name, state, parent = re.match(r"(\d+) \((.*)\) (\w) (\d+)", stat.read()).groups()
            except (OSError, AttributeError):
                continue
            if name == "cubewayd-watch" and int(parent) == daemon.process.pid and state != "Z":
                return int(entry)
        return None

    def test_the_watcher_is_watched(self):
        a, b, _ = self.pair(second="timers { hello = 100ms; dead = 20s; hold = 21s; pending_limit = 5s }",
                            first="timers { hello = 100ms; dead = 20s; hold = 21s; pending_limit = 5s }")
        at = a.wait_for("link is up")
        b.wait_for("link is up")
        first = self.watcher(b)
        os.kill(first, signal.SIGKILL)
        b.wait_for("the watcher has died; another one watches now")
        second = self.watcher(b)
        self.assertNotEqual(second, first)
        with open(f"/proc/{second}/status", encoding="utf-8") as status:
            self.assertIn("CapEff:\t0000000000000000\n", status.read())
        begin = time.monotonic()
        self.assertEqual(b.end(signal.SIGSEGV), -signal.SIGSEGV)
        a.wait_for("link is down", at)
        self.assertLess(time.monotonic() - begin, 10)  # by the watcher's goodbye: `dead` is 20 s
        b.start()  # nothing of the former process is in its way
        b.wait_for("link is up")

    def test_stopped_and_back(self):
        a, b, _ = self.pair()
        at = a.wait_for("link is up")
        b.process.send_signal(signal.SIGSTOP)
        at = a.wait_for("link is down", at)
        time.sleep(0.3)
        b.process.send_signal(signal.SIGCONT)
        a.wait_for("link is up", at)

    def test_cable_pulled(self):
        a, _, spaces = self.pair()
        at = a.wait_for("link is up")
        spaces[1].ip("link", "set", "eth0", "down")
        at = a.wait_for("carrier is lost.*link=.x on=eth0", at)
        spaces[1].ip("link", "set", "eth0", "up")
        at = a.wait_for("carrier is there", at)
        a.wait_for("link is up", at)

    def test_wrong_cables_are_named(self):
        wrong = "another server or port is heard on this cable.*link=.x why="
        a, *_ = self.pair(link="+x")
        a.wait_for(wrong + '"server 1,0,0 port .x was heard, expected server 1,0,0 port -x"')

    def test_wrong_server_is_named(self):
        a, *_ = self.pair(place=2)
        a.wait_for('why="server 2,0,0 port -x was heard, expected server 1,0,0 port -x"')

    def test_wrong_cluster_is_named(self):
        a, *_ = self.pair(second="cluster = 9")
        a.wait_for('why="a server of cluster 9 was heard, ours is 1"')

    def test_two_on_one_interface(self):
        a, _, spaces = self.pair()
        a.wait_for("msg=ready")
        other = self.daemon("other", "name = other; " + PAIR.format(0, "+x", "eth0", ""), spaces[0])
        self.assertEqual(other.process.wait(net_kit.LIMIT_S), 1)
        self.assertRegex(other.log(), "eth0: another process is on this interface")

    def test_narrow_interface(self):
        spaces = self.space(), self.space()
        cable(spaces[0], "eth0", spaces[1], "eth0", mtu=1500)
        a = self.daemon("a", PAIR.format(0, "+x", "eth0", "mtu = 9000"), spaces[0])
        self.assertEqual(a.process.wait(net_kit.LIMIT_S), 1)
        self.assertRegex(a.log(), "eth0: .*mtu is 1500.*frames of 9000 bytes are asked for")

    def test_an_interface_that_comes_later(self):
        """It is waited for, goes, and comes again; the daemon has given its rights up meanwhile."""
        spaces = self.space(), self.space()
        a = self.daemon("a", PAIR.format(0, "+x", "eth0", ""), spaces[0])
        a.wait_for('level=warn msg="waits for interfaces that are not there yet" links="?.x: eth0: no such interface')
        a.wait_for("msg=ready")
        b = self.daemon("b", PAIR.format(1, "-x", "eth0", ""), spaces[1])
        b.wait_for("msg=ready")
        at = 0
        for _ in range(2):
            cable(spaces[0], "eth0", spaces[1], "eth0")
            at = a.wait_for("link is up.*link=.x neighbour=1,0,0", at)
            spaces[0].ip("link", "delete", "eth0")
            at = a.wait_for("link is down", at)
        self.assertEqual(a.log().count("waits for interfaces"), 1)

    def test_nobody_at_all(self):
        """A server that waits for all its interfaces has nothing that wakes it, and does not fill the log with that."""
        space = self.space()
        a = self.daemon("a", 'torus { dims = "3x1x1"; coordinate = "0,0,0" } links { "+x" { shim = raw; interface = '
                             'eth0 } "-x" { shim = raw; interface = eth1 } }', space)
        a.wait_for("msg=ready")
        time.sleep(1.5)
        self.assertNotIn("has heard us", a.log())

    def test_an_interface_that_comes_too_narrow(self):
        spaces = self.space(), self.space()
        cable(spaces[0], "eth1", spaces[1], "eth1", mtu=3000)
        links = 'torus { dims = "3x1x1"; coordinate = "0,0,0" } links { "+x" { shim = raw; interface = eth0 } ' \
                '"-x" { shim = raw; interface = eth1 } }'
        a = self.daemon("a", links, spaces[0])
        a.wait_for("msg=ready")
        cable(spaces[0], "eth0", spaces[1], "eth0", mtu=1500)
        time.sleep(0.2)
        self.assertNotIn("carrier is there", a.log())
        for space in spaces:
            space.ip("link", "set", "eth0", "mtu", "3000")
        a.wait_for("carrier is there.*on=eth0")

    def test_no_rights(self):
        spaces = self.space(), self.space()
        cable(spaces[0], "eth0", spaces[1], "eth0")
        words = spaces[0].enter("setpriv", "--bounding-set=-all", "--inh-caps=-all")
        a = net_kit.Daemon(self.folder, "a", f'state_dir = "{self.folder}/state"; ' + PAIR.format(0, "+x", "eth0", ""))
        a.kill()
        a.words = [*words, *a.words]
        a.start()
        self.addCleanup(a.kill)
        self.assertEqual(a.process.wait(net_kit.LIMIT_S), 1)
        self.assertIn("eth0: no permission to open a packet socket", a.log())

    def test_a_priority_that_may_not_be_raised(self):
        """The log says so, and so does the status."""
        spaces = self.space(), self.space()
        cable(spaces[0], "eth0", spaces[1], "eth0")
        control = os.path.join(self.folder, "sock")
        a = self.daemon("a", PAIR.format(0, "+x", "eth0", ""), spaces[0], control=control)
        a.kill()
        a.words = spaces[0].enter("setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice", *a.words[-3:])
        a.start()
        a.wait_for("not the priority that was asked for.*it takes CAP_SYS_NICE or a limit on nice")
        a.wait_for("msg=ready")
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(control)
            asking.sendall(b'{"id":1,"command":"status"}\n')
            status = json.loads(asking.makefile().readline())["row"]
        self.assertEqual(status["priority"], "high")
        self.assertEqual(status["priority_note"],
                         "all of it: it takes CAP_SYS_NICE or a limit on nice; priority = normal does without")

    def test_rights_are_given_up(self):
        a, *_ = self.pair()
        a.wait_for("msg=ready")
        with open(f"/proc/{a.process.pid}/status", encoding="utf-8") as status:
            text = status.read()
        self.assertIn("CapEff:\t0000000000000000\n", text)
        self.assertIn("CapPrm:\t0000000000000000\n", text)
        self.assertIn("NoNewPrivs:\t1\n", text)
        a.wait_for("link is up")

    def test_eight_servers(self):
        daemons = self.torus((2, 2, 2))
        for daemon in daemons.values():
            daemon.wait_for("count=8 of=8 delivers_keys=yes")
        victim = daemons[1, 1, 1]
        rest = {place: d for place, d in daemons.items() if d is not victim}
        marks = {place: len(d.log()) for place, d in rest.items()}
        victim.end(signal.SIGKILL)
        for place, daemon in rest.items():
            marks[place] = daemon.wait_for("count=7 of=8 delivers_keys=yes", marks[place])
        victim.start()
        for place, daemon in rest.items():
            daemon.wait_for("count=8 of=8 delivers_keys=yes", marks[place])
        for daemon in daemons.values():
            self.assertNotIn("is heard on this cable", daemon.log())
            self.assertNotIn("level=error", daemon.log())
            daemon.process.send_signal(signal.SIGTERM)
        for daemon in daemons.values():
            self.assertEqual(daemon.process.wait(net_kit.LIMIT_S), 0)


if __name__ == "__main__":
    net_kit.main(network=True)

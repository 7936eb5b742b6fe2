# SPDX-License-Identifier: Apache-2.0
"""Servers that know only their ports find the torus, keep their place, and name what is wrong with a cable."""

import json
import os
import random
import re
import signal
import socket
import time

import net_kit
from net_kit import AXES, cable

DIMS = (3, 2, 1)
LINKS = {"+x": "px", "-x": "mx", "+y": "py", "-y": "my"}


def places():
    return [(x, y, z) for x in range(DIMS[0]) for y in range(DIMS[1]) for z in range(DIMS[2])]


class Seek(net_kit.Case):
    def cabled(self, crossed=False):
        """Namespaces with the cables of a torus of DIMS between them; crossed: one cable ends in the wrong port."""
        spaces = {place: self.space() for place in places()}
        for place in places():
            for axis in range(2):
                far = list(place)
                far[axis] = (far[axis] + 1) % DIMS[axis]
                near, end = "p" + AXES[axis], "m" + AXES[axis]
                if crossed and place == (0, 0, 0):
                    near = {"px": "py", "py": "px"}[near]
                cable(spaces[place], near, spaces[tuple(far)], end)
        return spaces

    def start(self, spaces, ports):
        return [self.daemon(f"server{i}", f'name = server{i}; torus {{ coordinate = auto }} links {{ {ports(i)} }}',
                            space,
                            control=self.control(i))
                for i, space in enumerate(spaces.values())]

    @staticmethod
    def labelled(_):
        return " ".join(f'"{link}" {{ shim = raw; interface = {port} }}' for link, port in LINKS.items())

    @staticmethod
    def unlabelled(i):
        ports = list(LINKS.values())
        random.Random(i).shuffle(ports)
        return " ".join(f"port{n} {{ shim = raw; interface = {port} }}" for n, port in enumerate(ports))

    def agreed(self, daemons):
        found = []
        for daemon in daemons:
            daemon.wait_for("this server has its place")
            found += re.findall(r"has its place\" server=(\S+) dims=(\S+)", daemon.log())
        for daemon in daemons:
            daemon.wait_for("count=6 of=6 delivers_keys=yes")
        self.assertEqual(len({server for server, _ in found}), 6)
        self.assertEqual(len({dims for _, dims in found}), 1)
        self.assertEqual(sorted(found[0][1].split("x")), ["1", "2", "3"])
        return [server for server, _ in found]

    def test_labelled(self):
        daemons = self.start(self.cabled(), self.labelled)
        first = self.agreed(daemons)
        victim = daemons[4]
        victim.end(signal.SIGKILL)
        victim.start()
        victim.wait_for("count=6 of=6 delivers_keys=yes")
        self.assertIn(f"server={first[4]} ", victim.log())
        self.assertNotIn("this server has its place", victim.log())  # it knew its place from its stable storage

    def test_unlabelled(self):
        self.agreed(self.start(self.cabled(), self.unlabelled))

    def test_a_cable_that_is_moved_later_is_named(self):
        spaces = self.cabled()
        daemons = self.start(spaces, self.labelled)
        self.agreed(daemons)
        self.assertEqual([row for row in self.wiring(0) if row["part"] == "fault"], [])
        spaces[0, 0, 0].ip("link", "delete", "px")
        spaces[1, 0, 0].ip("link", "delete", "my")
        cable(spaces[0, 0, 0], "px", spaces[1, 0, 0], "my")
        end = time.monotonic() + net_kit.LIMIT_S
        while not (faults := [row for row in self.wiring(0) if row["part"] == "port" and row["state"] == "miswired"]):
            self.assertLess(time.monotonic(), end, str(self.wiring(0)))
            time.sleep(0.05)
        self.assertRegex(faults[0]["fault"], "^the cable goes to -y of .*; plug it into -x of ")
        [search] = [row for row in self.wiring(0) if row["part"] == "search"]
        self.assertEqual(search["state"], "agreed")  # the search is shown even while the node runs

    def test_a_crossed_cable_is_named(self):
        spaces = self.cabled(crossed=True)
        daemons = self.start(spaces, self.labelled)
        for daemon in daemons:
            daemon.wait_for('msg="a cable is wrong" why="')
            self.assertNotIn("this server has its place", daemon.log())
        self.assertNotIn("carrier is lost", daemons[0].log())
        spaces[0, 0, 0].ip("link", "set", "mx", "down")
        daemons[0].wait_for('msg="carrier is lost"')
        self.assertRegex(daemons[0].log(), r'msg="carrier is lost" link=-x on=mx')  # no server: nobody has a place
        for row in self.wiring(0):  # the same by cwctl wiring, while no node runs
            if row.get("fault"):
                self.assertRegex(row["fault"], "^the cables in .* are exchanged")
                break
        else:
            self.fail("no fault is told")

    def control(self, i):
        return os.path.join(self.folder, f"server{i}.sock")

    def wiring(self, i):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(self.control(i))
            line.sendall(b'{"id": 1, "command": "wiring", "args": [], "options": {}}\n')
            rows = []
            for text in line.makefile():
                answer = json.loads(text)
                if answer.get("done"):
                    return rows
                rows.append(answer["row"])
            return rows


if __name__ == "__main__":
    net_kit.main(network=True)

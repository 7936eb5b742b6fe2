# SPDX-License-Identifier: Apache-2.0
"""Daemons of two releases side by side on cables: a cluster is upgraded server by server, and goes on; a release that
speaks another version of the wire is refused, with the same words at both ends. docs/operating.md ("Upgrading") says
what an operator reads here."""

import json
import os
import re
import subprocess
import time

import net_kit
from net_kit import AXES, cable, port_name

PLACES = [(x, y, 0) for x in range(2) for y in range(2)]
LINKS = ["+x", "-x", "+y", "-y"]
FIRST, LAST = PLACES[0], PLACES[-1]
LATER = "99.0.0"


def name(place):
    return ",".join(map(str, place))


class Upgrade(net_kit.Case):
    def setUp(self):
        super().setUp()
        self.spaces = {place: self.space() for place in PLACES}
        self.daemons = {}
        for place in PLACES:
            for axis in range(2):
                far = list(place)
                far[axis] = (far[axis] + 1) % 2
                cable(self.spaces[place], "p" + AXES[axis], self.spaces[tuple(far)], "m" + AXES[axis])

    def start(self, place, program=None):
        links = "".join(f'"{link}" {{ shim = raw; interface = {port_name(link)} }}\n' for link in LINKS)
        config = f'torus {{ dims = 2x2x1; coordinate = "{name(place)}" }} name = "{name(place)}"\nlinks {{ {links} }}\n'
        self.daemons[place] = self.daemon("server-" + name(place), config, self.spaces[place],
                                          control=self.socket(place), program=program)

    def socket(self, place):
        return os.path.join(self.folder, name(place))

    def cwctl(self, place, *words):
        return subprocess.run([net_kit.OPTIONS.cwctl, "--socket", self.socket(place), *words], capture_output=True,
                              text=True, timeout=net_kit.LIMIT_S, check=False)

    def done(self, place, *words):
        done = self.cwctl(place, *words)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def findings(self, place):
        rows = self.cwctl(place, "--json", "doctor", "--all").stdout.splitlines()
        # What a busy machine does to a server is told, too, and is not what is tested.
        return [row for row in map(json.loads, rows) if row["cause"] not in (
            "waited", "stalled", "stalls", "flapping", "fell-once", "machine")]

    def expect(self, place, *wanted):
        """Soon the findings are these: (server, cause, pattern of the sentence)."""
        end = time.monotonic() + net_kit.LIMIT_S
        while True:
            rows = self.findings(place)
            if len(rows) == len(wanted) and all(row["server"] == server and row["cause"] == cause and
                                                re.search(text, row["text"])
                                                for row, (server, cause, text) in zip(rows, wanted)):
                return
            self.assertLess(time.monotonic(), end, "\n".join(f'{r["server"]} {r["cause"]}: {r["text"]}' for r in rows))
            time.sleep(0.1)

    def settle(self, count=4):
        """Waits until all daemons know of so many servers."""
        end = time.monotonic() + net_kit.LIMIT_S
        while any(self.reached(place) != count for place in self.daemons):
            self.assertLess(time.monotonic(), end, [self.reached(place) for place in self.daemons])
            time.sleep(0.05)

    def reached(self, place):
        rows = [json.loads(row) for row in self.cwctl(place, "--json", "servers").stdout.splitlines()]
        return sum(row["state"] not in ("down", "refused") for row in rows)

    def test_server_by_server(self):
        """As the page says: look, drain, install, start, look; keys keep an owner, and both releases serve both."""
        for place in PLACES:
            self.start(place)
        self.settle()
        self.expect(FIRST)
        old = re.search("cubewayd ([0-9.]+)", self.cubewayd("--version").stdout).group(1)
        self.follow()
        for number, place in enumerate(PLACES):
            # What a daemon saw is in its memory only: it was told to the follower before that daemon ends, too.
            if name(place) == "1,0,0":
                self.told(("0,0,0 left", "1,0,0"), ("0,0,0 came", "1,1,0"))
            elif place == LAST:
                self.told(("1,0,0 left", "0,1,0"))
                self.follower.terminate()
                self.assertEqual(self.follower.wait(net_kit.LIMIT_S), 0)
            self.done(PLACES[(number + 1) % 4], "kv", "set", f"key{number}", f"value{number}")
            self.done(place, "drain")
            self.assertEqual(self.daemons.pop(place).process.wait(net_kit.LIMIT_S), 0)
            self.start(place, net_kit.OPTIONS.later)
            self.settle()
            new, left = PLACES[:number + 1], PLACES[number + 1:]
            if left:
                self.expect(place, ("", "versions", f"^2 versions run side by side: (?=.*{re.escape(old)} on "
                                    f"{len(left)} )(?=.*{LATER} on {len(new)} )"))
            self.use(place, number)
            self.see_neighbours({far: LATER if far in map(name, new) else old for far in ("0,0,0", "1,1,0")})
        self.expect(FIRST)

    def follow(self):
        """Follows the events of all servers, at the one that is upgraded last."""
        self.events = os.path.join(self.folder, "events")
        with open(self.events, "w", encoding="utf-8") as out:
            self.follower = subprocess.Popen([net_kit.OPTIONS.cwctl, "--socket", self.socket(LAST), "--json", "events",
                                              "--all", "--follow"], stdout=out)
        self.addCleanup(self.follower.kill)

    def told(self, *wanted):
        """Soon the follower has told these: (text, server)."""
        end = time.monotonic() + net_kit.LIMIT_S
        while True:
            with open(self.events, encoding="utf-8") as file:
                # The last line may be half written.
                seen = [json.loads(line) for line in file.read().split("\n")[:-1]]
            missing = set(wanted) - {(event["text"], event["server"]) for event in seen}
            if not missing:
                return
            self.assertLess(time.monotonic(), end, (missing, seen[-40:]))
            time.sleep(0.05)

    def see_neighbours(self, wanted):
        """Each server knows which release its neighbours run."""
        end = time.monotonic() + net_kit.LIMIT_S
        while True:
            rows = map(json.loads, self.done(PLACES[1], "--json", "links").splitlines())
            runs = {row["neighbour"]: row["neighbour_version"] for row in rows if "neighbour_version" in row}
            if runs == wanted:
                return
            self.assertLess(time.monotonic(), end, (runs, wanted))
            time.sleep(0.05)

    def use(self, place, number):
        """Each server reaches every other one, and reads what any of them has written."""
        for other in PLACES:
            self.done(other, "ping", name(place), "--count", "1")
            self.done(place, "ping", name(other), "--count", "1")
            self.done(other, "kv", "set", f"of {name(other)}", str(number))
        for reader in PLACES:
            for other in PLACES:
                self.assertIn(str(number), self.done(reader, "kv", "get", f"of {name(other)}"))

    def test_another_wire(self):
        """It is heard and refused, at both ends; the others go on, and the server that is alone delivers no keys."""
        for place in PLACES[:-1]:
            self.start(place)
        self.settle(3)
        self.start(LAST, net_kit.OPTIONS.wire)
        for place, theirs, ours in ((PLACES[1], 15, 2), (LAST, 2, 15)):
            self.daemons[place].wait_for('msg="a neighbour speaks another version of the wire, and is not understood" '
                                         f"server={name(place)} link=[+-][xy] its_version={theirs} ours={ours} "
                                         'what_to_do="run the same release of cubewayd on both servers"')
            self.assertIn(f"a neighbour speaks wire version {theirs}, and this server speaks {ours}; run the same "
                          "release on both", self.cwctl(place, "wiring").stdout)
        self.expect(FIRST, (name(PLACES[1]), "version", "^what comes over .[xy] is version 15 of the wire, and this "
                            r"server speaks version 2: 1,1,0 runs another release, .* \(so say 0,1,0 1,0,0\)$"))
        self.expect(LAST, (name(LAST), "version", "version 2 of the wire, and this server speaks version 15: .* "
                           r"\(4 links, to (0,1,0 1,0,0|1,0,0 0,1,0)\)$"))
        self.assertNotIn("delivers_keys=yes", self.daemons[LAST].log())
        for place in PLACES[:-1]:
            self.assertEqual(self.reached(place), 3)
            self.done(place, "kv", "set", "shared", name(place))
            self.assertIn(name(place), self.done(FIRST, "kv", "get", "shared"))
        self.assertEqual(self.daemons.pop(LAST).end(), 0)
        self.start(LAST)
        self.settle()
        self.expect(FIRST)

    def test_a_key_of_a_later_configuration(self):
        """A daemon goes back to the release before, and its file does not."""
        done = self.cubewayd("-c", self.file("torus { dims = 2x2x1; coordinate = all }\nfuture = 1\n"), code=2)
        self.assertRegex(done.stderr, "some.conf:2: .*future")


if __name__ == "__main__":
    net_kit.main(network=True)

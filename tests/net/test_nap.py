# SPDX-License-Identifier: Apache-2.0
"""A daemon in a stream naps, and while it does nothing is missed that is no data: commands, signals, cables, hellos."""

import json
import os
import signal
import subprocess
import time

import net_kit
from net_kit import cable

SERVERS = 2  # with two cables: each is the other's neighbour by both links of the axis
PAYLOAD = 1500 - 8 - 32


class Nap(net_kit.Case):
    def ask(self, x, *words):
        done = subprocess.run([net_kit.OPTIONS.cwctl, "--json", *words], capture_output=True, text=True, check=False,
                              timeout=net_kit.LIMIT_S,
                              env={**os.environ, "CUBEWAY_SOCKET": os.path.join(self.folder, f"{x}.sock")})
        self.assertIn(done.returncode, (0, 1), done.stderr)  # 1: a link is missing
        return [json.loads(row) for row in done.stdout.splitlines()]

    def ring(self, more=""):
        """Servers in a ring, each in a namespace of its own."""
        self.spaces = [self.space() for _ in range(SERVERS)]
        for x in range(SERVERS):
            self.join(x)
        self.daemons = []
        for x in range(SERVERS):
            config = (f'torus {{ dims = "{SERVERS}x1x1"; coordinate = "{x},0,0" }}\n{more}'
                      'links { "+x" { shim = raw; interface = px } "-x" { shim = raw; interface = mx } }\n'
                      'service bench { }\n')
            self.daemons.append(self.daemon(f"server-{x}", config, self.spaces[x],
                                            control=os.path.join(self.folder, f"{x}.sock")))
        for daemon in self.daemons:
            daemon.wait_for(f"count={SERVERS} of={SERVERS} delivers_keys=yes")

    def join(self, x):
        cable(self.spaces[x], "px", self.spaces[(x + 1) % SERVERS], "mx")

    def naps(self, x):
        return self.ask(x, "status")[0]["naps"]

    def flood(self, x, links=1):
        """Server x sends as fast as it can by its first links, once they are up."""
        end = time.monotonic() + net_kit.LIMIT_S
        while any(row["state"] != "up" for row in self.ask(x, "links") if row["link"][1] == "x"):
            self.assertLess(time.monotonic(), end, "links stay down")
            time.sleep(0.02)
        self.ask(x, "service", "bench", "start", "mode=links", f"count={links}", f"size={PAYLOAD}")

    def wait_for_naps(self, x):
        """Waits until the server naps more than it did. What waits for its answers has woken it every time."""
        begin, end = self.naps(x), time.monotonic() + net_kit.LIMIT_S / 2
        while self.naps(x) == begin:
            if time.monotonic() > end:
                self.skipTest("this machine is too busy: no turn of a stream comes soon after another")
            time.sleep(0.02)

    def test_what_comes_while_it_naps(self):
        self.ring()
        second = self.daemons[1]
        self.flood(0)
        self.wait_for_naps(1)
        for _ in range(10):
            at = len(second.log())
            second.process.send_signal(signal.SIGHUP)
            second.wait_for("msg=.*(configuration|reload)", at)
        self.wait_for_naps(1)

        at = len(second.log())
        self.spaces[1].ip("link", "set", "mx", "down")
        at = second.wait_for("carrier is lost.*link=-x", at)
        self.spaces[1].ip("link", "set", "mx", "up")
        at = second.wait_for("carrier is there.*link=-x", at)
        second.wait_for("link is up.*link=-x", at)
        self.flood(0)
        self.wait_for_naps(1)

        at = len(second.log())
        self.spaces[1].ip("link", "delete", "mx")
        at = second.wait_for("carrier is lost.*link=-x", at)
        self.join(0)
        second.wait_for("link is up.*link=-x", at)
        self.flood(0)
        self.wait_for_naps(1)
        self.assertEqual(second.end(), 0)

    def received(self, x):
        return {row["link"]: row["rx_frames"] for row in self.ask(x, "links") if row["link"][1] == "x"}

    def test_streams_by_two_links_and_by_one_of_them(self):
        self.ring()
        self.flood(0, 2)
        self.wait_for_naps(1)
        for link, frames in self.received(1).items():
            self.assertGreater(frames, 100, link)
        self.spaces[1].ip("link", "set", "px", "down")
        self.daemons[1].wait_for("carrier is lost.*link=.x")
        self.wait_for_naps(1)
        before = self.received(1)["-x"]
        self.wait_for_naps(1)
        self.assertGreater(self.received(1)["-x"], before)
        self.assertEqual([daemon.end() for daemon in self.daemons], [0, 0])

    def test_not_where_it_is_not_wanted(self):
        self.ring("pump { nap = 0s }\n")
        self.flood(0)
        time.sleep(0.3)
        self.assertEqual(self.naps(1), 0)
        self.assertGreater(self.ask(1, "service", "bench", "stats")[0]["received"], 1000)


if __name__ == "__main__":
    net_kit.main(network=True)

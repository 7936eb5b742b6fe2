# SPDX-License-Identifier: Apache-2.0
"""Daemons that flood one another over cables that never push back: what keeps links up is heard in time, at usual
timers.

With CUBEWAY_TRANSIT=auto in the environment, the daemons have relays, and flood one another past each other: what
passes in soft interrupts of the kernel must leave the daemons time enough, too.
"""

import json
import os
import subprocess
import time

import net_kit

TRANSIT = os.environ.get("CUBEWAY_TRANSIT", "user")
SERVERS = 3 if TRANSIT == "user" else 5
FLOOD_S = 3
FLOOD = ["mode=links", "count=2"] if TRANSIT == "user" else ["mode=keys", "rate=500000"]
WAITED = "kept waiting in the middle of a turn"
# A server that gets no processor for 50 ms is rightly taken for dead: on a busy machine that is not the flood's fault.
TRIES = 4
USUAL = "timers { }\n"
PAYLOAD = 1500 - 8 - 32


class Flood(net_kit.Case):
    def ask(self, place, *words):
        socket = os.path.join(self.folder, "-".join(map(str, place)) + ".sock")
        done = subprocess.run([net_kit.OPTIONS.cwctl, "--json", *words], capture_output=True, text=True,
                              timeout=net_kit.LIMIT_S,
                              check=True, env={**os.environ, "CUBEWAY_SOCKET": socket})
        return [json.loads(row) for row in done.stdout.splitlines()]

    def ring(self, count, trial):
        """Servers in a ring, each in a namespace of its own, with a control socket and the usual timers."""
        spaces = [self.space() for _ in range(count)]
        for x in range(count):
            net_kit.cable(spaces[x], "px", spaces[(x + 1) % count], "mx")
        daemons = {}
        for x in range(count):
            config = (f'torus {{ dims = "{count}x1x1"; coordinate = "{x},0,0" }}\n{USUAL}transit = {TRANSIT}\n'
                      'links { "+x" { shim = raw; interface = px } "-x" { shim = raw; interface = mx } }\n'
                      'service bench { }\n')
            daemons[x, 0, 0] = self.daemon(f"server-{trial}-{x}", config, spaces[x],
                                           control=os.path.join(self.folder, f"{x}-0-0.sock"))
        for daemon in daemons.values():
            daemon.wait_for(f"count={count} of={count} delivers_keys=yes")
        return daemons

    def settle(self, daemons):
        """Waits until all links of all servers are up."""
        end = time.monotonic() + net_kit.LIMIT_S
        while any(row["state"] != "up" for place in daemons for row in self.ask(place, "links")
                  if row["link"][1] == "x"):
            self.assertLess(time.monotonic(), end, "links stay down")
            time.sleep(0.05)

    def flood(self, daemons):
        """All servers send on all their links for some seconds. Returns how often a link fell, and frames received."""
        self.settle(daemons)
        marks = {place: len(daemon.log()) for place, daemon in daemons.items()}
        for place in daemons:
            self.ask(place, "service", "bench", "start", *FLOOD, f"size={PAYLOAD}")
        time.sleep(FLOOD_S)
        received = [self.ask(place, "service", "bench", "stats")[0]["received"] for place in daemons]
        falls = sum(daemon.log().count("link is down", marks[place]) for place, daemon in daemons.items())
        for place in daemons:
            self.ask(place, "service", "bench", "stop")
        self.assertGreater(min(received), 1000)
        self.relayed = sum(row["value"] for place in daemons for row in self.ask(place, "counters")
                           if (row["group"], row["counter"]) == ("bench", "relayed"))
        return falls

    def test_no_link_falls(self):
        falls, waited = [], True
        while not falls or (falls[-1] > 0 and len(falls) < TRIES):
            daemons = self.ring(SERVERS, len(falls))
            falls.append(self.flood(daemons))
            for daemon in daemons.values():
                daemon.kill()
            waited = waited and any(WAITED in daemon.log() for daemon in daemons.values())
        print(f"{SERVERS} servers: links that fell in {FLOOD_S} s of flood: {falls}; {self.relayed} packets relayed")
        if falls[-1] > 0 and waited:
            self.skipTest("this machine is too busy: each time, a server was kept waiting for a processor in the "
                          "middle of its work")
        self.assertEqual(falls[-1], 0, falls)


if __name__ == "__main__":
    net_kit.main(network=True)

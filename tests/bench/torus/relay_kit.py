# SPDX-License-Identifier: Apache-2.0
"""Labs whose daemons pass packets on in the kernel (docs/relay.md)."""

import sys

from torus_kit import SKIP, Lab


def relayed_lab(*words):
    """A lab whose daemons have relays. Where there can be none the bench ends, and says why."""
    lab = Lab(*words, "--transit", "auto")
    why = {row["relay"] for server in lab.servers.values() for row in server.ask("links") if row["link"][1] == "x"}
    if why != {"kernel"}:
        lab.down()
        print(f"skipped: no relay in the kernel here: {', '.join(sorted(why))}")
        sys.exit(SKIP)
    return lab


def passed_on(server):
    """Packets that the relay of the server has passed on."""
    return sum(row["value"] for row in server.ask("counters") if row["counter"] == "relayed")

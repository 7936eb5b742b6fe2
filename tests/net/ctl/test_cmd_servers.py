# SPDX-License-Identifier: Apache-2.0
"""cwctl servers: every server as one of them sees it, and what is known of those that are away."""

import time

import ctl_kit


class Servers(ctl_kit.Case):
    def states(self):
        return {row["server"]: row["state"] for row in self.rows("servers")}

    def until(self, state):
        """Waits until 1,1,1 has that state."""
        end = time.monotonic() + ctl_kit.LIMIT_S
        while self.states()["1,1,1"] != state and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(self.states()["1,1,1"], state)

    def test_who_is_there(self):
        states = self.states()
        self.assertEqual(len(states), 27)
        self.assertEqual(set(states.values()), {"up", "self"} if "self" in states.values() else {"up"})
        self.assertEqual(len(self.cwctl("servers").splitlines()), 28)

    def test_who_is_away(self):
        """A server that died is down, not refused: nobody hears it."""
        self.cwctl("--server 1,1,1 fail")
        self.until("down")
        self.assertEqual(sorted(self.states().values()).count("down"), 1)
        self.cwctl("--server 1,1,1 restore")
        self.settle()
        self.until("up")


if __name__ == "__main__":
    ctl_kit.main()

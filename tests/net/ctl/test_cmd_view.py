# SPDX-License-Identifier: Apache-2.0
"""cwctl servers and routes: the cluster as a server sees it."""

import ctl_kit


class View(ctl_kit.Case):
    def test_servers(self):
        titles, rows = self.table("servers")
        self.assertEqual(titles, ["SERVER", "STATE", "HOPS", "BY", "LINKS", "UP"])
        self.assertEqual([row[:2] for row in rows], [[server, "up"] for server in ctl_kit.SERVERS])
        by_name = {row["server"]: row for row in self.rows("servers")}
        self.assertEqual(by_name["0,0,0"]["hops"], 0)
        self.assertEqual((by_name["1,1,0"]["hops"], by_name["1,1,0"]["by"]), (2, ["+x", "+y"]))
        self.refused("--server all servers", "name it as x,y,z", code=2)
        self.refused("--server 9,9,9 servers", "is no server of this torus of 3x3x3", code=2)

    def test_routes(self):
        self.assertEqual(self.table("routes 2,1,0"), (["TO", "REACHABLE", "HOPS", "BY"],
                                                      [["2,1,0", "yes", "2", "-x", "+y"]]))
        self.assertEqual(len(self.rows("routes")), 26)
        self.refused("routes 3,0,0", "'3,0,0' is no server", code=2)

    def test_a_dead_server(self):
        self.cwctl("--server 2,0,2 fail")
        self.refused("--server 2,0,2 status", "has failed", code=1)
        self.assertEqual(self.cwctl("--server 2,0,2 fail"), "it is so already\n")
        self.wait_for_state("2,0,2", "down")
        self.assertEqual([row["links_up"] for row in self.rows("servers") if row["server"] == "2,0,2"], [[]])
        self.cwctl("routes 2,0,2", code=1)
        self.cwctl("wiring --all", code=1)
        self.cwctl("--server 2,0,2 restore")
        self.settle()
        self.wait_for_state("2,0,2", "up")

    def wait_for_state(self, server, state):
        for _ in range(200):
            states = {row["server"]: row["state"] for row in self.rows("servers")}
            if states[server] == state:
                return
            self.assertIn(states[server], ("up", "down", "feared"))
            self.raw("top", "--watch", "50ms", "--rounds", "1")  # waits a little
        self.fail(f"{server} is {states[server]}")


if __name__ == "__main__":
    ctl_kit.main()

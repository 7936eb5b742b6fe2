# SPDX-License-Identifier: Apache-2.0
"""cwctl status, links, counters and drops: one server by itself."""

import ctl_kit


class Node(ctl_kit.Case):
    def test_status(self):
        text = self.cwctl("status")
        self.assertRegex(text, r"^server +0,0,0\nstate +serving\n")
        self.assertRegex(text, r"(?m)^servers in view +27 of 27$")
        self.assertRegex(text, r"(?m)^links up +\+x -x \+y -y \+z -z$")
        [row] = self.rows("--server 1,2,0 status")
        self.assertEqual(row["server"], "1,2,0")
        self.assertEqual((row["servers"], row["reachable"], row["torus"], row["hosted"]), (27, 27, "3x3x3", 27))
        self.assertEqual((row["links_up"], row["links_missing"]), (ctl_kit.LINKS, []))
        self.assertEqual(row["pid"], self.process.pid)
        # A torus in one process does not take the priority that is configured, and says so.
        self.assertEqual(row["priority"], "high")
        self.assertRegex(text, r"(?m)^priority lacks +all of it: a torus in one process holds time")
        titles, rows = self.table("--server all status")
        self.assertEqual(titles[:2], ["SERVER", "STATE"])
        self.assertEqual([row[:2] for row in rows], [[server, "serving"] for server in ctl_kit.SERVERS])

    def test_links(self):
        titles, rows = self.table("--server 1,1,1 links")
        self.assertEqual(titles[:5], ["SERVER", "LINK", "NEIGHBOUR", "STATE", "HEARD"])
        self.assertEqual([row[1:4] for row in rows], [
            ["+x", "2,1,1", "up"], ["-x", "0,1,1", "up"], ["+y", "1,2,1", "up"], ["-y", "1,0,1", "up"],
            ["+z", "1,1,2", "up"], ["-z", "1,1,0", "up"]])
        [row] = self.rows("links -z")
        self.assertEqual((row["neighbour"], row["heard"], row["heard_port"]), ("0,0,2", "0,0,2", "+z"))
        self.assertTrue(row["up"] and row["carrier"])
        self.assertEqual((row["shim"], row["mtu"]), ("pair", 9000))
        self.assertLess(row["heard_ns"], 5e9)
        self.assertGreater(row["tx_frames"], 0)
        self.assertEqual(len(self.rows("--server all links")), 27 * 6)
        self.refused("links +w", "'+w' is no link", code=2)

    def test_counters(self):
        self.cwctl("ping 1,1,1 --count 5")
        rows = {(row["group"], row["counter"]): row["value"] for row in self.rows("counters")}
        self.assertGreaterEqual(rows["node", "sent"], 5)
        self.assertIn(("drop", "hop-limit"), rows)
        self.assertEqual(rows["links", "miswired"], 0)
        titles, shown = self.table("counters")
        self.assertEqual(titles, ["OF", "COUNTER", "VALUE"])
        self.assertNotIn("0", [row[-1] for row in shown])  # zeros are left out

    def test_drops(self):
        self.assertEqual(self.cwctl("--server 2,2,2 drops"), "nothing was dropped\n")
        self.assertEqual(self.rows("--server 2,2,2 drops"), [])
        rows = self.rows("drops --all")
        self.assertEqual(len(rows), 14)
        self.assertIn("the hop budget is used up", [row["meaning"] for row in rows])
        self.assertEqual(len(self.rows("--server all drops --all")), 27 * 14)


if __name__ == "__main__":
    ctl_kit.main()

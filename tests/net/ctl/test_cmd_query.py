# SPDX-License-Identifier: Apache-2.0
"""cwctl query: a sum is that of the servers' own counters, who is missing is named, and mistakes are told with what to
write instead."""

import ctl_kit


class Query(ctl_kit.Case):
    def test_counters(self):
        """A counter that rests while nobody reduces anything."""
        own = {}
        for row in self.rows("--server all counters"):
            if (row["group"], row["counter"]) == ("aggregate", "begun"):
                own[row["server"]] = row["value"]
        self.assertEqual(len(own), 27)
        [said] = self.rows("query sum aggregate.begun")
        self.assertEqual((said["value"], said["answered"], said["asked"]), (sum(own.values()), 27, 27))
        self.cwctl("aggregate check --bytes 8")
        [said] = self.rows("query sum aggregate.begun")
        self.assertGreater(said["value"], sum(own.values()))
        self.assertRegex(self.cwctl("query sum aggregate.begun"),
                         r"^sum of aggregate\.begun: \d+; 27 of 27 servers, in .*\n$")
        rows = self.rows("query max node.delivered --by x")
        self.assertEqual([row["group"] for row in rows[1:]], ["x=0", "x=1", "x=2"])
        rows = self.rows("query top 3 node.sent")
        self.assertEqual(len(rows), 4)
        self.assertGreaterEqual(rows[1]["count"], rows[2]["count"])
        rows = self.rows("query count node.sent --by server --on", "0,0,1 2,2,2")
        self.assertEqual([(row["group"], row["value"]) for row in rows[1:]], [("0,0,1", 1), ("2,2,2", 1)])
        self.assertRegex(self.cwctl("query list --on 0,0,0"), r"^what can be asked about; 1 of 1 server, in ")
        rows = self.rows("query list --on 0,0,0")
        self.assertIn({"what": "row", "source": "node.sent", "kind": "counter", "servers": 1}, rows)

    def test_every(self):
        rows = self.rows("query count node.sent --every 50ms --for 200ms")
        self.assertGreaterEqual(len(rows), 2)
        self.assertEqual({row["value"] for row in rows}, {27})

    def test_who_is_missing(self):
        self.cwctl("--server 2,2,2 fail")
        try:
            rows = self.rows("query count node.sent --within 200ms", code=5)
            self.assertEqual((rows[0]["answered"], rows[0]["asked"], rows[0]["value"]), (26, 27, 26))
            self.assertEqual((rows[1]["what"], rows[1]["server"]), ("missing", "2,2,2"))
            text = self.cwctl("query count node.sent --within 200ms", code=5)
            self.assertRegex(text, r"26 of 27 servers.*\nMISSING +REASON\n2,2,2 +it ")
            done = self.raw("query", "sum", "node.sent", "--on", "2,2,2", "--within", "100ms")
            self.assertEqual(done.returncode, 1)
            self.assertIn("none of the servers that were asked has answered", done.stderr)
        finally:
            self.cwctl("--server 2,2,2 restore")
            self.settle()

    def test_mistakes(self):
        self.refused("query sum node.delivred", "no server that answered has a source node.delivred",
                     "did you mean node.delivered,", code=2)
        self.refused("query summ node.sent", "summ is none of", "did you mean sum?", code=2)
        self.refused("query top node.sent", "top how many of what?", code=2)
        self.refused("query quantile 2 node.sent", "from 0 to 1", code=2)
        self.refused("query distinct node.sent", "no feed", code=2)
        self.refused("query sum node.sent --by w", "by: expected x, y, z or server", code=2)
        self.refused("query sum node.sent --every 1ms", "50ms", code=2)
        self.refused("query sum node.sent --on 9,9,9", "'9,9,9' is not a server", code=2)
        self.refused("query sum node.sent --for 1s", "--for belongs to --every", code=2)


if __name__ == "__main__":
    ctl_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwctl key explain: home, order, root, heirs and path of a key, now and if servers died."""

import re

import ctl_kit

KEY = "0" * 24 + "f" * 16


class Key(ctl_kit.Case):
    def part(self, rows, name):
        return [row for row in rows if row["part"] == name]

    def test_forms(self):
        for word, home in ((KEY, "2,2,2"), ("1,2,0", "1,2,0"), ("1,2,0:77", "1,2,0")):
            [head] = self.part(self.rows("key explain", word), "key")
            self.assertEqual(head["home"], home)
            self.assertEqual(head["root"], home)
        [head] = self.part(self.rows("key explain hello"), "key")
        self.assertRegex(head["key"], "^[0-9a-f]{40}$")
        [other] = self.part(self.rows("key explain hello --job bench"), "key")
        self.assertNotEqual(head["key"], other["key"])
        self.assertEqual(self.part(self.rows("key explain", head["key"]), "key"), [head])

    def test_ping_and_trace_agree(self):
        [head] = self.part(self.rows("key explain hello"), "key")
        self.assertEqual(self.rows("ping key hello")[-1]["server"], head["root"])
        self.assertEqual(self.rows("trace key hello")[-1]["server"], head["root"])
        self.assertEqual(self.rows("ping key 1,2,2:9")[-1]["server"], "1,2,2")

    def test_order_and_path(self):
        rows = self.rows("key explain 1,1,1 --heirs 100")
        order = [row["server"] for row in self.part(rows, "order")]
        self.assertEqual(order[0], "1,1,1")
        self.assertEqual(sorted(order), ctl_kit.SERVERS)
        path = self.part(rows, "path")
        self.assertEqual([step["server"] for step in path][::3], ["0,0,0", "1,1,1"])
        self.assertEqual(path[0]["choices"], ["+x", "+y", "+z"])
        self.assertEqual(path[-1]["out"], "self")

    def test_if_servers_died(self):
        order = [row["server"] for row in self.part(self.rows("key explain 1,1,1"), "order")]
        rows = self.rows("key explain 1,1,1 --dead 1,1,1", "--dead", order[1])
        [head] = self.part(rows, "key")
        self.assertEqual((head["root"], head["root_then"]), ("1,1,1", order[2]))
        states = [(row["state"], row["role"]) for row in self.part(rows, "order")][:3]
        self.assertEqual(states, [("supposed-dead", "root"), ("supposed-dead", "none"), ("up", "root-then")])
        then = [step["server"] for step in self.part(rows, "path") if step["leg"] == "then"]
        self.assertEqual((then[0], then[-1]), ("0,0,0", order[2]))
        self.assertFalse({"1,1,1", order[1]} & set(then))

    def test_for_people(self):
        text = self.cwctl("key explain 1,1,1 --dead 1,1,1")
        self.assertTrue(re.match(r"key    [0-9a-f]{40}\nhome   1,1,1, at place 0 of its keys; order 0 of 48\n"
                                 r"root   1,1,1, 3 links from here, by \+x \+y \+z\nthen   ", text), text)
        self.assertRegex(text, r"(?m)^path  0,0,0 -\[\+x\]-> 1,0,0 -\[\+y\]-> 1,1,0 -\[\+z\]-> 1,1,1$")
        self.assertIn("root   0,0,0, here; it may deliver now\n", self.cwctl("key explain 0,0,0"))
        self.refused("key explain hello --heirs 0", "--heirs 0: expected a whole number from 1 to 4096", code=2)
        self.refused("key explain", "usage: cwctl key explain KEY", code=2)
        self.refused("key explain 1,1,1:999999999999999999", "has not so many keys", code=1)
        self.refused("key explain 9,9,9", "is no server of this torus of 3x3x3", code=2)
        self.refused("key explain a --job kv", "no service 'kv' here", code=2)


if __name__ == "__main__":
    ctl_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwlab pingall: all pairs of 27 real daemons."""

import lab_kit
from lab_kit import lines, run


class Pingall(lab_kit.Case):
    def test_all_pairs(self):
        self.up("3x3x3")
        *rows, said = lines("pingall", "--rows")
        self.assertEqual((said["pairs"], said["received"], said["lost"], said["miscounted"]), (702, 702, 0, 0))
        self.assertEqual(said["hops_max"], 3)
        self.assertEqual([row["sent"] for row in rows], [26] * 27)
        self.assertEqual(list(rows[0]), ["server", "sent", "received", "rtt_min_ns", "rtt_mean_ns", "rtt_max_ns",
                                         "hops_max"])

    def test_a_dead_server_is_missed(self):
        self.up("2x2x1")
        run("fail", "1,1,0")
        row, said = lines("pingall", code=1)
        self.assertEqual((said["silent_servers"], row["server"]), (1, "1,1,0"))
        self.assertNotIn("rtt_max_ns", row)  # nothing was measured
        self.assertEqual((said["sent"], said["unreachable"], said["not_sent"], said["lost"]), (6, 3, 3, 0))
        self.assertIn("1 server cannot be reached", run("ctl", "0,0,0", "ping", "all", code=1).stdout)
        self.assertIn("1 daemon is dead: 1,1,0", run("pingall", code=1).stderr)

    def test_a_sample(self):
        self.up("2x2x2")
        *rows, said = lines("pingall", "--sample", "3", "--rows")
        self.assertEqual((said["pairs"], said["received"]), (21, 21))
        self.assertEqual(len(rows), 3)


if __name__ == "__main__":
    lab_kit.main()

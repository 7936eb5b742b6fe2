# SPDX-License-Identifier: Apache-2.0
"""cwlab pingall: all pairs of 27 real daemons."""

import lab_kit
from lab_kit import ask, run


class Pingall(lab_kit.Case):
    def test_all_pairs(self):
        self.up("3x3x3")
        said = ask("pingall", "--rows")
        self.assertEqual((said["pairs"], said["received"], said["lost"], said["miscounted"]), (702, 702, 0, 0))
        self.assertEqual(said["hops_max"], 3)
        self.assertEqual([row["sent"] for row in said["servers"]], [26] * 27)

    def test_a_dead_server_is_missed(self):
        self.up("2x2x1")
        run("fail", "1,1,0")
        said = ask("pingall", code=1)
        self.assertEqual((said["silent_servers"], said["servers"][0]["from"]), (1, "1,1,0"))
        self.assertEqual((said["sent"], said["unreachable"], said["lost"]), (6, 3, 0))
        self.assertIn("1 server cannot be reached", run("ctl", "0,0,0", "ping", "all", code=1).stdout)
        self.assertIn("1 daemon is dead: 1,1,0", run("pingall", code=1).stderr)

    def test_a_sample(self):
        self.up("2x2x2")
        said = ask("pingall", "--sample", "3", "--rows")
        self.assertEqual((said["pairs"], said["received"]), (21, 21))
        self.assertEqual(len(said["servers"]), 3)


if __name__ == "__main__":
    lab_kit.main()

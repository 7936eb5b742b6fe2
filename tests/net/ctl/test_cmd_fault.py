# SPDX-License-Identifier: Apache-2.0
"""cwctl fail, restore, cut and mend: harm on purpose, in a torus of one process."""

import time

import ctl_kit


class Fault(ctl_kit.Case):
    config = 'torus { dims = "2x2x1"; coordinate = all }\n'

    def test_fail_and_restore(self):
        self.refused("fail", "say which server", code=2)
        self.assertEqual(self.cwctl("--server 0,0,0 restore"), "it is so already\n")
        self.cwctl("--server 0,1,0 fail")
        rows = self.rows("--server all status")  # nobody has noticed yet
        self.assertEqual([row["server"] for row in rows], ["0,0,0", "1,0,0", "1,1,0"])
        end = time.monotonic() + ctl_kit.LIMIT_S
        while self.raw("--server", "all", "status").returncode != 1:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.cwctl("--server 0,1,0 restore")
        self.settle()
        # It was told to: nobody wonders afterwards why it was lost.
        found = [row for row in self.rows("doctor --all") if "cause" in row]
        self.assertEqual([row["server"] for row in found if row["cause"] == "ended"], ["0,1,0"], found)
        self.assertNotIn("0,1,0", str([row for row in found if row["cause"] != "ended"]))
        self.assertIn("taken out by an order", self.cwctl("--server 0,1,0 events"))

    def test_cut_and_mend(self):
        self.refused("--server 0,0,0 cut +z", "no such cable", code=1)
        self.cwctl("--server 0,0,0 cut +x")
        self.assertEqual(self.cwctl("--server 0,0,0 cut +x"), "it is so already\n")
        self.refused("--server 0,0,0 cut", "usage: cwctl cut LINK", code=2)
        cut = [row for row in self.rows("--server 0,0,0 doctor", code=1) if row.get("cause") == "no-carrier"]
        self.assertEqual(cut[0]["text"], "the cable of +x to -x of 1,0,0 is cut (cwctl cut)")
        self.cwctl("--server 0,0,0 mend +x")
        self.settle()


if __name__ == "__main__":
    ctl_kit.main()

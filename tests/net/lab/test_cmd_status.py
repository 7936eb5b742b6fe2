# SPDX-License-Identifier: Apache-2.0
"""cwlab status and list."""

import lab_kit
from lab_kit import alive, ask, run


class Status(lab_kit.Case):
    def test_what_is_shown(self):
        self.up("2x2x2", "--rate", "1gbit")
        run("fail", "1,0,1")
        status = ask("status")
        self.assertEqual((status["dims"], status["running"], status["rate"]), ("2x2x2", 7, "1gbit"))
        lab_kit.until("all that run know all that run", lambda: ask("status")["know_all"] == 7)
        status = ask("status")
        self.assertEqual((status["dead"], status["all_links_up"]), (1, 4))
        self.assertIn("cwlab restore 1,0,1 --name lab", run("status").stderr)
        rows = {row["server"]: row for row in status["daemons"]}
        self.assertEqual((rows["1,0,1"]["state"], rows["1,0,1"]["ended"]), ("dead", "signal 9, as ordered"))
        self.assertEqual(rows["0,0,0"]["node"], "serving")
        self.assertTrue(alive(rows["0,0,0"]["pid"]))
        self.assertLess(rows["0,0,0"]["memory_kb"], 16 * 1024)
        self.assertEqual(len(ask("status", "0,0,0")["daemons"]), 1)
        self.assertIn("0,0,1", run("status").stdout)
        self.assertIn("2x2x2", run("list").stdout)


if __name__ == "__main__":
    lab_kit.main()

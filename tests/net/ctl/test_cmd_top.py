# SPDX-License-Identifier: Apache-2.0
"""cwctl top: rates over an interval, and --watch."""

import ctl_kit


class Top(ctl_kit.Case):
    def test_rates(self):
        self.cwctl("service bench start mode=all rate=10M size=1000")
        rows = self.rows("top --watch 300ms --rounds 1")
        server, links = rows[0], rows[1:]
        self.assertEqual((server["server"], server["state"]), ("0,0,0", "serving"))
        self.assertGreater(server["made_per_s"], 100)
        self.assertEqual([row["link"] for row in links], ctl_kit.LINKS)
        self.assertGreater(sum(row["tx_bits_per_s"] for row in links), 1e5)
        self.cwctl("service bench stop")

    def test_for_people(self):
        text = self.cwctl("top --watch 50ms --rounds 2")
        self.assertEqual(text.count("SERVER  STATE    MADE/S"), 2)
        self.assertEqual(text.count("LINK  NEIGHBOUR"), 2)
        self.assertNotIn("\033", text)
        titles, rows = self.table("--server all top --watch 50ms --rounds 1")
        self.assertEqual([row[0] for row in rows], ctl_kit.SERVERS)

    def test_watch(self):
        self.assertEqual(len(self.rows("status --watch 20ms --rounds 3")), 3)


if __name__ == "__main__":
    ctl_kit.main()

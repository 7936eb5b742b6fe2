# SPDX-License-Identifier: Apache-2.0
"""cwctl plan: every cable of a torus that is not there yet, as a table, as labels, as JSON."""

import ctl_kit


class Plan(ctl_kit.Case):
    config = 'torus { dims = "1x1x1"; coordinate = all }\n'

    @classmethod
    def settle(cls):
        """No daemon is asked."""

    def test_table(self):
        text = self.cwctl("plan 2x1x1")
        self.assertEqual(text, "CABLE  FROM               TO\n"
                               "    1  +x of 0,0,0        -x of 1,0,0\n"
                               "    2  +x of 1,0,0        -x of 0,0,0\n\n2 servers, 2 cables\n")
        self.assertTrue(self.cwctl("plan 4x4x4").endswith("\n64 servers, 192 cables\n"))
        self.assertEqual(self.cwctl("plan 1x1x1").splitlines()[-1], "1 server, 0 cables")

    def test_labels(self):
        lines = self.cwctl("plan 3x1x1 --labels").splitlines()
        self.assertEqual(lines[1:4], [
            "|     1  plug into +x of 0,0,0    |     1  plug into -x of 1,0,0    |",
            "|        other end -x of 1,0,0    |        other end +x of 0,0,0    |",
            "+---------------------------------+---------------------------------+"])
        self.assertEqual(len({len(line) for line in lines[:-2]}), 1)

    def test_json(self):
        rows = self.rows("plan 3x3x3")
        self.assertEqual(len(rows), 81)
        self.assertEqual(rows[1], {"cable": 2, "server": "0,0,0", "link": "+y", "leads_to": "0,1,0", "port": "-y"})
        ends = [(row["server"], row["link"]) for row in rows] + [(row["leads_to"], row["port"]) for row in rows]
        self.assertEqual(len(set(ends)), 27 * 6)

    def test_nonsense(self):
        self.refused("plan 4x4", "expected the extent of a torus", code=2)


if __name__ == "__main__":
    ctl_kit.main()

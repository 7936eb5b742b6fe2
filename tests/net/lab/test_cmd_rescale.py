# SPDX-License-Identifier: Apache-2.0
"""cwlab rescale: other timers for a lab that runs."""

import lab_kit
from lab_kit import ask, run


class Rescale(lab_kit.Case):
    def test_other_timers_for_a_lab_that_runs(self):
        """No server that lives has other timers than the rest; who is dead gets them when it is restored."""
        self.up("2x2x1")
        run("exec", "0,0,0", "ip", "link", "add", "mark0", "type", "veth")  # the namespaces stay
        run("fail", "1,1,0")
        before = {row["server"]: row for row in lab_kit.rows("status", code=None)}
        self.assertEqual(ask("status", code=None)["timers"], "hello 10ms, dead 50ms, hold 60ms")
        self.assertRegex(run("rescale", "--scale", "1").stderr, "it is so already: hello 10ms, dead 50ms")
        said = run("rescale", "--scale", "6").stderr
        self.assertRegex(said, "^3 daemons began again, and know each other, with hello 60ms, dead 300ms, hold 360ms: "
                               "6 times the default ones")
        status = ask("status", code=None)
        self.assertEqual((status["timers"], status["timers_scale"]), ("hello 60ms, dead 300ms, hold 360ms", 6))
        after = {row["server"]: row for row in lab_kit.rows("status", code=None)}
        for server, row in after.items():
            self.assertEqual(row["starts"], before[server]["starts"] + (server != "1,1,0"))
            self.assertEqual(row["state"], before[server]["state"])
        run("restore", "1,1,0", "--wait")  # a neighbour with other timers would be refused by its hellos
        self.wait_all(4)
        run("exec", "0,0,0", "ip", "link", "show", "mark0")
        said = ask("rescale", "--scale", "1")
        self.assertEqual((said["started"], said["already"], said["dead_ns"]), (4, False, 50_000_000))
        self.assertIn("expected 1 to 10000", run("rescale", "--scale", "10001", code=2).stderr)


if __name__ == "__main__":
    lab_kit.main()

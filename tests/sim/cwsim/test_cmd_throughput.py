# SPDX-License-Identifier: Apache-2.0
"""cwsim throughput: all to all, never above the bound."""

import cwsim_kit

SMALL = "throughput --dims 2x2x2 --seed 7 --warm 2ms --measure 5ms"


class Throughput(cwsim_kit.Case):
    def test_seeds(self):
        report = self.repeats(SMALL)
        self.sound(report, cwsim_kit.THROUGHPUT_FIELDS)
        other = self.report(SMALL.replace("--seed 7", "--seed 8"))
        self.assertEqual(other["seed"], 8)
        self.assertNotEqual(other["digest"], report["digest"])

    def test_near_the_bound(self):
        report = self.report("throughput --dims 3x3x3 --warm 10ms --measure 10ms")
        self.sound(report, cwsim_kit.THROUGHPUT_FIELDS)
        self.assertAlmostEqual(report["bound_gbps"], 6 * 26 / (3 * 27 * (2 / 3)), places=6)
        self.assertGreater(report["ratio"], 0.9)

    def test_dead_servers(self):
        report = self.report("throughput --dims 3x3x3 --fail 10% --warm 2ms --measure 4ms")
        self.sound(report, cwsim_kit.THROUGHPUT_FIELDS)
        self.assertEqual((report["failed"], report["running"]), (3, 24))

    def test_table(self):
        self.assertRegex(self.cwsim(SMALL).stdout, r"(?m)^ratio +0\.\d+$")

    def test_refusals(self):
        self.refused("throughput --load 0%", "load")
        self.refused("throughput --dims 2x2", "2x2", "3x3x3")
        self.refused("throughput --mtu 100", "1500 to 9000")
        self.refused("throughput --dims 1x1x1", "two servers")
        self.refused("throughput --dims 2x2x2 --fail 99%", "8 would fail")


if __name__ == "__main__":
    cwsim_kit.main()

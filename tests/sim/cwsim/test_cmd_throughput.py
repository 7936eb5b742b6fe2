# SPDX-License-Identifier: Apache-2.0
"""cwsim throughput: all to all, never above the bound; and the digest that every build must give."""

import cwsim_kit

SMALL = "throughput --dims 2x2x2 --seed 7 --warm 2ms --measure 5ms"
# Of SMALL, in every build and on every machine. It changes when what nodes or the world do changes, on purpose: then
# `cwsim throughput --dims 2x2x2 --seed 7 --warm 2ms --measure 5ms --json` prints the new one. When only one build
# disagrees, a run depends on something that is not its seed: that is a bug.
DIGEST = "15e01858c8dc79ca"


class Throughput(cwsim_kit.Case):
    def test_expected_digest(self):
        report = self.repeats(SMALL)
        self.sound(report, cwsim_kit.THROUGHPUT_FIELDS)
        self.assertEqual(report["digest"], DIGEST)

    def test_another_seed(self):
        other = self.report(SMALL.replace("--seed 7", "--seed 8"))
        self.assertEqual(other["seed"], 8)
        self.assertNotEqual(other["digest"], DIGEST)

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

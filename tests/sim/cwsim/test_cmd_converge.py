# SPDX-License-Identifier: Apache-2.0
"""cwsim converge: every view is right again after a death, a birth and a cold start."""

import cwsim_kit


class Converge(cwsim_kit.Case):
    def test_times(self):
        report = self.repeats("converge --dims 2x2x2 --rounds 2 --rest 20ms --timers fast")
        self.sound(report)
        self.assertEqual((report["rounds"], report["kills"]), (2, 2))
        self.assertEqual((report["hello_ms"], report["dead_ms"]), (5, 15))
        self.assertLessEqual(report["death_median_ms"], report["death_worst_ms"])
        self.assertGreater(report["death_median_ms"], report["dead_ms"] - report["hello_ms"] - 1)
        self.assertTrue(report["converged"])
        self.assertEqual((report["dropped_per_death"], report["dropped_per_birth"]), (0, 0))

    def test_costs(self):
        report = self.report("converge --dims 3x3x3 --rounds 3 --rest 40ms --timers fast --rate 500")
        self.sound(report)
        self.assertGreater(report["dropped_per_death"], 0)
        self.assertEqual(report["dropped_per_birth"], 0)
        self.assertGreater(report["control_bytes_per_death"], 0)
        dropped = 3 * (report["dropped_per_death"] + report["dropped_per_birth"])
        self.assertAlmostEqual(dropped, report["dropped"], delta=3)

    def test_refusals(self):
        self.refused("converge --rounds 0", "--rounds")
        self.refused("converge --timers slow", "fast or default")


if __name__ == "__main__":
    cwsim_kit.main()

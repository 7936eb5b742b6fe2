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

    def test_refusals(self):
        self.refused("converge --rounds 0", "--rounds")
        self.refused("converge --timers slow", "fast or default")


if __name__ == "__main__":
    cwsim_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwsim fairness: services get their weights' shares of a link, whatever their packets' sizes."""

import cwsim_kit


class Fairness(cwsim_kit.Case):
    def test_sizes_do_not_matter(self):
        report = self.repeats("fairness --measure 300ms --within 0.02")
        self.sound(report)
        self.assertEqual([s["fair_share"] for s in report["services"]], [0.25] * 4)
        self.assertLessEqual(report["worst_off"], 0.02)

    def test_weights(self):
        report = self.report("fairness --services 3 --weights 1,2,4 --sizes 1400 --measure 100ms")
        self.assertEqual([s["weight"] for s in report["services"]], [1, 2, 4])
        self.assertLessEqual(report["worst_off"], 0.01)

    def test_exit_code_when_unfair(self):
        self.report("fairness --services 3 --measure 10ms --within 0", code=1)

    def test_refusals(self):
        self.refused("fairness --services 17", "1 to 16")
        self.refused("fairness --dims 1x2x2", "along x")
        self.refused("fairness --sizes 0", "--sizes")


if __name__ == "__main__":
    cwsim_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwsim churn: servers fail and return, and no key is delivered where it does not belong."""

import cwsim_kit

SMALL = "churn --dims 3x3x3 --churn 20 --down 10% --settle 100ms --seconds 0.2 --rate 200 --bytes 500"


class Churn(cwsim_kit.Case):
    def test_losses_have_causes(self):
        report = self.repeats(SMALL)
        self.sound(report, cwsim_kit.THROUGHPUT_FIELDS)
        on_wire = 200 * 8 * (500 + 18 + 20) / 1e9  # of one server, which may not be there all the time
        self.assertAlmostEqual(report["achieved_gbps"], on_wire, delta=0.3 * on_wire)
        self.assertGreater(report["kills"], 0)
        self.assertGreater(report["delivered_keys"], 0)
        self.assertLessEqual(report["dropped_share"], 0.5)

    def test_power(self):
        self.sound(self.report(SMALL + " --power"))

    def test_refusals(self):
        self.refused("churn --churn 0", "--churn")
        self.refused("churn --down 100%", "--down")
        self.refused("churn --dims 2x2x2 --churn 500", "would live for")


if __name__ == "__main__":
    cwsim_kit.main()

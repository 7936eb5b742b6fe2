# SPDX-License-Identifier: Apache-2.0
"""cwsim latency: by links in an idle cluster, and by load."""

import cwsim_kit

SMALL = "latency --dims 3x3x3 --loads 10%,60% --warm 4ms --measure 8ms --hops 3"


class Latency(cwsim_kit.Case):
    def test_grows_with_links_and_load(self):
        report = self.repeats(SMALL)
        self.sound(report)
        trips = report["round_trips"]
        self.assertEqual([t["hops"] for t in trips], [1, 2, 3])
        self.assertTrue(all(t["received"] == 3 for t in trips))
        self.assertLess(trips[0]["rtt_least_us"], trips[2]["rtt_least_us"])
        low, high = report["loads"]
        self.assertLess(low["wait_per_hop_us"], high["wait_per_hop_us"])
        for load in (low, high):
            self.assertGreaterEqual(load["mean_us"], load["idle_us"])
            self.assertGreaterEqual(load["least_us"], report["idle_hop_us"] - 0.001)

    def test_slow_hosts(self):
        plain, slow = (self.report("latency --dims 2x2x2 --hops 1 --loads 5% --warm 1ms --measure 4ms" + more)
                       for more in ("", " --testbed"))
        self.assertGreater(slow["idle_hop_us"], plain["idle_hop_us"] + 49)

    def test_refusals(self):
        self.refused("latency --loads 10%,x", "--loads")
        self.refused("latency --hops 61", "--hops")


if __name__ == "__main__":
    cwsim_kit.main()

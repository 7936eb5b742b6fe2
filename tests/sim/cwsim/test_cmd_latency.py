# SPDX-License-Identifier: Apache-2.0
"""cwsim latency: by links in an idle cluster, and by load."""

import csv
import os
import tempfile

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
        for trip in trips:
            self.assertAlmostEqual(trip["rtt_least_us"], trip["idle_us"], delta=0.001 * trip["hops"])
        low, high = report["loads"]
        self.assertLess(low["wait_per_hop_us"], high["wait_per_hop_us"])
        for load in (low, high):
            self.assertGreaterEqual(load["mean_us"], load["idle_us"])
            self.assertAlmostEqual(load["least_us"], report["idle_hop_us"], delta=0.001)
            self.assertLess(load["wait_per_hop_us"], load["random_wait_us"])

    def test_slow_hosts(self):
        plain, slow = (self.report("latency --dims 2x2x2 --hops 1 --loads 5% --warm 1ms --measure 4ms" + more)
                       for more in ("", " --testbed"))
        self.assertGreater(slow["idle_hop_us"], plain["idle_hop_us"] + 49)
        for report in (plain, slow):
            trip = report["round_trips"][0]
            self.assertAlmostEqual(trip["rtt_least_us"], trip["idle_us"], delta=0.01)

    def test_files(self):
        with tempfile.TemporaryDirectory(prefix="cwsim-latency-") as folder:
            out = os.path.join(folder, "new")
            loads = self.report(SMALL, "--out", out)["loads"]
            self.assertLessEqual({"latency.csv", "latency.json", "latency.gp"}, set(os.listdir(out)))
            with open(os.path.join(out, "latency.csv"), encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual([float(row["load_percent"]) for row in rows], [10, 60])
            self.assertEqual([int(row["packets"]) for row in rows], [load["packets"] for load in loads])

    def test_refusals(self):
        self.refused("latency --loads 10%,x", "--loads")
        self.refused("latency --hops 61", "--hops")


if __name__ == "__main__":
    cwsim_kit.main()

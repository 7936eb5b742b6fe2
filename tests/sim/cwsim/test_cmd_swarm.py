# SPDX-License-Identifier: Apache-2.0
"""cwsim swarm: several seeds, each a process; as many at a time as wanted, with the same result."""

import cwsim_kit


class Swarm(cwsim_kit.Case):
    def test_jobs_change_nothing(self):
        one, two = (self.report(f"swarm --seeds 1..2 --servers-max 8 --jobs {jobs}") for jobs in (1, 2))
        self.assertEqual((one["runs"], one["failed"]), (2, 0))
        self.assertGreater(one["packet_hops"], 0)
        self.assertEqual(cwsim_kit.timeless(one), cwsim_kit.timeless(two))

    def test_refusals(self):
        self.refused("swarm --seeds 9..1", "9..1", "1..100")
        self.refused("swarm --jobs 0", "jobs")


if __name__ == "__main__":
    cwsim_kit.main()

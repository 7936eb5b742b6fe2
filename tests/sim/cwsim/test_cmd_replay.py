# SPDX-License-Identifier: Apache-2.0
"""cwsim replay: a seed of swarm again, as a run and as a scenario."""

import os
import tempfile

import cwsim_kit

SEED = "1 --servers-max 8"


class Replay(cwsim_kit.Case):
    def test_shown_scenario_is_the_run(self):
        report = self.repeats("replay " + SEED)
        self.sound(report)
        self.assertEqual(report["verdict"], "fine")
        with tempfile.TemporaryDirectory(prefix="cwsim-replay-") as folder:
            path = os.path.join(folder, "seed.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.cwsim(f"replay {SEED} --show").stdout)
            self.assertEqual(self.report("run", path)["digest"], report["digest"])

    def test_refusals(self):
        self.refused("replay", "one seed")
        self.refused("replay x", "one seed")


if __name__ == "__main__":
    cwsim_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwsim paper: each figure as CSV, JSON and a script for gnuplot."""

import csv
import json
import os
import tempfile

import cwsim_kit


class Paper(cwsim_kit.Case):
    def test_files(self):
        with tempfile.TemporaryDirectory(prefix="cwsim-paper-") as folder:
            report = self.report("paper --tiny --no-plot --out", folder)
            self.assertEqual(len(report["figures"]), 3)
            files = {f"fig{name}.{suffix}" for name in ("5a", "5b", "5c") for suffix in ("csv", "json", "gp")}
            self.assertLessEqual(files, set(os.listdir(folder)))
            for name in ("fig5a", "fig5b", "fig5c"):
                with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
                    points = json.load(file)["points"]
                with open(os.path.join(folder, name + ".csv"), encoding="utf-8", newline="") as file:
                    self.assertEqual(len(list(csv.DictReader(file))), len(points))
                for point in points:
                    self.sound(point)

    def test_refusals(self):
        self.refused("paper --figures 6", "5a, 5b, 5c")


if __name__ == "__main__":
    cwsim_kit.main()

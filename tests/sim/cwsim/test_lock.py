# SPDX-License-Identifier: Apache-2.0
"""examples/lock: the service of the tutorial holds under churn, and without its rules it does not."""

import importlib.util
import os
import tempfile

import cwsim_kit

SEEDS = int(os.environ.get("LOCK_SEEDS", "6"))


class Lock(cwsim_kit.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cwsim-lock-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "scenario.txt")
        self.example = os.path.join(cwsim_kit.OPTIONS.top, "examples", "lock")
        spec = importlib.util.spec_from_file_location("judge", os.path.join(self.example, "judge.py"))
        self.judge = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.judge)

    def test_the_judge_asks_for_no_name(self):
        """An author's own service is judged as the example is."""
        rows = [{"service": "mine", "asked": server, "lock": "a", "from_us": 10, "until_us": 20}
                for server in ("0,0,0", "0,0,1")]
        self.assertEqual(len(list(self.judge.overlaps(rows))), 1)
        self.assertEqual(list(self.judge.overlaps([rows[0], {**rows[1], "from_us": 20, "until_us": 30}])), [])

    def write(self, *lines):
        """The example's scenario with the module of this build and further lines."""
        with open(os.path.join(self.example, "churn.txt"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("service ./lock-build/lock.so\n", text)
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text.replace("./lock-build/lock.so", cwsim_kit.OPTIONS.module) + "".join(lines))

    def play(self, *lines, seed):
        """Runs it: (times held, times held twice)."""
        self.write(*lines)
        rows = self.report(f"run --seed {seed}", self.path)["answers"]
        return sum("from_us" in row for row in rows), len(list(self.judge.overlaps(rows)))

    def test_the_right_one_is_never_held_twice(self):
        for seed in range(1, 1 + SEEDS):
            held, twice = self.play(seed=seed)
            self.assertGreater(held, 150, seed)
            self.assertEqual(twice, 0, seed)

    def test_the_naive_one_is(self):
        for seed in range(1, 1 + (SEEDS + 1) // 2):
            held, twice = self.play("option lock naive yes\n", seed=seed)
            self.assertGreater(held, 100, seed)
            self.assertGreater(twice, 0, seed)

    def test_it_uses_the_api_as_it_should(self):
        os.environ["CUBEWAY_STRICT"] = "1"
        self.addCleanup(os.environ.pop, "CUBEWAY_STRICT")
        self.write()
        said = self.cwsim("run --quiet --json", self.path).stderr.splitlines()
        # What took long by the wall clock says something of a machine that is busy, and nothing of how the API is used.
        self.assertEqual([line for line in said if "of the wall clock" not in line], [])


if __name__ == "__main__":
    cwsim_kit.main()

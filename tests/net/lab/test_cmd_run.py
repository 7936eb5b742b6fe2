# SPDX-License-Identifier: Apache-2.0
"""cwlab run: a scenario on real daemons and in the simulator, the same checks, counts within bounds."""

import os

import lab_kit
from lab_kit import lines, run

TOP = os.path.join(os.path.dirname(__file__), "../../..")


def scenario(name):
    return os.path.join(TOP, "testbed/scenarios", name)


class Run(lab_kit.Case):
    def play(self, name):
        *rows, said = lines("run", scenario(name), code=None)
        self.assertEqual((said["misdelivered"], said["running"], said["agreeing"]), (0, 27, 27))
        self.assertGreater(said["judged"], 0.5 * said["delivered_keys"])
        self.assertIs({row["number"]: row for row in rows}["misdelivered"]["within"], True)
        self.assertEqual(os.listdir(self.folder), [])
        return said

    def test_kill_root(self):
        self.assertEqual(self.play("kill-root.txt")["kills"], 1)

    def test_pause_zombie(self):
        if lab_kit.OPTIONS.long:
            self.assertEqual(self.play("pause-zombie.txt")["pauses"], 2)

    def test_one_way(self):
        if lab_kit.OPTIONS.long:
            self.assertEqual(self.play("one-way.txt")["cuts"], 2)

    def test_what_is_for_the_simulator(self):
        path = os.path.join(self.folder, "..", os.path.basename(self.folder) + ".txt")
        with open(path, "w", encoding="utf-8") as out:
            out.write("torus 3x3x3\nat 1s clock 0,0,0 300ppm\nend 2s\n")
        self.addCleanup(os.unlink, path)
        self.assertIn("for the simulator", run("run", path, code=2).stderr)
        self.assertIn("cwlab run: /no/such: No such file", run("run", "/no/such", code=2).stderr)
        self.assertIn("one scenario file", run("run", code=2).stderr)


if __name__ == "__main__":
    lab_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwlab churn: servers come and go, and in the end all know all."""

import lab_kit
from lab_kit import ask, run


class Churn(lab_kit.Case):
    def test_churn(self):
        self.up("3x3x3")
        said = ask("churn", "--for", "3s", "--every", "500ms", "--down", "200ms")
        self.assertEqual((said["kills"], said["refused"], said["know_all"]), (6, 0, 27))
        self.assertEqual(ask("pingall")["lost"], 0)

    def test_what_is_wrong(self):
        self.up("2x2x1")
        self.assertIn("less than --every", run("churn", "--every", "1s", "--down", "2s", code=2).stderr)
        run("fail", "1,1,0")  # who was dead before, and is not drawn, is not waited for
        said = ask("churn", "--for", "10ms", "--seed", "3")
        self.assertEqual((said["running"], said["know_all"]), (3, 3))
        self.assertLess(said["settled_ns"], 15e9)


if __name__ == "__main__":
    lab_kit.main()

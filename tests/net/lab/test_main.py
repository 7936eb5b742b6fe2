# SPDX-License-Identifier: Apache-2.0
"""cwlab as a program: help, version, what is no command."""

import lab_kit
from lab_kit import run


class Main(lab_kit.Case):
    def test_help_names_every_command(self):
        text = run("--help").stdout
        for word in ("up down status list pingall fail restore leave pause link loss churn ctl exec shell logs "
                     "capture judge run").split():
            self.assertIn(f"\n  {word} ", text)
            said = run(word, "--help").stdout
            self.assertTrue(said.startswith(f"usage: cwlab {word}"), said)
            self.assertIn("For example:", said)
            self.assertIn("\nExit codes: 0 ", said)
            self.assertEqual(run("help", word).stdout, said)

    def test_version(self):
        self.assertRegex(run("--version").stdout, r"^cwlab \d+\.\d+\.\d+ \(.+\)\n$")

    def test_what_is_no_command(self):
        self.assertIn("did you mean status", run("statsu", code=2).stderr)
        self.assertIn("usage:", run(code=2).stderr)

    def test_without_a_lab(self):
        for words in ["status"], ["down"], ["pingall"], ["fail", "0,0,0"], ["exec", "0,0,0", "true"]:
            self.assertIn("no lab is up", run(*words, code=3).stderr)
        self.assertIn("there is no lab 'x'", run("status", "--name", "x", code=3).stderr)


if __name__ == "__main__":
    lab_kit.main(needs_namespaces=False)

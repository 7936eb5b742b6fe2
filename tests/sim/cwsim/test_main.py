# SPDX-License-Identifier: Apache-2.0
"""cwsim itself: help, version, and what it says of words it does not know."""

import cwsim_kit

COMMANDS = "run throughput churn latency fairness converge paper swarm replay".split()


class Main(cwsim_kit.Case):
    def test_help(self):
        text = self.cwsim("--help").stdout
        self.assertTrue(text.startswith("usage: cwsim COMMAND"))
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} +\w")
        self.assertEqual(self.cwsim("help").stdout, text)
        self.assertEqual(self.cwsim("", code=2).stderr, text)

    def test_help_of_commands(self):
        for command in COMMANDS:
            text = self.cwsim(f"{command} --help").stdout
            self.assertTrue(text.startswith(f"usage: cwsim {command} "), text)
            self.assertIn("For example:\n  cwsim " + command, text)
            self.assertEqual(self.cwsim(f"help {command}").stdout, text)

    def test_version(self):
        self.assertRegex(self.cwsim("--version").stdout, r"^cwsim \d+\.\d+\.\d+ \(.+\)\n$")

    def test_unknown(self):
        self.refused("thrughput", "unknown command 'thrughput'; did you mean throughput?")
        self.refused("xyzzy", "unknown command 'xyzzy'; cwsim --help lists them")
        self.refused("throughput --dim 2x2x2", "unknown option --dim; did you mean --dims?")
        self.refused("throughput --zzzzz", "unknown option --zzzzz; cwsim throughput --help")
        self.refused("throughput extra", "what is 'extra'?")


if __name__ == "__main__":
    cwsim_kit.main()

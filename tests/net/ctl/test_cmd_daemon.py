# SPDX-License-Identifier: Apache-2.0
"""cwctl config, log level and leave: the daemon itself."""

import ctl_kit


class Daemon(ctl_kit.Case):
    def test_config(self):
        settings = {row["key"]: row["value"] for row in self.rows("config show --effective")}
        self.assertEqual((settings["torus.dims"], settings["torus.coordinate"]), ("3x3x3", "all"))
        self.assertEqual(settings["timers.hello"], "100ms")
        self.assertEqual(settings["queue.packets"], "1024")  # a default
        self.assertRegex(self.cwctl("config"), r"(?m)^torus\.dims +3x3x3$")

    def test_log_level(self):
        self.assertEqual(self.cwctl("log level"), "info\n")
        self.assertEqual(self.cwctl("log level debug"), "debug\n")
        self.assertEqual(self.rows("log level"), [{"level": "debug"}])
        self.refused("log level loud", "levels are error, warn, info, debug", code=2)
        self.refused("log level inof", "did you mean info?", code=2)


class Leave(ctl_kit.Case):
    config = 'torus { dims = "2x1x1"; coordinate = all }\n'

    def test_leave(self):
        self.assertEqual(self.cwctl("leave"), "it has left the cluster, and its daemon has ended\n")
        self.assertEqual(self.process.wait(ctl_kit.LIMIT_S), 0)
        self.refused("status", "no such socket; is cubewayd running?", code=3)
        [row] = self.rows("doctor", code=3)
        self.assertEqual((row["cause"], row["server"]), ("no-daemon", "-"))
        self.assertRegex(row["text"], "^no daemon runs here: there is no socket .*; it left in order, could not start")


if __name__ == "__main__":
    ctl_kit.main()

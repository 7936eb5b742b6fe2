# SPDX-License-Identifier: Apache-2.0
"""A service that holds its daemon's thread in a lab: the watcher has the daemon say so while it lasts, and cwlab status
shows what a daemon said when it crashed."""

import json
import os
import re
import shutil

import lab_kit


class Hang(lab_kit.Case):
    def test(self):
        if lab_kit.OPTIONS.module is None:
            self.skipTest("no module given")
        module = os.path.join(self.folder, "of-another-name.so")  # the service runs under its own
        shutil.copy(lab_kit.OPTIONS.module, module)
        self.up("2x1x1", "--driver", "netns", "--service", module, "--strict", "--scale", "4")
        lab_kit.run("ctl", "1,0,0", "--timeout", "30s", "service", "careless", "hold", "2600")
        [log] = lab_kit.glob.glob(os.path.join(self.folder, "*", "1,0,0.log"))
        with open(log, encoding="utf-8", errors="replace") as file:
            said = file.read()
        self.assertRegex(said, "service careless, in on_command, on server 1,0,0: has held the thread for [0-9.]+ s, "
                         "and still does")
        self.assertRegex(said, f"(?m)^{re.escape(module)}\\S*\\[0x")
        self.assertIn("upcall=on_command for=2", said)
        # Both name the service, and not the machine, however busy that is.
        held = "service careless held the thread"
        said = lab_kit.run("status", code=None).stderr
        self.assertRegex(said, held + r" of 1,0,0 for 2[0-9]{3}ms in on_command, last \d+ s ago: ")
        lab_kit.until("the doctor names it", lambda: held + " for 2" in lab_kit.run(
            "ctl", "1,0,0", "doctor", code=None).stdout)
        row = json.loads(lab_kit.run("ctl", "1,0,0", "status", "--json", code=None).stdout)
        self.assertEqual((row["hold_service"], row["hold_upcall"]), ("careless", "on_command"))
        said = lab_kit.run("ctl", "1,0,0", "--timeout", "300ms", "service", "careless", "hold", "900", code=4).stderr
        self.assertIn("no answer in time: none came for 0.3 s; an upcall of a service holds the daemon's thread (its "
                      "log says which: cwlab logs 1,0,0), or it has no processor; --timeout waits longer\n", said)
        said = lab_kit.run("ctl", "0,0,0", "service", "careless", "crash", code=3).stderr
        self.assertRegex(said, r"the daemon closed the connection: it ended [0-9.]+ s after it was asked; its log says "
                         r"whether it crashed, .* since a service held its thread \(cwlab logs 0,0,0\)\n")
        lab_kit.until("0,0,0 is dead", lambda: "signal 11" in lab_kit.run("status", code=None).stdout)
        crashed = "crashed: SIGSEGV at address 0x10 in service careless, in on_command, on server 0,0,0, at "
        with open(log.replace("1,0,0", "0,0,0"), encoding="utf-8", errors="replace") as file:
            self.assertIn(crashed, file.read())
        # And cwlab status, however long the backtrace behind it is, whose paths are written as people do.
        said = lab_kit.run("status", code=None).stderr
        self.assertIn(crashed, said)
        self.assertRegex(said, f"(?m)^{re.escape(module)}\\S*\\[0x")


if __name__ == "__main__":
    lab_kit.main()

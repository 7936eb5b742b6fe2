# SPDX-License-Identifier: Apache-2.0
"""cwlab status and list."""

import json
import os
import re
import signal
import subprocess
import time

import lab_kit
from lab_kit import alive, ask, run


class Status(lab_kit.Case):
    def test_what_is_shown(self):
        self.up("2x2x2", "--rate", "1gbit")
        run("fail", "1,0,1")
        status = ask("status", code=None)
        self.assertEqual((status["dims"], status["running"], status["rate"]), ("2x2x2", 7, "1gbit"))
        lab_kit.until("all that run know all that run", lambda: ask("status", code=None)["know_all"] == 7)
        status = ask("status", code=None)
        self.assertEqual((status["dead"], status["all_links_up"]), (1, 4))
        self.assertIn("cwlab restore 1,0,1 --name lab", run("status", code=1).stderr)
        rows = {row["server"]: row for row in lab_kit.rows("status", code=None)}
        self.assertEqual((rows["1,0,1"]["state"], rows["1,0,1"]["ended"]), ("dead", "signal 9, as ordered"))
        self.assertEqual(rows["0,0,0"]["node"], "serving")
        self.assertTrue(alive(rows["0,0,0"]["pid"]))
        self.assertLess(rows["0,0,0"]["memory_bytes"], 16 << 20)
        own = json.loads(run("ctl", "0,0,0", "status", "--json", code=None).stdout)  # means the same by the same word
        self.assertAlmostEqual(own["memory_bytes"], rows["0,0,0"]["memory_bytes"], delta=1 << 20)
        self.assertLess(own["node_memory_bytes"], own["memory_bytes"])
        self.assertEqual(len(lab_kit.rows("status", "0,0,0", code=None)), 1)
        self.assertIn("0,0,1", run("status", code=None).stdout)
        self.assertIn("2x2x2", run("list").stdout)
        # The doctor's remedies can be typed as they stand.
        lab_kit.until("the doctor says how to start it", lambda: "do: cwlab logs 1,0,1; cwlab restore 1,0,1\n" in run(
            "ctl", "0,0,0", "doctor", "--all", code=None).stdout)

    def test_the_machine_is_the_cause(self):
        """And what cwlab pause ordered is not said to be the machine's doing."""
        self.up("2x2x1")
        run("pause", "0,1,0", "400ms")
        lab_kit.until("it was kept waiting", lambda: lab_kit.rows("status", "0,1,0", code=None)[0].get(
            "kept_waiting_ns", 0) > 300e6)
        said = run("status", code=None).stderr
        self.assertRegex(said, r"(?m)^cwlab pause stopped 0,1,0 for 4\d\dms, and it has run again for \d+ s: links")
        self.assertNotIn("(0,1,0)", said)
        self.assertEqual(lab_kit.rows("status", "0,1,0", code=None)[0]["pauses"], 1)
        pid = lab_kit.rows("status", "1,0,0", code=None)[0]["pid"]
        os.kill(pid, signal.SIGSTOP)  # as if it had no processor for so long
        time.sleep(0.4)
        os.kill(pid, signal.SIGCONT)
        lab_kit.until("it was kept waiting", lambda: lab_kit.rows("status", "1,0,0", code=None)[0].get(
            "kept_waiting_ns", 0) > 300e6)
        self.assertRegex(run("status", code=None).stderr,
                         r"links were lost to this machine, not to the network: \d daemons? did not run when due, \d+ "
                         r"times? in all, for up to \d+ ms \(1,0,0\), last \d s ago, and neighbours .* for 50ms, "
                         r"of which up to 10ms had gone by")
        said = json.loads(run("ctl", "1,0,0", "status", "--json", code=None).stdout)
        self.assertGreater(said["stall_longest_ns"], 300e6)
        self.assertEqual((said["priority"], said["pid"]), ("high", pid))  # the number by which cwlab knows it, too

    def test_what_is_wrong_is_said(self):
        self.assertIn("no lab is up", run("list").stderr)
        self.up("2x2x2")
        lab_kit.until("all is well, and nothing is said but what the machine did", lambda: re.fullmatch(
            r"(links were lost to this machine, .*\n)?", run("status", code=None).stderr))
        run("status")  # and the exit code is 0
        run("link", "0,0,0", "+x", "down")
        lab_kit.until("a link is missed", lambda: ask("status", code=None)["all_links_up"] == 6)
        lab_kit.until("both ends miss it", lambda: "2 of 8 servers miss a link: cwlab ctl --name lab all wiring" in run(
            "status", code=None).stderr)
        run("status", code=1)
        lab_kit.until("the doctor says how to mend it", lambda: re.search(
            "px, the interface of .x, is switched off\n    do: cwlab link 0,0,0 .x up\n",
            run("ctl", "1,1,1", "doctor", "--all", code=None).stdout))
        said = run("ctl", "all", "wiring", code=None).stdout  # as cwctl wiring has it, with a column for the server
        self.assertRegex(said, r"^SERVER +PORT +SHOULD GO TO +")
        self.assertNotIn("agreed", said)
        self.assertIn("+x of 0,0,0: px, the interface of this port, is switched off at this end\n", said)
        self.assertIn("-x of 1,0,0: no carrier: is the cable to +x of 0,0,0 plugged in at both ends?\n", said)
        for link in "-x", "+y", "-y", "+z", "-z":
            run("link", "0,0,0", link, "down")
        lab_kit.until("a server is alone", lambda: [ask("status", code=None)[key] for key in (
            "know_all", "know_one_another")] == [0, 7])
        self.assertRegex(run("status", code=None).stderr,
                         "7 servers reach one another, and do not reach 0,0,0\n(.*\n)*logs: ")


if __name__ == "__main__":
    lab_kit.main()

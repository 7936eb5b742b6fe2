# SPDX-License-Identifier: Apache-2.0
"""Questions to daemons on cables: who hangs or is killed is named, and hides nobody."""

import json
import os
import signal

import lab_kit
from lab_kit import run


class Query(lab_kit.Case):
    def query(self, *words, codes=(0,)):
        done = run("ctl", "0,0,0", "--json", "query", *words, code=None)
        self.assertIn(done.returncode, codes, done.stdout + done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_one_that_hangs_and_one_that_is_killed(self):
        self.up("3x3x1")
        self.wait_all(9)
        pid = {daemon["server"]: daemon["pid"] for daemon in lab_kit.rows("status")}
        [said] = self.query("count", "node.sent")
        self.assertEqual((said["value"], said["answered"]), (9, 9))
        os.kill(pid["1,0,0"], signal.SIGSTOP)  # the tree leads over it to others
        try:
            rows = self.query("count", "node.sent", "--within", "2s", codes=(5,))
        finally:
            os.kill(pid["1,0,0"], signal.SIGCONT)
        self.assertEqual([row["server"] for row in rows[1:]], ["1,0,0"])
        self.assertEqual(rows[0]["value"], 8)
        self.wait_all(9)
        os.kill(pid["2,2,0"], signal.SIGKILL)
        rows = self.query("count", "node.sent", "--within", "2s", codes=(5,))
        self.assertEqual([row["server"] for row in rows[1:]], ["2,2,0"])
        self.assertEqual((rows[0]["answered"], rows[0]["asked"]), (8, 9))


if __name__ == "__main__":
    lab_kit.main()

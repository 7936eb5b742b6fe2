# SPDX-License-Identifier: Apache-2.0
"""cwctl events: what has happened, in order, and what happens."""

import os
import pty
import re
import subprocess

import ctl_kit


class Events(ctl_kit.Case):
    config = 'torus { dims = "3x3x1"; coordinate = all }\n'

    def test_what_has_happened(self):
        rows = self.rows("events")
        self.assertEqual([row["kind"] for row in rows[:8]], ["service"] * 8)
        self.assertEqual({row["server"] for row in rows[:8]}, {"all"})  # the services of all servers of this process
        self.assertEqual([row for row in rows if "server" not in row], [])
        self.assertEqual(rows[0]["text"], "ping 1.0 runs")
        at = [row["at_us"] for row in rows]
        self.assertEqual(at, sorted(set(at)))
        self.assertLessEqual(len(rows), 1024)
        self.assertEqual(self.rows("events --all")[-1], self.rows("events")[-1])
        [last] = self.cwctl("events").splitlines()[-1:]
        self.assertRegex(last, r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}  \d,\d,\d +\w+ +\S")

    def test_what_happens(self):
        """Who follows sees a server go, its keys move, and it come back."""
        words = [ctl_kit.OPTIONS.cwctl, "--socket", self.socket, "events", "--follow"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as follower:
            self.cwctl("--server 2,0,0 fail")
            seen = []
            for line in follower.stdout:
                seen.append(line)
                if re.search(r"1,0,0 +keys +of the keys of 2,0,0, [1-9]\d* of 48 parts come here now, and 0 b", line):
                    break
            self.assertTrue(any(re.search(r"link +\S+ to 2,0,0 is down$", line) for line in seen), seen[-20:])
            self.cwctl("--server 2,0,0 restore")
            for line in follower.stdout:
                if re.search(r"view +2,0,0 came$", line):
                    break
            follower.terminate()
        self.settle()

    def test_services_come_and_go(self):
        self.cwctl("services unload bench")
        self.assertEqual(self.rows("events")[-1]["text"], "bench has ended")

    def test_q_ends_what_follows(self):
        """At a terminal, q ends cwctl events --follow, cwctl status --watch, cwctl top and cwctl query --every."""
        for words in (["events", "--follow"], ["status", "--watch"], ["top"],
                      ["query", "count", "node.sent", "--every", "200ms"]):
            pid, terminal = pty.fork()
            if pid == 0:
                os.execvp(ctl_kit.OPTIONS.cwctl, [ctl_kit.OPTIONS.cwctl, "--socket", self.socket, *words])
            self.assertNotEqual(os.read(terminal, 1), b"")  # it shows something, so it reads keys
            os.write(terminal, b"q")
            try:
                while os.read(terminal, 65536):
                    pass
            except OSError:  # the terminal has no other end any more
                pass
            self.assertIn(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), (0, 1), words)
            os.close(terminal)


if __name__ == "__main__":
    ctl_kit.main()

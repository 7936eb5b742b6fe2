# SPDX-License-Identifier: Apache-2.0
"""cwctl watch: the torus as a picture, once, as JSON, and on a terminal with keys."""

import os
import pty
import re
import select
import time

import ctl_kit


class Terminal:
    """cwctl watch on a terminal of its own; what it shows is read until it says what is waited for."""

    def __init__(self, test, *words):
        self.test, self.shown = test, ""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm", "LC_ALL": "C"})
            os.execvp(ctl_kit.OPTIONS.cwctl,
                      [ctl_kit.OPTIONS.cwctl, "--socket", test.socket, "watch", "--every", "100ms", *words])

    def until(self, pattern):
        """Without escape sequences, the text since the last call must come to hold this."""
        limit = time.monotonic() + ctl_kit.LIMIT_S
        while True:
            text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.shown)
            found = re.search(pattern, text)
            if found:
                self.shown = ""
                return found
            self.test.assertLess(time.monotonic(), limit, f"{pattern} is not in\n{text[-3000:]}")
            if select.select([self.end], [], [], 0.2)[0]:
                self.shown += os.read(self.end, 65536).decode()

    def press(self, keys):
        os.write(self.end, keys.encode())

    def ends(self):
        """After q: the terminal is as it was, and the exit code is 0."""
        self.press("q")
        tail = b""
        try:
            while chunk := os.read(self.end, 65536):
                tail += chunk
        except OSError:  # the terminal has no other end any more
            pass
        self.test.assertTrue(tail.rstrip().endswith(b"\x1b[?25h\x1b[?1049l"), tail[-100:])
        self.test.assertEqual(os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), 0)
        os.close(self.end)


class Watch(ctl_kit.Case):
    def test_one_picture(self):
        lines = self.cwctl("watch --every 100ms").splitlines()
        self.assertRegex(lines[0], r"^3x3x3  \d\d:\d\d:\d\d  27 serving$")
        self.assertEqual(lines[1].split(), ["z=0", "z=1", "z=2"])
        self.assertEqual(lines[2].count("o"), 9)
        self.assertRegex(lines[-1], r"^cables: \. idle  - some  = from 25 %  # from 60 % of 1\.00 Mbit/s  x down$")
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_json(self):
        rows = self.rows("watch --every 100ms")
        servers, links = [row for row in rows if "link" not in row], [row for row in rows if "link" in row]
        self.assertEqual([row["server"] for row in servers], ctl_kit.SERVERS)
        self.assertEqual({row["state"] for row in servers}, {"serving"})
        self.assertEqual(len(links), 27 * 6)
        self.assertTrue(all(row["up"] and row["bits_per_s"] > 0 for row in links))

    def test_what_makes_no_sense(self):
        self.refused("watch --full fast", "--full fast: expected a rate", code=2)
        self.refused("watch --every 1ms", "expected a time with its unit from 50ms to 1h", code=2)
        self.refused("watch 0,0,0", "usage: cwctl watch", code=2)

    def test_on_a_terminal(self):
        screen = Terminal(self)
        screen.until(r"27 serving")
        screen.press("\x1b[C\x1b[C")  # the first arrow selects 0,0,0, the second goes on to 1,0,0
        # A rate: there are two looks, so that one can be gone back.
        screen.until(r"1,0,0: serving, delivers \d+/s, drops \d+/s, \d+ inside; sends \+x [1-9]")
        screen.press("thellp\x7f\x7flo\r")
        found = screen.until(r"key hello: home (\S+) \(H\), root (\S+) \(R\), (\d+) hops there, back after ")
        self.assertEqual(found[1], found[2])
        screen.press("[")
        screen.until(r"\(1 looks back\)")
        screen.press("]")
        screen.until(r"27 serving\s")
        self.cwctl("--server 1,1,1 fail")
        screen.until(r"26 serving")
        screen.until(r"X")
        screen.until(r"view: 1,1,1 ")
        self.cwctl("--server 1,1,1 restore")
        screen.until(r"27 serving")
        screen.ends()
        self.settle()


if __name__ == "__main__":
    ctl_kit.main()

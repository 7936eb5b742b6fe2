# SPDX-License-Identifier: Apache-2.0
"""cwctl query feed: lines of programs are counted, all that can be asked of them is right, and they go when the program
has gone."""

import json
import subprocess
import time

import ctl_kit


class Feed(ctl_kit.Case):
    def feed(self, server, name, text, *more):
        words = [ctl_kit.OPTIONS.cwctl, "--socket", self.socket, "--server", server, "query", "feed", name, *more]
        done = subprocess.run(words, input=text, capture_output=True, timeout=ctl_kit.LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def test_feeds(self):
        self.assertEqual(self.feed("0,0,0", "clients", b"ann\nbob\nann\n\xff\xfe\n", "--keep-for", "1h"), "4 lines\n")
        self.feed("2,1,0", "clients", b"ann\ncarl", "--keep-for", "1h")
        [said] = self.rows("query count clients")
        self.assertEqual((said["value"], said["with_source"], said["answered"]), (6, 2, 27))
        [said] = self.rows("--server 1,1,1 query distinct clients")
        self.assertEqual(said["value"], 4)
        rows = self.rows("query top 2 clients")
        self.assertEqual((rows[1]["item"], rows[1]["count"], rows[1]["error_most"]), ("ann", 3, 0))
        self.feed("1,0,0", "sizes", "".join(f"{n / 4}\n" for n in range(4000)).encode(), "--keep-for", "1h")
        [said] = self.rows("query sum sizes")
        self.assertEqual(said["value"], 4000 * 3999 / 8)
        [said] = self.rows("query mean sizes")
        self.assertEqual(said["value"], 499.875)
        rows = self.rows("query quantile 0.5 99% sizes")
        self.assertAlmostEqual(rows[1]["value"], 500, delta=500 / 8)
        self.assertEqual([row["quantile"] for row in rows[1:]], [0.5, 0.99])
        self.assertEqual(sum(row["count"] for row in self.rows("query histogram sizes")[1:]), 4000)
        self.refused("query feed a.b", "a feed is called by", code=2)

    def test_a_feed_that_goes_on(self):
        """As of tail -F: what has come is there while the program runs, and gone after it."""
        words = [ctl_kit.OPTIONS.cwctl, "--socket", self.socket, "query", "feed", "tail"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
            program.stdin.write(b"one\ntwo\nhalf a li")
            program.stdin.flush()
            self.until("two lines", "query count tail", lambda rows: rows and rows[0].get("value") == 2)
            program.stdin.write(b"ne\n")
            program.stdin.close()
            program.wait(ctl_kit.LIMIT_S)
        self.until("three lines", "query count tail", lambda rows: rows and rows[0].get("value") == 3, gone=True)
        self.until("gone", "query count tail", lambda rows: not rows, gone=True)

    def until(self, what, line, good, gone=False):
        end = time.monotonic() + ctl_kit.LIMIT_S
        while time.monotonic() < end:
            done = self.raw("--json", *line.split())
            rows = [json.loads(row) for row in done.stdout.splitlines()]
            if good(rows) or (gone and what != "gone" and done.returncode == 2):
                return
            time.sleep(0.1)
        self.fail("not in time: " + what)


if __name__ == "__main__":
    ctl_kit.main()

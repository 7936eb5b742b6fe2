# SPDX-License-Identifier: Apache-2.0
"""cwctl query feed and aggregate feed: lines of programs are counted, all that can be asked of them is right, and they
go when the program has gone; what programs hand in is the input of a run, all of it or none."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections import Counter

import ctl_kit


class Feed(ctl_kit.Case):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix="cubeway-feed-")
        cls.addClassCleanup(shutil.rmtree, cls.top)
        cls.config = f'service aggregate {{ options {{ data = "{cls.top}" }} }}\n' + ctl_kit.Case.config
        for server in ctl_kit.SERVERS:
            os.mkdir(os.path.join(cls.top, server))
        super().setUpClass()

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

    def program(self, server, name):
        words = [ctl_kit.OPTIONS.cwctl, "--socket", self.socket, "--server", server, "aggregate", "feed", name]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_the_input_of_a_run(self):
        """Two programs, one there before the run; what they hand in does not fit into a pipe."""
        first = "".join(f"key{n % 977}\t{n}\n" for n in range(40000))
        second = "".join(f"key{n % 13}\t1\n" for n in range(20000)) + "last\t5"
        must = Counter()
        for line in (first + second).splitlines():
            key, value = line.split("\t")
            must[key] += int(value)
        with self.program("0,0,1", "logs") as one:
            writer = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=one.stdin)
            one.stdin.close()
            self.until("it waits", "--server 0,0,1 aggregate status",
                       lambda rows: any(row.get("state") == "waits for a run" for row in rows))
            words = [ctl_kit.OPTIONS.cwctl, *("aggregate run --map kv --from feed:logs --to 0,0,0:logs --of 0,0,1 "
                                              "--of 2,1,2").split()]
            environment = {"PATH": os.environ["PATH"], "CUBEWAY_SOCKET": self.socket}
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as run, \
                    self.program("2,1,2", "logs") as two:
                out, err = two.communicate(second.encode(), timeout=ctl_kit.LIMIT_S)
                self.assertEqual((out, two.returncode), (b"20000 lines\n", 0), err)
                writer.communicate(first.encode(), timeout=ctl_kit.LIMIT_S)
                self.assertEqual(one.wait(ctl_kit.LIMIT_S), 0)
                self.assertEqual(one.stdout.read(), b"40000 lines\n")
                out, err = run.communicate(timeout=ctl_kit.LIMIT_S)
                self.assertEqual(run.returncode, 0, err)
                self.assertIn(b"60001 records of 2 of 2 servers", out)
            one.stderr.close()
        with open(os.path.join(self.top, "0,0,0", "logs"), encoding="utf-8") as done:
            found = dict(line.rstrip("\n").split("\t") for line in done)
        self.assertEqual(found, {key: str(n) for key, n in must.items()})

    def test_a_program_that_dies(self):
        run = "aggregate run --from feed:half --to 0,0,0:half --of 1,1,1"
        with self.program("1,1,1", "half") as program:
            program.stdin.write(b"one two")
            program.stdin.flush()
            self.until("it waits", "--server 1,1,1 aggregate status",
                       lambda rows: any(row.get("state") == "waits for a run" for row in rows))
            program.kill()
        self.refused(run, "1,1,1, feed:half: the program that fed it was gone before its input had ended", code=1)
        self.assertFalse(os.path.exists(os.path.join(self.top, "0,0,0", "half")))
        self.refused(run + " --limit 100ms", "no program feeds that there", code=1)
        self.refused("aggregate feed a.b", "a feed is called by", code=2)
        self.refused("aggregate run --from feed: --to 0,0,0:x", "from: a feed is called by", code=2)

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

# SPDX-License-Identifier: Apache-2.0
"""cwlab judge: a stream of a packet a millisecond to one key, while what has the key or leads to it fails: no
misdelivery, how long the stream stood still, and that every packet that did not arrive is accounted for.

--long: more of each, and pauses up to 5 s.
"""

import json
import statistics
import time

import lab_kit
from lab_kit import lines, rows, run, until

SENDER = "0,0,0"


class Judge(lab_kit.Case):
    def setUp(self):
        super().setUp()
        self.up("3x3x3")
        rows = run("ctl", SENDER, "key", "explain", "hello", "--job", "witness", "--json").stdout
        self.root = next(line.split()[1] for line in
                         run("ctl", SENDER, "key", "explain", "hello", "--job", "witness").stdout.splitlines()
                         if line[:6].strip() == "0")
        self.assertIn(self.root, rows)

    def stream(self, *what):
        """Runs a stream, lets something happen in its middle, and returns what became of it."""
        before = self.totals()
        run("ctl", SENDER, "service", "witness", "stream", "hello", "rate=1000")
        time.sleep(0.3)
        for words in what:
            if isinstance(words, float):
                time.sleep(words)
            else:
                run(*words)
        time.sleep(0.7)
        # Two totals of one table are of two instants, and say so.
        young = r"(?m)^streams go on: of those delivered, \d+ packets? (was|were) sent since 200 ms before this "
        self.assertRegex(run("judge").stderr, young)
        run("ctl", SENDER, "service", "witness", "stop")
        time.sleep(0.4)
        self.assertNotIn("streams go on", run("judge").stderr)
        after = self.totals()
        self.assertEqual(after["misdelivered"], 0, after.get("first"))
        self.assertEqual(after["streams"][0]["duplicated"], 0)
        return {key: after["streams"][0][key] - before["streams"][0].get(key, 0) for key in ("sent", "lost")}

    def totals(self):
        *rows, said = lines("judge")
        return {**said, "streams": [row for row in rows if "from" in row] or [{}]}

    def gaps(self, name, times, *what, undo=()):
        """Does this so many times, each in a lab of its own, and prints how long the stream stood still."""
        gaps, lost = [], []
        for _ in range(times):
            seen = self.stream(*what)
            lost.append(seen["lost"])
            gaps.append(self.totals()["streams"][0]["gap_worst_ns"] / 1e6)
            self.assertGreater(seen["sent"], 500)
            run("down")
            self.up("3x3x3")
        print(f"{name}: gap {statistics.median(gaps):.1f} ms median, {max(gaps):.1f} ms worst; "
              f"lost {statistics.median(lost):.0f} median, {max(lost)} worst, of 1,000 a second", flush=True)
        return gaps, lost

    def test_nothing_happens(self):
        seen = self.stream()
        self.assertEqual(seen["lost"], 0)

    def test_killed(self):
        times = 10 if lab_kit.OPTIONS.long else 1
        gaps, lost = self.gaps("kill -9", times, ["fail", self.root])
        self.assertLess(max(lost), 1000)
        gaps, lost = self.gaps("kill -9, nobody says goodbye", times, ["fail", self.root, "--whole"])
        self.assertGreater(max(gaps), 40)

    def test_paused(self):
        for span in ["10ms", "300ms"] + (["50ms", "80ms", "1s", "5s"] if lab_kit.OPTIONS.long else []):
            self.gaps(f"SIGSTOP {span}", 1, ["pause", self.root, span])

    def test_cables(self):
        cable = [self.root, "+x"], [self.root, "-x"]
        self.gaps("link down", 1, ["link", *cable[0], "down"], ["link", *cable[1], "down"])
        self.gaps("one-way loss", 1, ["loss", *cable[0], "all"], 0.3, ["loss", *cable[1], "all"])

    def test_restarted(self):
        self.gaps("kill -9 and restart", 1, ["fail", self.root], 0.3, ["restore", self.root])

    def test_sender_has_two_lives(self):
        self.stream()
        run("fail", SENDER)
        run("restore", SENDER, "--wait")
        run("ctl", SENDER, "service", "witness", "stream", "hello", "rate=1000")
        time.sleep(0.5)
        run("ctl", SENDER, "service", "witness", "stop")
        time.sleep(0.4)
        streams = self.totals()["streams"]
        self.assertEqual([(row["from"], row["life"]) for row in streams], [(SENDER, 1), (SENDER, 2)])
        self.assertEqual([row["duplicated"] for row in streams], [0, 0], streams)
        self.assertEqual([row["lost"] + row["delivered"] for row in streams], [row["sent"] for row in streams])

    def test_drops_have_causes(self):
        self.stream(["fail", self.root, "--whole"])
        causes = {}
        for daemon in rows("status", code=None):
            if daemon["state"] == "running":
                for line in run("ctl", daemon["server"], "drops", "--json").stdout.splitlines():
                    row = json.loads(line)
                    if "cause" in row:
                        causes[row["cause"]] = causes.get(row["cause"], 0) + row["packets"]
        self.assertTrue(all(causes), causes)
        until("the rest know each other", lambda: rows("status", SENDER, code=None)[0]["reachable"] == 26)


if __name__ == "__main__":
    lab_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwlab fail, restore, leave, pause, link, loss: what is done to real daemons and cables, and that they come together
again."""

import json
import os
import subprocess

import lab_kit
from lab_kit import ask, rows, run, until


def links(server):
    said = run("ctl", server, "links", "--json").stdout
    return {row["link"]: row for row in map(json.loads, said.splitlines())} if said.lstrip().startswith("{") else \
        {row["link"]: row for row in json.loads(said)}


class Fault(lab_kit.Case):
    def reach(self, count, server="0,0,0"):
        until(f"{server} reaches {count}",
              lambda: rows("status", server, code=None)[0].get("reachable") == count)

    def test_what_is_so_already(self):
        self.up("2x1x1")
        self.assertEqual(run("link", "0,0,0", "+x", "up").stderr,
                         "it is so already: the interface of link +x of 0,0,0 is switched on\n")
        self.assertNotIn("already", run("link", "0,0,0", "+x", "down").stderr)
        self.assertTrue(ask("link", "0,0,0", "+x", "down")["already"])
        self.assertIn("it is so already: none of the frames", run("loss", "0,0,0", "+x", "none").stderr)
        self.assertEqual(run("judge").stdout, "")  # no rows of zeros

    def test_servers(self):
        """And who follows the events meanwhile reads them in order, but for lines that say that they come late."""
        self.up("3x3x3")
        words = [os.path.join(lab_kit.OPTIONS.bin, "cwctl"), "--lab", "lab", "--node", "0,0,0", "events", "--all",
                 "--follow", "--last", "9", "--json"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as follower:
            past = [json.loads(follower.stdout.readline()) for _ in range(9)]
            self.come_and_go()
            follower.terminate()
            told = past + [json.loads(line) for line in follower.stdout]
        youngest, told = 0, [row for row in told if "unanswered" not in row]
        for row in told:
            self.assertEqual(row["at_us"] < youngest, row.get("late", False), row)
            youngest = max(youngest, row["at_us"])
        self.assertGreater(len([row for row in told if row["text"] == "1,0,2 came"]), 26)

    def come_and_go(self):
        for words in ["fail", "1,0,2"], ["fail", "1,0,2", "--whole"], ["fail", "1,0,2", "--power"], ["leave", "1,0,2"]:
            run(*words)
            self.reach(26)
            until("it is dead", lambda: rows("status", "1,0,2", code=None)[0]["state"] == "dead")
            run("restore", "1,0,2")
            self.reach(27)
        self.wait_all()
        run("pause", "1,0,2", "300ms")
        self.assertEqual(rows("status", "1,0,2", code=None)[0]["state"], "paused")
        self.reach(26)
        self.reach(27)
        self.assertIn("'300': expected a time with its unit, as 5s", run("pause", "1,0,2", "300", code=2).stderr)
        self.assertIn("is stopped for 1ms", run("pause", "1,0,2", "1ms").stderr)
        self.assertEqual(run("pause", "0,0,2", "1ms", "--quiet").stderr, "")
        self.assertIn("it is so already: the daemon of 1,0,2 runs", run("restore", "1,0,2").stderr)
        run("fail", "1,0,1")
        self.assertIn("it is so already: the daemon of 1,0,1 is dead", run("fail", "1,0,1").stderr)
        run("restore", "1,0,1", "--wait")
        self.assertIn("1,0,2 has joined", run("restore", "1,0,2", "--wait").stderr)  # who runs is waited for

    def test_one_process_with_all_servers(self):
        """What cannot be done to a process can be done inside of it: the refusal is the line, and the line works."""
        run("up", "2x1x1", "--driver", "process")
        self.addCleanup(run, "down", code=None)
        for words, does in ((("fail", "1,0,0"), "1,0,0 fail"), (("restore", "1,0,0"), "1,0,0 restore"),
                            (("fail", "1,0,0", "--power"), "1,0,0 fail"), (("restore", "1,0,0"), "1,0,0 restore"),
                            (("link", "0,0,0", "+x", "down"), "0,0,0 cut +x"),
                            (("link", "0,0,0", "+x", "up"), "0,0,0 mend +x")):
            said = run(*words, code=None)
            self.assertNotEqual(said.returncode, 0)
            self.assertEqual(said.stderr, f"cwlab {words[0]}: {words[1]}: all servers of this lab live in one "
                             f"process, which does that itself: cwlab ctl --name lab {does}\n")
            run(*said.stderr.partition(": cwlab ")[2].split())
        self.assertIn("it cannot be done to one of them", run("pause", "1,0,0", "1s", code=None).stderr)

    def test_who_leaves_is_waited_for(self):
        """leave returns when the daemon has ended; a second one meanwhile waits too, and cuts nothing short."""
        self.up("2x2x1")
        cwlab = os.path.join(lab_kit.OPTIONS.bin, "cwlab")
        for _ in range(3):
            self.assertEqual(run("leave", "1,0,0").stderr, "1,0,0 has left, and its daemon has ended; "
                             "cwlab restore 1,0,0 starts it again\n")
            self.assertEqual(rows("status", "1,0,0", code=None)[0]["state"], "dead")
            self.assertIn("it is so already: 1,0,0 has left", run("leave", "1,0,0").stderr)
            run("restore", "1,0,0", "--wait")
            for word in "drain", "leave":  # which return when the process has ended, and not before
                lab_kit.lines("ctl", "1,0,0", word)
                row = rows("status", "1,0,0", code=None)[0]
                self.assertEqual((row["state"], row["ended"]), ("dead", "exit code 0"))
                self.assertIn("it is so already: 1,0,0 has left", run("leave", "1,0,0").stderr)
                run("restore", "1,0,0", "--wait")
        run("pause", "1,0,0", "1h")
        leavers = [subprocess.Popen([cwlab, "leave", "1,0,0"], stderr=subprocess.PIPE, text=True) for _ in range(4)]
        said = [(leaver.communicate()[1], leaver.returncode) for leaver in leavers]
        for text, code in said:
            if "already" not in text:  # it came too late
                self.assertTrue(code == 0 and "1,0,0 has left, and its daemon has ended" in text, said)
        log = run("logs", "1,0,0").stdout
        # On a busy machine a leave may take longer than HOST_LEAVE_MS: the daemon then ends without the rest of it.
        ends = log.count('msg="ended in order"') + log.count('msg="ended before it had left in order"')
        self.assertEqual(ends, 10, log[-3000:])
        self.assertNotIn("ends at once", log.replace("another signal ends at once", ""))

    def test_a_daemon_that_starts_is_not_called_dead(self):
        self.up("3x3x3", "--no-wait")
        self.assertIn("0,0,0", run("ctl", "0,0,0", "status", code=None).stdout)
        for i in range(10):
            server = f"{i % 3},{i // 3 % 3},2"
            run("fail", server)
            self.assertIn("runs again, and can be asked", run("restore", server).stderr)
            done = run("ctl", server, "status", code=None)
            self.assertIn(done.returncode, (0, 1))  # 1: its links are not up yet
            self.assertEqual(done.stderr, "")
            words = [os.path.join(lab_kit.OPTIONS.bin, "cwctl"), "--lab", "lab", "--node", server, "services"]
            self.assertEqual(subprocess.run(words, capture_output=True, check=False).returncode, 0)
        run("fail", "1,1,1", "--whole")
        said = run("restore", "1,1,1", "--wait").stderr.splitlines()
        self.assertEqual(said, ["the daemon of 1,1,1 runs again, and can be asked",
                                "1,1,1 has joined: it reaches 27 of 27 servers"])

    def test_a_daemon_that_opens_no_socket_is_not_called_dead(self):
        self.up("2x1x1")
        run("pause", "1,0,0", "1h")
        os.unlink(os.path.join(self.folder, "lab", "1,0,0.sock"))
        words = [os.path.join(lab_kit.OPTIONS.bin, "cwctl"), "--lab", "lab", "--node", "0,0,0 1,0,0", "--timeout",
                 "200ms", "services"]
        done = subprocess.run(words, capture_output=True, check=False, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("runs, but it has not opened its control socket in time", done.stderr)

    def test_cables(self):
        self.up("3x3x3")
        for down, up in ((["link", "0,0,0", "+x", "down"], ["link", "0,0,0", "+x", "up"]),
                         (["loss", "0,0,0", "+x", "all"], ["loss", "0,0,0", "+x", "none"]),
                         (["link", "1,0,0", "-x", "down"], ["link", "1,0,0", "-x", "up"])):
            run(*down)
            until("the link is down", lambda: not links("0,0,0")["+x"]["up"])
            # On a busy machine servers may count one another out for a moment, which is not what is tried here.
            until("all reach all by other ways", lambda: ask("pingall", code=None)["received"] == 27 * 26)
            run(*up)
            until("the link is up", lambda: links("0,0,0")["+x"]["up"])
        self.assertEqual(ask("loss", "0,0,0", "+x", "none")["server"], "0,0,0")
        self.assertIn("none of the frames that 0,0,0 sends on link +x are lost",
                      run("loss", "0,0,0", "+x", "none").stderr)
        self.assertIn("+x of 0,0,0 is switched off, and the other end", run("link", "0,0,0", "+x", "down").stderr)
        for words, said in (("+w down", "'+w' is no link: expected +x"), ("+x dwn", "did you mean down?"),
                            ("+x sideways", "'sideways': expected up or down\n")):
            self.assertIn(said, run("link", "0,0,0", *words.split(), code=2).stderr)
        self.assertIn("'+w' is no link", run("loss", "0,0,0", "+w", "all", code=2).stderr)
        self.assertIn("did you mean none?", run("loss", "0,0,0", "+x", "nnoe", code=2).stderr)
        self.assertIn("'5': expected a share from 0", run("loss", "0,0,0", "+x", "5", code=2).stderr)
        self.assertIn("expected a share", run("loss", "0,0,0", "+x", "much", code=2).stderr)


if __name__ == "__main__":
    lab_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwlab fail, restore, leave, pause, link, loss: what is done to real daemons and cables, and that they come together
again."""

import json

import lab_kit
from lab_kit import ask, run, until


def links(server):
    said = run("ctl", server, "links", "--json").stdout
    return {row["link"]: row for row in map(json.loads, said.splitlines())} if said.lstrip().startswith("{") else \
        {row["link"]: row for row in json.loads(said)}


class Fault(lab_kit.Case):
    def reach(self, count, server="0,0,0"):
        until(f"{server} reaches {count}",
              lambda: ask("status", server, code=None)["daemons"][0].get("reachable") == count)

    def test_servers(self):
        self.up("3x3x3")
        for words in ["fail", "1,0,2"], ["fail", "1,0,2", "--whole"], ["fail", "1,0,2", "--power"], ["leave", "1,0,2"]:
            run(*words)
            self.reach(26)
            until("it is dead", lambda: ask("status", "1,0,2", code=None)["daemons"][0]["state"] == "dead")
            run("restore", "1,0,2")
            self.reach(27)
        self.wait_all()
        run("pause", "1,0,2", "300")
        self.assertEqual(ask("status", "1,0,2", code=None)["daemons"][0]["state"], "paused")
        self.reach(26)
        self.reach(27)
        self.assertIn("expected", run("pause", "1,0,2", "long", code=2).stderr)
        self.assertIn("is stopped for 1ms", run("pause", "1,0,2", "1").stderr)
        self.assertEqual(run("pause", "0,0,2", "1", "--quiet").stderr, "")
        self.assertIn("so already", run("restore", "1,0,2", code=2).stderr)

    def test_cables(self):
        self.up("3x3x3")
        for down, up in ((["link", "0,0,0", "+x", "down"], ["link", "0,0,0", "+x", "up"]),
                         (["loss", "0,0,0", "+x", "all"], ["loss", "0,0,0", "+x", "none"]),
                         (["link", "1,0,0", "-x", "down"], ["link", "1,0,0", "-x", "up"])):
            run(*down)
            until("the link is down", lambda: not links("0,0,0")["+x"]["up"])
            self.assertEqual(ask("pingall")["lost"], 0)
            run(*up)
            until("the link is up", lambda: links("0,0,0")["+x"]["up"])
        self.assertEqual(ask("loss", "0,0,0", "+x", "none")["server"], "0,0,0")
        self.assertIn("none of the frames that 0,0,0 sends on link +x are lost",
                      run("loss", "0,0,0", "+x", "none").stderr)
        self.assertIn("is out: both ends", run("link", "0,0,0", "+x", "down").stderr)
        self.assertIn("expected a link", run("link", "0,0,0", "+w", "down", code=2).stderr)
        self.assertIn("no share", run("loss", "0,0,0", "+x", "much", code=2).stderr)


if __name__ == "__main__":
    lab_kit.main()

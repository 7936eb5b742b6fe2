# SPDX-License-Identifier: Apache-2.0
"""cwctl service multicast group ...: groups of servers by name, on daemons."""

import time
import unittest

import ctl_kit

GROUP = "service multicast group"


class Group(ctl_kit.Case):
    def at(self, server, line):
        return self.rows(f"--server {server} {line}")

    def heard(self, server):
        return [row["text"] for row in self.at(server, f"{GROUP} heard") if "text" in row]

    def test_join_publish_leave(self):
        for server in ("1,0,0", "2,2,2", "0,1,2"):
            [row] = self.at(server, f"{GROUP} join web")
            self.assertEqual((row["group"], row["this_server"]), ("web", "member"))
        members = [row["member"] for row in self.rows(f"{GROUP} members web")]
        self.assertEqual(members, ["0,1,2", "1,0,0", "2,2,2"])
        [row] = self.rows(f"{GROUP} publish web hello all of you")
        self.assertEqual((row["members"], row["complete"]), (3, 3))
        for server in ("1,0,0", "2,2,2", "0,1,2"):
            self.assertEqual(self.heard(server), ["hello all of you"])
        self.assertEqual(self.heard("0,0,0"), [])
        [row] = self.at("1,0,0", f"{GROUP} publish-once web once")  # a member gets its own
        self.assertEqual(row["members"], 3)
        end = time.monotonic() + 10
        while "once" not in self.heard("2,2,2") and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(self.heard("2,2,2"), ["hello all of you", "once"])
        self.assertEqual(self.heard("1,0,0"), ["hello all of you", "once"])
        rows = [row for row in self.at("1,0,0", f"{GROUP} list") if row.get("group") == "web"]
        self.assertEqual((rows[0]["this_server"], rows[0]["acknowledged"]), ("member", 1))
        roots = [row for x in "012" for y in "012" for z in "012" for row in self.at(f"{x},{y},{z}", f"{GROUP} list")
                 if row.get("root")]
        self.assertEqual([(row["group"], row["members"]) for row in roots], [("web", 3)])

        [row] = self.rows("service multicast send 100000 to web")  # a group where servers may stand
        self.assertEqual((row["members"], row["complete"]), (3, 3))

        self.at("2,2,2", f"{GROUP} leave web")
        [row] = self.rows(f"{GROUP} publish web again")
        self.assertEqual((row["members"], row["complete"]), (2, 2))
        self.assertNotIn("again", self.heard("2,2,2"))
        self.at("1,0,0", f"{GROUP} leave web")
        self.at("0,1,2", f"{GROUP} leave web")
        self.refused(f"{GROUP} publish web nobody", "nobody is a member of the group or keeps it: 'web'", code=1)

    def test_refused(self):
        self.refused(f"{GROUP} members nobody", "nobody is a member of the group", code=1)
        self.refused(f"{GROUP} leave nobody", "this server is no member of the group: 'nobody'", code=1)
        self.refused(f"{GROUP} join all", "a group's name is 1 to 64 letters", code=2)
        self.refused(f"{GROUP} join 1,0,0", "a group's name is 1 to 64 letters", code=2)
        self.refused(f"{GROUP} publish web", "usage: multicast group publish GROUP TEXT..", code=2)
        self.refused("service multicast send 5 to nobody", "nobody is in a group 'nobody'", code=1)


if __name__ == "__main__":
    ctl_kit.main()

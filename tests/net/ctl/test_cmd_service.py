# SPDX-License-Identifier: Apache-2.0
"""cwctl ping, trace, services and service: what services do when they are asked."""

import json
import os
import unittest

import ctl_kit


class Service(ctl_kit.Case):
    def test_ping(self):
        [row] = self.rows("ping 1,1,1 --count 20 --size 1000")
        self.assertEqual((row["sent"], row["received"], row["lost"], row["miscounted"]), (20, 20, 0, 0))
        self.assertEqual((row["hops_there_min"], row["hops_there_max"]), (3, 3))
        text = self.cwctl("ping 1,1,1 --count 2 --rows --interval 1ms")
        self.assertRegex(text, r"^1,1,1 seq 0: [0-9.]+ .s, 3 links there, 3 back\n1,1,1 seq 1: ")
        self.assertRegex(text, r"1,1,1: 2 sent, 2 answered, 0 lost\nround trip [0-9.]+ .s at least, ")
        self.assertRegex(self.cwctl("ping 0,0,1"), r"\nround trip [0-9.]+ .s; 1 link there, 1 back\n$")
        self.assertEqual(self.cwctl("trace 0,0,0"), "0,0,0 itself took it: the packet crossed no link\n")
        self.assertRegex(self.cwctl("ping all"), "^26 sent, 26 answered, 0 lost\n")
        [row] = self.rows("ping far 12")
        self.assertEqual((row["hops_there_min"], row["hops_back_min"]), (12, 12))
        self.refused("ping kye hello", "ping kye: expected SERVER, key KEY, all or far [N]; did you mean key?", code=2)
        self.refused("ping 1,1,1 2", "what is '2'?", code=2)
        self.refused("ping far 0", "hops is a whole number from 1 to ", code=2)
        self.refused("ping all --count 2", "--count is not for ping all: each server gets one packet", code=2)
        self.refused("ping 1,1", "expected SERVER, key KEY", code=2)
        self.refused("ping 3,3,3", "not a server of this torus", code=2)
        self.refused("ping 1,1,1 --size 5", "size is a whole number from 16 to ", code=2)
        self.refused("ping 1,1,1 --lost-after 0",
                     "--lost-after 0: expected a time with its unit from 1us to 1h, as 5s or 200ms", code=2)
        self.refused("ping 1,1,1 --interval 2h", "--interval 2h: expected a time with its unit from 0 to 1h", code=2)
        self.refused("ping 1,1,1 --count 0", "--count 0: expected a whole number from 1 on", code=2)
        self.refused("service ping to 1,1,1 colour=red", "no such option; there are interval=N", code=2)

    def test_lost(self):
        done = self.raw("ping", "1,1,1", "--lost-after", "1us")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 sent, 0 answered, 1 lost", done.stdout)

    def test_trace(self):
        for word in "1,1", "1,1,1,1", "1,":  # servers that were mistyped, and keys only where that is said
            self.refused(f"trace {word}", f"as 0,1,2; trace key {word} traces the key of that name", code=2)
            self.cwctl("trace key", word)
        rows = self.rows("trace 1,1,1")
        there = [row for row in rows if row.get("leg") == "there"]
        back = [row for row in rows if row.get("leg") == "back"]
        self.assertEqual((there[0]["server"], there[0]["in"], there[-1]["server"], there[-1]["out"]),
                         ("0,0,0", "self", "1,1,1", "self"))
        self.assertEqual(([row["hop"] for row in there], len(back)), ([0, 1, 2, 3], 4))
        self.assertEqual((rows[-1]["complete"], rows[-1]["hops_there"], rows[-1]["hops_back"]), (1, 3, 3))
        for here, following in zip(there, there[1:]):  # a packet comes in by the opposite of the link by which it left
            self.assertEqual(following["in"], here["out"].translate(str.maketrans("+-", "-+")))
        titles, shown = self.table("trace 1,1,1")
        self.assertEqual(titles[:3], ["WAY", "HOP", "SERVER"])
        self.assertEqual(shown[0][:5], ["there", "0", "0,0,0", "self", "made"])
        self.refused("trace 9,9,9", "not a server", code=2)

    def test_services(self):
        titles, rows = self.table("services")
        self.assertEqual(titles[:4], ["SERVICE", "JOB", "VERSION", "WEIGHT"])
        self.assertEqual([row[:2] for row in rows], [["ping", "1"], ["bench", "2"], ["trace", "3"], ["jobs", "4"],
                                                     ["transport", "5"], ["kvcache", "6"], ["multicast", "7"],
                                                     ["aggregate", "8"],
                                                     ["inquiry", "14"]])
        text = self.cwctl("services weight bench 3 --background --queue-packets 77 --drop oldest")
        self.assertRegex(text, r"(?s)bench.* 3\b.*yes.* 77\b.*oldest")
        self.assertEqual(self.cwctl("services weight bench"), text)
        [bench] = [row for row in self.rows("--server 2,2,2 services") if row["service"] == "bench"]
        self.assertEqual((bench["weight"], bench["background"], bench["queue_packets"], bench["drop"]),
                         (3, True, 77, "oldest"))
        self.refused("services weight bench 0", "from 1 to 1000", code=2)
        self.refused("services weight kv 3", "no service 'kv' runs here", code=2)
        self.refused("services weight bench 3 --drop first", 'is "tail", "oldest" or "priority"', code=2)
        self.refused("services unload kv", "no service 'kv'", code=2)
        self.refused("services load /nonexistent.so", "no such file", code=1)

    def refused_with(self, words, says):
        done = self.raw(*words)
        self.assertIn(done.returncode, (1, 2), done.stdout)
        self.assertIn(says, done.stderr)

    def test_a_module(self):
        if not ctl_kit.OPTIONS.module:
            self.skipTest("no module given")
        folder, name = os.path.split(ctl_kit.OPTIONS.module)
        link = os.path.join(self.folder, "a module.so")
        os.symlink(os.path.join(folder, name), link)
        self.refused_with(["services", "load", link, "--option", "colour=red"],
                          "service hitcount: it has no option colour")
        self.refused_with(["services", "load", link, "--option", "patience_ms=soon"],
                          "service hitcount: option patience_ms is a whole number")
        self.refused_with(["services", "load", link, "--option", "patience_ms"], "written name=value")
        self.assertRegex(self.cwctl("services load", link, "--weight", "20", "--option", "patience_ms=500"),
                         "^service hitcount runs, job [0-9]+\n$")
        [row] = [row for row in self.rows("--server 1,2,1 services") if row["service"] == "hitcount"]
        self.assertEqual(row["weight"], 20)
        self.refused("service hitcount dance 1,1,1", "has no command 'dance'; there are walk, ask, show", code=2)
        self.refused("service hitcount wlak 1,1,1", "has no command 'wlak'; did you mean walk?", code=2)
        self.refused("service hitcount walk", "usage: hitcount walk SERVER", code=2)
        self.refused("service hitcount walk 1,1,1 2", "'2' is a word too many; usage: hitcount walk SERVER", code=2)
        self.refused("service hitcount show 1", "'1' is a word too many; usage: hitcount show", code=2)
        self.assertEqual(self.rows("services times hitcount")[0]["upcall"], "open")
        self.refused("services times hitcuont", "no service 'hitcuont' runs here; did you mean hitcount?", code=2)
        text = self.cwctl("service hitcount --help")
        self.assertRegex(text, r"^usage: cwctl service hitcount COMMAND.*\n\nCommands:\n  walk SERVER +send a packet")
        self.assertEqual(self.cwctl("service hitcount"), text)
        self.assertEqual([row["command"] for row in self.rows("service hitcount --help")], ["walk", "ask", "show"])
        self.refused("service hitcount ask 9,9,9", "'9,9,9' is not a server of this torus (",
                     "usage: hitcount ask SERVER", code=2)
        self.refused_with(["services", "load", link], 'it runs already: "services reload" puts another build')
        self.assertEqual(self.cwctl("services unload hitcount"), "service hitcount has ended\n")
        self.assertNotIn("hitcount", self.cwctl("services"))
        bad = os.path.join(self.folder, "bad.so")
        with open(bad, "w", encoding="utf-8") as out:
            out.write("no module\n")
        self.refused(f"services load {bad}", bad, code=1)

    def test_service(self):
        text = self.cwctl("service bench stats")
        self.assertRegex(text, r"(?m)^sent +0$")
        self.cwctl("service bench start mode=keys rate=1000")
        self.cwctl("service bench stop")
        self.assertGreaterEqual(self.rows("service bench stats")[0]["sent"], 0)
        self.refused("service nothing get", "no service 'nothing' runs here; cwctl services lists those", code=2)
        self.refused("service kvache stats", "no service 'kvache' runs here; did you mean kvcache?", code=2)
        self.refused("service bench dance", "'dance'; there are", code=2)
        self.refused("service kvcache stast", "'stast'; did you mean stats?", code=2)
        self.refused("service kvcache foo", "'foo'; there are get", code=2)  # nothing is near it
        self.refused("service kv --help", "no service 'kv' runs here", code=2)

    def test_help_does_nothing_and_json_stands_at_the_end(self):
        before = self.rows("service bench stats")
        for line in ("service bench start mode=keys --help", "service bench start --help mode=keys",
                     "service bench -h start mode=keys", "service bench start mode=keys -h --json"):
            self.assertIn("start", self.cwctl(line))
        self.assertEqual(self.rows("service bench stats"), before)
        text = self.cwctl("service bench start --help")
        self.assertNotIn("stats", text)  # of the command that is asked about
        self.assertIn("group leave GROUP", self.cwctl("service multicast group --help"))
        self.assertNotIn("file-send", self.cwctl("service multicast group --help"))
        self.assertEqual(json.loads(self.cwctl("service bench stats --json")), before[0])
        # Behind -- all words are the service's.
        self.refused("service -- bench stats --json", "'--json' is not links", code=2)
        self.refused("service -- bench --help", "--help", code=2)

    def test_every_service_declares_its_commands(self):
        for service in (row["service"] for row in self.rows("services")):
            commands = self.rows(f"service {service} --help")
            self.assertGreater(len(commands), 1, service)
            for row in commands:
                self.assertEqual(row["service"], service)
                self.assertTrue(row["command"] and row["help"], row)
                # What is declared is a command: the service never calls it unknown.
                if row["arguments"] == "" and row["command"] not in ("flush", "all"):
                    self.cwctl(f"service {service} {row['command']}")

    def test_without_one_that_is_built_in(self):  # the last: the daemon is without it from then on
        self.assertEqual(self.cwctl("services unload trace"), "service trace has ended\n")
        self.refused("trace 1,1,1", "no service 'trace' runs here: it was unloaded or switched off, and starts with",
                     code=1)


if __name__ == "__main__":
    ctl_kit.main()

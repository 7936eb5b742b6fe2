# SPDX-License-Identifier: Apache-2.0
"""cwlab ctl and capture: cwctl for the daemon of one server, and for the daemons of several at once."""

import json
import os
import re
import shlex
import shutil

import lab_kit
from lab_kit import run


class Ctl(lab_kit.Case):
    def test_ctl(self):
        for driver in "netns", "process":
            self.up("2x2x2", "--driver", driver)
            self.assertIn("1,1,1", run("ctl", "1,1,1", "status").stdout)
            run("ctl", "1,1,1", "no-such-command", code=2)
            for words in (["--name", "lab", "1,1,1", "status"], ["1,1,1", "status", "--name", "lab"],
                          ["1,1,1", "--name=lab", "status"]):
                self.assertIn("1,1,1", run("ctl", *words).stdout)
            # What is proposed is what was typed, and can be typed.
            said = run("ctl", "1,1,1", "kv", "set", "k", "-5", code=2).stderr
            self.assertTrue(said.endswith(" stands behind --: cwlab ctl 1,1,1 kv set k -- -5\n"), said)
            said = run("ctl", "1,1,1", "job", "explain", "0:0", "nosuch:1:1", code=1).stdout
            self.assertIn("remedy: cwlab ctl 1,1,1 job list; cwlab ctl 1,1,1 services: say which", said)
            said = run("ctl", "all", "kv", "set", "a", "b", code=2).stderr
            self.assertTrue(said.endswith("name one, as cwlab ctl --name lab 0,0,0 kv set\n"), said)
            if driver == "process":
                for word in "leave", "drain":  # would end all servers
                    self.assertIn("cwlab ctl --name lab 1,1,1 fail takes one", run("ctl", "1,1,1", word, code=2).stderr)
                run("ctl", "1,1,1", "fail")
                lab_kit.until("the doctor tells of it", lambda: "do: cwlab ctl 1,1,1 restore\n" in run(
                    "ctl", "0,0,0", "doctor", "--all", code=None).stdout)
                run("ctl", "1,1,1", "restore")
            said = run("ctl", "1,1,1", "status", "--name", "other", code=3).stderr
            self.assertIn("there is no lab 'other'; there is lab\n", said)
            run("down")

    def test_watch(self):
        """One look, through the first server that lives; keys are in net.cmd_watch."""
        self.up("2x2x1")
        run("fail", "0,0,0")
        lab_kit.until("the death is seen", lambda: re.search(
            r"^2x2x1 .*  1 down  3 serving$.*X", run("watch", "--every", "100ms").stdout, re.S | re.M))
        rows = [json.loads(line) for line in run("watch", "1,1,0", "--json", "--full", "1gbit").stdout.splitlines()]
        self.assertEqual([row["state"] for row in rows if "link" not in row],
                         ["down", "serving", "serving", "serving"])
        self.assertIn("cwlab watch: --every 10: expected a time", run("watch", "--every", "10", code=2).stderr)
        self.assertIn("expected one server", run("watch", "all", code=2).stderr)
        self.assertIn("expected one server", run("watch", "0,0,0", "0,1,0", code=2).stderr)

    def test_several_servers_at_once(self):
        for driver in "netns", "process":
            self.up("2x2x2", "--driver", driver)
            # below the table is why no link has a relay
            lines = run("ctl", "all", "links").stdout.partition("\n\n")[0].splitlines()
            self.assertEqual((len(lines), lines[0].split()[:2]), (49, ["SERVER", "LINK"]))
            servers = sorted({line.split()[0] for line in lines[1:]})
            self.assertEqual((len(servers), servers[0]), (8, "0,0,0"))
            rows = [json.loads(line) for line in
                    run("ctl", "0,0,1", "1,*,*", "services", "--json").stdout.splitlines()]
            self.assertEqual({row["server"] for row in rows}, {"0,0,1", "1,0,0", "1,0,1", "1,1,0", "1,1,1"})
            self.assertEqual(len({row["service"] for row in rows if row["server"] == "0,0,1"}), len(rows) // 5)
            # Rows that tell of other servers say whom they are from.
            self.assertEqual(run("ctl", "all", "servers").stdout.split()[:2], ["ASKED", "SERVER"])
            self.assertIn("is for one daemon at a time", run("ctl", "all", "capture", "+x", "-", code=2).stderr)
            self.assertEqual(run("ctl", "all", "services", "unload", "nosuch", code=2).stderr.count("\n"), 1)
            # What one server does for all is asked of one.
            self.assertEqual(run("ctl", "all", "doctor").stdout, "nothing is wrong: all 8 servers answered\n")
            self.assertGreaterEqual(len(run("ctl", "all", "events", "--json").stdout.splitlines()), 8)
            for words, line in (("kv stats", "kv stats"),
                                ("file send my.img --as b", "file send my.img --as b --to all"),
                                ("file send 'my img' --to g", "file send 'my img' --to g")):
                said = run("ctl", "all", *shlex.split(words), code=2)
                self.assertEqual((said.stdout, said.stderr.partition(": cwlab")[2]),
                                 ("", f" ctl --name lab 0,0,0 {line}\n"))
            self.assertEqual(run("ctl", "all", "drops").stdout, "nothing was dropped\n")
            self.assertEqual(run("ctl", "all", "file", "status").stdout, "nothing to show on 8 servers\n")
            run("down")

    def test_what_is_said_of_a_wrong_line(self):
        self.up("2x2x1")
        self.assertIn("expected servers of the torus, as 0,1,2, or all; and then a command", run("ctl", code=2).stderr)
        self.assertIn("found '0,0'", run("ctl", "0,0", "status", code=2).stderr)
        # Nobody is offered a line that harms another server than the one that was meant.
        for words, line in (("0,0,0 fail", "fail --name lab 0,0,0"), ("0,0,0 fail 0,1,0", "fail --name lab SERVER"),
                            ("all fail", "fail --name lab SERVER"), ("0,0,0 cut +x", "link --name lab 0,0,0 +x down"),
                            ("0,0,0 mend", "link --name lab 0,0,0 LINK up"),
                            ("0,0,0 mend +x 0,1,0", "link --name lab SERVER LINK up")):
            said = run("ctl", *words.split(), code=2).stderr
            self.assertEqual(said, f"cwlab ctl: each server of this lab is a process: cwlab {line} does that\n")

    def test_one_of_several_is_dead(self):
        self.up("2x2x1")
        run("fail", "1,0,0")
        done = run("ctl", "all", "services", code=3)
        self.assertIn("cwctl: 1,0,0: the daemon of 1,0,0 in lab lab is dead", done.stderr)
        self.assertEqual({line.split()[0] for line in done.stdout.splitlines()[1:]}, {"0,0,0", "0,1,0", "1,1,0"})

    def services(self, name):
        rows = [json.loads(line) for line in run("ctl", "all", "services", "--json").stdout.splitlines()]
        return {row["server"]: row for row in rows if row["service"] == name}

    def test_services_everywhere_or_nowhere(self):
        module = lab_kit.OPTIONS.module
        self.up("2x2x1")
        done = run("ctl", "0,0,0", "services", "load", module, "--everywhere").stdout
        self.assertEqual(done.split()[:5], ["SERVER", "SERVICE", "JOB", "VERSION", "BUILD"])
        self.assertIn(" 4096 ", done)  # a job's number is a name
        there = self.services("hitcount")
        self.assertEqual(len(there), 4)
        self.assertRegex(there["1,0,0"]["build"], "^[0-9a-f]{12}$")
        # All check it before any loads it.
        run("ctl", "1,0,0", "services", "unload", "hitcount")
        done = run("ctl", "all", "services", "load", module, code=1)
        self.assertIn("runs already", done.stderr)
        self.assertIn("nothing was loaded on any of the 4 daemons", done.stderr)
        self.assertEqual(len(self.services("hitcount")), 3)
        run("ctl", "0,*,*", "1,1,0", "services", "unload", "hitcount")
        # What only the start can find is taken back.
        done = run("ctl", "all", "services", "load", module, "--option", "patience_ms=soon", code=2)
        self.assertIn("no daemon keeps it, for none had loaded it", done.stderr)
        self.assertEqual(self.services("hitcount"), {})

    def test_a_service_that_was_loaded_is_there_after_a_restore(self):
        module = lab_kit.OPTIONS.module
        self.up("2x2x1")
        run("fail", "1,1,0")
        done = run("ctl", "all", "services", "load", module, "--option", "patience_ms=77")
        self.assertIn("1,1,0 is dead: it runs what the others run when it is restored", done.stderr)
        run("restore", "1,1,0", "--wait")
        there = self.services("hitcount")
        self.assertEqual({row["options"] for row in there.values()}, {"patience_ms=77"})
        self.assertEqual(len(there), 4)
        run("ctl", "1,0,0", "services", "unload", "hitcount")
        run("fail", "1,0,0")
        run("restore", "1,0,0", "--wait")
        self.assertEqual(len(self.services("hitcount")), 3)  # it was unloaded there, and stays so
        said = run("ctl", "0,0,0", "doctor", "--all", "--json", code=None).stdout
        found = [json.loads(line) for line in said.splitlines()]
        [lacks] = [row for row in found if row["cause"] == "services"]
        self.assertIn("service hitcount does not run on 1,0,0, and runs on 3 of 4 servers", lacks["text"])
        self.assertEqual(lacks["do"], f"cwlab ctl 1,0,0 services load {module} --option patience_ms=77")
        run(*lacks["do"].split()[1:])
        self.assertEqual(len(self.services("hitcount")), 4)

    def test_a_new_build_takes_the_place_of_the_old_one(self):
        path, other = os.path.join(self.folder, "h.so"), os.path.join(self.folder, "other.so")
        shutil.copy(lab_kit.OPTIONS.module, path)
        self.addCleanup(os.unlink, path)
        self.up("2x1x1")
        run("ctl", "all", "services", "load", path, "--weight", "20")
        self.assertIn("this is the very file that runs", run("ctl", "all", "services", "reload", path, code=1).stderr)
        shutil.copy(lab_kit.OPTIONS.module, other)
        os.rename(other, path)
        said = run("ctl", "0,0,0", "services", "reload", path, "--check").stdout
        self.assertRegex(said, r"^service hitcount could be loaded: version \S+ \(build [0-9a-f]{12}\)\n$")
        run("ctl", "all", "services", "reload", path)
        self.assertEqual([row["weight"] for row in self.services("hitcount").values()], [20, 20])
        self.assertRegex(run("ctl", "0,0,0", "services", "reload", "hitcount", "--undo").stdout,
                         "^service hitcount runs: version .* in the place of version ")
        self.assertIn("it was not replaced", run("ctl", "0,0,0", "services", "reload", "ping", "--undo", code=1).stderr)

    def put_build(self, number):
        """Build `number` of the service `builds` (3: server 0,0,0 refuses it) takes the place of its file."""
        path = os.path.join(self.folder, "builds.so")
        shutil.copy(os.path.join(os.path.dirname(lab_kit.OPTIONS.module), f"build{number}.so"), path + ".new")
        os.rename(path + ".new", path)
        return path

    def versions(self):
        return {row["version"] for row in self.services("builds").values()}

    def test_a_build_that_a_server_refuses(self):
        """None keeps it: neither after an undo, nor does who is started again."""
        path = self.put_build(1)
        self.addCleanup(os.unlink, path)
        run("up", "2x2x1", "--service", path)
        self.addCleanup(run, "down", code=None)
        self.put_build(2)
        run("ctl", "all", "services", "reload", path)
        run("fail", "1,1,0")
        self.put_build(3)
        said = run("ctl", "all", "services", "reload", path, code=1).stderr
        self.assertIn("1,1,0 is dead: it runs what the others run when it is restored", said)
        self.assertIn("cwctl: all 3 daemons run what they ran before: 2 had taken the new build", said)
        for server in "1,1,0", "0,0,0":  # who was dead, and who refused
            run("fail", server, code=None)
            run("restore", server, "--wait")
            self.assertEqual(self.versions(), {"0.2"})
        self.assertEqual(len(self.services("builds")), 4)
        # These two know of no earlier build: all or none.
        said = run("ctl", "all", "services", "reload", "builds", "--undo", code=1).stderr
        self.assertIn("cwctl: 0,0,0, 1,1,0: builds: it was not replaced since it was loaded", said)
        self.assertIn("cwctl: nothing was put back on any of the 4 daemons", said)
        self.assertEqual(self.versions(), {"0.2"})
        run("ctl", "0,1,0", "1,0,0", "services", "reload", "builds", "--undo")
        self.assertEqual({name: row["version"] for name, row in self.services("builds").items()},
                         {"0,0,0": "0.2", "1,1,0": "0.2", "0,1,0": "0.1", "1,0,0": "0.1"})
        # One of two is put forward again by itself: another undo of both would only change places.
        run("ctl", "0,1,0", "services", "reload", "builds", "--undo")
        said = run("ctl", "0,1,0", "1,0,0", "services", "reload", "builds", "--undo", code=1).stderr
        self.assertIn("they would not run the same then: 0,1,0 version 0.1", said)
        self.assertIn("cwctl: nothing was put back on any of the 2 daemons", said)

    def test_one_daemon_is_asked_once(self):
        """Where all servers live in one process, what is done to one of them is done to all."""
        run("up", "2x2x1", "--driver", "process")
        self.addCleanup(run, "down", code=None)
        path = self.put_build(1)
        self.addCleanup(os.unlink, path)
        self.assertRegex(run("ctl", "all", "services", "load", path).stdout, r"(?m)^all +builds +4003 +0\.1 ")
        self.put_build(2)
        run("ctl", "all", "services", "reload", path)
        self.put_build(3)
        said = run("ctl", "0,0,0", "0,1,0", "services", "reload", path, code=1).stderr
        self.assertEqual(said, "cwctl: all: service builds: not here\n")
        self.assertEqual(run("ctl", "all", "services", "weight", "builds", "7").stdout.count("builds"), 1)
        self.assertEqual(self.versions(), {"0.2"})
        run("ctl", "all", "services", "reload", "builds", "--undo")
        self.assertEqual(self.versions(), {"0.1"})
        run("ctl", "all", "services", "unload", "builds")
        self.assertEqual(self.services("builds"), {})

    def test_ctl_names_the_commands_of_the_lab(self):
        self.up("2x2x1")
        self.assertIn("cwlab fail --name lab 1,0,0 does that", run("ctl", "1,0,0", "fail", code=2).stderr)
        self.assertIn("cwlab link --name lab 1,0,0 +x down", run("ctl", "1,0,0", "cut", "+x", code=2).stderr)
        run("fail", "1,0,0")
        self.assertIn("cwlab restore --name lab 1,0,0", run("ctl", "1,0,0", "status", code=3).stderr)

    def test_capture(self):
        self.up("2x2x1")
        path = os.path.join(self.folder, "link.pcapng")
        run("capture", "0,0,0", "+x", path, "--count", "5")
        with open(path, "rb") as file:
            self.assertEqual(file.read(4), b"\x0a\x0d\x0d\x0a")
        os.unlink(path)



if __name__ == "__main__":
    lab_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwctl as a program: help, mistakes, finding the daemon, exit codes, JSON; and the bare protocol beneath it."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess

import ctl_kit

COMMANDS = """status links servers routes key ping trace services service counters drops top capture wiring config log
    leave""".split()


class Program(ctl_kit.Case):
    config = 'torus { dims = "2x2x1"; coordinate = all }\n'

    def test_help(self):
        text = self.cwctl("--help")
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command}( |$)")
        self.assertEqual(self.cwctl("help"), text)
        for command in ("links", "key explain", "services load", "ping"):
            text = self.cwctl(f"{command} --help")
            self.assertTrue(text.startswith(f"usage: cwctl {command} "), text)
            self.assertIn("For example:\n  cwctl ", text)
            self.assertEqual(self.cwctl(f"help {command}"), text)
        self.assertRegex(self.cwctl("--version"), r"^cwctl \d+\.\d+\.\d+\n$")

    def test_every_command_is_in_the_man_page(self):
        page = os.path.join(os.path.dirname(__file__), "../../../docs/man/cwctl.1")
        with open(page, encoding="utf-8") as text:
            page = re.sub(r"\\f.|\\|\"", "", text.read())
        for command in self.cwctl("complete commands").splitlines():
            self.assertRegex(page, rf"(?m)^\.B[RI]*.*\b{command}\b", f"cwctl.1 has no {command}")

    def test_mistakes(self):
        done = self.raw()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.refused("lniks", "did you mean links", code=2)
        self.refused("help lniks", "did you mean links", code=2)
        self.refused("links --jsno", "did you mean --json?", code=2)
        self.refused("links --count 3", "links has no option --count", code=2)
        self.refused("status now", "usage: cwctl status", code=2)
        self.refused("status 1,0,0", "usage: cwctl status; which server: --server x,y,z", code=2)
        self.refused("trace 1 0 0", "a server is one word, as 1,2,0", code=2)
        self.refused("kv set a 1 2", "cwctl kv set KEY [VALUE | -]\n", code=2)
        self.refused("ping key", "ping key: of which KEY? usage: cwctl ping key KEY", code=2)
        self.refused("ping -1,0,0", "no number here is below 0", code=2)
        self.refused("--server 9,9,9 status", "is no server of this torus of 2x2x1", code=2)
        self.refused("routes 9,9,9", "is no server of this torus of 2x2x1", code=2)
        self.refused("--timeout never status", "expected a time", code=2)

    def test_finding_the_daemon(self):
        nowhere = {"CUBEWAY_SOCKET": "", "XDG_RUNTIME_DIR": self.folder}
        self.assertEqual(self.raw("--socket", self.socket, "status", env=nowhere).returncode, 0)
        done = self.raw("--socket", self.folder + "/none.sock", "status")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("is cubewayd running?", done.stderr)
        os.makedirs(self.folder + "/cubeway/lab/demo", exist_ok=True)
        os.symlink(self.socket, self.folder + "/cubeway/lab/demo/all.sock")
        done = self.raw("--lab", "demo", "--node", "1,0,0", "--json", "status", env=nowhere)
        self.assertEqual(json.loads(done.stdout)["server"], "1,0,0")
        self.assertEqual(self.raw("--lab", "other", "status", env=nowhere).returncode, 3)
        done = self.raw("--node", "nobody-of-this-name", "status", env=nowhere)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no daemon called 'nobody-of-this-name'", done.stderr)
        self.assertEqual(self.raw("complete", "--lab", "demo", "--node", "", env=nowhere).stdout, "all\n")
        self.assertIn("demo\n", self.raw("complete", "--lab", "", env=nowhere).stdout)

    def test_colour_is_for_terminals(self):
        self.assertNotIn("\033", self.cwctl("links"))

    def complete(self, line):
        """What may come at the end of the line, as shells are told."""
        words = line.split(" ")[1:]
        done = self.raw("complete", *words, env={"CUBEWAY_SOCKET": self.socket})
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        return [said.split("\t")[0] for said in done.stdout.splitlines()]

    def test_completion(self):
        self.assertEqual(self.complete("cwctl st"), ["status", "store"])
        self.assertEqual(self.complete("cwctl services w"), ["weight"])
        services = ["ping", "bench", "trace", "jobs", "transport", "kvcache", "multicast", "aggregate", "inquiry"]
        self.assertEqual(self.complete("cwctl services weight "), services)
        self.assertEqual(self.complete("cwctl job re"), ["revoke"])
        self.assertEqual(self.complete("cwctl job show "), services)
        self.assertEqual(self.complete("cwctl ping 1,"), ["1,0,0", "1,1,0"])
        self.assertEqual(self.complete("cwctl ping k"), ["key"])
        self.assertEqual(self.complete("cwctl links -")[:3], ["-x", "-y", "-z"])
        self.assertEqual(self.complete("cwctl key ex"), ["explain"])
        self.assertEqual(self.complete("cwctl key explain hello --d"), ["--dead"])
        self.assertEqual(self.complete("cwctl key explain hello --dead 0"), ["0,0,0", "0,1,0"])
        self.assertEqual(self.complete("cwctl --js"), ["--json"])
        self.assertEqual(self.complete("cwctl --server "), ["0,0,0", "0,1,0", "1,0,0", "1,1,0", "all"])
        self.assertEqual(self.complete("cwctl log level d"), ["debug"])
        self.assertEqual(self.complete("cwctl service bench st"), ["start", "stop", "stats"])
        self.assertEqual(self.complete("cwctl service multicast gr"), ["group"])
        self.assertEqual(self.complete("cwctl service multicast group p"), ["publish", "publish-once"])
        self.cwctl("service multicast group join crew")
        self.assertIn("crew", self.complete("cwctl file send x --to "))

    def test_a_full_disk(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([ctl_kit.OPTIONS.cwctl, "--socket", self.socket, "status"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False, timeout=ctl_kit.LIMIT_S)
        self.assertEqual(done.returncode, 1)

    def test_again_and_again(self):
        self.assertEqual(len(self.rows("status --rounds 2 --watch 20ms")), 2)
        for words in "events --watch", "events --rounds 3", "events --follow --rounds 1":
            self.refused(words, "events takes no --watch and no --rounds", "--follow goes on with what happens",
                         code=2)
        for command, does in (("doctor", "ask every server in view"), ("events", "show the events of every server"),
                              ("drops", "causes of which nothing was dropped"), ("wiring", "every cable of the torus")):
            self.assertRegex(self.cwctl(command + " --help"), rf"--all +.*{does}")

    def test_a_stopped_daemon(self):
        self.process.send_signal(signal.SIGSTOP)
        try:
            self.refused("--timeout 200ms status", "no answer in time: the daemon's process (",
                         "is stopped, by SIGSTOP or a debugger; kill -CONT", code=4)
            self.refused("--timeout 200ms events --follow", "no answer in time", code=4)
        finally:
            self.process.send_signal(signal.SIGCONT)
        self.settle()

    def test_a_second_daemon(self):
        file = os.path.join(self.folder, "all.conf")
        done = subprocess.run([ctl_kit.OPTIONS.cubewayd, "-c", file], capture_output=True, text=True, check=False,
                              timeout=ctl_kit.LIMIT_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn("in use by a living daemon", done.stderr)
        self.cwctl("status")

    def test_the_protocol(self):
        with socket.socket(socket.AF_UNIX) as client, client.makefile("r", encoding="utf-8") as lines:
            client.settimeout(ctl_kit.LIMIT_S)
            client.connect(self.socket)
            client.sendall(b'{"id":7,"command":"routes","args":["1,1,0"]}\n')
            self.assertEqual(json.loads(lines.readline()),
                             {"id": 7, "row": {"to": "1,1,0", "reachable": True, "hops": 2,
                                                                         "by": ["+x", "-x", "+y", "-y"]}})
            self.assertEqual(json.loads(lines.readline()), {"id": 7, "done": True, "rc": 0})
            client.sendall(b'garbage\n{"id":8,"command":"nonsense"}\n')
            self.assertEqual(json.loads(lines.readline())["id"], None)
            self.assertEqual(json.loads(lines.readline())["rc"], -2)
            # Two commands at a time, one of which cancels the other.
            client.sendall(b'{"id":9,"command":"capture","args":["+x"]}\n{"id":10,"command":"cancel","args":[9]}\n')
            ends = {}
            while len(ends) < 2:
                line = json.loads(lines.readline())
                if "done" in line:
                    ends[line["id"]] = line["rc"]
            self.assertEqual(ends, {9: -125, 10: 0})

    def test_help_of_the_daemon(self):
        with socket.socket(socket.AF_UNIX) as client, client.makefile("r", encoding="utf-8") as lines:
            client.connect(self.socket)
            client.sendall(b'{"id":1,"command":"help"}\n')
            client.shutdown(socket.SHUT_WR)
            rows = [json.loads(line) for line in lines]
        self.assertIn("key-explain", [line["row"]["command"] for line in rows[:-1]])
        self.assertTrue(rows[-1]["done"])


if __name__ == "__main__":
    ctl_kit.main()

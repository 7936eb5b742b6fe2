# SPDX-License-Identifier: Apache-2.0
"""cubewayd as a program: help, mistakes in options and files, a torus in one process, signals, readiness."""

import json
import os
import re
import signal
import socket

import net_kit

WHOLE = 'torus { dims = "3x3x3"; coordinate = all }\n'


class Main(net_kit.Case):
    def test_help_and_version(self):
        text = self.cubewayd("--help").stdout
        self.assertTrue(text.startswith("usage: cubewayd [-c FILE]\n"))
        for word in "-c --check-config --show-config --log-level --user --no-watcher --version".split():
            self.assertIn(word, text)
        self.assertRegex(self.cubewayd("--version").stdout, r"^cubewayd \d+\.\d+\.\d+\n$")
        self.assertTrue(self.cubewayd("--version", "--nonsense", "--help").stdout.startswith("cubewayd "))
        self.assertEqual(self.cubewayd("-fh", "--version").stdout, text)

    def test_wrong_options(self):
        self.assertIn("--help lists", self.cubewayd("--nonsense", code=2).stderr)
        self.assertIn("did you mean --user?", self.cubewayd("--usr", "me", code=2).stderr)
        self.assertIn("'word' is one word too many", self.cubewayd("word", code=2).stderr)
        said = self.cubewayd("-c", self.file(WHOLE), "--log-level", "loud", code=2).stderr
        self.assertIn("expected error, warn", said)
        self.assertIn("No such file", self.cubewayd("-c", "/nowhere/x.conf", code=2).stderr)

    def quiet(self, text):
        """The configuration, with folders that whoever runs the test may write to."""
        return text + f'state_dir = "{self.folder}/state"; control {{ socket = "{self.folder}/sock" }}\n'

    def test_check_config(self):
        good, bad = self.file(self.quiet(WHOLE)), self.folder + "/bad.conf"
        self.assertEqual(self.cubewayd("--check-config", good).stdout, f"{good}: good\n")
        self.assertEqual(self.cubewayd("-c", good, "--check-config").stdout, f"{good}: good\n")
        self.assertEqual(self.cubewayd("--check-config", "-fc", good).stdout, f"{good}: good\n")
        with open(bad, "w", encoding="utf-8") as out:
            out.write("colour = red\n\nmtu = big\n")
        said = self.cubewayd("--check-config", bad, code=2).stderr
        self.assertIn(f"{bad}:1: colour: no such key", said)
        self.assertIn(f"{bad}:3: mtu: 'big': expected a whole number from 1500 to 9000", said)
        self.assertIn("torus.dims", said)

    def test_check_config_says_all(self):
        bad = self.folder + "/bad.conf"
        with open(bad, "w", encoding="utf-8") as out:
            out.write('torsu = x\nlisten = "127.0.0.1:1"\n'
                      'user = "cw-nobody-here"\ntorus { dims = "3x3x3"; coordinate = "0,0,0" }\n'
                      'log { level = wran }\ncontrol { group = "cw-away" }\n'
                      'links { prot0 { }\n"+x" { shim = raw; interface = "lp" } }\n'
                      'service "kvcahe" { }\nservice "kvcache" { options { lisen = none\n idle_s = never } }\n'
                      'job_file = "/nowhere/jobs"\n')
        said = self.cubewayd("--check-config", bad, code=2).stderr
        for line, words in ((1, "torsu: no such key at the top; did you mean torus?"),
                            (2, "listen: no such key at the top: it belongs into metrics { ... }"),
                            (3, "user: there is no user cw-nobody-here"),
                            (5, "log.level: 'wran': expected error, warn, info or debug; did you mean warn?"),
                            (6, "control.group: there is no group cw-away"),
                            (7, "links.prot0: expected a link: "),
                            (8, "warning: links.+x.interface: lp: there is no such interface now, and the daemon will "
                                "wait for it; did you mean lo?"),
                            (9, 'service "kvcahe": no service of this name is built in: expected file, the path of its '
                                ".so; did you mean kvcache?"),
                            (10, 'service "kvcache".options.lisen: it has no option lisen; did you mean listen?'),
                            (11, 'service "kvcache".options.idle_s: \'never\': expected ')):
            self.assertIn(f"cubewayd: {bad}:{line}: {words}", said)
        self.assertIn(f"cubewayd: {bad}:12: job_file: /nowhere/jobs: No such file or directory", said)
        self.assertEqual(self.cubewayd("-c", bad, code=2).stderr, said)  # a start says no less
        lines = [int(line) for line in re.findall(r"(?m)^cubewayd: .*?bad\.conf:(\d+): ", said)]
        self.assertEqual((lines, len(lines)), (sorted(lines), said.count("\n")), said)
        told = [json.loads(line) for line in
                self.cubewayd("--check-config", bad, "--json", code=2).stdout.splitlines()[:-1]]
        self.assertEqual([row["line"] for row in told], lines)

    def test_check_config_looks_further(self):
        part = ('torus { dims = "3x3x3"; coordinate = "0,0,0" } '
                'links { +x { shim = udp; local = "127.0.0.1:1"; remote = "127.0.0.1:2" } }\n')
        done = self.cubewayd("--check-config", self.file(self.quiet(part)))
        self.assertIn("warning: links.-x: not configured: there will be no link to +x of 2,0,0", done.stderr)
        self.assertTrue(done.stdout.endswith(": good, with 6 warnings\n"))
        gone = self.file(WHOLE + 'service gone { file = "/nowhere/gone.so" }')
        said = self.cubewayd("--check-config", gone, code=2).stderr
        self.assertIn('service "gone": /nowhere/gone.so', said)
        strange = self.file(WHOLE + "service ping { options { a = b } }")
        said = self.cubewayd("--check-config", strange, code=2).stderr
        self.assertIn(f'{strange}:2: service "ping".options.a: it has no option a', said)

    def test_links_that_are_missing(self):
        part = ('torus { dims = "2x1x1"; coordinate = "0,0,0" } '
                'links { +x { shim = udp; local = "127.0.0.1:47001"; remote = "127.0.0.1:47002" } }')
        daemon = self.daemon("part", part)
        daemon.wait_for("level=warn .*links.-x: not configured")
        daemon.wait_for('level=warn msg="no neighbour yet" server=0,0,0 links=\\+x ')
        self.assertEqual(daemon.end(), 0)

    def test_the_example(self):
        example = os.path.join(os.path.dirname(__file__), "../../packaging/cubewayd.conf")
        with open(example, encoding="utf-8") as shipped:
            text = shipped.read()
        for name in ("user = ", "group = "):  # which the package makes
            self.assertIn(name + '"cubeway";', text)
            text = text.replace(name + '"cubeway";', "")
        for folder in ("/var/lib/cubeway", "/run/cubeway"):
            text = text.replace(folder, self.folder)
        done = self.cubewayd("--check-config", self.file(text))
        self.assertTrue(done.stdout.endswith(": good, with 6 warnings\n"), done.stdout)  # no such interfaces here

    def test_show_config(self):
        shown = self.cubewayd("--show-config", "-c", self.file(WHOLE)).stdout
        self.assertIn('coordinate = "all";', shown)
        self.assertIn("hello = 10ms;", shown)
        again = self.cubewayd("--show-config", "-c", self.file(shown)).stdout
        self.assertEqual(shown, again)

    def test_a_torus_in_one_process(self):
        daemon = self.daemon("all", WHOLE)
        daemon.wait_for("msg=ready")
        daemon.wait_for('msg="every server reaches all others" servers=27')
        self.assertEqual(daemon.end(), 0)
        self.assertIn("ended in order", daemon.log())

    def test_readiness(self):
        name = "\0cubeway-test-%d" % os.getpid()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(name)
            manager.settimeout(net_kit.LIMIT_S)
            os.environ["NOTIFY_SOCKET"] = "@" + name[1:]
            os.environ["WATCHDOG_USEC"] = "100000"
            self.addCleanup(os.environ.pop, "NOTIFY_SOCKET")
            self.addCleanup(os.environ.pop, "WATCHDOG_USEC")
            daemon = self.daemon("all", WHOLE)
            self.assertEqual(manager.recv(100), b"READY=1")
            self.assertEqual(manager.recv(100), b"WATCHDOG=1")
            daemon.process.send_signal(signal.SIGINT)
            while manager.recv(100) != b"STOPPING=1":
                pass
            self.assertEqual(daemon.process.wait(net_kit.LIMIT_S), 0)

    def test_hangup(self):
        daemon = self.daemon("all", WHOLE)
        daemon.wait_for("msg=ready")
        with open(daemon.file, "w", encoding="utf-8") as out:
            out.write('torus { dims = "3x3x4"; coordinate = all } log { level = warn }')
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_for("this change needs a restart.* key=torus.dims now=3x3x3 file=3x3x4")
        self.assertEqual(daemon.end(), 0)
        self.assertNotIn("ended in order", daemon.log())  # the level is warn now

    def test_what_cannot_be_opened(self):
        link = 'torus { dims = "3x3x3"; coordinate = "0,0,0" } links { +x { %s } }'
        for what, says in (
                ("shim = pcap; interface = cwnone", "no such interface"),
                ("shim = udp; local = \"127.0.0.1:7001\"; remote = nowhere", "two addresses of one family"),
                ("shim = udp; local = \"192.0.2.1:7001\"; remote = \"192.0.2.2:7001\"", r"192\.0\.2\.1")):
            daemon = self.daemon("wrong", link % what)
            self.assertEqual(daemon.process.wait(net_kit.LIMIT_S), 1)
            self.assertRegex(daemon.log(), "level=error msg=\"links cannot be opened\" why=.*" + says)

    def test_stable_storage(self):
        config = 'torus { dims = "3x3x3"; coordinate = "0,0,0" }'
        first = self.daemon("first", config)
        first.wait_for("msg=ready")
        second = self.daemon("second", config)
        self.assertEqual(second.process.wait(net_kit.LIMIT_S), 1)
        self.assertIn("another daemon of this name runs", second.log())
        self.assertEqual(first.end(), 0)
        with open(self.folder + "/state/0,0,0.state", "w", encoding="utf-8") as out:
            out.write("incarnation 1\n")
        first.start()
        self.assertEqual(first.process.wait(net_kit.LIMIT_S), 1)
        self.assertIn("this file is damaged", first.log())


if __name__ == "__main__":
    net_kit.main(network=False)

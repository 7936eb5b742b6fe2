# SPDX-License-Identifier: Apache-2.0
"""Completion of all programs: what they say may come next, and bash, zsh and fish at a terminal, which ask them."""

import os
import pty
import select
import shutil
import signal
import subprocess
import time

import lab_kit
from lab_kit import run

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(HERE, "../../../packaging/completion/cubeway.")


def said(program, *words):
    """What may stand in the place of the last word."""
    done = subprocess.run([os.path.join(lab_kit.OPTIONS.bin, program), "complete", *words], capture_output=True,
                          text=True, check=True, timeout=lab_kit.LIMIT_S)
    assert done.stderr == "", done.stderr
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


class Shell:
    """An interactive shell at a terminal of its own."""

    def __init__(self, words, setup, folder):
        environment = {"PATH": lab_kit.OPTIONS.bin + ":" + os.environ["PATH"], "TERM": "dumb", "HOME": folder,
                       "CWLAB_DIR": os.environ.get("CWLAB_DIR", folder), "INPUTRC": "/dev/null"}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(words[0], words, environment)
        self.seen = b""
        self.type(setup + "; echo rea''dy\n")
        self.wait("ready\r\n")

    def type(self, keys):
        self.seen = b""
        os.write(self.terminal, keys.encode())

    def wait(self, text):
        end = time.monotonic() + lab_kit.LIMIT_S
        while text.encode() not in self.seen:
            if time.monotonic() > end:
                raise AssertionError(f"not in time: {text!r} in {self.seen!r}")
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.seen += os.read(self.terminal, 65536).replace(b"\a", b"")

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


class Complete(lab_kit.Case):
    def test_labs_servers_and_what_is_behind_ctl(self):
        self.up("2x1x1", "--name", "one")
        for line, wanted in (("status --name ", ["one"]), ("fail 1", ["1,0,0"]), ("ctl ", ["all", "0,0,0", "1,0,0"]),
                             ("status --name=o", ["--name=one"]), ("fail --name one 0", ["0,0,0"]),
                             ("link 0,0,0 +", ["+x", "+y", "+z"]), ("link 0,0,0 +x ", ["up", "down"]),
                             ("ctl all serv", ["servers", "services", "service"]), ("ctl all job ex", ["explain"]),
                             ("ctl 0,0,0 ping 1", ["1,0,0"]), ("ctl 0,0,0 ping --cou", ["--count"]),
                             ("ctl --name one 0,0,0 service multicast group p", ["publish", "publish-once"]),
                             ("ctl 1,0,0 services unload pi", ["ping"]), ("exec 0,0,0 ", [":files"]),
                             ("up --shim pc", ["pcap"]), ("up --service kvc", [":files", "kvcache"]),
                             ("pinga", ["pingall"]), ("help pinga", ["pingall"])):
            self.assertEqual(said("cwlab", *line.split(" ")), wanted, line)
        run("ctl", "1,0,0", "service", "multicast", "group", "join", "web")
        for line, wanted in (("service multicast group leave ", ["web"]),
                             ("service multicast group publish w", ["web"]),
                             ("service ping to ", ["0,0,0", "1,0,0"]), ("service bench start mo", []),
                             ("service witness ", ["stream", "stop", "stats"]), ("job show wit", ["witness"]),
                             ("job explain witness:", ["witness:0", "witness:1"]),
                             ("job explain witness:1 witness:", ["witness:0", "witness:1"]),
                             ("file send f --to w", ["web"])):
            self.assertEqual(said("cwlab", "ctl", "0,0,0", *line.split(" ")), wanted, line)
        self.assertEqual(said("cwlab", "--name", "one", "fail", "1"), ["1,0,0"])
        self.assertEqual(said("cwlab", "--name", "one", "pinga"), ["pingall"])
        self.assertEqual(said("cwlab", "--name", ""), ["one"])
        self.assertEqual(said("cwctl", "--lab", ""), ["one"])
        run("down", "--name", "one")
        self.assertEqual(said("cwlab", "status", ""), [])

    def test_the_other_programs(self):
        self.assertEqual(said("cwsim", "th"), ["throughput"])
        self.assertEqual(said("cwsim", "churn", "--dim"), ["--dims"])
        self.assertEqual(said("cwsim", "churn", "--timers", ""), ["fast", "default"])
        self.assertEqual(said("cwsim", "run", ""), [":files"])
        self.assertEqual(said("cubewayd", "--chec"), ["--check-config"])
        self.assertEqual(said("cubewayd", "-c", ""), [":files"])
        self.assertEqual(said("cubewayd", "--log-level", "w"), ["warn"])

    def make_home(self):
        """~/bin/cwctl"""
        os.mkdir(os.path.join(self.folder, "bin"))
        os.symlink(os.path.join(lab_kit.OPTIONS.bin, "cwctl"), os.path.join(self.folder, "bin", "cwctl"))

    def at_a_terminal(self, words, setup):
        if shutil.which(words[0]) is None:
            self.skipTest(f"no {words[0]} (tests/packages.txt)")
        self.up("2x1x1", "--name", "one")
        self.make_home()
        run("ctl", "1,0,0", "service", "multicast", "group", "join", "web")
        shell = Shell(words, setup, self.folder)
        self.addCleanup(shell.close)
        for keys, wanted in (("cwctl sta\t", "cwctl status "), ("cwlab status --name \t", "--name one"),
                             ("cwlab ctl 1,0,0 key ex\t", "key explain "), ("cwlab up --driver=pro\t", "=process"),
                             ("cwsim thr\t", "cwsim throughput "), ("cubewayd --check-config /etc/hostn\t", "hostname"),
                             ("cwctl kv \t\t", "flush"),
                             # Servers, jobs and groups of the lab that runs, before and behind ctl.
                             ("cwlab fail 1\t", "fail 1,0,0"), ("cwlab ctl 0,0,0 ping 1\t", "ping 1,0,0"),
                             ("cwlab ctl 0,0,0 job show wit\t", "show witness"),
                             ("cwlab ctl 0,0,0 service multicast group le\t", "group leave "),
                             ("cwlab ctl 0,0,0 service multicast group leave w\t", "leave web"),
                             ("cwlab ctl 0,0,0 file send f --to w\t", "--to web"),
                             ("cwlab rescale --if\t", "--if-needed"),
                             # Quoted and escaped words before the one at hand, an open quote, and a path with ~.
                             ('cwlab ctl "0,0,0 1,0,0" key ex\t', "key explain "),
                             ("cwlab ctl '0,*,*' key ex\t", "key explain "),
                             ("cwlab ctl \\*,0,\\* key ex\t", "key explain "),
                             ('cwlab status --name "on\t', "one"), ("cwlab status --name='on\t", "one"),
                             ("~/bin/cwctl sta\t", "cwctl status ")):
            shell.type(keys)
            shell.wait(wanted)
            shell.type("\x15")  # Ctrl-U; Ctrl-C would throw away keys that come after it

    def test_bash(self):
        self.at_a_terminal(["bash", "--norc", "-i"], f". {FILES}bash")

    def test_zsh(self):
        folder = os.path.join(self.folder, "zsh")
        os.mkdir(folder)
        shutil.copy(FILES + "zsh", os.path.join(folder, "_cwctl"))
        self.at_a_terminal(["zsh", "-f", "-i"], f"fpath=({folder} $fpath); autoload -U compinit; compinit -D -u")

    def test_fish(self):
        """By the completion engine of fish, which needs no terminal."""
        if shutil.which("fish") is None:
            self.skipTest("no fish (tests/packages.txt)")
        self.up("2x1x1", "--name", "one")
        self.make_home()
        run("ctl", "1,0,0", "service", "multicast", "group", "join", "web")
        environment = dict(os.environ, HOME=self.folder, PATH=lab_kit.OPTIONS.bin + ":" + os.environ["PATH"])
        for line, wanted in (("cwctl sta", "status\twho the server is, and its state\n"),
                             ("cwlab status --name ", "one\t2x1x1\n"), ("cwlab up --driver=pro", "--driver=process\n"),
                             ("cwlab ctl 0,0,0 ping 1", "1,0,0\n"), ("cubewayd -c /etc/hostn", "/etc/hostname\n"),
                             ("cwlab fail 1", "1,0,0\n"), ("cwlab ctl 0,0,0 job show wit", "witness"),
                             ("cwlab ctl 0,0,0 service multicast group leave w", "web"),
                             ("cwlab ctl 0,0,0 file send f --to w", "web"),
                             ('cwlab ctl "0,0,0 1,0,0" key ex', "explain\t"), ("cwlab ctl 0,\\*,0 key ex", "explain\t"),
                             ('cwlab status --name "on', "one\t2x1x1\n"),
                             ("~/bin/cwctl sta", "status\twho the server is, and its state\n")):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {FILES}fish; complete -C (cat)"], input=line,
                                  capture_output=True, text=True, check=True, env=environment, timeout=lab_kit.LIMIT_S)
            self.assertEqual(done.stdout[:len(wanted)], wanted, line)
            self.assertEqual(done.stdout.count("\n"), 1, done.stdout)


if __name__ == "__main__":
    lab_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwlab exec, shell, ctl, capture: other programs, in a server's namespace and for its daemon."""

import os

import lab_kit
from lab_kit import run


class Exec(lab_kit.Case):
    def test_exec(self):
        self.up("2x2x2")
        done = run("exec", "0,0,1", "sh", "-c", "cat; ls /sys/class/net >&2; exit 7", code=7, input="words\n")
        self.assertEqual(done.stdout, "words\n")
        self.assertIn("no such", run("exec", "0,0,1", "no-such-program", code=127).stderr.lower())
        self.assertEqual(run("exec", "--name", "lab", "0,0,1", "sh", "-c", "kill -9 $$", code=137).stdout, "")
        one = run("exec", "0,0,0", "readlink", "/proc/self/ns/net").stdout
        self.assertNotEqual(one, run("exec", "0,0,1", "readlink", "/proc/self/ns/net").stdout)
        self.assertNotEqual(one.strip(), os.readlink("/proc/self/ns/net"))
        self.assertIn("expected a server", run("exec", "9,9,9", "true", code=2).stderr)
        os.environ["SHELL"] = "/bin/sh"
        self.assertEqual(run("shell", "0,0,0", input="echo in $0\nexit 3\n", code=3).stdout, "in /bin/sh\n")

    def test_ctl(self):
        for driver in "netns", "process":
            self.up("2x2x2", "--driver", driver)
            self.assertIn("1,1,1", run("ctl", "1,1,1", "status").stdout)
            run("ctl", "1,1,1", "no-such-command", code=2)
            said = run("ctl", "1,1,1", "key", "explain", "hello", "--name", "lab", code=2).stderr
            self.assertIn("which lab is said before the server: cwlab ctl --name", said)
            run("down")

    def test_ctl_names_the_commands_of_the_lab(self):
        self.up("2x2x1")
        self.assertIn("cwlab fail --name lab 1,0,0 does that", run("ctl", "1,0,0", "fail", code=2).stderr)
        self.assertIn("cwlab link --name lab 1,0,0 LINK down", run("ctl", "1,0,0", "cut", "+x", code=2).stderr)
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

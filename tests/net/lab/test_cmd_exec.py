# SPDX-License-Identifier: Apache-2.0
"""cwlab exec and shell: other programs in a server's namespace, which know their server."""

import json
import os

import lab_kit
from lab_kit import run


class Exec(lab_kit.Case):
    def test_exec(self):
        self.up("2x2x2")
        done = run("exec", "0,0,1", "sh", "-c", "cat; ls /sys/class/net >&2; exit 7", code=7, input="words\n")
        self.assertEqual(done.stdout, "words\n")
        self.assertEqual(run("exec", "0,0,1", "--", "echo", "--").stdout, "--\n")
        self.assertIn("expected a command", run("exec", "0,0,1", "--", code=2).stderr)
        self.assertIn("no such", run("exec", "0,0,1", "no-such-program", code=127).stderr.lower())
        self.assertEqual(run("exec", "--name", "lab", "0,0,1", "sh", "-c", "kill -9 $$", code=137).stdout, "")
        one = run("exec", "0,0,0", "readlink", "/proc/self/ns/net").stdout
        self.assertNotEqual(one, run("exec", "0,0,1", "readlink", "/proc/self/ns/net").stdout)
        self.assertNotEqual(one.strip(), os.readlink("/proc/self/ns/net"))
        self.assertIn("expected a server", run("exec", "9,9,9", "true", code=2).stderr)
        # Programs know their server: cwctl is on the PATH, and asks its daemon.
        said = json.loads(run("exec", "0,1,1", "cwctl", "--json", "status").stdout)
        self.assertEqual(said["server"], "0,1,1")
        said = run("exec", "0,1,1", "sh", "-c", "echo $CWLAB_NAME $CWLAB_SERVER; cwctl links | head -1").stdout
        self.assertRegex(said, "^lab 0,1,1\nSERVER +LINK")
        said = run("shell", "0,1,1", input='echo "$PS1$CUBEWAY_SOCKET"\n', env={**os.environ, "SHELL": "/bin/sh"})
        self.assertRegex(said.stdout, r"^\[lab 0,1,1\] # /.*/0,1,1\.sock\n$")
        # What is meant for all daemons goes to those of the lab.
        load = "cwctl services load $0 --everywhere"
        run("exec", "0,1,1", "sh", "-c", "cwctl --node all --lab lab services unload witness")
        self.assertEqual(len(run("exec", "0,1,1", "sh", "-c", load, os.path.join(lab_kit.OPTIONS.bin, "witness.so"))
                             .stdout.splitlines()), 9)
        os.environ["SHELL"] = "/bin/sh"
        self.assertIn("usage: cwlab shell", run("shell", "0,0,0", "--help").stdout)
        self.assertIn("unknown option --hlep; did you mean --help?", run("shell", "0,0,0", "--hlep", code=2).stderr)
        self.assertEqual(run("shell", "0,0,0", input="echo in $0\nexit 3\n", code=3).stdout, "in /bin/sh\n")


if __name__ == "__main__":
    lab_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""Networks of the lab beside the built-in one: each a job of its own, and what is granted to it."""

import glob
import os
import subprocess

import lab_kit
from lab_kit import run


class Networks(lab_kit.Case):
    def begin(self, dims, *words):
        if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
            self.skipTest("no /dev/net/tun here")
        self.up(dims, *words, "--scale", "4")
        self.wait_all(eval(dims.replace("x", "*")))

    def ping(self, *words, code=0):
        return run("exec", "0,0,0", "ping", "-c", "1", "-W", "5", *words, code=code).stdout

    def drops(self, network):
        """What server 0,0,0 has dropped in a network, by cause."""
        said = lab_kit.ask("ctl", "0,0,0", "tunnel", "status", "--network", network)
        return {name[5:]: count for name, count in said.items() if name.startswith("drop_")}

    def test_apart(self):
        """Each network carries its own; nothing goes from one into another."""
        self.begin("2x2x1", "--tunnel", "--network", "blue", "--network", "red")
        for name in "1-1-0.cube", "1-1-0.blue", "1-1-0.red", "10.80.3.1", "10.96.3.1":
            self.ping(name)
        # By the device of one network to an address of another one: told at once.
        said = self.ping("-I", "cw-blue", "10.96.3.1", code=1)
        self.assertIn("Destination Host Unreachable", said)
        # With the address of one network by the device of another one: dropped, and nobody is told.
        self.ping("-W", "1", "-I", "10.80.0.1", "10.96.3.1", code=1)
        self.assertGreater(self.drops("blue")["outside"], 0)
        self.assertGreater(self.drops("red")["source"], 0)
        said = lab_kit.ask("ctl", "0,0,0", "tunnel", "status", "--network", "blue")
        self.assertEqual((said["device"], said["ipv4"], said["subnet"]), ("cw-blue", "10.80.0.1", "10.80.0.0/12"))
        said = lab_kit.ask("ctl", "0,0,0", "tunnel", "explain", "10.80.3.1", "--network", "blue")
        self.assertEqual(said["server"], "1,1,0")
        self.assertIn("10.96.3.1 1-1-0.red s3.red\n", run("ctl", "0,0,0", "hosts", "--network", "red").stdout)

    def test_grants(self):
        """Without a grant a program is told that it is prohibited; a grant by server opens the way there."""
        self.begin("3x1x1", "--network", "blue", "--no-grants")
        self.assertIn("Packet filtered", self.ping("10.80.1.1", code=1))
        self.assertEqual(set(self.drops("blue")), {"prohibited"})
        self.assertIn("denied", run("ctl", "0,0,0", "job", "explain", "blue:0", "blue:1:0", code=1).stdout)
        # Everybody may send to servers 0 and 1: requests and answers between those go through.
        run("ctl", "0,0,0", "job", "grant", "blue", "blue:0-1")
        self.ping("10.80.1.1")
        self.assertIn("Packet filtered", self.ping("10.80.2.1", code=1))
        run("ctl", "0,0,0", "job", "revoke", "blue", "blue")
        self.assertIn("Packet filtered", self.ping("10.80.1.1", code=1))

    def test_namespaces(self):
        """The device of a network in a network namespace: programs there have it, and those beside it have not."""
        self.begin("2x1x1", "--tunnel", "--network", "blue")
        # A namespace for as long as this program lives in it: a user of the server's, so to say.
        user = subprocess.Popen([lab_kit.OPTIONS.cwlab, "exec", "0,0,0", "unshare", "--net", "sh", "-c",
                                 "echo $$; exec sleep 600"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(user.wait)
        self.addCleanup(user.kill)
        self.addCleanup(user.stdout.close)
        pid = int(user.stdout.readline())
        self.addCleanup(run, "exec", "0,0,0", "kill", str(pid), code=None)
        inside = ["exec", "0,0,0", "nsenter", "--net=/proc/%d/ns/net" % pid]
        conf, = glob.glob(os.path.join(self.folder, "*", "0,0,0.conf"))
        with open(conf, encoding="ascii") as file:
            text = file.read()

        def begin_with(netns, code=0):
            run("fail", "0,0,0")
            with open(conf, "w", encoding="ascii") as file:
                file.write(text.replace("job = 5001;", f'job = 5001; netns = "{netns}";'))
            return run("restore", "0,0,0", code=code)

        begin_with(f"/proc/{pid}/ns/net")
        self.wait_all(2)
        run(*inside, "ping", "-c", "1", "-W", "5", "10.80.1.1")
        run("exec", "1,0,0", "ping", "-c", "1", "-W", "5", "10.80.0.1")
        self.ping("10.64.1.1")
        self.ping("-W", "1", "10.80.1.1", code=None)
        self.assertNotIn("cw-blue", run("exec", "0,0,0", "ip", "link").stdout)
        self.assertNotIn("cw0", run(*inside, "ip", "link").stdout)
        said = lab_kit.ask("ctl", "0,0,0", "tunnel", "status", "--network", "blue")
        self.assertEqual(said["netns"], f"/proc/{pid}/ns/net")


if __name__ == "__main__":
    lab_kit.main()

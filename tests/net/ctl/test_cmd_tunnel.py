# SPDX-License-Identifier: Apache-2.0
"""cwctl tunnel and cwctl hosts: the network of one server, whose daemon has a namespace of its own for the device; and
what is said where there is no network."""

import os
import shutil
import stat
import subprocess
import tempfile

import ctl_kit


class Nowhere(ctl_kit.Case):
    config = 'torus { dims = "2x1x1"; coordinate = all }\n'

    def test_no_network(self):
        for line in ("tunnel status", "tunnel flows", "tunnel explain 10.64.0.1", "hosts"):
            self.refused(line, "service ip { }", code=1)

    def test_help(self):
        self.assertIn("TCP/IP over the torus", self.cwctl("tunnel --help"))


class Tunnel(ctl_kit.InNamespace):
    config = ctl_kit.InNamespace.config + 'cluster = 7; service ip { }\n'

    def test_status_and_explain(self):
        [said] = self.rows("tunnel status")
        self.assertEqual((said["door"], said["device"], said["ipv4"]), ("open", "cw0", "10.64.0.1"))
        self.assertRegex(said["ipv6"], "^fd.*::1$")
        self.assertEqual(said["dropped"], 0)
        shown = dict(line.split("  ", 1) for line in self.cwctl("tunnel status").splitlines())
        self.assertEqual(shown["IPv4 address"].strip(), "10.64.0.1")
        self.refused("tunnel flows", "nothing was sent", code=1)
        self.refused("tunnel flows 0", "from 1 to 1024", code=2)
        [said] = self.rows("tunnel explain 10.64.0.77")
        self.assertEqual((said["server"], said["reachable"], said["hops"]), ("0,0,0", True, 0))
        self.assertEqual((said["allowed"], said["ask"]), (True, "cwctl job explain 9:0 9:0:0"))
        self.assertEqual(said["grant"], "built in: the network may send to itself")
        self.refused("tunnel explain 10.64.1.1", "no server has it", code=2)
        self.refused("tunnel explain 8.8.8.8", "in no subnet of this network", code=2)
        self.refused("tunnel explain far", "is no IP address", code=2)

    def test_zones(self):
        self.assertRegex(self.cwctl("hosts --zone dnsmasq"),
                         r"^local=/cube/\nhost-record=0-0-0\.cube,s0\.cube,10\.64\.0\.1,fd\S+\n$")
        for program, test in ("dnsmasq", ["--test", "-C"]), ("unbound-checkconf", []):
            file = os.path.join(self.folder, program)
            with open(file, "w", encoding="utf-8") as out:
                out.write(self.cwctl("hosts --zone " + program.partition("-")[0]))
            found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")
            if found is not None:
                subprocess.run([found, *test, file], check=True, capture_output=True)
        self.assertIn('    local-data-ptr: "10.64.0.1 0-0-0.cube"\n', self.cwctl("hosts --zone unbound"))
        self.refused("hosts --zone bind", "expected dnsmasq or unbound", code=2)

    def test_another_network(self):
        self.refused("tunnel status --network blue", "no service 'blue' runs here", code=2)

    def test_hosts(self):
        hosts = self.cwctl("hosts")
        self.assertRegex(hosts, r"^10\.64\.0\.1 0-0-0\.cube s0\.cube\nfd\S+ 0-0-0\.cube s0\.cube\n$")
        [said] = self.rows("hosts")
        self.assertEqual((said["server"], said["ipv4"]), ("0,0,0", "10.64.0.1"))
        file = self.folder + "/hosts"
        with open(file, "w", encoding="utf-8") as out:
            out.write("127.0.0.1 localhost\n")
        for _ in range(2):  # the second block takes the place of the first
            self.assertEqual(self.cwctl("hosts --write " + file), "")
        with open(file, encoding="utf-8") as written:
            text = written.read()
        self.assertTrue(text.startswith("127.0.0.1 localhost\n# ") and text.count(hosts) == 1, text)
        with open(file, "w", encoding="utf-8") as out:
            out.write(text.replace("# End", "# The end"))
        self.refused("hosts --write " + file, "is missing", code=1)
        with open(file, encoding="utf-8") as written:
            self.assertEqual(written.read(), text.replace("# End", "# The end"))
        self.refused("hosts --write /nonexistent/hosts", "No such file", code=1)
        self.refused("hosts --write /dev/null", "no regular file", code=1)

    def test_hosts_keeps_what_is_not_its_own(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        file, link, nowhere = (os.path.join(folder, name) for name in ("file", "link", "nowhere"))
        others = b"127.0.0.1 localhost\n# a\0b\n::1 localhost"
        with open(file, "wb") as out:
            out.write(others)
        os.chmod(file, 0o640)
        os.symlink("file", link)
        os.symlink("absent", nowhere)
        os.symlink("/dev/null", file + ".cubeway")  # the name that the new file had once
        former = os.umask(0o077)
        try:
            self.cwctl("hosts --write " + link)
            self.cwctl("hosts --write " + os.path.join(folder, "new"))
        finally:
            os.umask(former)
        with open(file, "rb") as written:
            self.assertTrue(written.read().startswith(others + b"\n# Made by"))
        self.assertEqual((stat.S_IMODE(os.stat(file).st_mode), os.readlink(link)), (0o640, "file"))
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, "new")).st_mode), 0o644)
        self.refused("hosts --write " + nowhere, "No such file", code=1)
        self.assertEqual(sorted(os.listdir(folder)), ["file", "file.cubeway", "link", "new", "nowhere"])


if __name__ == "__main__":
    ctl_kit.need_device()
    ctl_kit.main()

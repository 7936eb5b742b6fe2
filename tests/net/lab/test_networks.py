# SPDX-License-Identifier: Apache-2.0
"""Networks of the lab beside the built-in one: each a job of its own, and what is granted to it."""

import glob
import hashlib
import json
import os
import subprocess

import lab_kit
from lab_kit import run


PYTHON = "/usr/bin/python3"

# Is a member of groups on the network's device, and answers whoever asks one of them, or everybody.
LISTEN_GROUP = r"""
import os, socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("", 5353))
for group in "224.0.0.251", "239.7.7.7":
    member = socket.inet_aton(group) + struct.pack("=I", 0) + struct.pack("=i", socket.if_nametoindex("cw0"))
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
with open(sys.argv[2] + ".new", "w") as ready:
    ready.write(str(os.getpid()))
os.rename(sys.argv[2] + ".new", sys.argv[2])
while True:
    question, who = s.recvfrom(1000)
    s.sendto(question + b" " + sys.argv[1].encode(), who)
"""

# Asks a group from the network's device; just so many must answer, each with its own address.
ASK_GROUP = r"""
import socket, struct, sys
own, group, want = sys.argv[1], sys.argv[2], int(sys.argv[3])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"cw0")
device = socket.inet_aton("0.0.0.0") + socket.inet_aton(own) + struct.pack("=i", socket.if_nametoindex("cw0"))
s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, device)
s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
s.bind((own, 0))
s.settimeout(1)
s.sendto(b"who is there", (group, 5353))
came = set()
try:
    while True:
        answer, (address, _) = s.recvfrom(1000)
        assert answer == b"who is there " + address.encode(), answer
        came.add(address)
except TimeoutError:
    pass
assert len(came) == want and own not in came, came
"""


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
        # A server with another subnet than the rest is found by whoever asks all of them.
        self.again_with("1,1,0", "10.80.0.0/12", "10.112.0.0/12")
        self.wait_all(4)
        said = run("ctl", "0,0,0", "doctor", "--all", code=1).stdout
        self.assertRegex(said, r"network blue of 1,1,0 \(subnet=10.112.0.0/12.*\) is not that of 3 of 4 servers")

    def test_grants(self):
        """Without a grant a program is told that it is prohibited; a grant by server opens the way there."""
        self.begin("3x1x1", "--network", "blue", "--no-grants")
        self.assertIn("Packet filtered", self.ping("10.80.1.1", code=1))
        self.assertEqual(set(self.drops("blue")), {"prohibited"})
        self.assertIn("denied", run("ctl", "0,0,0", "job", "explain", "blue:0", "blue:1:0", code=1).stdout)
        # Everybody may send to servers 0 and 1: requests and answers between those go through.
        run("ctl", "0,0,0", "job", "grant", "blue", "blue:0-1")
        self.ping("10.80.1.1")
        said = lab_kit.ask("ctl", "0,0,0", "tunnel", "explain", "10.80.1.1", "--network", "blue")
        self.assertRegex(said["grant"], "^grant 1 of 1: ")
        self.assertIn("Packet filtered", self.ping("10.80.2.1", code=1))
        said = lab_kit.ask("ctl", "0,0,0", "tunnel", "explain", "10.80.2.1", "--network", "blue", code=1)
        self.assertRegex(said["grant"], "^none: ")
        run("ctl", "0,0,0", "job", "revoke", "blue", "blue")
        self.assertIn("Packet filtered", self.ping("10.80.1.1", code=1))

    def again_with(self, server, old, new):
        """The daemon of that server starts anew with another text in its configuration."""
        conf, = glob.glob(os.path.join(self.folder, "*", f"{server}.conf"))
        with open(conf, encoding="ascii") as file:
            text = file.read()
        self.assertIn(old, text)
        run("fail", server)
        with open(conf, "w", encoding="ascii") as file:
            file.write(text.replace(old, new))
        run("restore", server)

    def namespace(self, server):
        """A network namespace for as long as a program lives in it. Gives the program's number."""
        held = subprocess.Popen([lab_kit.OPTIONS.cwlab, "exec", server, "unshare", "--net", "sh", "-c",
                                 "echo $$; exec sleep 600"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(held.wait)
        self.addCleanup(held.kill)
        self.addCleanup(held.stdout.close)
        pid = int(held.stdout.readline())
        self.addCleanup(run, "exec", server, "kill", str(pid), code=None)
        return pid

    def test_namespaces(self):
        """The device of a network in a network namespace: programs there have it, and those beside it have not."""
        self.begin("2x1x1", "--tunnel", "--network", "blue")
        pid = self.namespace("0,0,0")  # of a user of the server's, so to say
        inside = ["exec", "0,0,0", "nsenter", f"--net=/proc/{pid}/ns/net"]
        self.again_with("0,0,0", "job = 5001;", f'job = 5001; netns = "/proc/{pid}/ns/net";')
        self.wait_all(2)
        run(*inside, "ping", "-c", "1", "-W", "5", "10.80.1.1")
        run("exec", "1,0,0", "ping", "-c", "1", "-W", "5", "10.80.0.1")
        self.ping("10.64.1.1")
        self.ping("-W", "1", "10.80.1.1", code=None)
        self.assertNotIn("cw-blue", run("exec", "0,0,0", "ip", "link").stdout)
        self.assertNotIn("cw0", run(*inside, "ip", "link").stdout)
        said = lab_kit.ask("ctl", "0,0,0", "tunnel", "status", "--network", "blue")
        self.assertEqual(said["netns"], f"/proc/{pid}/ns/net")

    # ---- Bridges -----------------------------------------------------------------------------------------------------

    def machine(self, server, number, mac):
        """A namespace as a virtual machine at the server's bridge. Gives the words that run programs there."""
        pid = self.namespace(server)
        six = self.six(number)
        inside = f"nsenter --net=/proc/{pid}/ns/net"
        run("exec", server, "sh", "-ec",
            f"ip link add m0 type veth peer name eth0 netns /proc/{pid}/ns/net; ip link set m0 mtu 8944 master br0 up; "
            f"{inside} ip link set eth0 address {mac} mtu 8944 up; {inside} ip link set lo up; "
            f"{inside} ip addr add 10.64.{number}.5/12 dev eth0; {inside} ip addr add {six}5/48 dev eth0")
        return ["exec", server, *inside.split()]

    def six(self, number):
        """How addresses of IPv6 begin on the server with that number."""
        prefix = lab_kit.ask("ctl", "0,0,0", "tunnel", "status")["subnet6"].split("::")[0]
        return f"{prefix}:{number}::" if number else f"{prefix}::"

    def test_multicast(self):
        """Who asks a group, as mDNS does, or everybody by broadcast, is answered by all that listen; where the network
        does not allow it, by nobody."""
        self.begin("3x1x1", "--tunnel")
        servers = {number: f"{number},0,0" for number in range(3)}
        run("exec", "0,0,0", PYTHON, "-c", ASK_GROUP, "10.64.0.1", "224.0.0.251", "0")
        for server in servers.values():
            self.again_with(server, 'service "ip" { }', 'network "ip" { multicast = yes; }')
            self.wait_all(3)
        for number in 1, 2:
            ready = os.path.join(self.folder, f"listens-{number}")
            listener = subprocess.Popen([lab_kit.OPTIONS.cwlab, "exec", servers[number], PYTHON, "-c", LISTEN_GROUP,
                                         f"10.64.{number}.1", ready])
            self.addCleanup(listener.wait)
            self.addCleanup(listener.kill)
            lab_kit.until("it listens", lambda r=ready: os.path.exists(r))
            with open(ready, encoding="ascii") as file:
                self.addCleanup(run, "exec", servers[number], "kill", file.read(), code=None)
        for group in "224.0.0.251", "239.7.7.7", "255.255.255.255":
            lab_kit.until(f"two answer {group}", lambda g=group: run(
                "exec", "0,0,0", PYTHON, "-c", ASK_GROUP, "10.64.0.1", g, "2", code=None).returncode == 0)
        self.assertEqual(lab_kit.ask("ctl", "1,0,0", "tunnel", "status")["multicast"], "yes")

    def test_ethernet(self):
        """Machines at bridges, one with a MAC address that names its server and one with any, as if on one Ethernet."""
        self.begin("2x1x1", "--tunnel")
        for number, server in enumerate(("0,0,0", "1,0,0")):
            self.again_with(server, 'service "ip" { }', 'network "ip" { ethernet = yes; }')
            self.wait_all(2)
            run("exec", server, "sh", "-ec",
                "ip link add br0 type bridge; ip link set br0 mtu 8944; ip addr flush dev cw0; "
                "ip link set cw0 master br0; ip link set br0 up; "
                f"ip addr add 10.64.{number}.1/12 dev br0; ip addr add {self.six(number)}1/48 dev br0 nodad")
        self.assertEqual(lab_kit.ask("ctl", "0,0,0", "tunnel", "status")["ethernet"], "yes")
        near = self.machine("0,0,0", 0, "02:cb:00:00:00:05")
        far = self.machine("1,0,0", 1, "52:54:00:12:34:56")
        said = run("exec", "0,0,0", "ip", "-json", "link", "show", "cw0").stdout
        self.assertEqual(json.loads(said)[0]["address"], "02:cb:00:00:00:01")
        # The far machine has not spoken yet: it is asked, and what is sent again comes.
        run(*near, "ping", "-c", "1", "-w", "10", "10.64.1.5")
        for address in "10.64.1.5", "10.64.1.1", "10.64.0.1", self.six(1) + "5", self.six(1) + "1":
            lab_kit.until(f"{address} answers", lambda a=address: run(
                *near, "ping", "-c", "1", "-W", "2", a, code=None).returncode == 0)
        run(*far, "ping", "-c", "1", "-w", "10", "10.64.0.1")
        self.ping("10.64.1.5")
        # The neighbour that a machine sees is named after its server.
        said = run(*near, "ip", "neigh", "show", "10.64.1.5").stdout
        self.assertIn("02:cb:00:00:01:05", said)
        # Megabytes, in segments that are cut and joined on their way.
        data = os.urandom(1 << 20) * 16
        path = os.path.join(self.folder, "data")
        with open(path, "wb") as file:
            file.write(data)
        server = subprocess.Popen([lab_kit.OPTIONS.cwlab, *far, "python3", "-m", "http.server", "8000", "--bind", "::",
                                   "--directory", self.folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for host in "10.64.1.5", f"[{self.six(1)}5]":
            url = f"http://{host}:8000/data"
            lab_kit.until(url, lambda u=url: run(*near, "curl", "-sS", "-g", "-m", "20", "-o", path + ".came", u,
                                                 code=None).returncode == 0)
            with open(path + ".came", "rb") as file:
                self.assertEqual(hashlib.sha256(file.read()).digest(), hashlib.sha256(data).digest())
        # A machine with an address of another server is not heard, and what a bridge floods does not leave.
        run(*near, "ip", "addr", "add", "10.64.1.77/32", "dev", "eth0")
        run(*near, "ping", "-c", "1", "-W", "1", "-I", "10.64.1.77", "10.64.1.1", code=1)
        run(*near, "ip", "neigh", "replace", "10.64.1.5", "lladdr", "52:54:00:77:77:77", "dev", "eth0")
        run(*near, "ping", "-c", "1", "-W", "1", "10.64.1.5", code=1)
        drops = self.drops("ip")
        self.assertGreater(drops["source"], 0)
        self.assertGreater(drops["frame"], 0)


if __name__ == "__main__":
    lab_kit.main()

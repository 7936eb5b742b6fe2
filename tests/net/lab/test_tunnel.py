# SPDX-License-Identifier: Apache-2.0
"""`cwlab up --service ip`: programs that know nothing of the torus speak TCP and UDP across it."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import time

import lab_kit
from lab_kit import run

PYTHON = "/usr/bin/python3"

# Takes connections and datagrams, and answers with the SHA-256 of what came by a connection, or with the datagram.
SERVER = r"""
import hashlib, os, socket, sys, threading
def serve(c):
    digest = hashlib.sha256()
    while data := c.recv(1 << 20):
        digest.update(data)
    c.sendall(digest.hexdigest().encode())
    c.close()
def echo(u):
    while True:
        data, who = u.recvfrom(65536)
        u.sendto(data, who)
s = socket.create_server(("::", 5001), family=socket.AF_INET6, backlog=64, dualstack_ipv6=True)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("0.0.0.0", 5002))
threading.Thread(target=echo, args=(u,), daemon=True).start()
with open(sys.argv[1] + ".new", "w") as ready:
    ready.write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
"""

# Sends megabytes to some addresses at once, each over a connection of its own; every digest must be right.
SENDER = r"""
import hashlib, os, socket, sys, threading
right = []
def send(to, size):
    data = os.urandom(1 << 20)
    digest = hashlib.sha256()
    with socket.create_connection((to, 5001), timeout=50) as c:
        for _ in range(size):
            c.sendall(data)
            digest.update(data)
        c.shutdown(socket.SHUT_WR)
        said = b"".join(iter(lambda: c.recv(1000), b"")).decode()
    right.append(said == digest.hexdigest())
all = [threading.Thread(target=send, args=(to, int(sys.argv[1]))) for to in sys.argv[2:]]
for each in all:
    each.start()
for each in all:
    each.join()
assert right == [True] * len(all), right
"""

# Datagrams of many sizes, at and above the MTU too, come back as they were; a lost one is sent again.
DATAGRAMS = r"""
import os, socket, sys
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.connect((sys.argv[1], 5002))
u.settimeout(1)
def goes(size):
    for _ in range(20):
        data = os.urandom(size)
        u.send(data)
        try:
            while len(back := u.recv(65536)) != size or back != data:
                pass
            return True
        except TimeoutError:
            pass
    return False
mtu = next(int(words[words.index("mtu") + 1]) for words in [os.popen("ip link show cw0").read().split()])
for size in (0, 1, 2, 100, 1471, 1472, 1473, mtu - 29, mtu - 28, mtu - 27, 20000, 65507):
    assert goes(size), size
# With "don't fragment" the kernel knows the limit: it is the device's.
u.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
assert goes(mtu - 28)
try:
    u.send(bytes(mtu - 27))
    sys.exit("too long a datagram was sent")
except OSError as e:
    assert e.errno == 90, e
"""

# Of a server that is out of view for longer than timers.hold programs hear at once, and not when TCP asks again.
REFUSED = r"""
import errno, socket, sys, time
begun = time.monotonic()
try:
    socket.create_connection((sys.argv[1], 5001), timeout=30)
    sys.exit(f"there is a connection, after {time.monotonic() - begun} s")
except OSError as e:
    assert e.errno == errno.EHOSTUNREACH, e
assert time.monotonic() - begun < 1, time.monotonic() - begun
"""

# One connection that sends a little for as long as the file is there, and then asks for the digest of all it sent.
LASTING = r"""
import hashlib, os, socket, sys, time
digest = hashlib.sha256()
with socket.create_connection((sys.argv[1], 5001)) as c:
    c.settimeout(50)
    while os.path.exists(sys.argv[2]):
        data = os.urandom(10000)
        c.sendall(data)
        digest.update(data)
        time.sleep(0.02)
    c.shutdown(socket.SHUT_WR)
    sys.exit(c.recv(100).decode() != digest.hexdigest())
"""


class Tunnel(lab_kit.Case):
    def begin(self, dims):
        if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
            self.skipTest("no /dev/net/tun here")
        # Longer timers: beside other work no server is to take another for dead while programs speak.
        self.up(dims, "--tunnel", "--scale", "4")
        self.wait_all(eval(dims.replace("x", "*")))

    def serve(self, *servers):
        for server in servers:
            ready = os.path.join(self.folder, "ready-" + server)
            run("exec", server, "/bin/sh", "-c", f'setsid {PYTHON} -c "$0" "$1" >/dev/null 2>&1 </dev/null &', SERVER,
                ready)
            lab_kit.until(f"a program at {server}", lambda path=ready: os.path.exists(path))
            with open(ready, encoding="ascii") as file:
                self.addCleanup(os.kill, int(file.read()), signal.SIGKILL)

    def python(self, server, program, *words):
        run("exec", server, PYTHON, "-c", program, *words)

    def test_connections_and_datagrams(self):
        self.begin("3x3x3")
        self.serve("1,1,1", "0,0,1", "2,0,0")
        # Server 1,1,1 is number 13, three hops away by six shortest paths; the others are neighbours.
        self.python("0,0,0", SENDER, "8", "10.64.13.1", "10.64.1.1", "10.64.18.1", "10.64.13.1")
        self.python("0,0,0", DATAGRAMS, "10.64.13.1")
        self.commands()
        self.names()

    def commands(self):
        """What cwctl shows of the network, after connections to 10.64.13.1."""
        told = run("ctl", "0,0,0", "service", "ip", "explain", "10.64.13.1").stdout
        self.assertRegex(told, r"server +1,1,1")
        self.assertRegex(told, r"hops +3")
        said = lab_kit.ask("ctl", "0,0,0", "tunnel", "explain", "10.64.13.1")
        self.assertEqual((said["server"], said["reachable"], said["links"]), ("1,1,1", True, ["+x", "+y", "+z"]))
        self.assertTrue(said["allowed"])
        self.assertEqual(run("ctl", "0,0,0", *said["ask"].split()[1:]).returncode, 0)
        self.assertIn("no server has it", run("ctl", "0,0,0", "tunnel", "explain", "10.64.99.1", code=2).stderr)
        said = lab_kit.ask("ctl", "0,0,0", "tunnel", "status")
        self.assertEqual((said["door"], said["device"], said["ipv4"]), ("open", "cw0", "10.64.0.1"))
        self.assertGreater(said["in_order"], 100)
        self.assertIn("lateness, 99 of 100", run("ctl", "0,0,0", "tunnel", "status").stdout)
        flows = lab_kit.lines("ctl", "0,0,0", "tunnel", "flows")
        self.assertIn(("tcp", "1,1,1"), {(flow["protocol"], flow["server"]) for flow in flows})
        self.assertEqual(flows, sorted(flows, key=lambda flow: -flow["bytes"]))

    def names(self):
        """cwctl hosts and the lab's own /etc/hosts agree; a program goes to a name, by IPv6."""
        hosts = run("ctl", "1,0,2", "hosts").stdout
        self.assertEqual(len(hosts.splitlines()), 54)
        self.assertIn("10.64.13.1 1-1-1.cube s13.cube\n", hosts)
        self.assertIn(hosts, run("exec", "0,0,0", "cat", "/etc/hosts").stdout)
        self.python("0,0,0", SENDER, "2", "1-1-1.cube")  # IPv6, which names resolve to first

    def start(self, server, *words):
        """A program that serves until the test ends."""
        ready = os.path.join(self.folder, "started-" + server + os.path.basename(words[0]))
        line = 'echo $$ > "$0.new" && mv "$0.new" "$0" && exec "$@" >/dev/null 2>&1 </dev/null'
        run("exec", server, "/bin/sh", "-c", 'setsid /bin/sh -c "$0" "$@" &', line, ready, *words)
        lab_kit.until(f"{words[0]} at {server}", lambda: os.path.exists(ready))
        with open(ready, encoding="ascii") as file:
            self.addCleanup(os.kill, int(file.read()), signal.SIGKILL)

    def iperf(self, *words):
        """Bytes that came, there and back; iperf3 says by its exit code whether the connections ended well."""
        done = run("exec", "0,0,0", "iperf3", "-J", *words, code=None)
        said = json.loads(done.stdout)
        self.assertEqual((done.returncode, said.get("error")), (0, None), words)
        return [said["end"][name]["bytes"] for name in ("sum_received", "sum_received_bidir_reverse")
                if name in said["end"]]

    def pings(self, *words, code=0):
        return run("exec", "0,0,0", "ping", "-c", "3", "-i", "0.01", "-W", "5", *words, code=code)

    def test_programs_that_everybody_has(self):
        """ping, tracepath, iperf3 and curl, over IPv4 and IPv6, at the MTU and above."""
        for program in "ping", "tracepath", "iperf3", "curl":
            if shutil.which(program) is None:
                self.skipTest(f"no {program} here")
        self.begin("2x2x2")
        mtu, far = 8944, "1-1-1.cube"
        for version, heads, address in ("-4", 28, "10.64.7.1"), ("-6", 48, far):
            self.pings(version, far)
            self.pings(version, "-M", "do", "-s", str(mtu - heads), far)
            self.assertRegex(self.pings(version, "-M", "do", "-w", "1", "-s", str(mtu - heads + 1), far, code=1).stderr,
                             "message too long, mtu[=:] ?8944")
            self.pings(version, "-M", "dont", "-s", "60000", far)  # in fragments
            said = run("exec", "0,0,0", "tracepath", version, "-n", far).stdout
            self.assertIn("Resume: pmtu 8944 hops 1 back 1", said)
            self.assertTrue(address == far or address in said, said)
        megabyte = 1 << 20
        self.start("1,1,1", "iperf3", "-s")
        lab_kit.until("iperf3 answers", lambda: run("exec", "0,0,0", "iperf3", "-c", far, "-n", "1", code=None)
                      .returncode == 0)
        for version in "-4", "-6":
            [came] = self.iperf("-c", far, version, "-n", "16M", "-P", "4")
            self.assertGreater(came, megabyte)  # what is on its way at the end is not counted
        self.assertGreater(min(self.iperf("-c", far, "-t", "1", "--bidir")), megabyte)
        for size in "1000", str(mtu - 28), "20000":  # some are lost where a socket's buffer is full
            self.iperf("-c", far, "-4", "-u", "-b", "40M", "-n", "1M", "-l", size)
        self.curl(far)

    def curl(self, far):
        """A file of some megabytes comes as it was."""
        data = os.urandom(1 << 20) * 12
        with open(os.path.join(self.folder, "data"), "wb") as file:
            file.write(data)
        self.start("1,1,1", PYTHON, "-m", "http.server", "8000", "--bind", "::", "--directory", self.folder)
        url, right = f"http://{far}:8000/data", hashlib.sha256(data).hexdigest()
        lab_kit.until("a web server answers", lambda: run("exec", "0,0,0", "curl", "-sI", url, code=None)
                      .returncode == 0)
        for version in "-4", "-6":
            said = run("exec", "0,0,0", "/bin/sh", "-c", 'curl -sS "$@" | sha256sum', "sh", version, url).stdout
            self.assertEqual(said.split()[0], right)

    def test_a_server_that_is_gone(self):
        self.begin("3x1x1")
        self.serve("1,0,0")
        self.python("0,0,0", SENDER, "1", "10.64.1.1")
        run("fail", "1,0,0")
        self.assertEqual(lab_kit.ask("status", code=None)["running"], 2)
        lab_kit.until("1,0,0 is out of view", lambda: "no" in run(
            "ctl", "0,0,0", "service", "ip", "explain", "10.64.1.1").stdout.split())
        time.sleep(1)  # longer than timers.hold, for which nobody is told
        self.python("0,0,0", REFUSED, "10.64.1.1")
        # A device that is there before the daemon outlives it, and connections live on over the daemon's next start.
        run("exec", "1,0,0", "ip", "tuntap", "add", "dev", "cw0", "mode", "tun", "vnet_hdr")
        run("restore", "1,0,0")
        self.wait_all(3)  # the program lives on, as does the device's namespace
        self.python("0,0,0", SENDER, "1", "10.64.1.1")
        self.lives_on("1,0,0", "10.64.1.1")

    def lives_on(self, server, address):
        """A connection to a server ends with all its bytes though that server's daemon ends and begins meanwhile."""
        going = os.path.join(self.folder, "going")
        with open(going, "w", encoding="ascii"):
            pass
        program = subprocess.Popen([lab_kit.OPTIONS.cwlab, "exec", "0,0,0", PYTHON, "-c", LASTING, address, going])
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)

        def status():
            return lab_kit.ask("ctl", server, "tunnel", "status")
        before = status()["in_order"]
        lab_kit.until("the connection sends", lambda: status()["in_order"] > before + 5)
        run("fail", server)
        self.assertIn("10.64.1.1", run("exec", server, "ip", "address", "show", "dev", "cw0").stdout)
        run("restore", server)
        self.wait_all(3)
        lab_kit.until("the connection sends again", lambda: status()["in_order"] > 5)
        self.assertIsNone(program.poll())
        os.unlink(going)
        self.assertEqual(program.wait(lab_kit.LIMIT_S), 0)


if __name__ == "__main__":
    lab_kit.main()

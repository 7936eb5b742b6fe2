# SPDX-License-Identifier: Apache-2.0
"""Large programs over the tunnel, each where it is installed: ssh, rsync, nginx and wrk, NFS, MPI; and what a program
with the rights to do so can put into the device or onto a cable (scapy)."""

import hashlib
import json
import os
import shutil
import signal
import subprocess

import lab_kit
from lab_kit import run

PYTHON = "/usr/bin/python3"
SOAK = os.environ.get("CUBEWAY_SOAK") == "1"
MEGABYTES = 1000 if SOAK else 30
ALL = "3x3x3" if SOAK else "2x2x1"  # where every server has a process, or logs in at every other one

# Puts packets into cw0 as the kernel would: right ones, and ones whose bytes were changed, cut off or added.
INTO_THE_DEVICE = r"""
import random, socket, sys
from scapy.all import IP, IPv6, TCP, UDP, IPOption_LSRR, IPv6ExtHdrRouting, GRE, Raw, fragment, conf
conf.verb = 0
chance = random.Random(7)
own, far, own6, far6 = sys.argv[1:5]
load = Raw(bytes(200))
def way(**more):
    return IP(**{"src": own, "dst": far, **more})
right = [way() / TCP(sport=1, dport=2, flags="S") / load, way() / UDP(sport=1, dport=2) / load, way(proto=132) / load,
         way() / GRE() / load, IPv6(src=own6, dst=far6) / UDP() / load]
bad = [way(src="1.2.3.4") / UDP() / load, way(src=far, dst=own) / TCP() / load, way(dst="10.79.1.1") / load,
       way(options=[IPOption_LSRR(routers=["1.1.1.1"])]) / UDP() / load, way(ihl=15) / load, way(len=30000) / load,
       way(version=7) / load, way(chksum=1) / load, way(flags="MF", frag=8190) / load, way(src="127.0.0.1") / load,
       way(dst="224.0.0.1") / load, IPv6(src=far6, dst=own6) / load,
       IPv6(src=own6, dst=far6) / IPv6ExtHdrRouting(type=0, addresses=["::1"]) / UDP() / load]
bad += [f for f in fragment(way() / UDP() / Raw(bytes(3000)), 800)]
packets = [bytes(p) for p in right + bad]
s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
sent = 0
for n in range(int(sys.argv[5])):
    data = bytearray(packets[n % len(packets)])
    if n >= len(packets):
        for _ in range(chance.randrange(4)):
            data[chance.randrange(min(len(data), 60))] = chance.randrange(256)
        data = data[:chance.randrange(1, len(data) + 1)] if n % 3 == 0 else data
    try:
        sent += s.sendto(bytes(data), ("cw0", 0x86dd if data[0] >> 4 == 6 else 0x0800)) > 0
    except OSError:
        pass  # the kernel itself refuses some
print(sent)
"""

# Every process prints the sum of all ranks, and whether what came of each other one is what that one has sent.
MPI = r"""
from mpi4py import MPI
import sys
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
came = world.alltoall([bytes([rank, to]) * 500000 for to in range(size)])
right = all(came[each] == bytes([each, rank]) * 500000 for each in range(size))
sys.stdout.write(f"{world.allreduce(rank)} {right}\n")
"""

# Repeats what it sees on a cable, each frame with some bytes changed.
ONTO_A_CABLE = r"""
import random, select, socket, sys
chance = random.Random(9)
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)  # hears nothing until it is bound: cw0 has packets of 64 KB
s.bind((sys.argv[1], 3))
sent = 0
while sent < int(sys.argv[2]) and select.select([s], [], [], 5)[0]:
    frame, (_, _, kind, _, _) = s.recvfrom(10000)
    if kind != 4 or len(frame) < 200:  # PACKET_OUTGOING: those of others were written by nobody here
        continue
    data = bytearray(frame)
    for _ in range(1 + chance.randrange(4)):
        data[chance.randrange(14, len(data))] ^= 1 << chance.randrange(8)
    sent += s.send(bytes(data[:chance.randrange(60, len(data))] if sent % 4 == 0 else data)) > 0
print(sent)
"""


def missing(*programs):
    return [program for program in programs if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin") is None]


class Programs(lab_kit.Case):
    def begin(self, dims, *programs):
        if missing(*programs):
            self.skipTest("not installed here: " + " ".join(missing(*programs)))
        if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
            self.skipTest("no /dev/net/tun here")
        self.up(dims, "--tunnel", "--scale", "4")
        self.wait_all(eval(dims.replace("x", "*")))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "w" if isinstance(data, str) else "wb") as out:
            out.write(data)
        return self.path(name)

    def shell(self, server, line, *words, code=0):
        return run("exec", server, "/bin/sh", "-ec", line, "sh", *words, code=code).stdout

    def start(self, server, line):
        """A program that runs until the test ends."""
        ready = self.path(f"started-{server}-{len(os.listdir(self.folder))}")
        line = f"echo $$ > {ready}.new; mv {ready}.new {ready}; {line} >{ready}.log 2>&1 </dev/null"
        run("exec", server, "/bin/sh", "-c", 'setsid /bin/sh -c "$0" &', line)
        lab_kit.until(line, lambda: os.path.exists(ready))
        with open(ready, encoding="ascii") as file:
            self.addCleanup(self.kill, int(file.read()))
        return ready + ".log"

    def kill(self, leader):
        try:
            os.killpg(leader, signal.SIGKILL)  # setsid: the number is also that of the group
        except ProcessLookupError:
            pass

    def let_in(self, *servers):
        """sshd at these servers. Gives the words of an ssh that they let in."""
        for name in "host", "user":
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(name)], check=True)
        config = self.write("sshd_config", f"Port 2222\nHostKey {self.path('host')}\nAuthorizedKeysFile "
                            f"{self.path('user.pub')}\nStrictModes no\nUsePAM no\nPidFile none\n"
                            "PermitRootLogin yes\n")
        ssh = (f"ssh -p 2222 -i {self.path('user')} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
               "-o LogLevel=ERROR -o ConnectTimeout=5")
        for server in servers:
            self.start(server, f"mount -t tmpfs none /run; mkdir /run/sshd; exec /usr/sbin/sshd -D -e -f {config}")
        for server in servers:
            name = server.replace(",", "-") + ".cube"
            lab_kit.until(f"ssh to {name}", lambda to=name: run("exec", "0,0,0", *ssh.split(), to, "true",
                                                                code=None).returncode == 0, limit=30)
        return ssh

    def test_ssh_and_rsync(self):
        """Commands on other servers, and a folder that is copied there."""
        self.begin(ALL, "ssh", "sshd", "ssh-keygen", "rsync")
        servers = [daemon["server"] for daemon in lab_kit.rows("status")]
        ssh = self.let_in(*servers)
        address = {server: json.loads(run("ctl", server, "tunnel", "status", "--json").stdout)["ipv4"]
                   for server in servers}
        half = len(servers) // 2
        for near, far in zip(servers * 2, servers[1:] + servers[:1] + servers[half:] + servers[:half]):
            # What runs there has the addresses of that server.
            said = self.shell(near, f"{ssh} {far.replace(',', '-')}.cube ip -o -4 addr show cw0")
            self.assertIn(address[far], said, (near, far))
        os.makedirs(self.path("from"))
        for n in range(20):
            self.write(f"from/{n}", os.urandom(n * 10000))
        self.shell("0,0,0", f"rsync -a -e '{ssh}' {self.path('from')}/ 1-1-0.cube:{self.path('to')}/")
        for n in range(20):
            with open(self.path(f"from/{n}"), "rb") as a, open(self.path(f"to/{n}"), "rb") as b:
                self.assertEqual(a.read(), b.read(), n)

    def test_web(self):
        """nginx: a large file as it was, and many connections at once (wrk)."""
        self.begin("2x2x1", "nginx", "wrk", "curl")
        data = os.urandom(1 << 20) * MEGABYTES
        self.write("data", data)
        self.write("small", "x" * 500)
        base = self.folder
        folders = " ".join(f"{name}_temp_path {base}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi",
                                                                           "scgi"))
        config = self.write("nginx.conf", f"daemon off; user root; worker_processes 1; pid {base}/nginx.pid; error_log "
                            f"stderr;\nevents {{ }}\nhttp {{ access_log off; {folders}\n"
                            f"server {{ listen [::]:8000 ipv6only=off; root {base}; }}\n"
                            f"server {{ listen [::]:8001 http2; root {base}; }} }}\n")
        self.start("1,1,0", f"exec /usr/sbin/nginx -e stderr -c {config}")
        url = "http://1-1-0.cube:8000/"
        lab_kit.until("nginx answers", lambda: run("exec", "0,0,0", "curl", "-sfo", "/dev/null", url + "small",
                                                   code=None).returncode == 0)
        said = self.shell("0,0,0", 'curl -sS "$1" | sha256sum', url + "data")
        self.assertEqual(said.split()[0], hashlib.sha256(data).hexdigest())
        said = self.shell("0,0,0", 'curl -sS --http2-prior-knowledge -w "%{stderr}%{http_version}" "$1" 2>"$2" '
                          '| sha256sum; cat "$2"', url.replace("8000", "8001") + "data", self.path("version"))
        self.assertEqual(said.split(), [hashlib.sha256(data).hexdigest(), "-", "2"])
        for server in "0,0,0", "1,0,0":
            said = self.shell(server, "wrk -t 1 -c 20 -d 1 --latency " + url + "small")
            self.assertNotIn("Socket errors", said)
            self.assertNotIn("Non-2xx", said)
            self.assertRegex(said, r"Requests/sec: +[1-9]")

    def test_nfs(self):
        """A file is read and written by NFS 4: server and client are programs (ganesha, libnfs), no kernel's."""
        self.begin("2x2x1", "ganesha.nfsd", "nfs-cp", "nfs-ls")
        data = os.urandom(1 << 20) * MEGABYTES
        shared = self.path("shared")
        os.makedirs(shared)
        self.write("shared/data", data)
        config = self.write("ganesha.conf", "NFS_CORE_PARAM { Protocols = 4; Enable_NLM = false; "
                            "Enable_RQUOTA = false; }\nNFSv4 { Graceless = true; RecoveryBackend = fs; }\n"
                            f"EXPORT {{ Export_Id = 1; Path = {shared}; Pseudo = /files; Access_Type = RW; "
                            "Squash = No_Root_Squash; SecType = sys; Protocols = 4; Transports = TCP; "
                            "FSAL { Name = VFS; } }\n")
        log = self.path("ganesha.log")
        self.start("1,1,0", "mount -t tmpfs none /run; mount -t tmpfs none /var/lib/nfs; mkdir /run/ganesha "
                   f"/var/lib/nfs/ganesha; exec ganesha.nfsd -F -f {config} -p {self.path('pid')} -L {log}")
        url = "nfs://10.64.3.1/files"

        def answers():
            return run("exec", "0,0,0", "timeout", "5", "nfs-ls", url + "?version=4", code=None).returncode == 0
        try:
            lab_kit.until("the NFS server answers", answers)
        except AssertionError:
            with open(log, encoding="utf-8", errors="replace") as text:
                if "Operation not supported" in text.read():
                    self.skipTest("the folder's file system has no handles for NFS")
            raise
        came = self.path("came")
        self.shell("0,0,0", 'nfs-cp "$1" "$2"', url + "/data?version=4", came)
        with open(came, "rb") as file:
            self.assertEqual(hashlib.sha256(file.read()).digest(), hashlib.sha256(data).digest())
        # This client fails on files of 8 KB and longer by NFS 4, on the server itself, too.
        self.shell("0,0,0", 'nfs-cp "$1" "$2"', self.write("short", data[:1000]), url + "/back?version=4")
        with open(os.path.join(shared, "back"), "rb") as file:
            self.assertEqual(file.read(), data[:1000])

    def test_mpi(self):
        """Processes of one program on all servers add numbers, and exchange a megabyte each with each."""
        self.begin(ALL, "mpirun", "ssh", "sshd", "ssh-keygen")
        if subprocess.run([PYTHON, "-c", "import mpi4py"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no mpi4py here (package python3-mpi4py)")
        servers = [daemon["server"] for daemon in lab_kit.rows("status")]
        ssh = self.let_in(*servers[1:])
        hosts = [f"10.64.{number}.1" for number in range(len(servers))]
        program = self.write("program.py", MPI)
        said = self.shell("0,0,0", "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HOME=\"$1\" "
                          f"mpirun -np {len(hosts)} --host {','.join(hosts)} --mca plm_rsh_agent \"$2\" "
                          "--mca btl tcp,self "
                          "--mca pml ob1 --mca btl_tcp_if_include cw0 --mca oob_tcp_if_include cw0 "
                          f"{PYTHON} \"$3\"", self.folder, ssh, program)
        self.assertEqual(said.split(), [str(sum(range(len(hosts)))), "True"] * len(hosts))

    def alive(self, count):
        """No daemon has ended, and a connection works."""
        self.assertEqual({daemon["starts"] for daemon in lab_kit.rows("status")}, {1})
        self.assertEqual(lab_kit.ask("status")["running"], count)
        run("exec", "0,0,0", "ping", "-c", "2", "-i", "0.01", "-W", "5", "1-1-0.cube")

    def test_bad_packets(self):
        """Each is dropped with a cause, and nobody else is harmed."""
        self.begin("2x2x1", "ping")
        if subprocess.run([PYTHON, "-c", "import scapy.all"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no scapy here (package python3-scapy)")
        addresses = []
        for key in "ipv4", "ipv6":
            for server in "0,0,0", "1,1,0":
                addresses.append(json.loads(run("ctl", server, "tunnel", "status", "--json").stdout)[key])
        sent = int(self.shell("0,0,0", f"{PYTHON} -c \"$1\" {' '.join(addresses)} {20000 if SOAK else 1500}",
                              INTO_THE_DEVICE))
        self.assertGreater(sent, 500)
        status = lab_kit.ask("ctl", "0,0,0", "tunnel", "status")
        for cause in "source", "outside", "length", "version", "option", "multicast":
            self.assertGreater(status.get("drop_" + cause, 0), 0, status)
        self.alive(4)
        # On a cable: pieces of a stream, repeated with bits that are not right.
        data = os.urandom(1 << 20) * 8
        self.write("data", data)
        self.start("1,1,0", f"exec {PYTHON} -m http.server 8000 --directory {self.folder}")
        lab_kit.until("a web server answers", lambda: run("exec", "0,0,0", "curl", "-sfo", "/dev/null",
                                                          "http://10.64.3.1:8000/", code=None).returncode == 0)
        logs = [self.start("1,1,0", f"exec {PYTHON} -c '{ONTO_A_CABLE}' {link} 2000") for link in ("px", "py")]
        damaged = 0
        for _ in range(20):  # each frame of the stream may be another server's, or be lost
            if damaged > 0:
                break
            said = self.shell("0,0,0", "curl -sS http://10.64.3.1:8000/data | sha256sum")
            self.assertEqual(said.split()[0], hashlib.sha256(data).hexdigest())
            damaged = lab_kit.ask("ctl", "0,0,0", "tunnel", "status").get("drop_damaged", 0)
            for log in logs:
                with open(log, encoding="utf-8") as text:
                    self.assertEqual(text.read().replace("2000", "").strip(), "")
        self.assertGreater(damaged, 0)
        self.alive(4)


if __name__ == "__main__":
    lab_kit.main()

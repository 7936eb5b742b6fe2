# SPDX-License-Identifier: Apache-2.0
"""Servers of a lab and what is outside it: gateways to another namespace, and containers with own addresses."""

import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess

import lab_kit
from lab_kit import run

PYTHON = "/usr/bin/python3"
OUTSIDE = "198.51.100.1"

# Tells whoever asks from which address, or gives some megabytes.
WEB = r"""
import http.server, sys
data = open(sys.argv[1], "rb").read()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = data if self.path == "/data" else self.client_address[0].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer((sys.argv[2], 80), Handler).serve_forever()
"""


class Beside(lab_kit.Case):
    def begin(self, dims, *words):
        if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
            self.skipTest("no /dev/net/tun here")
        for program in "ip", "nsenter", "unshare", "curl":
            if shutil.which(program) is None:
                self.skipTest(f"no {program} here")
        self.up(dims, "--tunnel", *words, "--scale", "4")
        self.wait_all(eval(dims.replace("x", "*")))

    def shell(self, server, line, code=0):
        return run("exec", server, "/bin/sh", "-ec", line, code=code).stdout

    def start(self, server, *words):
        """A program that runs until the test ends. Gives its number."""
        ready = os.path.join(self.folder, f"started-{server}-{len(os.listdir(self.folder))}")
        line = 'echo $$ > "$0.new" && mv "$0.new" "$0" && exec "$@" >/dev/null 2>&1 </dev/null'
        run("exec", server, "/bin/sh", "-c", 'setsid /bin/sh -c "$0" "$@" &', line, ready, *words)
        lab_kit.until(f"{words[0]} at {server}", lambda: os.path.exists(ready))
        with open(ready, encoding="ascii") as file:
            pid = int(file.read())
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        return pid

    def namespace(self, server):
        """Another network namespace, held by a process that sleeps."""
        pid = self.start(server, "unshare", "--net", "sleep", "1000")
        own = os.readlink("/proc/self/ns/net")
        lab_kit.until("a namespace", lambda: os.readlink(f"/proc/{pid}/exe").endswith("sleep"))
        self.assertNotEqual(os.readlink(f"/proc/{pid}/ns/net"), own)
        return pid

    def cwctl(self, server, *words, code=0):
        """cwctl where the server is, and not beside its lab: what it changes is changed there."""
        return run("exec", server, os.path.join(lab_kit.OPTIONS.bin, "cwctl"), "--lab", "lab", "--node", server, *words,
                   code=code)

    # ---- Gateways ----------------------------------------------------------------------------------------------------

    def connect(self, outside, server, number):
        """A cable from the server's up0 to the namespace outside, which knows nothing of the torus."""
        near, far = f"192.0.2.{4 * number + 1}", f"192.0.2.{4 * number + 2}"
        self.shell(server, f"ip link add up0 type veth peer name a{number} netns {outside}; ip link set up0 up; "
                   f"ip addr add {near}/30 dev up0; ip route add default via {far} || true; "
                   f"nsenter -t {outside} -n ip addr add {far}/30 dev a{number}; "
                   f"nsenter -t {outside} -n ip link set a{number} up")
        self.cwctl(server, "tunnel", "nat", "--apply")
        return near

    def test_gateways(self):
        if shutil.which("nft") is None:
            self.skipTest("no nft here")
        self.begin("3x3x1", "--gateway", "0,0,0", "--gateway", "1,1,0")
        data = os.urandom(1 << 20) * 4
        with open(os.path.join(self.folder, "data"), "wb") as file:
            file.write(data)
        outside = self.namespace("0,0,0")
        self.shell("0,0,0", f"nsenter -t {outside} -n ip link set lo up; "
                   f"nsenter -t {outside} -n ip addr add {OUTSIDE}/32 dev lo")
        here = {"0,0,0": self.connect(outside, "0,0,0", 0), "1,1,0": self.connect(outside, "1,1,0", 1)}
        self.start("0,0,0", "nsenter", "-t", str(outside), "-n", PYTHON, "-c", WEB,
                   os.path.join(self.folder, "data"), OUTSIDE)
        lab_kit.until("a web server answers", lambda: self.ask_outside("0,0,0", code=None) != "")
        # Server 0,2,0 is one link from 0,0,0 and two from 1,1,0; 2,1,0 is the other way round.
        self.assertEqual(self.ask_outside("0,2,0"), here["0,0,0"])
        self.assertEqual(self.ask_outside("2,1,0"), here["1,1,0"])
        said = self.shell("2,1,0", f"curl -sS http://{OUTSIDE}/data | sha256sum")
        self.assertEqual(said.split()[0], hashlib.sha256(data).hexdigest())
        said = lab_kit.ask("ctl", "2,1,0", "tunnel", "explain", OUTSIDE)
        self.assertEqual((said["outside"], said["server"]), ("yes", "1,1,0"))
        # Both are one link away from 0,1,0: its flows are spread over both.
        came = set()
        lab_kit.until("both gateways", lambda: came.add(self.ask_outside("0,1,0")) or came == set(here.values()))
        # When one dies the next one takes over; when none is left, programs are told.
        run("fail", "1,1,0")
        lab_kit.until("the next gateway", lambda: self.ask_outside("2,1,0", code=None) == here["0,0,0"])
        run("fail", "0,0,0")
        cannot_connect = 7  # at once; 28 would be: not in time
        lab_kit.until("no gateway", lambda: run("exec", "2,1,0", "curl", "-sS", "-m", "2", f"http://{OUTSIDE}/",
                                                code=None).returncode == cannot_connect)
        run("restore", "1,1,0")
        lab_kit.until("a gateway", lambda: self.ask_outside("2,1,0", code=None) == here["1,1,0"])
        # Nobody but a gateway speaks for those outside.
        self.assertIn("no gateway", run("ctl", "2,1,0", "tunnel", "nat", code=1).stderr)

    def ask_outside(self, server, code=0):
        return run("exec", server, "curl", "-sS", "-m", "2", f"http://{OUTSIDE}/", code=code).stdout

    def test_uplink(self):
        """A way out to this machine, whose interfaces, routes and rules stay what they are."""
        for program in "nft", "slirp4netns":
            if shutil.which(program) is None:
                self.skipTest(f"no {program} here")

        def machine():
            return [subprocess.run(["ip", "-json", *words], capture_output=True, check=True).stdout
                    for words in (["link"], ["addr"], ["route"])] + [
                        subprocess.run(["nft", "list", "ruleset"], capture_output=True, check=False).stdout]

        before = machine()
        data = os.urandom(1 << 20)
        with open(os.path.join(self.folder, "data"), "wb") as file:
            file.write(data)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen([PYTHON, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory",
                                   self.folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.begin("3x2x1", "--uplink")
        url = f"http://10.0.2.2:{port}/data"  # slirp's word for the machine's loopback
        lab_kit.until("a web server answers",
                      lambda: run("exec", "0,0,0", "curl", "-sS", "-m", "5", "-o", "/dev/null", url,
                                  code=None).returncode == 0)
        for place in "2,1,0", "0,0,0":
            said = self.shell(place, f"curl -sS -m 30 {url} | sha256sum")
            self.assertEqual(said.split()[0], hashlib.sha256(data).hexdigest())
        self.assertEqual(self.shell("1,1,0", "cat /etc/resolv.conf"), "nameserver 10.0.2.3\n")
        self.assertEqual(lab_kit.ask("ctl", "1,1,0", "tunnel", "explain", "10.0.2.2")["server"], "0,0,0")
        self.assertEqual(machine(), before)
        ways = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self.is_way_out(pid)]
        self.assertEqual(len(ways), 1)
        run("down")
        self.nothing_left(ways)

    def is_way_out(self, pid):
        try:
            return (os.readlink(f"/proc/{pid}/exe").endswith("/slirp4netns") and
                    os.readlink(f"/proc/{pid}/cwd").startswith(self.folder))
        except OSError:
            return False

    # ---- Containers --------------------------------------------------------------------------------------------------

    def container(self, server):
        """
        What the CNI plug-ins ptp and host-local make of the list of cwctl tunnel cni: a pair of devices, the first free
        address of each range in the container, that of the gateway here, a default route there and a route to the
        container here; and the kernel forwards.
        """
        plugin = json.loads(self.cwctl(server, "tunnel", "cni").stdout)["plugins"][0]
        self.assertEqual((plugin["type"], plugin["ipMasq"], plugin["ipam"]["type"]), ("ptp", False, "host-local"))
        pid, addresses = self.namespace(server), []
        inside = f"nsenter -t {pid} -n"
        self.shell(server, f"ip link add veth0 mtu {plugin['mtu']} type veth peer name eth0 mtu {plugin['mtu']} netns "
                   f"{pid}; ip link set veth0 up; {inside} ip link set lo up; {inside} ip link set eth0 up; "
                   "echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
        for [each] in plugin["ipam"]["ranges"]:
            own, gateway, bits = each["rangeStart"], each["gateway"], 128 if ":" in each["subnet"] else 32
            addresses.append(own)
            self.shell(server, f"ip addr add {gateway}/{bits} dev veth0 {'nodad' if bits == 128 else ''}; "
                       f"{inside} ip addr add {own}/{bits} dev eth0 {'nodad' if bits == 128 else ''}; "
                       f"{inside} ip route add {gateway}/{bits} dev eth0; "
                       f"{inside} ip route add default via {gateway} dev eth0; ip route add {own}/{bits} dev veth0")
        return pid, addresses

    def test_containers(self):
        self.begin("3x1x1")
        (one, [four, six]), (_, [far_four, far_six]) = self.container("0,0,0"), self.container("2,0,0")
        self.assertEqual((four, far_four), ("10.64.0.2", "10.64.2.2"))
        for to in far_four, far_six, "10.64.2.1", "10.64.1.1":
            self.shell("0,0,0", f"nsenter -t {one} -n ping -c 2 -i 0.01 -W 5 {to}")
        for to in four, six:
            self.shell("1,0,0", f"ping -c 2 -i 0.01 -W 5 {to}")
        # With another server's address a container's root speaks to nobody.
        self.shell("0,0,0", f"nsenter -t {one} -n ip addr add 10.64.1.9/32 dev eth0; "
                   f"nsenter -t {one} -n ping -c 1 -W 1 -I 10.64.1.9 {far_four}", code=1)
        self.assertGreater(lab_kit.ask("ctl", "0,0,0", "tunnel", "status")["drop_source"], 0)

    def test_cni(self):
        """The same by the plug-ins themselves, where they are installed."""
        plugins = "/usr/lib/cni"
        if not os.path.exists(os.path.join(plugins, "ptp")):
            self.skipTest("no CNI plug-ins here (package containernetworking-plugins)")
        self.begin("2x1x1")
        said = json.loads(self.cwctl("0,0,0", "tunnel", "cni").stdout)
        plugin = {**said["plugins"][0], "cniVersion": said["cniVersion"], "name": said["name"]}
        plugin["ipam"]["dataDir"] = os.path.join(self.folder, "ipam")
        file, pid = os.path.join(self.folder, "plugin"), self.namespace("0,0,0")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(plugin, out)
        self.shell("0,0,0", f"CNI_COMMAND=ADD CNI_CONTAINERID=one CNI_NETNS=/proc/{pid}/ns/net CNI_IFNAME=eth0 "
                   f"CNI_PATH={plugins} {plugins}/ptp < {file}; "
                   "echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding; "
                   f"for to in 10.64.1.1 1-0-0.cube; do nsenter -t {pid} -n ping -c 1 -W 5 $to; done")
        self.shell("1,0,0", "ping -c 1 -W 5 10.64.0.2")

    def test_podman(self):
        """A container of podman has an address of the network, by the list of cwctl tunnel cni."""
        for program in "podman", "runc", "busybox":
            if shutil.which(program) is None:
                self.skipTest(f"no {program} here")
        if not os.path.exists("/usr/lib/cni/ptp"):
            self.skipTest("no CNI plug-ins here (package containernetworking-plugins)")
        self.begin("2x1x1")
        base = os.path.join(self.folder, "podman")
        os.makedirs(os.path.join(base, "files/bin"))
        os.makedirs(os.path.join(base, "net"))
        shutil.copy(shutil.which("busybox"), os.path.join(base, "files/bin/busybox"))
        # Of Debian's two, busybox-static needs none.
        needs = subprocess.run(["ldd", shutil.which("busybox")], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"(/\S+) \(", needs):
            os.makedirs(base + "/files" + os.path.dirname(library), exist_ok=True)
            shutil.copy(library, base + "/files" + library)
        with open(os.path.join(base, "net/20-cubeway.conflist"), "w", encoding="utf-8") as out:
            out.write(self.cwctl("0,0,0", "tunnel", "cni").stdout)
        with open(os.path.join(base, "containers.conf"), "w", encoding="utf-8") as out:
            out.write('[network]\nnetwork_backend = "cni"\ncni_plugin_dirs = ["/usr/lib/cni"]\n')
        podman = (f"podman --root {base}/root --runroot {base}/run --tmpdir {base}/tmp --storage-driver vfs "
                  f"--cgroup-manager cgroupfs --network-config-dir {base}/net --runtime {shutil.which('runc')}")
        line = ("mount -t tmpfs none /run/netns || mount -t tmpfs none /run; "
                f"export CONTAINERS_CONF={base}/containers.conf; "
                f"tar -C {base}/files -c . | {podman} import - files; echo 1 > /proc/sys/net/ipv4/ip_forward; "
                f"{podman} run --ulimit nofile=256:256 --ulimit nproc=256:256 --rm --network cubeway-ip files "
                "/bin/busybox ping -c 2 -W 5 10.64.1.1")
        done = run("exec", "0,0,0", "/bin/sh", "-ec", line, code=None)
        if done.returncode != 0 and "ping statistics" not in done.stdout:
            self.skipTest("podman does not run here: " + (done.stderr.strip().splitlines() or ["?"])[-1])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    lab_kit.main()

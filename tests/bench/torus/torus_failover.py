# SPDX-License-Identifier: Apache-2.0
"""How long a stream of one packet a millisecond is interrupted when the server that passes it on goes away.

nothing  nothing goes away: what this machine does to the stream by itself, in a span of the same length
power    all cables of the server lose carrier at once
silence  the server stops, and its cables show nothing
kill     its daemon is killed, and the watcher beside it says goodbye (cubeway only)

Against Debian's FRR (ospfd with bfdd) in the same namespaces over the same cables, in alternating rounds: BFD every
10 ms, dead after 5, as the daemons' own timers are (which are not stretched on a busy machine), and with the same
priority; no delay before the shortest path is computed, none between link states. Without FRR here, without the peer.

Ours by turns: with transit in user space, and in the kernel (docs/relay.md). With --tunnel our stream is UDP over
service ip, as the routers' is UDP over their routes; its gap shall be 5 ms at most when a server is killed.
"""

import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from torus_kit import LIMIT_S, Lab, options, table, title
from torus_tunnel import reach
import torus_kit

PARTS = ["nothing", "power", "silence", "kill"]
FRR = "/usr/lib/frr"
DIMS = (5, 3, 1)  # two hops along x: one shortest path, through the victim; all others are longer
FROM, VICTIM, TO = "0,0,0", "1,0,0", "2,0,0"
DEVICES = ("px", "mx", "py", "my")
RATE = 1000
# The longest gap is looked for from just before the break until so long after it. When the machine stalls at another
# time, that says nothing of cubeway or of the routers. Silence is noticed after 50 ms, and a machine that stalls then
# delays the whole way back; what the machine does by itself is short beside that.
AFTER_S = 0.3
AFTER_SILENCE_S = 1.0


def index(name):
    x, y, _ = map(int, name.split(","))
    return x + DIMS[0] * y


def loopback(name):
    return f"10.255.0.{index(name) + 1}"


def tunnel_address(name):
    x, y, z = map(int, name.split(","))
    return f"10.64.{(x * DIMS[1] + y) * DIMS[2] + z}.1"


def cable(name, device):
    """(address, prefix length) of a device: a /30 for each cable, counted by its lower end."""
    place, axis = list(map(int, name.split(","))), "xyz".index(device[1])
    if device[0] == "m":
        place[axis] = (place[axis] - 1) % DIMS[axis]
    number = 2 * index(",".join(map(str, place))) + axis
    return f"10.78.{number}.{1 if device[0] == 'p' else 2}"


def hurry():
    """The priority that cubewayd gives itself and its session: a machine with other work delays neither more."""
    if torus_kit.OPTIONS.realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        return
    os.setpriority(os.PRIO_PROCESS, 0, -10)
    if os.path.exists("/proc/self/autogroup"):
        with open("/proc/self/autogroup", "w", encoding="ascii") as out:
            out.write("-10")


class Router:
    """zebra, ospfd and bfdd in a server's namespace."""

    def __init__(self, server, folder):
        self.server, self.folder = server, os.path.join(folder, server.name)
        os.mkdir(self.folder)
        shutil.chown(self.folder, "frr", "frr")
        server.run("sysctl", "-q", "net.ipv4.ip_forward=1")
        server.run("ip", "link", "set", "lo", "up")
        server.address("lo", loopback(server.name) + "/32")
        for device in DEVICES:
            server.address(device, cable(server.name, device) + "/30")
        links = "".join(f"interface {device}\n ip ospf area 0\n ip ospf network point-to-point\n ip ospf "
                        f"hello-interval 1\n"
                        f" ip ospf dead-interval 4\n ip ospf bfd\n ip ospf bfd profile fast\nexit\n"
                        for device in DEVICES)
        texts = {
            "zebra": "",
            "bfdd": "bfd\n profile fast\n  transmit-interval 10\n  receive-interval 10\n  detect-multiplier 5\n "
                    "exit\nexit\n",
            "ospfd": links + "interface lo\n ip ospf area 0\nexit\n"
                     f"router ospf\n ospf router-id {loopback(server.name)}\n timers throttle spf 0 0 0\n"
                     " timers throttle lsa all 0\n timers lsa min-arrival 0\nexit\n",
        }
        self.processes = [self.start(name, text) for name, text in texts.items()]

    def start(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path + ".conf", "w", encoding="ascii") as out:
            out.write(text)
        words = [os.path.join(FRR, name), "-u", "frr", "-g", "frr", "-f", path + ".conf", "-i", path + ".pid",
                 "-z", os.path.join(self.folder, "zserv.api"), "--vty_socket", self.folder, "-P", "0", "--log",
                 f"file:{path}.log"]
        if name == "bfdd":
            words += ["--bfdctl", os.path.join(self.folder, "bfdd.sock")]
        process = subprocess.Popen(self.server.inside(*words), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=hurry)
        if name == "zebra":
            end = time.monotonic() + LIMIT_S
            while not os.path.exists(os.path.join(self.folder, "zserv.api")):
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"{' '.join(words)} does not start")
                time.sleep(0.01)
        return process

    def signal(self, number):
        for process in self.processes:
            process.send_signal(number)

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


def gap_of(gap_ns, lost):
    """(gap in ms, packets lost). A stream that has not come back when the round ends has a gap that has not ended, and
    the receiver does not count that one: the packets that are missing do, at a millisecond each."""
    return max(gap_ns / 1e6, lost * 1000 / RATE), lost


class Routing:
    def __init__(self, lab):
        self.lab, self.folder = lab, tempfile.mkdtemp(prefix="cubeway-bench-")
        os.chmod(self.folder, 0o755)
        self.routers = {}
        try:
            for name, server in lab.servers.items():
                self.routers[name] = Router(server, self.folder)
            self.settle()
        except BaseException:
            self.end()
            raise

    def way(self, server):
        """What the server's kernel says of the way to TO; nothing while there is none."""
        done = subprocess.run(self.lab[server].inside("ip", "route", "get", loopback(TO)), capture_output=True,
                              text=True, check=False)
        return done.stdout

    def settle(self):
        """Waits until the stream takes the way through the victim and arrives."""
        end = time.monotonic() + 2 * LIMIT_S
        via, last = cable(VICTIM, "mx"), cable(TO, "mx")
        while time.monotonic() < end:
            if via + " " in self.way(FROM) and last + " " in self.way(VICTIM):
                time.sleep(1.0)  # for the other adjacencies to come up
                return
            time.sleep(0.05)
        raise RuntimeError("FRR finds no way: " + self.way(FROM))

    def end(self):
        for router in self.routers.values():
            router.end()
        shutil.rmtree(self.folder)

    def stream(self, after_s, break_it, mend_it):
        sink = self.lab[TO].peer("sink", f"{loopback(TO)}@{loopback(FROM)}")
        blast = self.lab[FROM].peer("blast", f"{loopback(FROM)}@{loopback(TO)}", "bytes=64", f"rate={RATE}", "burst=1",
                                    "ms=20000")
        time.sleep(0.3)
        sink.mark()
        break_it()
        time.sleep(after_s)
        sent, sunk = blast.end(), sink.end()
        mend_it()
        self.settle()
        return gap_of(sunk["gap_ns"], sent["sent"] - sunk["received"])


class Ours:
    def __init__(self, lab):
        self.lab = lab

    def stream_of(self, after_s, break_it):
        return (self.by_tunnel if torus_kit.OPTIONS.tunnel else self.stream)(after_s, break_it)

    def by_tunnel(self, after_s, break_it):
        near, far = (tunnel_address(name) for name in (FROM, TO))
        reach(self.lab[FROM], far)
        sink = self.lab[TO].peer("sink", f"{far}@{near}")
        blast = self.lab[FROM].peer("blast", f"{near}@{far}", "bytes=64", f"rate={RATE}", "burst=1", "ms=20000")
        time.sleep(0.3)
        sink.mark()
        break_it()
        time.sleep(after_s)
        sent, sunk = blast.end(), sink.end()
        return gap_of(sunk["gap_ns"], sent["sent"] - sunk["received"])

    def stream(self, after_s, break_it):
        near, far = self.lab[FROM], self.lab[TO]
        for server in (near, far):
            server.service("stream", "reset")
        near.service("stream", "start", f"to={TO}", "size=64", f"rate={RATE}", "burst=1")
        time.sleep(0.3)
        far.service_rows("stream", "mark")
        break_it()
        time.sleep(after_s)
        near.service("stream", "stop")
        time.sleep(0.02)
        sent, got = near.service("stream", "stats"), far.service("stream", "stats")
        return gap_of(got["gap"], sent["sent"] - got["received"])


def cables(server, state):
    """Sets all these links, as nearly at once as one process can."""
    text = "".join(f"link set {device} {state}\n" for device in DEVICES)
    subprocess.run(server.inside("ip", "-batch", "-"), input=text, text=True, check=True, timeout=LIMIT_S)


def ways(part, lab, routing):
    """The functions that break it: for cubeway, and (break, mend) for the routers."""
    victim = lab[VICTIM]
    if part == "nothing":
        return lambda: None, (lambda: None, lambda: None)
    if part == "power":
        down = lambda: cables(victim, "down")
        return down, (down, lambda: cables(victim, "up"))
    if part == "silence":
        def stop():
            victim.run("sysctl", "-q", "net.ipv4.ip_forward=0")
            routing.routers[VICTIM].signal(signal.SIGSTOP)

        def go_on():
            victim.run("sysctl", "-q", "net.ipv4.ip_forward=1")
            routing.routers[VICTIM].signal(signal.SIGCONT)
        return lambda: os.kill(victim.pid, signal.SIGSTOP), (stop, go_on)

    return lambda: os.kill(victim.pid, signal.SIGKILL), None


def span_of(part):
    return AFTER_SILENCE_S if part == "silence" else AFTER_S


def torus(*words):
    """With the default timers, however busy the machine is: those of the routers are not stretched either."""
    return Lab("x".join(map(str, DIMS)), *torus_kit.smoke([], ["--scale", "1"]), *words)


def our_round(part, transit):
    """Tries it in a new torus: where links went down before, they are held down for longer each time (damping)."""
    with torus("--transit", transit, *(["--tunnel"] if torus_kit.OPTIONS.tunnel else [])) as lab:
        return Ours(lab).stream_of(span_of(part), ways(part, lab, None)[0])


def more_options(parser):
    parser.add_argument("--tunnel", action="store_true", help="our stream goes over service ip")


def measure(part, lab, routing):
    """Prints the part's row of the table. lab and routing: where routers are to be tried, too."""
    mine, relayed, theirs = [], [], []
    for _ in range(torus_kit.OPTIONS.rounds):
        mine.append(our_round(part, "user"))
        relayed.append(our_round(part, "auto"))
        if routing is not None:
            theirs.append(routing.stream(span_of(part), *ways(part, lab, routing)[1]))
    title(f"longest gap of a stream of 1 packet/ms across a server that goes away, ms; {part}; "
          f"{'by the tunnel' if torus_kit.OPTIONS.tunnel else 'by service stream'}")
    table(["", "median", "worst", "packets lost", "FRR, times as long"],
          [[name, *figures(results), figures(theirs)[0] / figures(results)[0] if theirs else "-"]
           for name, results in (("transit in user space", mine), ("relay", relayed), ("FRR", theirs)) if results])


def main():
    parts = options(PARTS, more_options)
    with_peer = os.path.exists(os.path.join(FRR, "ospfd")) and not torus_kit.OPTIONS.smoke
    for part in parts:
        if part == "kill" or not with_peer:  # a router that is killed leaves the kernel forwarding
            measure(part, None, None)
            continue
        with torus() as lab:
            routing = Routing(lab)
            try:
                measure(part, lab, routing)
            finally:
                routing.end()


def figures(results):
    gaps = [gap for gap, _ in results]
    return statistics.median(gaps), max(gaps), statistics.median(lost for _, lost in results)


main()

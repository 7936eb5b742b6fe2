# SPDX-License-Identifier: Apache-2.0
"""What the benches of daemons on veth cables share: a lab of cwlab's, its daemons' control sockets, plain peers in the
same namespaces.

    torus_x.py --bin <folder of cwlab and wire_peer> [--smoke] [--rounds N] [--realtime] [names of parts]

Every figure stands beside its peer's, measured in alternating rounds of the same run over the same cables; what is
printed are medians, and the ratio is the result. Needs root or user namespaces; ends with 77 and the reason where cwlab
has neither. Whatever happens, the lab goes with this process, and so do the programs that it has started: when it is
killed, too.
"""

import argparse
import atexit
import glob
import json
import os
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

SKIP = 77
LIMIT_S = 30
FRAME_HEADER, PACKET_HEADER, ETHERNET_HEADER = 8, 32, 14
UDP_HEADERS = 28
OPTIONS = None


def options(parts, more=None):
    """Reads the command line. Returns those of the parts that were asked for. more: adds options of a program's own."""
    global OPTIONS
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--realtime", action="store_true",
                        help="daemons and peers get SCHED_RR: the machine has other work")
    parser.add_argument("part", nargs="*", choices=[*parts, []])
    if more is not None:
        more(parser)
    OPTIONS = parser.parse_args()
    OPTIONS.bin = os.path.abspath(OPTIONS.bin)
    OPTIONS.rounds = 1 if OPTIONS.smoke else OPTIONS.rounds
    signal.signal(signal.SIGTERM, end_once)
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode != 0 or \
            shutil.which("nsenter") is None or os.geteuid() != 0:
        print("skipped: network namespaces need root here")
        sys.exit(SKIP)
    return OPTIONS.part or list(parts)


def end_once(*_):
    """Ends by SIGTERM. A second one, which timeout(1) sends to the group, must not end the ending: that had left 44 of
    45 routers behind."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def program(name):
    return os.path.join(OPTIONS.bin, name)


def priority():
    """The words before a program that is measured."""
    return ["chrt", "-r", "1"] if OPTIONS.realtime else []


def smoke(short, otherwise):
    return short if OPTIONS.smoke else otherwise


def leashed(*words):
    """The words of a program that is killed when this process ends, however it ends."""
    return ["setpriv", "--pdeathsig", "KILL", *words]


class Server:
    """A daemon: its control socket, its namespace, its clock of processor time."""

    def __init__(self, lab, row):
        self.name, self.pid = row["server"], row["pid"]
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LIMIT_S)
        self.socket.connect(os.path.join(lab.folder, self.name + ".sock"))
        self.lines = self.socket.makefile("r")
        self.id = 0

    def ask(self, command, *words):
        """Asks the daemon. Returns the rows of the answer."""
        self.id += 1
        self.socket.sendall(json.dumps({"id": self.id, "command": command, "args": words}).encode() + b"\n")
        rows = []
        for line in self.lines:
            answer = json.loads(line)
            if "row" in answer:
                rows.append(answer["row"])
            elif answer.get("rc", 0) < 0:
                raise RuntimeError(f"{self.name}: {command} {words}: {answer}")
            elif "done" in answer:
                return rows
        raise RuntimeError(f"{self.name}: {command} {words}: the daemon has gone")

    def settle(self, *links):
        """Waits until these links are up: one that heard nothing for too long, behind a flood, comes up after a
        while."""
        end = time.monotonic() + LIMIT_S
        while down := [row for row in self.ask("links") if row["link"] in links and row["state"] != "up"]:
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name}: down for too long: {down}")
            time.sleep(0.01)

    def service_rows(self, *words):
        return self.ask("service", *words)

    def service(self, *words):
        rows = self.service_rows(*words)
        return rows[0] if rows else {}

    def cpu_ns(self):
        total = 0
        for path in glob.glob(f"/proc/{self.pid}/task/*/schedstat"):
            with open(path, encoding="ascii") as text:
                total += int(text.read().split()[0])
        return total

    def inside(self, *words):
        return leashed("nsenter", "-t", str(self.pid), "--net", *words)

    def run(self, *words):
        return subprocess.run(self.inside(*words), check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout

    def address(self, device, address):
        self.run("ip", "address", "add", address, "dev", device)

    def peer(self, *words, cpu=None):
        """Starts a plain program in the server's namespace."""
        pin = [] if cpu is None else ["taskset", "-c", str(cpu)]
        return Peer(self.inside(*priority(), *pin, program("wire_peer"), *words))

    def pin(self, cpu):
        """None: any processor."""
        cpus = f"0-{os.cpu_count() - 1}" if cpu is None else str(cpu)
        subprocess.run(["taskset", "-a", "-p", "-c", cpus, str(self.pid)], check=True, capture_output=True)

    def device_counts(self, device):
        """(bytes received, frames received, bytes sent), Ethernet headers included."""
        with open(f"/proc/{self.pid}/net/dev", encoding="ascii") as text:
            for line in text:
                if line.strip().startswith(device + ":"):
                    words = line.split(":")[1].split()
                    return int(words[0]), int(words[1]), int(words[8])
        raise RuntimeError(f"{self.name}: no {device}")


class Peer:
    def __init__(self, words):
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        if words[-1] != "-" and any(mode in words for mode in ("sink", "echo", "forward")):
            self.process.stderr.readline()  # "ready"

    def result(self):
        out, err = self.process.communicate(timeout=LIMIT_S)
        atexit.unregister(self.process.kill)
        if self.process.returncode != 0:
            raise RuntimeError(f"{self.process.args}: {out}{err}")
        return json.loads(out) if out else {}

    def mark(self):
        """Tells a sink to measure its longest gap anew."""
        self.process.send_signal(signal.SIGUSR1)

    def end(self):
        self.process.terminate()
        return self.result()


class Lab:
    """A torus of daemons in namespaces, indexed by the name of a server, "x,y,z"."""

    count = 0

    def __init__(self, dims, *words, programs=None):
        """programs: the folder of another build's, to measure beside this one's."""
        self.bin = programs or OPTIONS.bin
        Lab.count += 1
        self.name = f"bench{os.getpid()}n{Lab.count}"
        self.folder = None
        atexit.register(self.down)
        module = os.path.join(os.path.dirname(self.bin), "tests", "bench", "torus", "stream.so")
        # The lab ends with this command, and the command with the bench.
        self.process = subprocess.Popen(
            leashed(*priority(), self.program("cwlab"), "up", dims, "--name", self.name, "--driver", "netns", "--json",
                    "--foreground", "--patience", "50s", "--service", module, *words),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        ready = select.select([self.process.stdout], [], [], 2 * LIMIT_S)[0]
        if not ready or not self.process.stdout.readline():
            self.down()
            raise RuntimeError(f"{' '.join(self.process.args)}: the lab does not come up")
        rows = self.status_rows()
        with open(f"/proc/{rows[0]['pid']}/cmdline", encoding="utf-8") as text:
            self.folder = os.path.dirname(text.read().rstrip("\0").split("\0")[-1])
        self.servers = {row["server"]: Server(self, row) for row in rows}

    def program(self, name):
        return os.path.join(self.bin, name)

    def __getitem__(self, name):
        return self.servers[name]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.down()

    def status_lines(self):
        done = subprocess.run([self.program("cwlab"), "status", "--name", self.name, "--json"], capture_output=True,
                              text=True,
                              timeout=LIMIT_S, check=False)
        try:
            return [json.loads(line) for line in done.stdout.splitlines()]
        except ValueError:
            return [json.loads(done.stdout)]  # of older builds, to compare with: one object on many lines

    def status(self):
        return self.status_lines()[-1]

    def status_rows(self):
        lines = self.status_lines()
        return lines[0]["daemons"] if "daemons" in lines[0] else lines[:-1]  # of older builds

    def cwlab(self, command, *words):
        subprocess.run([self.program("cwlab"), command, "--name", self.name, *words], check=True,
                       stdout=subprocess.DEVNULL, timeout=LIMIT_S)

    def again(self, name):
        """Connects again to a server whose daemon was restarted."""
        row = next(r for r in self.status_rows() if r["server"] == name)
        self.servers[name] = Server(self, row)

    def down(self):
        atexit.unregister(self.down)
        subprocess.run([self.program("cwlab"), "down", "--name", self.name], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=LIMIT_S, check=False)
        self.process.kill()
        self.process.communicate()


def rounds(*contenders):
    """Runs each of them in turn, for as many rounds as were asked for. Returns a list of results for each."""
    results = [[] for _ in contenders]
    for number in range(OPTIONS.rounds):
        order = range(len(contenders)) if number % 2 == 0 else reversed(range(len(contenders)))
        for i in order:
            results[i].append(contenders[i]())
    return results


def memory(pid):
    """The process's (resident, proportional, private) memory in KiB."""
    fields = {}
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as text:
        for line in list(text)[1:]:
            fields[line.split(":")[0]] = int(line.split()[1])
    return fields["Rss"], fields["Pss"], fields["Private_Clean"] + fields["Private_Dirty"]


def median(results, field):
    return statistics.median(result[field] for result in results)


def load():
    return "load " + " ".join(f"{x:.1f}" for x in os.getloadavg())


def title(text):
    print(f"\n{text} ({load()})")


def table(heads, rows):
    cells = [heads] + [[f"{cell:.3g}" if isinstance(cell, float) and cell < 100 else
                        f"{cell:.0f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    for row in cells:
        print("  " + "  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i,
                               (cell, w) in enumerate(zip(row, widths))))
    sys.stdout.flush()


def judged(ratio, must, at_least=False):
    """Three cells of a table: the ratio, what it must be, and whether it is. must None: only the ratio counts."""
    if must is None:
        return [ratio, "", ""]
    return [ratio, must, "yes" if (ratio >= must if at_least else ratio <= must) else "NO"]


def rest(seconds):
    time.sleep(seconds)

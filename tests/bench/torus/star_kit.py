# SPDX-License-Identifier: Apache-2.0
"""What a torus is measured against: a star, servers in network namespaces, each on one cable to a bridge, both ends of
every cable shaped to one rate; and on it the two programs of Debian that bring a file to many by IP multicast, udpcast
and uftp.

The namespaces and cables have no name outside this process, and go with it, however it ends; so do the programs.
"""

import ctypes
import filecmp
import os
import re
import shutil
import signal
import subprocess
import threading
import time

CLONE_NEWNET, PR_SET_PDEATHSIG = 0x40000000, 1
FRAMING = 24  # preamble, check sequence, gap: what a cable carries besides a frame, and cwlab counts
LIMIT_S = 120
LIBC = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    if getattr(LIBC, name)(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


def die_with_parent():
    call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Star:
    """`servers` namespaces with the addresses 10.78.0.1 and up, device "e". rate: as tc takes it; queue: bytes that
    wait at a port; first: words before each program."""

    def __init__(self, servers, rate, mtu, first=(), queue=1 << 20):
        self.first = first
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.hub = self.namespace()
        self.servers = [self.namespace() for _ in range(servers)]
        shape = f"root tbf rate {rate} burst {2 * (mtu + 14 + FRAMING)} limit {queue} overhead {FRAMING}".split()
        self.run(self.hub, "ip", "link", "add", "switch", "mtu", str(mtu), "type", "bridge", "mcast_snooping", "0")
        self.run(self.hub, "ip", "link", "set", "switch", "up")
        for number, server in enumerate(self.servers):
            port = f"p{number}"
            self.run(self.hub, "ip", "link", "add", port, "mtu", str(mtu), "type", "veth", "peer", "name", "e", "mtu",
                     str(mtu),
                     "netns", self.path(server))
            self.run(self.hub, "ip", "link", "set", port, "master", "switch", "up")
            self.run(self.hub, "tc", "qdisc", "add", "dev", port, *shape)
            self.run(server, "ip", "address", "add", f"10.78.0.{number + 1}/24", "broadcast", "10.78.0.255", "dev", "e")
            self.run(server, "ip", "link", "set", "lo", "up")
            self.run(server, "ip", "link", "set", "e", "up")
            self.run(server, "tc", "qdisc", "add", "dev", "e", *shape)
            self.run(server, "ip", "route", "add", "224.0.0.0/4", "dev", "e")

    def namespace(self):
        call("unshare", CLONE_NEWNET)
        made = os.open("/proc/self/ns/net", os.O_RDONLY)
        call("setns", self.home, CLONE_NEWNET)
        return made

    @staticmethod
    def path(namespace):
        return f"/proc/{os.getpid()}/fd/{namespace}"

    def run(self, namespace, *words):
        subprocess.run(["nsenter", "--net=" + self.path(namespace), *words], check=True, capture_output=True, text=True,
                       timeout=10)

    def start(self, number, *words):
        """Starts a program on a server; its standard error is for the caller to read."""
        return subprocess.Popen(["nsenter", "--net=" + self.path(self.servers[number]), *self.first, *words],
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for namespace in [self.hub, *self.servers, self.home]:
            os.close(namespace)


def drain(process):
    """Reads what a program says until it ends, so that it is never kept waiting."""
    threading.Thread(target=process.stderr.read, daemon=True).start()


def kill(processes):
    for process in processes:
        process.kill()
        process.wait()


def count_whole(file, copies):
    return sum(os.path.exists(copy) and filecmp.cmp(file, copy, shallow=False) for copy in copies)


def udpcast(star, members, file, folder, tuning):
    """Server 0 sends the file to the next `members`. Seconds from the first packet of the file until the sender knows
    that all have it: the time to find one another is not counted. Every copy is compared."""
    copies = [os.path.join(folder, str(number)) for number in range(1, members + 1)]
    receivers = [star.start(number + 1, "udp-receiver", "--interface", "e", "--nokbd", "--file", copy) for number,
                 copy in enumerate(copies)]
    for receiver in receivers:
        drain(receiver)
    time.sleep(0.5)
    sender = star.start(0, "udp-sender", "--interface", "e", "--nokbd", "--min-receivers", str(members),
                        "--nopointopoint", "--file", file, *tuning)
    watchdog = threading.Timer(LIMIT_S, sender.kill)
    watchdog.start()
    began, ended, text = None, None, b""
    try:
        while ended is None and (some := os.read(sender.stderr.fileno(), 4096)):
            text = text[-100:] + some
            began = time.monotonic() if began is None and b"Starting transfer" in text else began
            ended = time.monotonic() if b"Transfer complete" in text else None
        drain(sender)
        sender.wait(timeout=LIMIT_S)
        for receiver in receivers:
            receiver.wait(timeout=10)
    finally:
        watchdog.cancel()
        kill([sender, *receivers])
    if ended is None or count_whole(file, copies) != members:
        raise RuntimeError(f"udpcast {tuning}: not everybody has the file: {text[-300:]}")
    for copy in copies:
        os.remove(copy)
    return ended - began


def uftp(star, members, file, folder, tuning):
    """As udpcast(), but by uftp's own clock, which leaves out announcing and registering."""
    folders = [os.path.join(folder, str(number)) for number in range(1, members + 1)]
    receivers = []
    for number, each in enumerate(folders, start=1):
        os.makedirs(each)
        receivers.append(star.start(number, "uftpd", "-d", "-I", "e", "-B", "8000000", "-D", each, "-U",
                                    f"0x{number:08x}"))
        drain(receivers[-1])
    time.sleep(0.5)
    names = ",".join(f"0x{number:08x}" for number in range(1, members + 1))
    sender = star.start(0, "uftp", "-I", "e", "-B", "8000000", "-H", names, *tuning, file)
    try:
        said = sender.communicate(timeout=LIMIT_S)[1].decode(errors="replace")
        took = [float(seconds) for seconds in re.findall(r"Status: Completed\s+time:\s+([0-9.]+)", said)]
        if len(took) != members or count_whole(file, [os.path.join(each, os.path.basename(file))
                                                      for each in folders]) != members:
            raise RuntimeError(f"uftp {tuning}: not everybody has the file:\n{said[-2000:]}")
    finally:
        kill([sender, *receivers])
        for each in folders:
            shutil.rmtree(each, ignore_errors=True)
    return max(took)

# SPDX-License-Identifier: Apache-2.0
"""What the tests of daemons on real links share: namespaces, cables, daemons, and their logs.

    test_x.py --cubewayd <program> [unittest's words]

A test that needs a network starts itself again in namespaces of its own (network and processes): whatever it makes is
gone when it ends, however it ends, and nothing of it has a name outside. Exit code 77, with the reason, where that
cannot be had.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SKIP = 77
LIMIT_S = 20
OPTIONS = None
# Ten times as long as usual: a machine that is busy with other tests keeps a process waiting for longer than neighbours
# with the usual timers would wait for its hellos.
PATIENT = "timers { hello = 100ms; dead = 500ms; hold = 600ms; pending_limit = 5s }\n"
INSIDE = "CUBEWAY_TEST_INSIDE"
AXES = "xyz"
LINKS = ["+x", "-x", "+y", "-y", "+z", "-z"]


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=LIMIT_S, **more)


class Space:
    """A network namespace, held by a process that sleeps in it; with user: in a user namespace, whose root is ours."""

    def __init__(self, user=False):
        # Whoever is nobody outside may not set groups within, and need not.
        self.user = ["--user", "--preserve-credentials"] if user else []
        self.holder = subprocess.Popen(["unshare", *(["--user", "--map-root-user"] if user else []), "--net", "sleep",
                                        "1000"])
        ours = os.readlink("/proc/self/ns/net")
        end = time.monotonic() + LIMIT_S
        while self.name() in (ours, None):
            if time.monotonic() > end or self.holder.poll() is not None:
                raise RuntimeError("no network namespace")
            time.sleep(0.002)

    def name(self):
        try:
            return os.readlink(f"/proc/{self.holder.pid}/ns/net")
        except OSError:
            return None

    def enter(self, *words):
        return ["nsenter", "-t", str(self.holder.pid), *self.user, "--net", *words]

    def ip(self, *words):
        run(*self.enter("ip", *words))

    def close(self):
        self.holder.kill()
        self.holder.wait()


def can_have_users():
    """May a user namespace be made here?"""
    return subprocess.run(["unshare", "--user", "--map-root-user", "--net", "true"], capture_output=True,
                          check=False).returncode == 0


def cable(space, port, far_space, far_port, mtu=1500):
    run("ip", "link", "add", port, "mtu", str(mtu), "netns", str(space.holder.pid), "type", "veth",
        "peer", "name", far_port, "mtu", str(mtu), "netns", str(far_space.holder.pid))
    space.ip("link", "set", port, "up")
    far_space.ip("link", "set", far_port, "up")


def port_name(link):
    return ("p" if link[0] == "+" else "m") + link[1]


class Daemon:
    """cubewayd with a configuration, in a namespace or in ours."""

    def __init__(self, folder, name, config, space=None, words=(), program=None):
        self.file = os.path.join(folder, name + ".conf")
        self.log_file = os.path.join(folder, name + ".log")
        with open(self.file, "w", encoding="utf-8") as out:
            out.write(config)
        self.words = [program or OPTIONS.cubewayd, "-c", self.file, *words]
        if space is not None:
            self.words = space.enter(*self.words)
        self.process = None
        self.start()

    def start(self):
        with open(self.log_file, "ab") as log:
            self.begin = log.tell()
            # In a session of its own, as under a service manager: then its priority counts before other work, too.
            self.process = subprocess.Popen(self.words, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)

    def log(self):
        """What it has logged since it was last started."""
        with open(self.log_file, "rb") as log:
            log.seek(self.begin)
            return log.read().decode()

    def wait_for(self, pattern, after=0):
        """Waits until the log has a line with the pattern after that offset. Returns the offset after the line."""
        end = time.monotonic() + LIMIT_S
        while True:
            found = re.search(pattern, self.log()[after:])
            if found:
                return after + found.end()
            if time.monotonic() > end:
                raise AssertionError(f"{self.file}: no '{pattern}' in\n{self.log()[after:]}")
            time.sleep(0.005)

    def end(self, how=signal.SIGTERM):
        """Waits until it has ended. Returns its exit code."""
        self.process.send_signal(how)
        return self.process.wait(LIMIT_S)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT_S)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cubeway-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def space(self, user=False):
        space = Space(user)
        self.addCleanup(space.close)
        return space

    def daemon(self, name, config, space=None, words=(), control="", program=None):
        common = f'state_dir = "{self.folder}/state"; control {{ socket = "{control}" }} log {{ level = debug }}\n'
        common += "" if "timers" in config else PATIENT
        # Before it attaches the relay, the kernel verifies it, for each daemon of a test.
        common += "" if "transit" in config else "transit = user\n"
        daemon = Daemon(self.folder, name, common + config, space, words, program)
        self.addCleanup(daemon.kill)
        return daemon

    def cubewayd(self, *words, code=0):
        done = subprocess.run([OPTIONS.cubewayd, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def file(self, text):
        path = os.path.join(self.folder, "some.conf")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def torus(self, dims, mtu=1500):
        """A torus of daemons, each in a namespace of its own, wired up; {coordinate: daemon}."""
        places = [(x, y, z) for x in range(dims[0]) for y in range(dims[1]) for z in range(dims[2])]
        spaces = {place: self.space() for place in places}
        for place in places:
            for axis in range(3):
                if dims[axis] > 1:
                    far = list(place)
                    far[axis] = (far[axis] + 1) % dims[axis]
                    cable(spaces[place], "p" + AXES[axis], spaces[tuple(far)], "m" + AXES[axis], mtu)
        links = "".join(f'"{link}" {{ shim = raw; interface = {port_name(link)} }}\n' for link in LINKS
                        if dims[AXES.index(link[1])] > 1)
        size = "x".join(map(str, dims))
        daemons = {}
        for place in places:
            text = ",".join(map(str, place))
            config = f'torus {{ dims = {size}; coordinate = "{text}" }}\nlinks {{ {links} }}\n'
            daemons[place] = self.daemon("server-" + text, config, spaces[place])
        return daemons


def start_inside():
    """Starts this very test again in namespaces of its own, and ends with its code."""
    words = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        words += ["--user", "--map-root-user"]
    for tool in ("unshare", "nsenter", "ip"):
        if shutil.which(tool) is None:
            print(f"skipped: there is no {tool} here")
            sys.exit(SKIP)
    tried = subprocess.run([*words, "true"], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if tried.returncode != 0:
        print(f"skipped: no namespaces here: {tried.stderr.strip()}")
        sys.exit(SKIP)
    sys.exit(subprocess.run([*words, sys.executable, "-B", *sys.argv], env={**os.environ, INSIDE: "1"},
                            check=False).returncode)


def main(network):
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--cubewayd", required=True)
    parser.add_argument("--cwctl")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--later", help="the daemon of a later release")
    parser.add_argument("--wire", help="the daemon of a release with another version of the wire")
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.cubewayd = os.path.abspath(OPTIONS.cubewayd)
    if network and INSIDE not in os.environ:
        start_inside()
    unittest.main(argv=[sys.argv[0], *rest])

# SPDX-License-Identifier: Apache-2.0
"""What the tests of cwctl share: a torus in one process, and cwctl run as a user runs it, for its table and for its
JSON.

    test_x.py --cubewayd <program> --cwctl <program> [--module <a service's .so>] [--lua <the dissector>] [unittest's
    words]

One daemon serves all tests of a class; its timers are patient, because the machine may be busy with other tests.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SKIP = 77
LIMIT_S = 30
OPTIONS = None
TIMERS = "timers { hello = 100ms; dead = 2s; hold = 2100ms; flood_bound = 100ms; pending_limit = 5s }\n"
LINKS = ["+x", "-x", "+y", "-y", "+z", "-z"]
SERVERS = [f"{x},{y},{z}" for x in range(3) for y in range(3) for z in range(3)]


class Case(unittest.TestCase):
    maxDiff = None
    config = 'torus { dims = "3x3x3"; coordinate = all }\n'
    settled = True

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="cubeway-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.socket = os.path.join(cls.folder, "all.sock")
        file = os.path.join(cls.folder, "all.conf")
        with open(file, "w", encoding="utf-8") as out:
            out.write(TIMERS + f'control {{ socket = "{cls.socket}"; mode = 0600 }}\n' + cls.config)
        cls.log = os.path.join(cls.folder, "log")
        with open(cls.log, "wb") as log:
            cls.process = subprocess.Popen([OPTIONS.cubewayd, "-c", file], stderr=log, stdin=subprocess.DEVNULL)
        cls.addClassCleanup(cls.end)
        cls.settle()

    @classmethod
    def end(cls):
        if cls.process.poll() is None:
            cls.process.kill()
        cls.process.wait(LIMIT_S)

    @classmethod
    def raw(cls, *words, env=None):
        words = [OPTIONS.cwctl, *words]
        environment = {"PATH": os.environ["PATH"], "CUBEWAY_SOCKET": cls.socket, **(env or {})}
        return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment)

    @classmethod
    def settle(cls):
        """Waits until every server serves and no link is missing."""
        end = time.monotonic() + LIMIT_S
        while cls.raw("--server", "all", "status").returncode != 0:
            if time.monotonic() > end or cls.process.poll() is not None:
                with open(cls.log, encoding="utf-8") as log:
                    raise AssertionError("the torus does not come together\n" + log.read()[-4000:])
            time.sleep(0.05)

    def cwctl(self, line, *more, code=0):
        """Runs `cwctl <line> <more>`, which must end with that code. Returns its standard output."""
        done = self.raw(*line.split(), *more)
        self.assertEqual(done.returncode, code, f"{line} {more}\n{done.stdout[-3000:]}{done.stderr}")
        if code == 0:
            self.assertEqual(done.stderr, "")
        return done.stdout

    def rows(self, line, *more, code=0):
        """Runs it with --json. Returns a list of objects."""
        return [json.loads(row) for row in self.cwctl("--json " + line, *more, code=code).splitlines()]

    def refused(self, line, *says, code):
        """It must say these words in one line on standard error, and nothing on standard output."""
        done = self.raw(*line.split())
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for words in says:
            self.assertIn(words, done.stderr)

    def table(self, line, code=0):
        """Runs it for its table. Returns the titles, and the rows as lists of cells."""
        lines = self.cwctl(line, code=code).splitlines()
        return lines[0].split(), [row.split() for row in lines[1:]]


class Job(Case):
    """A daemon that knows an operator; cwctl finds the operator's private key by itself."""

    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.mkdtemp(prefix="cubeway-test-")
        cls.addClassCleanup(shutil.rmtree, cls.keys)
        cls.key = os.path.join(cls.keys, "operator.key")
        subprocess.run([OPTIONS.cwctl, "job", "keygen", cls.key], check=True, capture_output=True, timeout=LIMIT_S)
        cls.config = f'cluster = 7; operator_key = "{cls.key}.pub"\n' + Case.config
        super().setUpClass()

    @classmethod
    def raw(cls, *words, env=None):
        return super().raw(*words, env={"CUBEWAY_OPERATOR_KEY": cls.key, **(env or {})})

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path


class InNamespace(Case):
    """A daemon in a network namespace of its own: it may make a device there, and nobody else sees it."""
    config = 'torus { dims = "1x1x1"; coordinate = "0,0,0" } alone = true\n'
    enter = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="cubeway-test-")
        cls.addClassCleanup(shutil.rmtree, folder)
        daemon, wrapper = os.path.abspath(OPTIONS.cubewayd), os.path.join(folder, "cubewayd")
        with open(wrapper, "w", encoding="utf-8") as out:
            out.write(f'#!/bin/sh\nexec {" ".join(cls.enter)} {daemon} "$@"\n')
        os.chmod(wrapper, 0o700)
        cls.config = f'state_dir = "{folder}/state"\n' + cls.config
        OPTIONS.cubewayd = wrapper
        try:
            super().setUpClass()
        finally:
            OPTIONS.cubewayd = daemon


def need_device():
    """Skips the test where no tun can be made."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        print("skipped: no /dev/net/tun here")
        sys.exit(SKIP)
    if subprocess.run([*InNamespace.enter, "true"], capture_output=True, check=False).returncode != 0:
        print("skipped: no network namespaces here")
        sys.exit(SKIP)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    for option in ("--cubewayd", "--cwctl"):
        parser.add_argument(option, required=True)
    for option in ("--module", "--lua"):
        parser.add_argument(option)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])

# SPDX-License-Identifier: Apache-2.0
"""What the tests of cwlab share: a folder for labs of their own, the programs, and a lab.

    test_x.py --bin <folder of programs> [--module <a service's .so>] [--long] [unittest's words]

Labs are in namespaces that cwlab makes; all of them are taken down in the end, and what a test leaves is a failure.
Exit code 77, with the reason, where namespaces cannot be had.
"""

import argparse
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SKIP = 77
LIMIT_S = 60
OPTIONS = None


def run(*words, code=0, **more):
    """Runs cwlab, whose exit code must be this one (None: any). Returns the finished process."""
    done = subprocess.run([OPTIONS.cwlab, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False, **more)
    if code is not None and done.returncode != code:
        raise AssertionError(f"cwlab {' '.join(words)}: {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done


def lines(*words, code=0):
    """Runs it with --json, which prints an object a line. Returns a list of objects."""
    return [json.loads(line) for line in run(*words, "--json", code=code).stdout.splitlines()]


def ask(*words, code=0):
    """The last line of --json: the whole report, or where it has rows, what it says of all of them."""
    return lines(*words, code=code)[-1]


def rows(*words, code=0):
    """The lines of --json before the last one."""
    return lines(*words, code=code)[:-1]


def alive(pid):
    """True when the process runs. A zombie does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):  # it may end between the opening and the reading
        return False


def until(what, true, limit=LIMIT_S):
    end = time.monotonic() + limit
    while not true():
        if time.monotonic() > end:
            raise AssertionError("not in time: " + what)
        time.sleep(0.02)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cwlab-")
        os.environ["CWLAB_DIR"] = self.folder
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.addCleanup(run, "down", "--all", code=None)

    def up(self, *words):
        """Brings up a lab with unscaled timers: these tests must not depend on how busy the machine is."""
        return ask("up", *words, *([] if "--scale" in words else ["--scale", "1"]))

    def pids(self):
        return [daemon["pid"] for daemon in rows("status", code=None)]

    def wait_all(self, count=27):
        def whole():
            said = ask("status", code=None)
            return said["know_all"] == count and said["all_links_up"] == count
        until(f"{count} servers that know each other", whole)

    def nothing_left(self, pids):
        until("all processes ended", lambda: not any(map(alive, pids)))


def main(needs_namespaces=True):
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--module")
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.bin = os.path.abspath(OPTIONS.bin)
    OPTIONS.cwlab = os.path.join(OPTIONS.bin, "cwlab")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if needs_namespaces:
        words = ["unshare", "--net", "true"] if os.geteuid() == 0 else ["unshare", "--user", "--net", "true"]
        if shutil.which("unshare") is None or subprocess.run(words, capture_output=True, check=False).returncode != 0:
            print("skipped: no network namespaces here")
            sys.exit(SKIP)
    unittest.main(argv=[sys.argv[0], *rest])

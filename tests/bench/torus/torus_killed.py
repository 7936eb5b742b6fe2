# SPDX-License-Identifier: Apache-2.0
"""A bench that is killed leaves no lab behind, and no program that it had started there (torus_kit.py)."""

import os
import signal
import subprocess
import sys
import time

from torus_kit import LIMIT_S, Lab, options, program

PARTS = ["killed", "victim"]


def labs():
    return subprocess.run([program("cwlab"), "list", "--json"], check=True, capture_output=True, text=True).stdout


def victim():
    with Lab("2x1x1") as lab:
        peer = lab["0,0,0"].peer("sink", "px")
        print(lab.name, lab["0,0,0"].pid, peer.process.pid, flush=True)
        time.sleep(LIMIT_S)


def killed():
    bench = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), *sys.argv[1:], "victim"],
                             stdout=subprocess.PIPE, text=True)
    name, *pids = bench.stdout.readline().split()
    if name not in labs():
        sys.exit(f"{name} is not in the list: {labs()}")
    bench.send_signal(signal.SIGKILL)
    bench.wait()
    end = time.monotonic() + LIMIT_S
    while name in labs() or any(os.path.exists(f"/proc/{pid}") for pid in pids):
        if time.monotonic() > end:
            sys.exit(f"{name}, or one of the processes {pids}, outlives its bench")
        time.sleep(0.05)
    print(f"{name} and its processes {pids} are gone with their bench")


(victim if options(PARTS) == ["victim"] else killed)()

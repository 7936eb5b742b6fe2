# SPDX-License-Identifier: Apache-2.0
"""Vectors of 27 servers that become one on real cables, beside Open MPI on a switch.

shaped  links of 20 Mb/s: the sum of 15 MB of float32 of each server, to one and to all; beside it Open MPI on a star
        of 27 servers with 20 Mb/s each, as it comes and in five tunings. Skipped where mpirun is not installed.
half    the same at 10 Mb/s, where the processors have more time
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from star_kit import Star, die_with_parent
from torus_kit import LIMIT_S, Lab, options, priority, program, rounds, smoke, table, title

PARTS = ["shaped", "half"]
SERVERS, MTU, LINKS = 27, 9000, 6
# The algorithms of Open MPI's component "tuned": numbers as ompi_info gives them, and the bytes of a segment.
TUNINGS = {"reduce": [(3, 65536), (2, 65536), (5, 65536), (4, 65536), (7, 0)],
           "allreduce": [(4, 0), (5, 65536), (3, 0), (6, 0), (2, 65536)]}
NAMES = {("reduce", 2): "chain", ("reduce", 3): "pipeline", ("reduce", 4): "binary", ("reduce", 5): "binomial",
         ("reduce", 7): "Rabenseifner", ("allreduce", 2): "reduce and broadcast", ("allreduce", 3): "doubling",
         ("allreduce", 4): "ring", ("allreduce", 5): "segmented ring", ("allreduce", 6): "Rabenseifner"}


def ours(lab, what, size):
    """The rate at which the members' vectors go in, by the root's clock; every element is compared."""
    to = "all" if what == "allreduce" else "0,0,0"
    said = subprocess.run([program("cwlab"), "ctl", "--name", lab.name, "0,0,0", "aggregate", "check", "--bytes",
                           str(size), "--to", to, "--json"], capture_output=True, text=True, timeout=4 * LIMIT_S,
                          check=False)
    rows = [json.loads(line) for line in said.stdout.splitlines()]
    if said.returncode != 0 or not rows:
        raise RuntimeError(f"aggregate check: {said.stdout}{said.stderr}")
    return 8 * size / (rows[0]["took_ns"] / 1e9)


class Mpi:
    """Ranks on the servers of a star, each with a host name of its own, so that none thinks of shared memory."""

    def __init__(self, star, folder):
        self.star, self.agent = star, os.path.join(folder, "agent")
        with open(self.agent, "w", encoding="ascii") as text:
            text.write("#!/bin/sh\n# mpirun's way to a server: agent ADDRESS COMMAND..\n"
                       "number=${1##*.} address=$1\nshift\n"
                       "case $number in\n")
            for number, server in enumerate(star.servers):
                text.write(f"{number + 1}) net={Star.path(server)} ;;\n")
            text.write("esac\nexec nsenter --net=\"$net\" unshare --uts sh -c 'hostname \"s$1\"; shift; "
                       "exec sh -c \"$*\"' agent \"$number\" \"$@\"\n")
        os.chmod(self.agent, 0o755)

    def run(self, what, size, count, tuning=None):
        """The median rate of `count` rounds."""
        words = ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "unshare", "--uts", "sh", "-c",
                 "hostname s1; exec \"$@\"", "mpi", "mpirun", "-np", str(SERVERS), "--host",
                 ",".join(f"10.78.0.{number + 1}" for number in range(SERVERS)), "--mca", "plm_rsh_agent", self.agent,
                 "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca",
                 "btl_tcp_if_include", "e", "--mca", "oob_tcp_if_include", "e", "--mca", "mpi_yield_when_idle", "1",
                 "--bind-to", "none"]
        if tuning is not None:
            algorithm, segment = tuning
            words += ["--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", f"coll_tuned_{what}_algorithm",
                      str(algorithm), "--mca", f"coll_tuned_{what}_algorithm_segmentsize", str(segment)]
        words += [program("mpi_reduce"), what, str(size), str(count)]
        said = subprocess.run(["nsenter", "--net=" + Star.path(self.star.servers[0]), *priority(), *words],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False,
                              preexec_fn=die_with_parent)
        seconds = [float(line) for line in said.stdout.split()]
        if said.returncode != 0 or len(seconds) != count:
            raise RuntimeError(f"mpirun: {what} {tuning}: {said.stdout}{said.stderr[-1000:]}")
        return 8 * size / statistics.median(seconds)


def best_tuning(mpi, what, size):
    """By one shorter vector."""
    rates = []
    for tuning in TUNINGS[what][:smoke(1, None)]:
        try:
            rates.append((mpi.run(what, size // 4, 1, tuning), tuning))
            print(f"# Open MPI {what}, {NAMES[what, tuning[0]]}, segments of {tuning[1]}: "
                  f"{rates[-1][0] / 1e6:.2f} Mb/s")
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"# {error}")
        sys.stdout.flush()
    return max(rates)[1]


def beside(rate, size, goals):
    """goals: of the torus by what is measured, in Mb/s; 0: none."""
    peer = shutil.which("mpirun") is not None and os.path.exists(program("mpi_reduce"))
    if not peer:
        print("# Open MPI is not installed here (openmpi-bin and libopenmpi-dev at build time): nothing beside it")
    # 27 daemons fill two processors here: with patient timers none is called dead for that.
    with Lab("3x3x3", "--mtu", str(MTU), "--scale", smoke("20", "4"), "--rate", f"{rate / 1e6:.0f}mbit") as lab, \
            Star(SERVERS, f"{rate / 1e6:.0f}mbit", MTU, priority()) as star, \
            tempfile.TemporaryDirectory(prefix="reduce-") as folder:
        mpi = Mpi(star, folder)
        rows = []
        for what in "reduce", "allreduce":
            bound = LINKS * rate / (1 if what == "reduce" else 2)
            contenders = [lambda what=what: ours(lab, what, size)]
            if peer:
                tuning = best_tuning(mpi, what, size)
                contenders += [lambda what=what: mpi.run(what, size, 1),
                               lambda what=what, tuning=tuning: mpi.run(what, size, 1, tuning)]
            results = rounds(*contenders)
            rates = [statistics.median(result) for result in results]
            row = [what, rates[0] / 1e6, goals[what] or "none", bound / 1e6, rates[0] / bound]
            if peer:
                row += [rates[1] / 1e6, rates[2] / 1e6, NAMES[what, tuning[0]], rates[0] / max(rates[1:]), "6"]
            rows.append(row)
        title(f"sums of {size / 1e6:g} MB of float32 of 27 servers, links of {rate / 1e6:.0f} Mb/s")
        heads = ["", "Mb/s", "goal", "bound", "of it"]
        table(heads + (["Open MPI", "tuned", "best tuning", "times the best", "goal"] if peer else []), rows)


def shaped():
    beside(20e6, smoke(400_000, 15_000_000), {"reduce": 106, "allreduce": 54})


def half():
    if smoke(True, False):
        return  # it would show nothing that the other part does not
    beside(10e6, smoke(200_000, 7_500_000), {"reduce": 0, "allreduce": 0})


for part in options(PARTS):
    {"shaped": shaped, "half": half}[part]()

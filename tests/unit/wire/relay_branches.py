#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unit.wire.relay_branches: compiles the test of the relay's judge with gcov, runs it, and demands that every line of
the judge (runtime/wire/relay.h) ran and that every branch went both ways. Skips without gcc or gcov."""

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
JUDGE = "runtime/wire/relay.h"


def build_and_run(root, scratch):
    """Compiles the test, which contains the judge, for coverage, and runs it in one process."""
    include = ["-I" + os.path.join(root, folder) for folder in ("include", "runtime", "tests/kit", "tests/kit/model")]
    libs = subprocess.run(["pkg-config", "--cflags", "--libs", "check"], check=True, capture_output=True, text=True)
    flags = ["-std=gnu17", "-O0", "-g", "-pthread", "-DRELAY_STEPS", *include]
    test = os.path.join(root, "tests/unit/wire/test_relay.c")
    rest = [os.path.join(root, path) for path in ("runtime/wire/relay.c", "runtime/base/check.c")]
    subprocess.run(["gcc", *flags, "--coverage", "-c", test, "-o", "test.o"], cwd=scratch, check=True)
    subprocess.run(["gcc", *flags, *rest, "test.o", "--coverage", "-fno-profile-arcs", "-fno-test-coverage", "-o",
                    "test", *libs.stdout.split()], cwd=scratch, check=True)
    done = subprocess.run([os.path.join(scratch, "test")], cwd=scratch, env={**os.environ, "CK_FORK": "no"},
                          stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, SKIP):  # without forks the test that a CHECK ends is left out
        sys.exit(f"the test fails: {done.returncode}")


def read_lines(scratch):
    """What gcov knows of the judge: its lines, and of each the branches."""
    subprocess.run(["gcov", "--json-format", "--branch-probabilities", "test.o"], cwd=scratch, check=True,
                   stdout=subprocess.DEVNULL)
    report = next(name for name in os.listdir(scratch) if name.endswith(".gcov.json.gz"))
    with gzip.open(os.path.join(scratch, report), "rt") as file:
        data = json.load(file)
    return next(entry["lines"] for entry in data["files"] if entry["file"].endswith("wire/relay.h"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    options = parser.parse_args()
    for tool in ("gcc", "gcov", "pkg-config"):
        if shutil.which(tool) is None:
            print(f"skip: no {tool}")
            return SKIP
    with tempfile.TemporaryDirectory() as scratch:
        build_and_run(os.path.abspath(options.root), scratch)
        lines = read_lines(scratch)
    idle = [line["line_number"] for line in lines if line["count"] == 0]
    branches = [(line["line_number"], branch["count"]) for line in lines for branch in line["branches"]]
    never = sorted({number for number, count in branches if count == 0})
    print(f"{JUDGE}: {len(lines)} lines, {len(branches)} branches; lines that never ran: {idle}; "
          f"with a branch never taken: {never}")
    return 1 if idle or never or not branches else 0


if __name__ == "__main__":
    sys.exit(main())

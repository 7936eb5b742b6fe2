#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unit.nmu.branches: compiles the file that decides (runtime/nmu/check.c) and its test with gcov, runs the test, and
demands that every line ran and every branch went both ways. Skips without gcc or gcov."""

import argparse
import json
import gzip
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
SOURCES = ("runtime/nmu", "runtime/wire", "runtime/base")


def sources(root):
    for folder in SOURCES:
        for name in sorted(os.listdir(os.path.join(root, folder))):
            if name.endswith(".c"):
                yield os.path.join(root, folder, name)


def build_and_run(root, view, scratch):
    """Compiles check.c alone for coverage, the rest plainly, and runs the test in one process."""
    check = os.path.join(root, "runtime/nmu/check.c")
    flags = ["-std=gnu17", "-O0", "-g", "-pthread", "-Iinclude", "-Itests/kit", "-Itests/kit/model", "-I" + view]
    include = [flag.replace("-I", "-I" + root + "/", 1) if flag.startswith(("-Iinclude", "-Itests/")) else flag
               for flag in flags]
    subprocess.run(["gcc", *include, "--coverage", "-c", check, "-o", "check.o"], cwd=scratch, check=True)
    rest = [path for path in sources(root) if path != check]
    test = os.path.join(root, "tests/unit/nmu/test_check.c")
    libs = subprocess.run(["pkg-config", "--cflags", "--libs", "check"], check=True, capture_output=True, text=True)
    subprocess.run(["gcc", *include, "-O2", "--coverage", "-fno-profile-arcs", "-fno-test-coverage", test, *rest,
                    "check.o", "-o", "test", *libs.stdout.split()], cwd=scratch, check=True)
    subprocess.run([os.path.join(scratch, "test")], cwd=scratch, check=True, env={**os.environ, "CK_FORK": "no"},
                   stdout=subprocess.DEVNULL)


def read_lines(scratch):
    """What gcov knows of check.c: its lines, and of each the branches."""
    subprocess.run(["gcov", "--json-format", "--branch-probabilities", "check.o"], cwd=scratch, check=True,
                   stdout=subprocess.DEVNULL)
    report = next(name for name in os.listdir(scratch) if name.endswith(".gcov.json.gz"))
    with gzip.open(os.path.join(scratch, report), "rt") as file:
        data = json.load(file)
    return next(entry["lines"] for entry in data["files"] if entry["file"].endswith("runtime/nmu/check.c"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    options = parser.parse_args()
    root = os.path.abspath(options.root)
    for tool in ("gcc", "gcov", "pkg-config"):
        if shutil.which(tool) is None:
            print(f"skip: no {tool}")
            return SKIP
    with tempfile.TemporaryDirectory() as scratch:
        view = os.path.join(scratch, "view")
        os.mkdir(view)
        for folder in SOURCES:
            os.symlink(os.path.join(root, folder), os.path.join(view, os.path.basename(folder)))
        build_and_run(root, view, scratch)
        lines = read_lines(scratch)
    idle = [line["line_number"] for line in lines if line["count"] == 0]
    branches = [(line["line_number"], branch["count"]) for line in lines for branch in line["branches"]]
    never = sorted({number for number, count in branches if count == 0})
    print(f"check.c: {len(lines)} lines, {len(branches)} branches; lines that never ran: {idle}; "
          f"with a branch never taken: {never}")
    return 1 if idle or never or not branches else 0


if __name__ == "__main__":
    sys.exit(main())

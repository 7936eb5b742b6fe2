# SPDX-License-Identifier: Apache-2.0
"""house.tests: every source has a test file of its own, and every C file of the tree is compiled by the build, so that
neither a module nor a test can be there without being run."""

import re

from floors import folder_of, is_product, unit_folder
from tree import Finding, strip_comments

# A header needs tests when it has code of its own: an inline function's body.
INLINE = re.compile(r"\bstatic\s+(inline|__inline__)\b[^;{]*\{")

# Small private headers that another module's test sees through and through: header -> that test.
TESTED_WITH = {
    "runtime/wire/field.h": "tests/unit/wire/test_goodbye.c",
    "runtime/wire/relay_state.h": "tests/unit/wire/test_relay_publish.c",
    "shim/relay.bpf.c": "tests/unit/shim/test_relay.c",
    "runtime/boot/boot_internal.h": "tests/unit/boot/test_boot.c",
    "runtime/core/node_internal.h": "tests/unit/core/test_node.c",
    "ctl/main.c": "tests/net/ctl/test_cwctl.py",
}


# Sources that are compiled only where a library is installed which no test needs: source -> that library.
OPTIONAL = {"tests/bench/torus/mpi_reduce.c": "Open MPI"}

# Programs are tested from outside: of a folder, which sources are a program's commands, and where their tests are.
COMMANDS = {
    "simulator/cwsim": (re.compile(r"cmd_\w+|main"), "tests/sim/cwsim"),
    "daemon": (re.compile(r"main"), "tests/net"),
    "daemon/commands": (re.compile(r"cmd_\w+"), "tests/net/ctl"),
    "ctl": (re.compile(r"cmd_\w+"), "tests/net/ctl"),
    "ctl/jobs": (re.compile(r"cmd_\w+"), "tests/net/ctl"),
    "ctl/store": (re.compile(r"cmd_\w+"), "tests/net/ctl"),
    "testbed/cwlab": (re.compile(r"cmd_\w+|main"), "tests/net/lab"),
}


def check(tree, build):
    build.plain_or_skip()
    compiled = {command.source for command in build.commands}
    findings = []
    for path in filter(is_product, tree.files):
        folder = folder_of(path)
        if folder is None:
            continue  # house.floors says so
        stem = path[:-2]
        if path.endswith(".h") and (stem + ".c" in tree.files or not has_code(tree, path)):
            continue
        test = test_of(path)
        if test not in tree.files:
            like = "tests/sim/cwsim/cwsim_kit.py" if test.endswith(".py") else "tests/kit/suite.h"
            findings.append(Finding(path, 1, "this source has no test file", f"write {test} ({like})"))
    for path in tree.sources(".c"):
        if path not in compiled and path not in OPTIONAL and not is_kernel_program(tree, path):
            lists = path.rpartition("/")[0] + "/CMakeLists.txt"
            findings.append(Finding(path, 1, "no target of the build compiles this file",
                                    f"list it in {lists}, or remove it"))
    return findings


def is_kernel_program(tree, path):
    """Is it a program for the kernel that its folder's CMakeLists.txt names? No compiler of the build makes it."""
    folder, _, name = path.rpartition("/")
    return name.endswith(".bpf.c") and name in (tree.text(folder + "/CMakeLists.txt") or "")


def test_of(path):
    """The test file that a source or header must have."""
    folder, _, name = path.rpartition("/")
    stem = name[:-2]
    pattern, tests = COMMANDS.get(folder, (None, None))
    if pattern and path.endswith(".c") and pattern.fullmatch(stem):
        return f"{tests}/test_{stem}.py"
    return TESTED_WITH.get(path) or f"{unit_folder(folder)}/test_{stem}.c"


def has_code(tree, path):
    """Has this header an inline function?"""
    return INLINE.search(strip_comments(tree.text(path) or "")) is not None

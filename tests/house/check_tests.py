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
    "runtime/core/node_internal.h": "tests/unit/core/test_node.c",
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
        test = TESTED_WITH.get(path) or f"{unit_folder(path.rpartition('/')[0])}/test_{stem.rpartition('/')[2]}.c"
        if test not in tree.files:
            findings.append(Finding(path, 1, "this source has no test file", f"write {test} (tests/kit/suite.h)"))
    for path in tree.sources(".c"):
        if path not in compiled:
            lists = path.rpartition("/")[0] + "/CMakeLists.txt"
            findings.append(Finding(path, 1, "no target of the build compiles this file", f"list it in {lists}, or remove it"))
    return findings


def has_code(tree, path):
    """Has this header an inline function?"""
    return INLINE.search(strip_comments(tree.text(path) or "")) is not None

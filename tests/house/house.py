# SPDX-License-Identifier: Apache-2.0
"""The habits of the house, as tests.

    house.py [--root <tree>] [--build <build folder>] <check>...      (no check: all of them)

Prints what is wrong, where and what to do. Exit code 0: nothing found; 1: something; 77: could not be checked here.
How to add a check: CONTRIBUTING.md. Each is a function (tree, build) -> findings, with a planted fault in selftest.py.
"""

import argparse
import os
import sys

import check_clock
import check_floors
import check_format
import check_headers
import check_includes
import check_law
import check_links
import check_names
import check_shared
import check_shell
import check_spans
import check_symbols
import check_ternaries
import check_tests
import check_text
from tree import Build, Skip, Tree

# name -> (check, does it look at what was built?)
CHECKS = {
    "floors": (check_floors.check, False),
    "includes": (check_includes.check, True),
    "headers": (check_headers.check, True),
    "symbols": (check_symbols.check, True),
    "tests": (check_tests.check, True),
    "names": (check_names.check, False),
    "format": (check_format.check, False),
    "spdx": (check_text.spdx, False),
    "length": (check_text.length, False),
    "leftovers": (check_text.leftovers, False),
    "paths": (check_text.paths, False),
    "links": (check_links.check, False),
    "width": (check_text.width, False),
    "spans": (check_spans.check, False),
    "ternaries": (check_ternaries.check, False),
    "clock": (check_clock.check, False),
    "shared": (check_shared.check, False),
    "law": (check_law.check, False),
    "shell": (check_shell.check, False),
}


def main():
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description="the habits of the house, as tests")
    parser.add_argument("--root", default=top, help="the tree of sources")
    parser.add_argument("--build", help="the build folder (default: build/ in the tree)")
    parser.add_argument("--list", action="store_true", help="print the names of the checks, for CMake")
    parser.add_argument("checks", nargs="*", metavar="check", help=", ".join(CHECKS))
    options = parser.parse_args()
    if options.list:
        print(";".join(CHECKS))
        return 0
    unknown = [name for name in options.checks if name not in CHECKS]
    if unknown:
        parser.error(f"no check is called {', '.join(unknown)}; there are: {', '.join(CHECKS)}")
    tree, results = Tree(options.root), []
    for name in options.checks or CHECKS:
        results.append(one(tree, options.build or tree.absolute("build"), name))
    return 1 if 1 in results else max(results)


def one(tree, folder, name):
    check, looks_at_build = CHECKS[name]
    try:
        findings = check(tree, Build(tree, folder) if looks_at_build else None)
    except Skip as skip:
        print(f"house.{name}: skipped\n{skip}")  # the tally takes the last line for the reason
        return 77
    for finding in findings:
        print(finding)
    print(f"house.{name}: {len(findings)} found" if findings
          else f"house.{name}: all is well ({len(tree.files)} files)")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

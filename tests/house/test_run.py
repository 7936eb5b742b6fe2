# SPDX-License-Identifier: Apache-2.0
"""house.run: tests/run.sh and tests/tally.py do what they say, with cmake, ctest and the package tools played by others.

    test_run.py --scratch <folder for the trees>
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
OPTIONS = None

PASS = '<testcase name="good" status="run"><system-out>fine</system-out></testcase>'
FAIL = '<testcase name="bad" status="fail"><failure message="Failed"/><system-out>because of this</system-out></testcase>'
SKIP = ('<testcase name="away" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
        "<system-out>noise\nno such tool here\n</system-out></testcase>")
LOST = '<testcase name="lost" status="notrun"><skipped message="Unable to find executable"/></testcase>'

# What the actors say is in files beside them; CALLS gets every call, a line each.
ACTORS = {
    "cmake": 'echo "cmake $*" >>"$CALLS"; case " $* " in *" --build "*) exit "${BUILD_CODE:-0}" ;; esac; exit "${CONFIGURE_CODE:-0}"',
    "ctest": 'echo "ctest $*" >>"$CALLS"; while [ "$#" -gt 0 ]; do [ "$1" = --output-junit ] && junit=$2; shift; done; '
             '[ -z "$CASES" ] || echo "<testsuite>$CASES</testsuite>" >"$junit"; exit "${TEST_CODE:-0}"',
    "dpkg-query": 'for last; do :; done; case " $MISSING " in *" $last "*) exit 1 ;; esac; printf installed',
    "apt-get": 'echo "apt-get $*" >>"$CALLS"; exit 0',
    "id": 'echo "${USER_ID:-1000}"',
    "sudo": "exit 1",
    "clang": "exit 0",
    "nproc": "echo 2",
}


class Play(unittest.TestCase):
    def setUp(self):
        base = os.path.realpath(tempfile.mkdtemp(prefix="played-", dir=OPTIONS.scratch))
        self.addCleanup(shutil.rmtree, base)
        self.root, self.bin = os.path.join(base, "a tree"), os.path.join(base, "bin")  # with a space, on purpose
        os.makedirs(os.path.join(self.root, "tests"))
        os.makedirs(self.bin)
        for name in ("run.sh", "tally.py", "packages.txt"):
            shutil.copy(os.path.join(TESTS, name), os.path.join(self.root, "tests"))
        shutil.copy(os.path.join(TESTS, "..", "CMakePresets.json"), self.root)
        for name, code in ACTORS.items():
            self.actor(name, code)
        self.calls = os.path.join(base, "calls")

    def actor(self, name, code):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{code}\n")
        os.chmod(path, 0o755)

    def run_sh(self, *options, **environment):
        values = {"CASES": PASS, "MISSING": "", "CALLS": self.calls, **environment}
        done = subprocess.run(["bash", os.path.join(self.root, "tests/run.sh"), *options], cwd="/", check=False,
                              capture_output=True, text=True, env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", **values})
        self.said = done.stdout + done.stderr
        return done.returncode, (done.stdout.splitlines() or [""])[-1]

    def called(self):
        with open(self.calls, encoding="utf-8") as file:
            return file.read()

    def test_help_and_misuse(self):
        code, _ = self.run_sh("--help")
        self.assertEqual(code, 0)
        self.assertIn("usage:", self.said)
        for options in (["--fast"], ["quick"], ["--quick", "--soak"]):
            self.assertEqual(self.run_sh(*options)[0], 2)
            self.assertIn("usage:", self.said)
        self.assertFalse(os.path.exists(self.calls))

    def test_quick(self):
        self.assertEqual(self.run_sh("--quick"), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.called().count("ctest"), 1)
        self.assertIn("-DCUBEWAY_WERROR=ON", self.called())

    def test_all_configurations_add_up(self):
        self.assertEqual(self.run_sh(CASES=PASS + PASS + SKIP), (0, "12 passed, 0 failed, 6 skipped"))
        self.assertIn("skipped release: away: no such tool here", self.said)

    def test_failure(self):
        self.assertEqual(self.run_sh("--quick", CASES=PASS + FAIL, TEST_CODE="8"), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("failed release: bad", self.said)
        self.assertIn("because of this", self.said)

    def test_program_that_is_not_there(self):
        self.assertEqual(self.run_sh("--quick", CASES=PASS + LOST)[1], "1 passed, 1 failed, 0 skipped")

    def test_silence_is_no_pass(self):
        self.assertEqual(self.run_sh("--quick", CASES=""), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertEqual(self.run_sh("--quick", CASES="<oops>"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertEqual(self.run_sh("--quick", CASES=SKIP), (1, "0 passed, 0 failed, 1 skipped"))
        self.assertEqual(self.run_sh("--quick", TEST_CODE="1"), (1, "1 passed, 1 failed, 0 skipped"))

    def test_through_a_link_and_any_cdpath(self):
        link = os.path.join(self.bin, "link.sh")
        os.symlink(os.path.join(self.root, "tests/run.sh"), link)
        values = {"CASES": PASS, "MISSING": "", "CALLS": self.calls, "CDPATH": ".:/usr"}
        done = subprocess.run(["bash", link, "--quick"], cwd="/", check=False, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", **values})
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 0 failed, 0 skipped")
        self.assertTrue(os.path.isdir(os.path.join(self.root, "build/run")))

    def test_not_a_tree(self):
        os.remove(os.path.join(self.root, "CMakePresets.json"))
        self.assertEqual(self.run_sh("--quick")[0], 1)
        self.assertIn("is not a cubeway tree", self.said)
        self.assertFalse(os.path.exists(os.path.join(self.root, "build")))

    def test_build_fails(self):
        self.assertEqual(self.run_sh("--quick", BUILD_CODE="1"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("failed release: the build", self.said)
        self.assertEqual(self.run_sh("--quick", CONFIGURE_CODE="1"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("failed release: the configuration", self.said)

    def test_missing_and_nobody_to_ask(self):
        self.assertEqual(self.run_sh("--quick", MISSING="check cmake"), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("apt-get install --no-install-recommends cmake check", self.said)
        self.assertFalse(os.path.exists(self.calls))

    def test_missing_but_only_for_the_full_run(self):
        self.assertEqual(self.run_sh("--quick", MISSING="tshark"), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.run_sh(MISSING="tshark"), (0, "6 passed, 0 failed, 0 skipped"))
        self.assertIn("apt-get install --no-install-recommends tshark", self.said)

    def test_missing_and_root(self):
        self.run_sh("--quick", MISSING="check", USER_ID="0")
        self.assertIn("install --no-install-recommends check", self.called())

    def test_nothing_missing_asks_nobody(self):
        self.run_sh("--quick", USER_ID="0")
        self.assertNotIn("apt-get", self.called())

    def test_packages_are_well_formed(self):
        with open(os.path.join(TESTS, "packages.txt"), encoding="utf-8") as file:
            rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
        self.assertTrue(all(len(row) > 2 and row[1] in ("required", "full") for row in rows), rows)


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--scratch", default=None)
    OPTIONS, REST = PARSER.parse_known_args()
    unittest.main(argv=[sys.argv[0], *REST])

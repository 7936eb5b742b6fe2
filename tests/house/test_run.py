# SPDX-License-Identifier: Apache-2.0
"""house.run: tests/run.sh, tests/tally.py and tests/since.py do what they say, with cmake, ctest, Ninja and the package
tools played by others.

    test_run.py --scratch <folder for the trees>
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
OPTIONS = None

PASS = '<testcase name="good" status="run"><system-out>fine</system-out></testcase>'
FAIL = ('<testcase name="bad" status="fail"><failure message="Failed"/>'
        '<system-out>because of this</system-out></testcase>')
SKIP = ('<testcase name="away" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
        "<system-out>noise\nno such tool here\n</system-out></testcase>")
LOST = '<testcase name="lost" status="notrun"><skipped message="Unable to find executable"/></testcase>'

# What the actors say is in files beside them; CALLS gets every call, a line each.
ACTORS = {
    "cmake": 'echo "cmake $*" >>"$CALLS"; case " $* " in *" --build "*) exit "${BUILD_CODE:-0}" ;; esac; exit '
             '"${CONFIGURE_CODE:-0}"',
    "ctest": 'echo "ctest $*" >>"$CALLS"; while [ "$#" -gt 0 ]; do [ "$1" = --output-junit ] && junit=$2; shift; done; '
             '[ -z "$CASES" ] || echo "<testsuite>$CASES</testsuite>" >"$junit"; exit "${TEST_CODE:-0}"',
    "dpkg-query": 'for name; do case " $MISSING " in *" $name "*) ;; *) echo "$name installed" ;; esac; done',
    "apt-get": 'echo "apt-get $*" >>"$CALLS"; exit 0',
    "git": 'exit "${GIT_CODE:-0}"',
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
        for name in ("run.sh", "since.py", "tally.py", "packages.txt"):
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
                              capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", **values})
        self.said = done.stdout + done.stderr
        return done.returncode, (done.stdout.splitlines() or [""])[-1]

    def called(self):
        with open(self.calls, encoding="utf-8") as file:
            return file.read()

    def test_help_and_misuse(self):
        code, _ = self.run_sh("--help")
        self.assertEqual(code, 0)
        self.assertIn("usage:", self.said)
        for options in (["--fast"], ["quick"], ["--quick", "--soak"], ["--since"], ["--since", "HEAD", "--soak"],
                        ["--since", "HEAD", "--sanitizers"]):
            self.assertEqual(self.run_sh(*options)[0], 2)
            self.assertIn("usage:", self.said)
        self.assertFalse(os.path.exists(self.calls))

    def test_quick(self):
        self.assertEqual(self.run_sh("--quick"), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.called().count("ctest"), 1)
        self.assertIn("-DCUBEWAY_WERROR=ON", self.called())
        self.assertIn("-LE ^slow$", self.called())

    def test_since(self):
        self.actor("python3", f'case "$1" in *since.py) echo "3 tests" >&2; echo "^(a|b)$"; exit '
                              f'"${{SINCE_CODE:-0}}" ;; esac; '
                              f'exec {sys.executable} "$@"')
        self.assertEqual(self.run_sh("--since", "HEAD"), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertIn("-R ^(a|b)$", self.called())
        self.assertNotIn("slow", self.called())
        self.assertIn("release run of what differs from HEAD", self.said)
        self.assertIn("3 tests", self.said)
        self.assertEqual(self.run_sh("--since", "HEAD", "--quick"), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertIn("-R ^(a|b)$ -L", self.called())
        self.assertIn("quick run of what differs from HEAD", self.said)
        self.assertEqual(self.run_sh("--since", "HEAD", SINCE_CODE="1"), (1, "0 passed, 1 failed, 0 skipped"))

    def test_since_a_commit_that_is_not_there(self):
        self.assertEqual(self.run_sh("--since", "nosuch", GIT_CODE="1")[0], 2)
        self.assertIn("run.sh: no such commit: nosuch\n", self.said)
        self.assertFalse(os.path.exists(self.calls))

    def test_the_slowest_are_named(self):
        cases = "".join(f'<testcase name="t{seconds}" status="run" time="{seconds}.25"/>' for seconds in range(20))
        self.run_sh("--quick", CASES=cases)
        slow = [line for line in self.said.splitlines() if line.startswith("slow")]
        self.assertEqual(slow[0].split(), ["slow", "19.2", "s", "release:", "t19"])
        self.assertEqual(len(slow), 10)

    def test_all_configurations_add_up(self):
        self.assertEqual(self.run_sh(CASES=PASS + PASS + SKIP), (0, "8 passed, 0 failed, 4 skipped"))
        self.assertIn("skipped release: away: no such tool here", self.said)

    def test_sanitizers_are_built_beside_the_tests(self):
        self.run_sh()
        calls = self.called()
        for preset in ("asan -DCUBEWAY_WERROR=ON", "tsan -DCUBEWAY_WERROR=ON", "fuzz -DCUBEWAY_WERROR=ON"):
            self.assertEqual(calls.count(f"--preset {preset}"), 1, calls)
        self.assertIn("-DCMAKE_C_COMPILER=clang", calls)
        os.remove(self.calls)
        self.assertEqual(self.run_sh("--sanitizers"), (0, ""))
        self.assertNotIn("ctest", self.called())
        self.assertNotIn("release", self.called())

    def test_one_configuration_that_does_not_build(self):
        self.actor("cmake", 'case "$*" in *"--build --preset tsan -j"*) echo "thread.c:7: error"; exit 1 ;; esac')
        self.assertEqual(self.run_sh(), (1, "3 passed, 1 failed, 0 skipped"))
        self.assertIn("failed tsan: the build", self.said)
        self.assertIn("thread.c:7: error", self.said)
        self.actor("cmake", 'case "$*" in *"--preset tsan"*) kill -KILL -0 ;; esac')
        self.assertEqual(self.run_sh(), (1, "2 passed, 2 failed, 0 skipped"))
        self.assertIn("failed fuzz: the build ended before its time", self.said)

    def test_a_killed_run_leaves_no_build(self):
        mark = os.path.join(self.root, "asked")
        self.actor("cmake", f'case "$*" in *"--build --preset asan"*) echo $$ >"{mark}.new"; mv "{mark}.new" "{mark}"; '
                            'exec sleep 60 ;; esac')
        self.actor("ctest", "exec sleep 60")
        run = subprocess.Popen(["bash", os.path.join(self.root, "tests/run.sh")], stdout=subprocess.DEVNULL, cwd="/",
                               start_new_session=True, stderr=subprocess.DEVNULL,
                               env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "CASES": PASS,
                                    "MISSING": "", "CALLS": self.calls})
        self.until(lambda: os.path.exists(mark))
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        with open(mark, encoding="utf-8") as file:
            build = int(file.read())
        self.until(lambda: not os.path.exists(f"/proc/{build}"))

    def until(self, what):
        end = time.monotonic() + 20
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

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
        self.assertEqual(self.run_sh(MISSING="tshark"), (0, "4 passed, 0 failed, 0 skipped"))
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


class Since(unittest.TestCase):
    """A tree of a library, two programs and some scripts, as Ninja and CTest would describe its build."""

    FILES = ("a/lib.c", "a/mutant.c", "a/lib.h", "a/CMakeLists.txt", "b/main.c", "tests/test_a.c", "tests/kit/kit.h",
             "tests/net/test_b.py",
             "tests/net/kit.py", "tests/fuzz/corpus/x/seed", "docs/a.md", "data/what.txt", "CMakeLists.txt",
             "tests/run.sh")
    NINJA = """
build a/lib.o: C_COMPILER__lib $TOP/a/lib.c || cmake_order
build a/lib.a: C_STATIC_LIBRARY_LINKER__lib a/lib.o
build b/main.o: C_COMPILER__b $TOP/b/main.c
build bin/b: C_EXECUTABLE_LINKER__b b/main.o | a/lib.a || a/lib.a
build t/test_a.o: C_COMPILER__t $TOP/tests/test_a.c
build bin/test_a: C_EXECUTABLE_LINKER__t t/test_a.o | a/lib.a
build t/mutants_a.o: C_COMPILER__m $TOP/a/mutant.c
build bin/mutants_a: C_EXECUTABLE_LINKER__m t/mutants_a.o
build test_a: phony bin/test_a
build all: phony bin/b bin/test_a
"""
    DEPS = """a/lib.o: #deps 2, deps mtime 1 (VALID)
    $TOP/a/lib.c
    views/a/lib.h

t/test_a.o: #deps 2, deps mtime 1 (VALID)
    $TOP/tests/test_a.c
    $TOP/tests/kit/kit.h
"""
    TESTS = """
add_test([=[unit.a]=] "$BUILD/bin/test_a")
add_test([=[net.b]=] "python3" "$TOP/tests/net/test_b.py" "--program=$BUILD/bin/b")
add_test([=[fuzz.x]=] "$BUILD/bin/fuzz_x" "$TOP/tests/fuzz/corpus/x")
add_test([=[sim.tree]=] "$BUILD/bin/test_tree" "$TOP")
add_test([=[sim.all]=] "$BUILD/bin/test_all" "$BUILD/bin")
add_test([=[sim.a_mutants]=] "python3" "$TOP/tests/sim/m.py" "--programs" "$BUILD/bin/mutants_a")
add_test([=[house.format]=] "python3" "$TOP/tests/house/house.py")
"""

    def setUp(self):
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="since-", dir=OPTIONS.scratch))
        self.addCleanup(shutil.rmtree, self.top)
        for name in self.FILES:
            self.write(name, "one\n")
        self.write(".gitignore", "build/\nninja\n")
        for name, text in (("build.ninja", self.NINJA), ("CTestTestfile.cmake", 'subdirs("tests")\n'),
                           ("tests/CTestTestfile.cmake", self.TESTS),
                           ("deps", self.DEPS)):
            self.write("build/" + name, text.replace("$TOP", self.top).replace("$BUILD", self.top + "/build"))
        os.makedirs(os.path.join(self.top, "build/views/a"))
        os.symlink(os.path.join(self.top, "a/lib.h"), os.path.join(self.top, "build/views/a/lib.h"))
        self.write("ninja", "#!/bin/sh\ncat deps\n")
        os.chmod(os.path.join(self.top, "ninja"), 0o755)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "one")

    def write(self, name, text):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.top, check=True,
                       capture_output=True)

    def since(self, commit="HEAD", *more):
        done = subprocess.run([sys.executable, "-B", os.path.join(TESTS, "since.py"), "build", commit,
                               *(more or ["--list"])], cwd=self.top,
                              check=False, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.top}:{os.environ['PATH']}"})
        self.code, self.said = done.returncode, done.stderr
        return {name.partition(".")[2] for name in done.stdout.split()}

    def touches(self, name, *tests):
        self.write(name, "two\n")
        self.assertEqual(self.since(), {*tests, "format"}, f"{name}\n{self.said}")
        self.git("add", "-A")
        self.git("commit", "-qm", name)

    def test_sources_and_headers(self):
        self.touches("a/lib.c", "a", "b", "all")
        self.touches("a/lib.h", "a", "b", "all")
        self.touches("b/main.c", "b", "all")
        self.touches("a/mutant.c", "a_mutants")
        self.touches("tests/test_a.c", "a")
        self.touches("tests/kit/kit.h", "a")
        self.touches("a/CMakeLists.txt", "a", "a_mutants", "b", "all", "tree")

    def test_what_is_no_source(self):
        self.touches("docs/a.md")
        self.touches("tests/run.sh")
        self.touches("tests/net/kit.py", "b")
        self.touches("tests/fuzz/corpus/x/seed", "x", "tree")
        self.touches("tests/fuzz/corpus/x/new", "x", "tree")
        self.touches("data/what.txt", "tree")

    def test_everything_where_it_cannot_tell(self):
        everything = ("a", "a_mutants", "b", "x", "tree", "all")
        self.touches("CMakeLists.txt", *everything)
        self.touches("b/nobody_compiles_this.c", *everything)

    def test_gone_moved_and_committed(self):
        os.remove(os.path.join(self.top, "tests/kit/kit.h"))
        self.assertEqual(self.since(), {"a", "format"})
        self.git("checkout", "tests/kit/kit.h")
        self.git("mv", "b/main.c", "docs/b.md")
        self.assertEqual(self.since(), {"b", "all", "format"})
        self.git("commit", "-qam", "moved")
        self.assertEqual(self.since(), {"format"})
        self.assertEqual(self.since("HEAD~1"), {"b", "all", "format"})

    def test_for_ctest_and_misuse(self):
        self.write("tests/test_a.c", "two\n")
        done = self.ctest("-R", self.expression())
        self.assertEqual(done, ["unit.a", "house.format"])
        self.since("no-such-commit")
        self.assertEqual((self.code, self.said), (1, "no such commit: no-such-commit\n"))

    def expression(self):
        done = subprocess.run([sys.executable, "-B", os.path.join(TESTS, "since.py"), "build", "HEAD"], cwd=self.top,
                              check=True, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.top}:{os.environ['PATH']}"})
        return done.stdout.rstrip("\n")

    def ctest(self, *options):
        """The tests that a real ctest chooses, by name."""
        done = subprocess.run(["ctest", "-N", *options], cwd=os.path.join(self.top, "build"), check=True,
                              capture_output=True, text=True)
        return re.findall(r"^ *Test +#\d+: (\S+)$", done.stdout, re.M)

    def test_labels_and_names_like_others(self):
        with open(os.path.join(self.top, "build/tests/CTestTestfile.cmake"), "a", encoding="utf-8") as file:
            for name, labels in (("net.z", "net"), ("unit.slow.x+", "unit;slow"), ("unit.c+x", "unit"),
                                 ("unit.c", "unit"), ("unit_c+x", "unit"), ("more.unit.c+x", "unit")):
                of = "test_c" if name in ("unit.c+x", "unit.slow.x+", "net.z") else "test_other"
                file.write(f'add_test([=[{name}]=] "{self.top}/tests/{of}.sh")\n'
                           f'set_tests_properties([=[{name}]=] PROPERTIES LABELS "{labels}")\n')
        self.write("tests/other/test_c.sh", "one\n")
        self.write("tests/test_c.sh", "one\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "more")
        self.write("tests/test_c.sh", "two\n")
        chosen = self.expression()
        self.assertEqual(self.ctest("-R", chosen), ["house.format", "net.z", "unit.slow.x+", "unit.c+x"])
        self.assertEqual(self.ctest("-R", chosen, "-L", "^(unit|house|fuzz)$", "-LE", "^slow$"), ["unit.c+x"])


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--scratch", default=None)
    OPTIONS, REST = PARSER.parse_known_args()
    unittest.main(argv=[sys.argv[0], *REST])

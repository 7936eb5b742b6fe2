# SPDX-License-Identifier: Apache-2.0
"""Which tests does a change touch?

    since.py <build folder> <commit> [--list]

Prints a regular expression for `ctest -R` that matches the names of those tests and of no other, or with --list the
names, one a line; and on standard error what led to it. (Not their numbers for `ctest -I`: where ctest is given labels
too, it counts only the tests that have them.) The change is everything that differs from the commit: commits since,
what is not committed, new files. The build folder is one that Ninja has just built, since its dependency log says which
headers an object was made from.

A test depends on a file when the build makes one of the programs that its command names from the file, or when its
command names the file, a folder that holds it, or a script beside it; a test that is given the whole tree may read any
file but sources, and one that is given the folder of all programs may run any of them but those of single tests. The
house tests always run. Where this cannot tell (a file of the build system, or a file that no test names), all tests
run: it selects too many rather than too few.
"""

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict

# A change of these may change every object or every test.
OF_ALL = re.compile(r"(CMakeLists\.txt|CMakePresets\.json|cmake/.*|tests/CMakeLists\.txt|\.ci/.*)$")
# These are read by people and by house tests, which always run. (Pages named by a test's command are found before
# that.)
OF_HOUSE = re.compile(r".*\.md$|docs/.*\.(svg|png)$|LICENSE$|\.clang-format$|\.gitignore$|tests/house/|"
                      r"tests/[^/]*\.(py|sh|txt)$")
# Programs that only the tests run whose commands name them, also where a test is given the folder of all programs.
OF_ONE_TEST = re.compile(r"(test|mutants)_")
ADD_TEST = re.compile(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$", re.M)
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("commit")
    parser.add_argument("--list", action="store_true", help="names, one a line")
    options = parser.parse_args()
    build = os.path.realpath(options.build)
    top = run(["git", "rev-parse", "--show-toplevel"], build).strip()
    changed = changed_files(top, options.commit)
    tests = read_tests(build)
    chosen = Graph(top, build).choose(tests, changed)
    print(f"{len(changed)} files differ from {options.commit}: {len(chosen)} of {len(tests)} tests", file=sys.stderr)
    names = [tests[number - 1][0] for number in chosen]
    print("\n".join(names) if options.list else expression(names))


def expression(names):
    """What matches these names as a whole, in the regular expressions of CMake."""
    return "^(" + "|".join(re.sub(r"[][.*+?^$|(){}\\]", r"\\\g<0>", name) for name in names) + ")$" if names else "^$"


def run(words, folder):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def changed_files(top, commit):
    """Paths from the top, in both of their places when a file has moved."""
    known = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", commit + "^{commit}"]
    if subprocess.run(known, cwd=top, capture_output=True, check=False).returncode != 0:
        sys.exit(f"no such commit: {commit}")
    since = run(["git", "diff", "--name-only", "--no-renames", "-z", commit], top)
    new = run(["git", "ls-files", "--others", "--exclude-standard", "-z"], top)
    return sorted({name for name in (since + new).split("\0") if name})


def read_tests(build):
    """[(name, words of its command)], in the order in which CTest numbers them."""
    tests = []

    def read(folder):
        path = os.path.join(folder, "CTestTestfile.cmake")
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            for line in file:
                if match := ADD_TEST.match(line.rstrip("\n")):
                    tests.append((match[1], WORD.findall(match[2])))
                elif match := re.match(r'^subdirs\("(.*)"\)', line):
                    read(os.path.join(folder, match[1]))

    read(build)
    return tests


class Graph:
    """What is made from what, by build.ninja and by the dependency log."""

    def __init__(self, top, build):
        self.top, self.build = top, build
        self.made = defaultdict(set)  # a file -> what is made from it, all as absolute paths
        with open(os.path.join(build, "build.ninja"), encoding="utf-8") as file:
            for line in file:
                if line.startswith("build "):
                    self._edge(line[len("build "):].rstrip("\n"))
        self._headers(run(["ninja", "-t", "deps"], build))

    def _edge(self, text):
        outputs, _, rest = re.sub(r"\$([: ])", lambda m: "\0" if m[1] == " " else "\1", text).partition(":")
        rule, *inputs = rest.split()
        if rule == "phony":
            return  # a name for people, or the order in which objects are made
        if "||" in inputs and "_COMPILER_" in rule:
            inputs = inputs[:inputs.index("||")]
        for source in inputs:
            if source not in ("|", "||"):
                self.made[self._path(source)].update(self._path(word) for word in outputs.split() if word != "|")

    def _headers(self, log):
        made = None
        for line in log.splitlines():
            if line.startswith("    "):
                self.made[self._path(line.strip())].add(made)
            elif line:
                made = self._path(line.partition(": #deps")[0])

    def _path(self, word):
        return os.path.realpath(os.path.join(self.build, word.replace("\0", " ").replace("\1", ":")))

    def choose(self, tests, changed):
        """The numbers of the tests, from 1."""
        house = {number for number, (name, _) in enumerate(tests, 1) if name.startswith("house.")}
        words = [self._words(command) for _, command in tests]
        chosen = set(house)
        for name in changed:
            made, of_house = self._made_from(name), OF_HOUSE.match(name)
            found = {number for number, said in enumerate(words, 1)
                     if not said.isdisjoint(made) or not of_house and self._reads(said, name, made)} - house
            if not found and not of_house or OF_ALL.match(name):
                print(f"{name}: all tests", file=sys.stderr)
                return list(range(1, len(tests) + 1))
            chosen |= found
        return sorted(chosen)

    @staticmethod
    def _words(command):
        """Absolute paths of a command, also those behind a '='."""
        return {os.path.realpath(word) for part in command for word in (part, part.partition("=")[2])
                if word.startswith("/")}

    def _reads(self, words, name, made):
        """May a test with these words read the file, or run what is made from it, although it does not name either?"""
        programs = os.path.join(self.build, "bin")
        if programs in words and any(os.path.dirname(path) == programs and not OF_ONE_TEST.match(os.path.basename(path))
                                     for path in made):
            return True  # it is given the folder of all programs
        if self.top in words and not name.endswith((".c", ".h", ".py")):
            return True  # it is given the tree
        if self.build in words and not name.startswith("tests/"):
            return True  # it installs what is built
        path, script = os.path.join(self.top, name), name.endswith((".py", ".sh"))
        for word in words - {self.top}:
            beside = os.path.dirname(word) + "/"
            if path.startswith(word + "/"):
                return True  # a folder that holds it
            if script and word.endswith((".py", ".sh")) and (path.startswith(beside)
                                                             or beside.startswith(os.path.dirname(path) + "/")):
                return True  # a script beside it, above it or below it: it may import it
        return False

    def _made_from(self, name, known={}):  # pylint: disable=dangerous-default-value
        """The file and all that is made from it. A CMakeLists.txt stands for everything in its folder."""
        if name not in known:
            path = os.path.join(self.top, name)
            ahead = [path]
            if os.path.basename(name) == "CMakeLists.txt":
                ahead += [file for file in self.made if file.startswith(os.path.dirname(path) + "/")]
            known[name] = reached = set(ahead)
            while ahead:
                for made in self.made.get(ahead.pop(), ()):
                    if made not in reached:
                        reached.add(made)
                        ahead.append(made)
        return known[name]


if __name__ == "__main__":
    main()

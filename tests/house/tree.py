# SPDX-License-Identifier: Apache-2.0
"""What every house check stands on: the tree of sources, the build that was made of it, and findings in words."""

import json
import os
import re
import shlex
import subprocess
from typing import NamedTuple

from floors import is_product


class Finding(NamedTuple):
    """One fault: where, what is wrong, and what to do about it."""

    path: str
    line: int
    wrong: str
    remedy: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.wrong}\n    do: {self.remedy}"


class Skip(Exception):
    """This check cannot be made here; the text says why (exit code 77, never a silent pass)."""


class Tree:
    """The files that are, or would be, committed: tracked plus new ones that .gitignore does not name."""

    def __init__(self, root):
        self.root = os.path.realpath(root)
        self.files = sorted(f for f in self._list() if os.path.isfile(self.absolute(f)))
        self._texts = {}

    def _list(self):
        if os.path.exists(self.absolute(".git")):
            out = run(["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                      cwd=self.root)
            return set(out.stdout.split("\0")) - {""}
        found = []
        for folder, names, files in os.walk(self.root):
            names[:] = [n for n in names if n not in (".git", "__pycache__") and not n.startswith("build")]
            found += [os.path.relpath(os.path.join(folder, f), self.root) for f in files]
        return found

    def absolute(self, path):
        return os.path.join(self.root, path)

    def text(self, path):
        """The file as text, or None when it is none (a fuzz corpus, a picture)."""
        if path not in self._texts:
            with open(self.absolute(path), "rb") as file:
                data = file.read()
            try:
                self._texts[path] = None if b"\0" in data else data.decode()
            except UnicodeDecodeError:
                self._texts[path] = None
        return self._texts[path]

    def lines(self, path):
        """(number, line) for every line of a text file; nothing for any other."""
        return list(enumerate((self.text(path) or "").splitlines(), 1))

    def sources(self, *ends):
        return [f for f in self.files if f.endswith(ends or (".c", ".h"))]

    def line_of(self, path, word):
        """The first line of the code (comments apart) that has the word, or 1."""
        for number, line in enumerate(strip_comments(self.text(path) or "").splitlines(), 1):
            if has_word(line, word):
                return number
        return 1


class Command(NamedTuple):
    """How the build compiles one source file of the tree."""

    source: str
    words: list
    folder: str
    object: str

    def probe(self, code, *extra):
        """Compiles `code` with the very flags of this source, writing nothing."""
        return run([*self._flags(), *extra, "-fsyntax-only", "-x", "c", "-"], cwd=self.folder, stdin=code)

    def make(self, code, made, *extra):
        """Compiles `code` likewise, into the object `made`."""
        return run([*self._flags(), *extra, "-c", "-o", made, "-x", "c", "-"], cwd=self.folder, stdin=code)

    def _flags(self):
        """The words without the source file and without everything that names an output."""
        words, skip = [], False
        for word in self.words:
            if skip or word in ("-c", "-MD", "-MMD"):
                skip = False
            elif word in ("-o", "-MT", "-MF"):
                skip = True
            elif not word.endswith("/" + self.source):
                words.append(word)
        return words


class Build:
    """What compile_commands.json of a build folder says."""

    def __init__(self, tree, folder):
        self.folder = folder
        path = os.path.join(folder, "compile_commands.json")
        if not os.path.exists(path):
            raise Skip(f"{path} is not there: configure first (cmake --preset release)")
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)
        self.commands = []
        for entry in entries:
            source = os.path.relpath(os.path.realpath(os.path.join(entry["directory"], entry["file"])), tree.root)
            words = shlex.split(entry["command"])
            made = os.path.join(entry["directory"], words[words.index("-o") + 1])
            if is_product(source) and os.path.relpath(made, folder).startswith("tests/"):
                continue  # a test's own build of the product (the mutants): not what is shipped
            self.commands.append(Command(source, words, entry["directory"], made))

    def instrumented(self):
        return any(word.startswith("-fsanitize=") for command in self.commands for word in command.words)

    def plain_or_skip(self):
        if self.instrumented():
            raise Skip("sanitizers add their own symbols, data and headers: checked in the release build")
        return self


def run(words, cwd=None, stdin=None):
    """Runs a command in the C locale and returns its CompletedProcess, output as text."""
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(words, cwd=cwd, input=stdin, capture_output=True, text=True, errors="replace", check=False,
                          env=environment)


def has_word(line, word):
    at = line.find(word)
    while at >= 0:
        before, after = line[at - 1:at], line[at + len(word):at + len(word) + 1]
        if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
            return True
        at = line.find(word, at + 1)
    return False


# A comment, or a string or character constant, in which nothing begins a comment. An end that is missing is the text's.
TOKEN = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?", re.S)


def strip_comments(text):
    """C text with comments blanked out, every line kept where it was; strings stay."""
    return TOKEN.sub(lambda match: match[0] if match[0][0] in "\"'" else "\n" * match[0].count("\n") or " ", text)


def comments(text):
    """The comments of C text and nothing else, every line kept where it was; without the stars that begin lines."""
    out, at = [], 0
    for match in TOKEN.finditer(text):
        if match[0][0] == "/":
            out.append("\n" * text.count("\n", at, match.start()))
            out.append(re.sub(r"(?m)^(\s*)\*", r"\1 ", match[0][2:]))
            at = match.end()
    return "".join(out)

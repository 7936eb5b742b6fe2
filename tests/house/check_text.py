# SPDX-License-Identifier: Apache-2.0
"""house.spdx, house.length, house.leftovers, house.paths, house.width: what any line of any file must be or not be."""

import re
from collections import Counter

from floors import is_product
from tree import Finding

SPDX = "SPDX-License-Identifier: Apache-2.0"
LINES_MAX = 600  # of a product file; beyond it there is a second room in it
# C sources and headers of one folder of runtime/ and services/; beyond it there is a second folder in it
FILES_MAX = 40 
COLUMNS = 120    # of a line, in characters

# Written in two halves, so that this file passes its own check.
LEFTOVERS = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK")) + r")\b")
MACHINE_PATHS = re.compile(r"(?<![\w.$}])(/wo" r"rk|/ho" r"me|/ro" r"ot|/fa" r"rm|/tmp/bash" r"_jobs)(/|\b)")


def spdx(tree, _build):
    findings = []
    for path in tree.sources(".c", ".h", ".py", ".sh", ".lua") + [f for f in tree.files if f.startswith(".ci/")]:
        lines = [line for _, line in tree.lines(path)[:2]]
        if lines and lines[0].startswith("#!"):
            lines.pop(0)
        want = f"/* {SPDX} */" if path.endswith((".c", ".h")) else f"{'--' if path.endswith('.lua') else '#'} {SPDX}"
        if not lines or lines[0] != want:
            findings.append(Finding(path, 1, "the licence is not named first", f"make the first line: {want}"))
    return findings


def length(tree, _build):
    findings = []
    for path in tree.sources():
        count = len(tree.lines(path))
        if count > LINES_MAX and is_product(path):
            findings.append(Finding(path, LINES_MAX + 1, f"{count} lines, more than {LINES_MAX}",
                                    "find the second room in this file and give it a file of its own"))
        elif count > LINES_MAX:
            print(f"{path}:{LINES_MAX + 1}: note: {count} lines; tests may be long, but is it one test file?")
    folders = Counter(path.rpartition("/")[0] for path in tree.sources(".c", ".h")
                      if path.startswith(("runtime/", "services/")))
    findings += [Finding(f"{folder}/CMakeLists.txt", 1,
                         f"{count} C sources and headers in one folder, more than {FILES_MAX}",
                         "find the folder inside of this one, and the arrow between the two")
                 for folder, count in sorted(folders.items()) if count > FILES_MAX]
    return findings


def width(tree, _build):
    findings = []
    for path in tree.sources(".c", ".h", ".py", ".md", ".sh", ".cmake", "CMakeLists.txt"):
        lines = tree.lines(path)
        for number, line in _prose(lines) if path.endswith(".md") else lines:
            if len(line) > COLUMNS and not (path.endswith(".md") and (line.startswith("|") or ONE_LINK.match(line))):
                findings.append(Finding(path, number, f"{len(line)} columns, more than {COLUMNS}",
                                        "break the line, or say it shorter"))
        if path.endswith((".c", ".h")):
            findings += [Finding(path, number, "a comment tears this declaration from its type",
                                 "put the comment above the declaration")
                         for (number, line),
                         (_, below) in zip(lines, lines[1:]) if TORN_TYPE.match(line) and TORN_NAME.match(below)]
    return findings


# A line of a page that is nothing but one link or picture.
ONE_LINK = re.compile(r"\s*(?:[*-] )?!?\[[^\]]*\](?:\([^)]*\)|: \S+)[.,;:]?\s*$")
# A declaration that clang-format broke because of the comment behind it: `uint8_t`, below it `priority; /* ...`; so for
# enums.
TORN_TYPE = re.compile(r"\s*(?:(?:static|const|struct|enum|union|unsigned|signed|long|volatile|extern)\s+)*"
                       r"[A-Za-z_]\w*(?:\s*\*+|\s*=)?$")
TORN_NAME = re.compile(r"\s+(?:\**\w+(?:\[[^\]]*\])*(?:\s*:\s*\d+)?;|[\w <>()+*-]+,)\s*/\*")


def _prose(lines):
    """The lines outside of fenced blocks."""
    fenced = False
    for number, line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            yield number, line


def leftovers(tree, _build):
    return [Finding(path, number, f"a left-over: {match[1]}", "finish it, or open an issue and take the mark away")
            for path in tree.files for number, line in tree.lines(path) if (match := LEFTOVERS.search(line))]


def paths(tree, _build):
    return [Finding(path, number, f"a path of one machine: {match[0]}",
                    "name it from the top of the tree, or take it as an argument")
            for path in tree.files if not path.startswith("tests/fuzz/corpus/")
            for number, line in tree.lines(path) if (match := MACHINE_PATHS.search(line))]

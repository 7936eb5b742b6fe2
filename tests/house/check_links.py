# SPDX-License-Identifier: Apache-2.0
"""house.links: a link in a page leads to a file of the tree, and to a heading that is there; and a file that a page or
a comment names, as pump.c or base/list.h, is a file of the tree."""

import os
import re

from tree import Finding, comments

LINK = re.compile(r"\[[^\]\[]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\s*\[[^\]]+\]:\s*(\S+)|(?:src|href)=\"([^\"]+)\"")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")


TARGET = re.compile(r"\](?:\([^)\n]*\)|: \S+)")
# The name of a file, with as much of its path as is said. <x.h> is the system's; what stands beside *, $, ~ or : is a
# pattern, a variable, somebody's home or an address.
NAME = re.compile(r"(?<![\w/.<>*$}{~@:-])((?:[\w-]+/)*[\w-]+\.(?:c|h|md|py|sh|cmake|lua))\b(?![\w*<>(]|\.\w|/)")


def check(tree, _build):
    findings = []
    ends = _ends(tree)
    for path in tree.sources(".md", ".c", ".h"):
        text = tree.text(path) or ""
        for match in NAME.finditer(TARGET.sub("]", text) if path.endswith(".md") else comments(text)):
            if match[1] not in ends:
                line = match.string.count("\n", 0, match.start()) + 1
                findings.append(Finding(path, line, f"there is no {match[1]}",
                                        "name the file that is meant, or what it holds"))
    for page in tree.sources(".md"):
        for number, line in _prose(tree.lines(page)):
            for match in LINK.finditer(line):
                target = next(group for group in match.groups() if group)
                fault = None if ELSEWHERE.match(target) else _fault(tree, page, target)
                if fault:
                    findings.append(Finding(page, number, *fault))
    return findings


def _ends(tree):
    """All that a file may be called: its path, and every end of it."""
    return {"/".join(parts[at:]) for parts in (path.split("/") for path in tree.files) for at in range(len(parts))}


def _prose(lines, code=""):
    """The lines outside of fenced blocks. `code` in them is blanked out, or kept without its quotes: code is r"\\1"."""
    fenced = False
    for number, line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`([^`]*)`", code, line)


def _fault(tree, page, target):
    path, _, anchor = target.partition("#")
    if path.startswith("/"):
        return f"the link {target} is absolute: it leads out of the tree", "write it relative to this page"
    file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if file not in tree.files and not any(f.startswith(file + "/") for f in tree.files):
        return f"the link {target} leads nowhere: there is no {file}", "mend the link, or commit the file"
    if anchor and file.endswith(".md") and anchor not in _anchors(tree, file):
        return f"the link {target} leads to no heading of {file}", "mend the part after #"
    return None


def _anchors(tree, page):
    """The names that a heading gets: lower case, spaces to dashes, everything else but letters, digits, - and _
    gone."""
    anchors = set()
    for _, line in _prose(tree.lines(page), r"\1"):
        if line.startswith("#"):
            name = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            count = 0
            while (unique := f"{name}-{count}" if count else name) in anchors:
                count += 1
            anchors.add(unique)
    return anchors

# SPDX-License-Identifier: Apache-2.0
"""house.floors: every #include of the product stays on its floor or goes down. The words in the sources are read, so
that a fault is found in any build; house.includes asks the compiler."""

import re
from fnmatch import fnmatch

from floors import CONTRACTS, FACES, FOLDERS, PURE_HEADERS, SYSTEM_HOMES, drawn, folder_by_prefix, folder_of, is_product
from tree import Finding, strip_comments

PAGE = "docs/architecture.md"
INCLUDE = re.compile(r'\s*#\s*include(?:_next)?\b\s*(.*)')


def check(tree, _build):
    findings, used = [], set()
    for path in filter(is_product, tree.files):
        folder = folder_of(path)
        if folder is None:
            findings.append(Finding(path, 1, "this folder is in no floor of the house",
                                    "add it to FOLDERS in tests/house/floors.py and to docs/architecture.md"))
            continue
        for number, line in enumerate(strip_comments(tree.text(path) or "").splitlines(), 1):
            match = INCLUDE.match(line)
            fault = match and _fault(path, folder, match[1].strip())
            if fault:
                findings.append(Finding(path, number, *fault))
            elif match and match[1].startswith('"'):
                used.add((folder.path, folder_by_prefix(match[1].strip()[1:-1]).path))
    return findings + (_table(tree, used) if PAGE in tree.files else [])


def _table(tree, used):
    """The table of floors says no more than is so, and the page shows the table."""
    findings, lines = [], (tree.text(PAGE) or "").splitlines()
    for folder in FOLDERS:
        for seen in folder.sees:
            if seen != CONTRACTS and (folder.path, seen) not in used:
                findings.append(Finding("tests/house/floors.py", 1, f"{folder.path} includes nothing of {seen}",
                                        "take it out of what the folder sees"))
    for row in drawn():
        if row not in lines:
            findings.append(Finding(PAGE, 1, f"its table of folders lacks the row: {row}",
                                    "write what `python3 tests/house/floors.py` prints"))
    return findings


def _fault(path, folder, what):
    """(what is wrong, what to do) of one include, or None."""
    name = what[1:-1]
    if what[:1] == "<":
        return _system_fault(path, folder, name)
    if what[:1] != '"':
        return (f"the include {what} is computed: no reader can see what it brings", "write the file's name")
    if not name.endswith(".h"):
        return (f'"{name}" is no header: no check of the house reads it where it lands',
                "compile it as a source of its own, or call it .h")
    if ".." in name.split("/") or name.startswith("/"):
        return (f'"{name}" climbs out of its folder by path, past the build\'s floors', 'include it as "<folder>/x.h"')
    target = folder_by_prefix(name)
    if target is None:
        return (f'"{name}" names no folder of the house',
                'own headers too are included as "<folder>/x.h", system ones as <x.h>')
    if target is folder or target.path == CONTRACTS:
        return None
    if target.path in folder.sees:
        face = FACES.get(target.path)
        if face is None or name.rpartition("/")[2] in face or target.floor < folder.floor:
            return None
        return (f'"{name}" is the inside of {target.path}', f"its neighbours may include {' and '.join(face)} only")
    below = ", ".join(folder.sees) or "nothing but itself"
    if target.floor > folder.floor:
        direction = f"up, from floor {folder.floor} to floor {target.floor}"
    elif target.floor == folder.floor:
        direction = f"across floor {folder.floor}, to a neighbour"
    else:
        direction = f"down to floor {target.floor}, but past what this folder may know"
    return (f'"{name}" goes {direction}: {folder.path} may include {below}',
            "move the code to the floor that may know both, or pass the value in as an argument")


def _system_fault(path, folder, name):
    for pattern, homes in SYSTEM_HOMES.items():
        if fnmatch(name, pattern):
            return None if any(fnmatch(path, home) for home in homes) else (
                f"<{name}> may be met in {' and '.join(homes)} only", "call that file instead of the library")
    if folder.pure and name not in PURE_HEADERS:
        return (f"<{name}>: {folder.path} is a function of its inputs and knows no system",
                "pass the value in as an argument; if the header is harmless add it to PURE_HEADERS in "
                "tests/house/floors.py")
    if name.split("/")[0] in {folder.prefix for folder in FOLDERS}:
        return (f"<{name}> is ours", 'include it in quotes, so that it is seen to be')
    return None

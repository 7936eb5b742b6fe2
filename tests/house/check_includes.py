# SPDX-License-Identifier: Apache-2.0
"""house.includes: a wrong include does not compile. Takes the very command that builds a source of each folder and
feeds it one #include of every other folder: what the floors forbid must be refused for want of the file, and the
folder's own header and the contracts must pass (else a compiler that refuses everything would look like a sound house)."""

import re

from floors import CONTRACTS, FOLDERS, folder_of
from tree import Finding

NOT_FOUND = re.compile(r"No such file or directory|file not found")


def check(tree, build):
    build.plain_or_skip()
    header = {}
    for path in tree.sources(".h"):
        folder = folder_of(path)
        if folder:
            header.setdefault(folder.path, f"{folder.prefix}/{path.rpartition('/')[2]}" if "*" not in folder.path else path)
    findings, tried = [], set()
    for command in build.commands:
        folder = folder_of(command.source)
        if folder is None or folder.path in tried:
            continue
        tried.add(folder.path)
        for target in FOLDERS:
            if target.path in header:
                findings += _try(command, folder, target, header[target.path])
    if not tried:
        findings.append(Finding("CMakeLists.txt", 1, "the build compiles no source of the product", "configure it first"))
    return findings


def _try(command, folder, target, name):
    done = command.probe(f'#include "{name}"\n')
    lists = f"{folder.path}/CMakeLists.txt"
    if target is folder or target.path == CONTRACTS:
        if done.returncode != 0:
            first = (done.stderr.splitlines() or ["no message"])[0]
            yield Finding(lists, 1, f'"{name}" should compile in {folder.path} and does not: {first}',
                          "link cw_contracts, and publish the folder by cubeway_folder()")
    elif target.path not in folder.sees:
        if done.returncode == 0:
            yield Finding(lists, 1, f'"{name}" compiles in {folder.path}: its flags let it see {target.path}',
                          f"take what publishes {target.path} out of LINKS here, or out of a target that is linked here")
        elif not NOT_FOUND.search(done.stderr):
            yield Finding(lists, 1, f'"{name}" is found from {folder.path}, it only fails further on: '
                          f"{(done.stderr.splitlines() or [''])[0]}", f"take what publishes {target.path} out of LINKS")

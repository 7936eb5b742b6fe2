# SPDX-License-Identifier: Apache-2.0
"""house.includes: a wrong include does not compile. Takes the very command that builds a source of each folder and asks
it for one header of every other folder: what the floors forbid must not be found, and the folder's own header and the
contracts must compile (else a compiler that refuses everything would look like a sound house)."""

import re

from floors import CONTRACTS, folder_of, include_name, reach
from tree import Finding


def check(tree, build):
    build.plain_or_skip()
    headers = {}  # directory -> (its folder, a header of it): services/ping and services/bench are strangers
    for path in tree.sources(".h"):
        if folder_of(path):
            headers[path.rpartition("/")[0]] = folder_of(path), include_name(path)
    findings, tried = [], set()
    for command in build.commands:
        place = command.source.rpartition("/")[0]
        if folder_of(command.source) is None or place in tried:
            continue
        tried.add(place)
        found = _found(command, [name for _, name in headers.values()])
        for other, (target, name) in headers.items():
            findings += _try(command, place, folder_of(command.source), other, target, name, found)
    if not tried:
        findings.append(Finding("CMakeLists.txt", 1, "the build compiles no source of the product",
                                "configure it first"))
    return findings


def _found(command, names):
    """Which of the headers the command finds: one run of the compiler for all."""
    asked = "".join(f'#if __has_include("{name}")\n#pragma message "found:{number}"\n#endif\n' for number,
                    name in enumerate(names))
    return {names[int(number)] for number in re.findall(r"found:(\d+)", command.probe(asked).stderr)}


def _try(command, place, folder, other, target, name, found):
    lists = f"{place}/CMakeLists.txt"
    ours = other == place or target.path == CONTRACTS
    forbidden = target is folder or target.path not in reach(folder)
    if not ours and (name not in found or not forbidden):
        return
    done = command.probe(f'#include "{name}"\n')
    if ours:
        if done.returncode != 0:
            first = (done.stderr.splitlines() or ["no message"])[0]
            yield Finding(lists, 1, f'"{name}" should compile in {place} and does not: {first}',
                          "link cw_contracts, and publish the folder by cubeway_folder()")
    elif done.returncode == 0:
        yield Finding(lists, 1, f'"{name}" compiles in {place}: its flags let it see {other}',
                      f"take what publishes {other} out of LINKS here, or out of a target that is linked here")
    else:
        yield Finding(lists, 1, f'"{name}" is found from {place}, it only fails further on: '
                      f"{(done.stderr.splitlines() or [''])[0]}", f"take what publishes {other} out of LINKS")

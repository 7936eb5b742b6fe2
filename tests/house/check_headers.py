# SPDX-License-Identifier: Apache-2.0
"""house.headers: every header of the product compiles alone, and twice, with the flags of its folder."""

from floors import CONTRACTS, folder_of, include_name, is_product
from tree import Finding


def check(tree, build):
    build.plain_or_skip()
    commands = {}
    for command in build.commands:
        if folder_of(command.source):
            commands.setdefault(command.source.rpartition("/")[0], command)
    findings = []
    for path in filter(is_product, tree.sources(".h")):
        folder = folder_of(path)
        if folder is None:
            continue  # house.floors says so
        # The contracts have no source of their own: any folder's command sees them.
        command = commands.get(path.rpartition("/")[0]) or (next(iter(commands.values()), None)
                                                            if folder.path == CONTRACTS else None)
        if command is None:
            findings.append(Finding(path, 1, "the build compiles no source of this header's folder",
                                    "list the folder's sources in its CMakeLists.txt"))
            continue
        name = include_name(path)
        done = command.probe(f'#include "{name}"\n#include "{name}"\n', "-Werror")
        if done.returncode != 0:
            first = next((line for line in done.stderr.splitlines() if "error" in line), "no message")
            findings.append(Finding(path, 1, f"the header does not compile on its own: {first}",
                                    "include what it uses, guard it, and declare what it names"))
    return findings

# SPDX-License-Identifier: Apache-2.0
"""house.format: C is laid out as the committed .clang-format says. Another major version of clang-format lays out
differently, so only version 14 is asked."""

import re
import shutil

from tree import Finding, Skip, run

VERSION = 14
FAULT = re.compile(r"(.+?):(\d+):\d+: error: code should be clang-formatted")


def check(tree, _build):
    tool = shutil.which(f"clang-format-{VERSION}") or shutil.which("clang-format")
    if tool is None:
        raise Skip("clang-format is missing (Debian package clang-format)")
    said = run([tool, "--version"]).stdout.strip()
    version = re.search(r"version (\d+)", said)
    if version is None or int(version[1]) != VERSION:
        raise Skip(f"the layout is that of clang-format {VERSION}, here is: {said}")
    if ".clang-format" not in tree.files:
        return [Finding(".clang-format", 1, "the layout is not committed", "restore the file")]
    sources = tree.sources()
    done = run([tool, "--dry-run", "-Werror", "--ferror-limit=1", *sources], cwd=tree.root) if sources else None
    if done is None or done.returncode == 0:
        return []
    first = {}
    for path, line in FAULT.findall(done.stderr):
        first.setdefault(path.removeprefix("./"), int(line))
    findings = [Finding(path, line, "not laid out as .clang-format says (first of this file)",
                        f"clang-format -i {path}")
                for path, line in sorted(first.items())]
    return findings or [Finding(".clang-format", 1, f"clang-format failed: {done.stderr.strip()[:200]}",
                                "read its message")]

# SPDX-License-Identifier: Apache-2.0
"""house.shell: shellcheck finds nothing in the scripts."""

import re
import shutil

from tree import Finding, Skip, run

FAULT = re.compile(r"([^:]+):(\d+):\d+: (?:error|warning|note|style): (.*)")


def check(tree, _build):
    if shutil.which("shellcheck") is None:
        raise Skip("shellcheck is missing (Debian package shellcheck)")
    scripts = [f for f in tree.files if f.endswith(".sh")
               or re.match(r"#!.*\b(ba)?sh\b", (tree.text(f) or "").partition("\n")[0])]
    done = run(["shellcheck", "-x", "-f", "gcc", *scripts], cwd=tree.root) if scripts else None
    if done is None or done.returncode == 0:
        return []
    faults = [match.groups() for line in done.stdout.splitlines() if (match := FAULT.match(line))]
    return [Finding(path, int(line), words, "mend it; the SC number names its page in shellcheck's wiki") for path,
            line, words in faults] \
        or [Finding(scripts[0], 1, f"shellcheck failed: {done.stderr.strip()[:200]}", "read its message")]

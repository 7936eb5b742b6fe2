# SPDX-License-Identifier: Apache-2.0
"""house.clock: instants of the product are of CLOCK_BOOTTIME, which counts suspension (docs/semantics.md, 4.2)."""

import re

from floors import is_product
from tree import Finding, strip_comments

STANDS_STILL = re.compile(r"\bCLOCK_MONOTONIC\w*")
# The files that measure a span by a clock that stands still during suspension, and why none of it meets a cw_time.
SPANS = {
    "ctl/ask/call.c": "how long cwctl rests between two looks",
    "ctl/ask/client.c": "how long cwctl waits for an answer",
    "ctl/cmd_top.c": "the time between two looks, for rates",
    "services/kvcache/memcached/system.c": "how long a client is silent, as memcached counts it; coarse and cheap",
    "ctl/ask/lab.c": "how long cwctl waits for a daemon that starts",
    "simulator/cwsim/progress.c": "the time that a run takes, for the operator",
}


def check(tree, _build):
    findings = []
    for path in filter(is_product, tree.files):
        code = strip_comments(tree.text(path) or "")
        lines = [number for number, line in enumerate(code.splitlines(), 1) if STANDS_STILL.search(line)]
        if path not in SPANS:
            findings += [Finding(path, line, "a clock that stands still while the machine is suspended",
                                 "read CLOCK_BOOTTIME (shim/clock.h); or say in check_clock.py which span this is")
                         for line in lines]
        elif not lines:
            findings.append(Finding(path, 1, "an exception of check_clock.py that nobody needs any more",
                                    "take it away there"))
    return findings

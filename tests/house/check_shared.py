# SPDX-License-Identifier: Apache-2.0
"""house.shared: memory that a daemon shares with a process is loaded and stored in one file, runtime/share/shared.h,
which says by which order. So that a copy that was judged is what is used, whatever a hostile process writes meanwhile.

    the member `shared_bytes`          is named in that file and in no other of the product
    atomics, volatile, fences          no other file of runtime/share has any
    share_lend()                       which gives a pointer into shared memory: of inbox_read.c alone
    a hook of tests (share_watch_...)  no file of the product but that one names them
"""

import re

from floors import SHARE, is_product
from tree import Finding, strip_comments

HOME = f"{SHARE}/shared.h"
LENDER = f"{SHARE}/inbox_read.c"
ORDERED = re.compile(r"\b(_Atomic|volatile|atomic_\w+|__atomic_\w+|__sync_\w+|memory_order\w*|__asm__|asm)\b"
                     r"|stdatomic\.h")
EVERYWHERE = re.compile(r"\b(shared_bytes|share_watch_\w+)\b")
LENT = re.compile(r"\bshare_lend\s*\(")


def check(tree, _build):
    findings = []
    for path in filter(is_product, tree.sources()):
        if path == HOME:
            continue
        for number, line in enumerate(strip_comments(tree.text(path) or "").splitlines(), 1):
            if match := EVERYWHERE.search(line):
                findings.append(Finding(path, number, f"'{match[0]}' is of {HOME} alone",
                                        "load and store by share_load_...() and share_store_...()"))
            if LENT.search(line) and path != LENDER:
                findings.append(Finding(path, number, "a pointer into memory that another side writes",
                                        "copy what you need by share_load_bytes(), and judge the copy"))
            if path.startswith(SHARE + "/") and (match := ORDERED.search(line)):
                findings.append(Finding(path, number, f"'{match[0]}' outside of {HOME}",
                                        "what has an order belongs there, with the reason why it suffices"))
    return findings

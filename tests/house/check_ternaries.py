# SPDX-License-Identifier: Apache-2.0
"""house.ternaries: no conditional expression stands more than two deep in another, in the product.

A third one hides from the reader which case is which, and a debugger cannot stop in it: write `if`, `switch` or a
function of its own.
"""

import re

from floors import is_product
from tree import TOKEN, Finding

MOST = 2


def deep(text):
    """The lines on which a `?` stands more than MOST deep; a chain a ? b : c ? d : e counts as two deep."""
    blank = TOKEN.sub(lambda match: "\n" * match[0].count("\n") or " ", text)
    found, brackets, line = [], [["{", 0]], 1
    for sign in re.findall(r"[\n?,;(){}\[\]]", blank):
        if sign == "\n":
            line += 1
        elif sign in "([{":
            brackets.append([sign, 0])
        elif sign in ")]}":
            brackets = brackets[:-1] or [["{", 0]]
        elif sign in ",;":
            brackets[-1][1] = 0
        else:
            brackets[-1][1] += 1
            begin = max(i for i, (bracket, _) in enumerate(brackets) if bracket == "{")
            if sum(count for _, count in brackets[begin:]) > MOST:
                found.append(line)
    return found


def check(tree, _build):
    return [Finding(path, line, f"a conditional expression more than {MOST} deep", "write if, switch or a function")
            for path in filter(is_product, tree.sources()) for line in deep(tree.text(path) or "")]

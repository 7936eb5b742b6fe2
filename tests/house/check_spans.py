# SPDX-License-Identifier: Apache-2.0
"""house.spans: a constant span of time is written with its unit, CW_MS(5), not in nanoseconds, {5 * 1000 * 1000}.

What is computed from variables (a clock's reading, bytes over a rate) is written as the computation wants it.
"""

import re

from floors import is_product
from tree import Finding, strip_comments

# The value of a span or an instant: of a variable, a member of a table, or a literal.
VALUE = re.compile(r"\bcw_(?:span|time)\b[^;={}()]*(?:=|\))\s*\{([^{};]*)\}")
MEMBER = re.compile(r"\.\w+\s*=\s*\{([^{};,]*)\}")
# Digits that stand for a unit: 1000 as a factor, or a number of four digits and more.
THOUSANDS = re.compile(r"(?<![\w.])(?:U?INT64_C\()?1000(?:000)*[uUlL]*\)?\s*\*|\*\s*(?:U?INT64_C\()?1000(?:000)*\b")
MANY_DIGITS = re.compile(r"(?<![\w.])\d{4,}[uUlL]*\b")
# A count of nanoseconds by its name: the member of a span, or a constant that ends so; and what CW_NS() is given.
NANOSECONDS = re.compile(r"(?:\.ns|\b\w*_(?:ns|NS))\s*=(?!=)([^=,;{}]*)(?=[,;}])")
GIVEN = re.compile(r"\bCW_NS\(\s*((?:[^()]|\([^()]*\))*)\)")
VARIABLE = re.compile(r"\b(?!int64_t\b)[a-z]\w*")
HOME = "include/cubeway/time.h"


def check(tree, _build):
    findings = []
    for path in filter(is_product, tree.files):
        if path == HOME:
            continue
        text = strip_comments(tree.text(path) or "")
        found = {match.start() for form in (VALUE, MEMBER, NANOSECONDS, GIVEN) for match in form.finditer(text)
                 if (THOUSANDS.search(match[1]) or MANY_DIGITS.search(match[1])) and not VARIABLE.search(match[1])}
        lines = sorted({text.count("\n", 0, at) + 1 for at in found})
        findings += [Finding(path, line, "a span of time as a count of nanoseconds",
                             "write CW_NS(), CW_US(), CW_MS() or CW_SEC()")
                     for line in lines]
    return findings

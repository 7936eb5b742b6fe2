# SPDX-License-Identifier: Apache-2.0
"""house.names: what include/cubeway declares starts with cw_ or CW_, nothing else does, and every header is guarded by
the name under which it is included. A small reading of C, enough for headers: bodies are blanked out, the rest is split
at ";"."""

import re

from floors import CONTRACTS, folder_of, is_product
from tree import Finding, strip_comments

WORDS = {
    "auto", "bool", "char", "const", "double", "enum", "extern", "float", "inline", "int", "long", "register",
    "restrict",
    "short", "signed", "static", "struct", "typedef", "union", "unsigned", "void", "volatile", "_Alignas", "_Atomic",
    "_Bool", "_Noreturn", "_Static_assert", "_Thread_local", "static_assert", "__attribute__", "__extension__",
}


def check(tree, _build):
    findings, public = [], set()
    for path in filter(is_product, tree.sources(".h")):
        folder = folder_of(path)
        if folder is not None and folder.path == CONTRACTS:
            for name, line in declared(tree.text(path) or ""):
                public.add(name)
                if not name.startswith(("cw_", "CW_", guard_of(path, folder))):
                    findings.append(Finding(path, line, f"'{name}' is public and does not start with cw_ or CW_",
                                            f"call it {'CW_' if name.isupper() else 'cw_'}{name}"))
    for path in filter(is_product, tree.sources(".h")):
        folder = folder_of(path)
        if folder is None:
            continue  # house.floors says so
        if folder.path != CONTRACTS:
            for name, line in declared(tree.text(path) or ""):
                if name.startswith(("cw_", "CW_")) and name not in public:
                    findings.append(Finding(path, line,
                                            f"'{name}' looks public, but include/cubeway does not declare it",
                                            "give it the prefix of its module, or move the declaration"))
        guard = guard_of(path, folder)
        lines = [line for line in strip_comments(tree.text(path) or "").splitlines() if line.strip()]
        if [line.split() for line in lines[:2]] != [["#ifndef", guard], ["#define", guard]]:
            findings.append(Finding(path, 1, "the header is not guarded by its own name",
                                    f"#ifndef {guard} / #define {guard}"))
    return findings


def guard_of(path, folder):
    """runtime/base/list.h -> BASE_LIST_H, the name under which it is included."""
    name = f"{folder.prefix}/{path.rpartition('/')[2]}"
    return re.sub(r"\W", "_", name).upper()


def declared(text):
    """[(name, line)] of every macro, tag, enumerator, type, function and variable that a header declares."""
    text = strip_comments(text)
    found = [(m[1], m.start(1)) for m in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M)]
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*", _blank, text, flags=re.M)
    # Tags and enumerators are of file scope however deep they stand.
    found += [(m[1], m.start(1)) for m in re.finditer(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", text)]
    for body in re.finditer(r"\benum\b[^;{}()]*\{([^}]*)\}", text):
        inside = _emptied(body[1], "()")
        found += [(m[1], body.start(1) + m.start(1)) for m in re.finditer(r"(?:^|,)\s*([A-Za-z_]\w*)", inside)]
    flat = _emptied(text, "{}")
    flat = re.sub(r"\)\s*\{\s*\}", lambda m: m[0][:-1] + ";", flat)  # a function's body ends its declaration
    flat = re.sub(r"__attribute__|_Alignas", _blank, flat)
    for part in re.finditer(r"[^;]+", flat):
        name = _declarator(part[0])
        if name:
            found.append((name[0], part.start() + name[1]))
    return [(name, text.count("\n", 0, at) + 1) for name, at in found]


def _declarator(part):
    """(name, offset) that one declaration gives to the file, or None (a bare struct, an assertion, nothing)."""
    if re.match(r"\s*(_Static_assert|static_assert|extern\s+\"C\")\b", part):
        return None
    pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", part)
    if pointer and re.match(r"\s*typedef\b", part):
        return pointer[1], pointer.start(1)
    part = re.sub(r"=.*", _blank, _emptied(_emptied(part, "()"), "[]"), flags=re.S)
    part = re.sub(r"\b(struct|union|enum)\s+\w+", _blank, part)
    words = [m for m in re.finditer(r"[A-Za-z_]\w*", part) if m[0] not in WORDS]
    return (words[-1][0], words[-1].start()) if words else None


def _blank(match):
    """As many characters, all spaces but the ends of lines: what follows keeps its place."""
    return re.sub(r"[^\n]", " ", match[0])


def _emptied(text, pair):
    """The text with everything between the outermost pairs blanked out."""
    out, depth = [], 0
    for char in text:
        depth -= char == pair[1]
        out.append(char if depth <= 0 or char == "\n" else " ")
        depth += char == pair[0]
    return "".join(out)

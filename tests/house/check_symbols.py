# SPDX-License-Identifier: Apache-2.0
"""house.symbols: the pure floors hold no writable data and call nothing outside. Looks into the objects the build made:
at the flags and names of sections (with position-independent code a const table of pointers sits in .data.rel.ro,
which nm marks like data), and at every undefined symbol, which must be of the product or on the list below. Headers
with code of their own are compiled alone, every function kept: no object of the build need have the code of list.h."""

import os
import re
import tempfile

from check_tests import has_code
from floors import CONTRACTS, folder_of, is_product, reach
from tree import Finding, Skip, run

# Memory, words, and how a program dies. Nothing here reads a clock, a file, a socket, or another thread's state.
ALLOWED = {
    "memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strnlen", "strcmp", "strncmp", "strspn",
    "bcmp",
    "malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "free", "qsort", "bsearch",
    "abort", "__assert_fail", "__stack_chk_fail", "__stack_chk_guard", "__chk_fail",
    "__memcpy_chk", "__memmove_chk", "__memset_chk", "__explicit_bzero_chk", "explicit_bzero", "_GLOBAL_OFFSET_TABLE_",
}
# Arithmetic that a compiler may call instead of inlining it.
COMPILER = re.compile(r"__(u?(div|mod|divmod)|mul|ashl|ashr|lshr|"
                      r"popcount|clz|ctz|ffs|bswap|parity|[su]?cmp|multi)[sdt]i[234]?$"
                      r"|__mulo[sdt]i4$")
# One file knows one library (floors.SYSTEM_HOMES), and these calls of it, which are pure.
ALLOWED_IN = {
    "keyspace/key.c": {"SHA1_Init", "SHA1_Update", "SHA1_Final"},
    "runtime/hash/hash.c": {"SHA256_Init", "SHA256_Update", "SHA256_Final", "MD5_Init", "MD5_Update", "MD5_Final"},
}
# Makes any compiler keep the inline functions that nobody calls.
KEEP_ALL = ("-Dinline=__attribute__((used))", "-w")

KINDS = (
    ("a clock", r"clock(_.*)?|time|gettimeofday|nanosleep|usleep|sleep|timer_.*|timerfd_.*|localtime.*|gmtime.*|ftime"),
    ("libc's randomness", r"s?rand(om)?(_r)?|[dejlmn]rand48.*|getrandom|getentropy|arc4random.*|RAND_.*"),
    ("a socket or a file", r"socket.*|bind|listen|accept4?|connect|send.*|recv.*|poll|ppoll|select|epoll_.*|read|write|"
                           r"open(at)?(64)?|close|ioctl|mmap(64)?"),
    ("stdio", r"v?[fsd]?n?printf|puts|fputs|putchar|f?putc|"
              r"f(open|close|read|write|flush|gets)(64)?|v?[fs]?scanf|__isoc99_.*|"
              r"std(in|out|err)|perror|v?asprintf"),
    ("threads", r"pthread_.*|thrd_.*|mtx_.*|cnd_.*|call_once|tss_.*|sem_.*"),
    ("errno, which a thread owns", r"errno_location"),
    ("the environment", r"(secure_)?getenv|setenv|environ|exit|_exit|signal|sigaction"),
)

SECTION = re.compile(r"\s*\d+ (\S+)\s+([0-9a-f]+) .*?((?:[A-Z_]+, )*[A-Z_]+)$")
SYMBOL = re.compile(r"[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+ +(?:\.hidden |\.protected |\.internal |0x[0-9a-f]+ )?(\S+)$")


class Object:
    """Sections {name: (size, writable)}, defined globals, undefined names, and (name, section) of all that is in
    memory."""

    def __init__(self, path):
        self.writable, self.defined, self.undefined, self.placed = {}, set(), [], []
        for line in run(["objdump", "-h", "-w", path]).stdout.splitlines():
            match = SECTION.match(line)
            if match and "ALLOC" in match[3] and "READONLY" not in match[3] and not match[1].startswith(".data.rel.ro"):
                self.writable[match[1]] = int(match[2], 16)
        for line in run(["objdump", "-t", path]).stdout.splitlines():
            match = SYMBOL.match(line)
            if not match:
                continue
            flags, section, name = match.groups()
            if section == "*UND*":
                self.undefined.append(name)
            elif flags[0] in "gu!" or "w" in flags:
                self.defined.add(name)
            if name != section and (section in self.writable or section == "*COM*"):
                self.placed.append((name, section))


def check(tree, build):
    build.plain_or_skip()
    if not run(["sh", "-c", "command -v objdump"]).stdout:
        raise Skip("objdump is missing (Debian package binutils)")
    findings, objects, known, commands = [], [], {}, {}
    for command in build.commands:
        folder = folder_of(command.source)
        if folder is None or not folder.pure:
            continue
        commands.setdefault(folder.path, command)
        if not os.path.exists(command.object):
            findings.append(Finding(command.source, 1, f"there is no object {command.object}",
                                    "build first (cmake --build --preset release)"))
            continue
        item = Object(command.object)
        objects.append((command.source, folder, item))
        known.setdefault(folder.path, set()).update(item.defined)
    if not objects and not findings:
        raise Skip("the build has no object of a pure folder")
    objects += _headers(tree, commands)
    for source, folder, item in objects:
        findings += _data(tree, source, item)
        findings += _calls(tree, source, folder, item, known)
    return findings


def _headers(tree, commands):
    """(path, folder, object) of every header of a pure folder that has code. house.headers says when one does not
    compile."""
    for path in filter(is_product, tree.sources(".h")):
        folder = folder_of(path)
        if folder is None or not folder.pure or not has_code(tree, path):
            continue
        command = commands.get(folder.path) or (next(iter(commands.values()), None) if folder.path == CONTRACTS
                                                else None)
        if command is None:
            continue
        code = f'#include "{folder.prefix}/{path.rpartition("/")[2]}"\n'
        with tempfile.NamedTemporaryFile(suffix=".o") as made:
            if command.make(code, made.name, *KEEP_ALL).returncode == 0:
                yield path, folder, Object(made.name)


def _data(tree, source, item):
    named = set()
    for name, section in item.placed:
        named.add(section)
        plain = re.sub(r"\.\d+$", "", name).rpartition(".")[2]
        yield Finding(source, tree.line_of(source, plain),
                      f"'{plain}' is writable data (section {section}): every node of a "
                      "process would share it", "make it const, or put it into the struct that the caller owns")
    for section, size in item.writable.items():
        if size and section not in named:
            yield Finding(source, 1, f"{size} bytes of writable section {section} without a name",
                          "make them const, or put them into the struct that the caller owns")


def _calls(tree, source, folder, item, known):
    ours = set().union(*(known.get(path, set()) for path in (folder.path, *reach(folder))))
    for name in item.undefined:
        if name in ours or name in ALLOWED or name in ALLOWED_IN.get(source, ()) or COMPILER.match(name):
            continue
        plain = re.sub(r"^__|_chk$|64$", "", name)
        kind = next((words for words, pattern in KINDS if re.fullmatch(pattern, plain)), None)
        what = f"that is {kind}" if kind else f"which {folder.path} does not list"
        line = next((at for word in (name, plain, plain.partition("_")[0]) if (at := tree.line_of(source, word)) > 1),
                    1)
        yield Finding(source, line, f"uses {name}(): {what}",
                      "take the value as an argument; a harmless function is added to ALLOWED in "
                      "tests/house/check_symbols.py")

# SPDX-License-Identifier: Apache-2.0
"""house.selftest: the checks are tested too. Each gets a small sound tree, in which it must find nothing, and planted
faults, which it must find at the right line.

    selftest.py --cc <compiler> --scratch <folder for the trees>
"""

import argparse
import json
import os
import shlex
import shutil
import sys
import tempfile
import unittest

import house
from floors import FOLDERS
from tree import Build, Skip, Tree, run

SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"
OPTIONS = None


def header(guard, body=""):
    return f"{SPDX}#ifndef {guard}\n#define {guard}\n{body}\n#endif\n"


# A house with three floors and nothing wrong in it.
SOUND = {
    "include/cubeway/types.h": header("CUBEWAY_TYPES_H", "#include <stdint.h>\ntypedef uint32_t cw_server;"),
    "keyspace/torus.h": header("KEYSPACE_TORUS_H", '#include "cubeway/types.h"\ncw_server torus_id(cw_server s);'),
    "keyspace/torus.c": SPDX + '#include "keyspace/torus.h"\n#include <string.h>\n'
                        'static const char *const names[] = {"a", "b"};\n'
                        'cw_server torus_id(cw_server s)\n{\n    return s + (cw_server)strlen(names[s & 1]);\n}\n',
    "runtime/base/list.h": header("BASE_LIST_H", "static inline int list_one(void)\n{\n    return 1;\n}"),
    "runtime/base/pool.h": header("BASE_POOL_H", "int pool_size(void);"),
    "runtime/base/pool.c": SPDX + '#include "base/pool.h"\nint pool_size(void)\n{\n    return 1;\n}\n',
    "runtime/wire/frame.h": header("WIRE_FRAME_H", '#include "base/list.h"\nint frame_size(void);'),
    "runtime/wire/frame.c": SPDX + '#include "wire/frame.h"\n#include "base/pool.h"\n'
                            'int frame_size(void)\n{\n    return pool_size() + list_one();\n}\n',
    "tests/unit/keyspace/test_torus.c": SPDX,
    "tests/unit/base/test_list.c": SPDX,
    "tests/unit/base/test_pool.c": SPDX,
    "tests/unit/wire/test_frame.c": SPDX,
    "README.md": "# Top\n\n[plan](docs/plan.md#the-plan) [here](#top) "
                 "[web](https://example.org/x)\n\n```\n[no](link)\n```\n",
    "docs/plan.md": "# The `plan`, of it\n\n## The plan\n\n[back](../README.md)\n",
    "tests/run.sh": '#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\necho "$1"\n',
}
LINKS = {"keyspace": [], "runtime/base": [], "runtime/wire": ["runtime/base"]}


class Planted(unittest.TestCase):
    """A sound tree, some faults planted in it, and what a check says of them."""

    def setUp(self):
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="planted-", dir=OPTIONS.scratch))
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copy(os.path.join(os.path.dirname(__file__), "..", "..", ".clang-format"), self.root)
        for path, text in SOUND.items():
            self.plant(path, text)

    def plant(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def build(self, links=None, flags="-O1 -fPIC", leave_out=()):
        """Compiles the tree as cubeway_folder() would, every folder with a view of its own."""
        folder, entries = os.path.join(self.root, "build"), []
        os.makedirs(folder, exist_ok=True)
        for path in Tree(self.root).sources(".c"):
            if path in leave_out:
                continue
            own = path.rpartition("/")[0]
            views = [self._view(folder, name) for name in [own, *(links or LINKS).get(own, [])]]
            made = os.path.join(folder, path + ".o")
            os.makedirs(os.path.dirname(made), exist_ok=True)
            words = [OPTIONS.cc, *shlex.split(flags), *(f"-I{view}" for view in views), f"-I{self.root}/include",
                     "-o", made, "-c", os.path.join(self.root, path)]
            done = run(words)
            self.assertEqual(done.returncode, 0, done.stderr)
            entries.append({"directory": folder, "command": shlex.join(words), "file": os.path.join(self.root, path)})
        with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(entries, file)
        return folder

    def _view(self, build, name):
        view = os.path.join(build, "views", name.replace("/", "_"))
        prefix = os.path.join(view, next((folder.prefix for folder in FOLDERS if folder.path == name), name))
        os.makedirs(prefix, exist_ok=True)
        for header in filter(lambda file: file.endswith(".h"), os.listdir(os.path.join(self.root, name))):
            link = os.path.join(prefix, header)
            if not os.path.islink(link):
                os.symlink(os.path.join(self.root, name, header), link)
        return view

    def findings(self, check, build=None):
        tree = Tree(self.root)
        return house.CHECKS[check][0](tree, Build(tree, build) if build else None)

    def sound(self, check, build=None):
        self.assertEqual([], [str(f) for f in self.findings(check, build)])

    def finds(self, check, where, words, build=None, count=1):
        """Exactly `count` findings, the first at "path:line", with the words in it, and with something to do."""
        found = self.findings(check, build)
        text = "\n".join(map(str, found)) or "nothing was found"
        self.assertEqual(len(found), count, text)
        self.assertEqual(f"{found[0].path}:{found[0].line}", where, text)
        self.assertIn(words, found[0].wrong)
        self.assertTrue(found[0].remedy)


class Floors(Planted):
    check = "floors"

    def plant_include(self, path, include):
        self.plant(path, f"{SPDX}/* #include \"wire/frame.h\" is only talked about */\n#include {include}\n")

    def test_sound(self):
        self.sound("floors")

    def test_up(self):
        self.plant_include("runtime/base/pool.c", '"wire/frame.h"')
        self.finds("floors", "runtime/base/pool.c:3", "goes up, from floor 1 to floor 2")

    def test_across(self):
        self.plant_include("keyspace/torus.c", '"base/list.h"')
        self.finds("floors", "keyspace/torus.c:3", "across floor 1")

    def test_down_but_not_known(self):
        self.plant_include("runtime/wire/frame.c", '"keyspace/torus.h"')
        self.finds("floors", "runtime/wire/frame.c:3", "past what this folder may know")

    def test_by_path(self):
        self.plant_include("runtime/base/pool.c", '"../wire/frame.h"')
        self.finds("floors", "runtime/base/pool.c:3", "climbs out")

    def test_not_a_header(self):
        self.plant_include("runtime/base/pool.c", '"base/table.inc"')
        self.finds("floors", "runtime/base/pool.c:3", "is no header")

    def test_bare_name(self):
        self.plant_include("runtime/base/pool.c", '"pool.h"')
        self.finds("floors", "runtime/base/pool.c:3", "names no folder")

    def test_computed(self):
        self.plant_include("runtime/base/pool.c", "SOME_MACRO")
        self.finds("floors", "runtime/base/pool.c:3", "computed")

    def test_system(self):
        for name in ("time.h", "stdio.h", "pthread.h", "sys/socket.h"):
            self.plant_include("keyspace/torus.c", f"<{name}>")
            self.finds("floors", "keyspace/torus.c:3", f"<{name}>")

    def test_angle_brackets_do_not_hide(self):
        self.plant_include("shim/raw.c", "<wire/frame.h>")
        self.finds("floors", "shim/raw.c:3", "is ours")

    def test_library_has_one_home(self):
        self.plant_include("keyspace/key.c", "<openssl/sha.h>")
        self.sound("floors")
        self.plant_include("keyspace/torus.c", "<openssl/sha.h>")
        self.finds("floors", "keyspace/torus.c:3", "may be met in keyspace/key.c")

    def test_unknown_folder(self):
        self.plant("runtime/attic/old.c", SPDX)
        self.finds("floors", "runtime/attic/old.c:1", "in no floor")

    def test_services_are_strangers(self):
        self.plant_include("services/kvcache/kvcache.c", '"services/kvcache/kvcache.h"')
        self.sound("floors")
        self.plant_include("services/kvcache/kvcache.c", '"services/bench/bench.h"')
        self.finds("floors", "services/kvcache/kvcache.c:3", "across floor 4")
        self.plant_include("services/kvcache/kvcache.c", '"services/transport/transport.h"')
        self.sound("floors")
        self.plant_include("services/kvcache/kvcache.c", '"services/transport/internal.h"')
        self.finds("floors", "services/kvcache/kvcache.c:3", "is the inside of services/transport")
        self.plant_include("services/kvcache/kvcache.c", '"core/node.h"')
        self.finds("floors", "services/kvcache/kvcache.c:3", "past what this folder may know")

    def test_only_their_list_knows_services(self):
        self.plant_include("services/builtin.c", '"services/ping/ping.h"')
        self.sound("floors")
        self.plant_include("services/builtin.c", '"core/node.h"')
        self.finds("floors", "services/builtin.c:3", "past what this folder may know")
        os.remove(os.path.join(self.root, "services/builtin.c"))
        self.plant_include("services/ping/ping.c", '"services/builtin.h"')
        self.finds("floors", "services/ping/ping.c:3", "across floor 4")


class Includes(Planted):
    check = "includes"

    def test_sound(self):
        self.sound("includes", self.build())

    def test_too_much_is_published(self):
        links = {**LINKS, "runtime/base": ["runtime/wire"]}
        self.finds("includes", "runtime/base/CMakeLists.txt:1", '"wire/frame.h" compiles in runtime/base',
                   self.build(links))

    def test_found_but_broken_is_no_wall(self):
        build = self.build({**LINKS, "keyspace": ["runtime/wire"]})  # frame.h is found, the list.h it wants is not
        self.plant("runtime/wire/frame.h", "#error broken\n")
        # and from its own
        self.finds("includes", "keyspace/CMakeLists.txt:1", "is found from keyspace", build, count=2)

    def test_services_are_strangers(self):
        for name in ("ping", "bench"):
            self.plant(f"services/{name}/{name}.h", header(f"SERVICES_{name.upper()}_{name.upper()}_H"))
            self.plant(f"services/{name}/{name}.c", f'{SPDX}#include "services/{name}/{name}.h"\n')
        self.sound("includes", self.build())
        self.sound("headers", self.build())
        links = {**LINKS, "services/ping": ["services/bench"]}
        self.finds("includes", "services/ping/CMakeLists.txt:1", '"services/bench/bench.h" compiles in services/ping',
                   self.build(links))

    def test_control(self):
        build = self.build()
        shutil.rmtree(os.path.join(build, "views", "keyspace"))
        self.finds("includes", "keyspace/CMakeLists.txt:1", "should compile in keyspace and does not", build)

    def test_nothing_built(self):
        self.finds("includes", "CMakeLists.txt:1", "no source of the product", self.build(leave_out=SOUND))

    def test_sanitized_is_skipped(self):
        with self.assertRaises(Skip):
            self.findings("includes", self.build(flags="-fsanitize=undefined"))

    def test_not_configured_is_skipped(self):
        with self.assertRaises(Skip):
            self.findings("includes", os.path.join(self.root, "nowhere"))


class Headers(Planted):
    check = "headers"

    def test_sound(self):
        self.sound("headers", self.build())

    def test_leans_on_another(self):
        build = self.build()
        self.plant("runtime/base/list.h", header("BASE_LIST_H", "extern const uint32_t list_sizes[3];"))
        # frame.h includes list.h, and falls with it.
        self.finds("headers", "runtime/base/list.h:1", "does not compile on its own", build, count=2)

    def test_not_guarded(self):
        build = self.build()
        self.plant("keyspace/torus.h", "struct torus {\n    int x;\n};\n")
        self.finds("headers", "keyspace/torus.h:1", "redefinition", build)

    def test_contract(self):
        build = self.build()
        self.plant("include/cubeway/err.h", header("CUBEWAY_ERR_H", "extern const uint32_t cw_errors[3];"))
        self.finds("headers", "include/cubeway/err.h:1", "does not compile on its own", build)

    def test_folder_not_built(self):
        build = self.build()
        self.plant("shim/shim.h", header("SHIM_SHIM_H"))
        self.finds("headers", "shim/shim.h:1", "no source of this header's folder", build)


class Symbols(Planted):
    check = "symbols"

    def with_code(self, code, path="keyspace/torus.c", flags="-O1 -fPIC"):
        self.plant(path, f"{SPDX}/* planted, clock, count */\n{code}\n")
        return self.build(flags=flags)

    def finds_data(self, code, words, **more):
        self.finds("symbols", "keyspace/torus.c:3", words, self.with_code(code, **more))

    def test_sound(self):
        self.sound("symbols", self.build())
        self.sound("symbols", self.build(flags="-O2 -fPIC -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong"))

    def test_global(self):
        self.finds_data("int planted = 3;", "'planted' is writable data (section .data)")

    def test_zeroed_global(self):
        self.finds_data("int planted;", "'planted' is writable data (section .bss)", flags="-fno-common")
        self.finds_data("int planted;", "'planted' is writable data (section *COM*)", flags="-fcommon")

    def test_static_local(self):
        self.finds_data("int f(void); int f(void) { static int count; return ++count; }",
                        "'count' is writable data (section .bss")

    def test_own_section_per_object(self):
        self.finds_data("int planted = 3;", "section .data.planted", flags="-fdata-sections")

    def test_thread_local(self):
        self.finds_data("_Thread_local int planted = 3;", "section .tdata")
        self.finds_data("_Thread_local int planted;", "section .tbss")

    def test_pointers_that_can_be_moved(self):
        self.finds_data('const char *planted[] = {"a", "b"};', "'planted' is writable data (section .data")
        self.sound("symbols", self.with_code('extern const char *const fine[]; const char *const fine[] = {"a", "b"};'))

    def test_runs_before_main(self):
        self.finds("symbols", "keyspace/torus.c:1", "writable section .init_array",
                   self.with_code("__attribute__((constructor)) static void f(void) { __asm__(\"\"); }"))

    def test_outside(self):
        for call, kind in (("clock()", "a clock"), ("rand()", "randomness"), ("socket()", "a socket"),
                           ("puts()", "stdio"),
                           ("pthread_create()", "threads"), ("getenv()", "environment"),
                           ("unheard_of()", "does not list"),
                           ("*__errno_location()", "errno"), ("SHA1()", "does not list")):
            name = call.strip("*()")
            self.finds_data(f"extern int {'*' if '*' in call else ''}{name}(); int f(void); int f(void) "
                            f"{{ return {call}; }}",
                            kind, flags="-w -fno-builtin")

    def test_fortified_names_are_seen_through(self):
        self.finds_data('int printf(const char *, ...) __asm__("__printf_chk"); int f(void); int f(void) { return '
                        'printf("%d", 1); }',
                        "stdio")

    def test_higher_floor(self):
        self.finds_data("int frame_size(void); int f(void); int f(void) { return frame_size(); }", "uses frame_size()")

    def test_header_that_no_source_uses(self):
        self.plant("runtime/base/list.h",
                   header("BASE_LIST_H", "long clock(void);\nstatic inline long list_one(void)\n{\n"
                   "    static long count;\n    return ++count + clock();\n}"))
        self.plant("runtime/wire/frame.c", SOUND["runtime/wire/frame.c"].replace(" + list_one()", ""))
        build = self.build()
        self.finds("symbols", "runtime/base/list.h:7", "'count' is writable data (section .bss", build, count=2)
        self.assertIn("a clock", self.findings("symbols", build)[1].wrong)

    def test_one_file_may(self):
        code = "int SHA1_Init(void); int f(void); int f(void) { return SHA1_Init(); }"
        self.sound("symbols", self.with_code(code, path="keyspace/key.c"))

    def test_not_built(self):
        build = self.build()
        os.remove(os.path.join(build, "keyspace/torus.c.o"))
        self.finds("symbols", "keyspace/torus.c:1", "there is no object", build)

    def test_sanitized_is_skipped(self):
        with self.assertRaises(Skip):
            self.findings("symbols", self.build(flags="-fsanitize=undefined"))


class Tests(Planted):
    check = "tests"

    def test_sound(self):
        self.sound("tests", self.build())

    def test_source_without(self):
        self.plant("keyspace/owner.c", SPDX)
        self.finds("tests", "keyspace/owner.c:1", "no test file", self.build())

    def test_inline_header_without(self):
        self.plant("runtime/base/ring.h", header("BASE_RING_H", "static inline int ring_one(void) { return 1; }"))
        self.plant("runtime/base/limits.h", header("BASE_LIMITS_H", "enum { BASE_ONE = 1 };"))
        self.finds("tests", "runtime/base/ring.h:1", "no test file", self.build())

    def test_command_without(self):
        self.plant("simulator/cwsim/cmd_run.c", SPDX)
        self.plant("simulator/cwsim/main.c", SPDX)
        self.plant("tests/sim/cwsim/test_main.py", "# SPDX-License-Identifier: Apache-2.0\n")
        self.plant("tests/unit/simulator/test_cmd_run.c", SPDX)  # not what is asked for
        self.finds("tests", "simulator/cwsim/cmd_run.c:1", "no test file", self.build())

    def test_source_and_test_that_nobody_compiles(self):
        names = {"keyspace/torus.c", "tests/unit/base/test_pool.c"}
        self.finds("tests", "keyspace/torus.c:1", "no target of the build", self.build(leave_out=names), count=2)


class Names(Planted):
    check = "names"

    def public(self, body):
        self.plant("include/cubeway/more.h", header("CUBEWAY_MORE_H", body))

    def test_sound(self):
        self.public("/* int talked_about; */\n#define CW_X(a) a\nstruct cw_a {\n    int field;\n};\nenum { CW_B = (1, "
                    "2), CW_C };\n"
                    "typedef int (*cw_call)(int argument);\nextern const int cw_table[CW_B];\nstruct cw_forward;\n"
                    "static inline int cw_f(int a)\n{\n    int local = a;\n    return local;\n}\n"
                    "__attribute__((pure)) struct cw_a *cw_g(struct cw_a a[3]) __attribute__((nonnull));\n"
                    '_Static_assert(sizeof(int) == 4, "int");')
        self.sound("names")

    def test_every_kind_of_name(self):
        for body in ("#define PLANTED 1", "int planted;", "int planted(int cw_a);", "struct planted {\n    int a;\n};",
                     "typedef struct cw_a planted;", "typedef int (*planted)(int cw_a);", "enum { PLANTED };",
                     "enum cw_e { CW_A, PLANTED = 3 };", "extern const int planted[3];",
                     "static const int planted[] = {1, 2};",
                     "static inline int planted(void) { return 1; }"):
            self.public(body)
            self.finds("names", "include/cubeway/more.h:4", "does not start with cw_")

    def test_public_name_inside(self):
        self.plant("keyspace/torus.h", header("KEYSPACE_TORUS_H", "int cw_torus(void);"))
        self.finds("names", "keyspace/torus.h:4", "looks public")

    def test_guard(self):
        self.plant("keyspace/torus.h", header("TORUS_H"))
        self.finds("names", "keyspace/torus.h:1", "not guarded by its own name")


class Format(Planted):
    check = "format"

    def test_sound_and_not(self):
        self.plant("runtime/base/pool.c", SPDX + "int x;\n")
        try:
            self.sound("format")
        except Skip as skip:
            self.skipTest(str(skip))
        self.plant("runtime/base/pool.c", SPDX + "int x;\nint  f( void ){return 1;}\n")
        self.finds("format", "runtime/base/pool.c:3", "not laid out")


class Text(Planted):
    check = "spdx length leftovers paths width"

    def test_sound(self):
        for check in self.check.split():
            self.sound(check)

    def test_licence(self):
        self.plant("keyspace/torus.c", "\n" + SPDX)
        self.finds("spdx", "keyspace/torus.c:1", "licence")
        self.plant("keyspace/torus.c", SPDX)
        self.plant("tests/run.sh", "#!/bin/sh\n\n# SPDX-License-Identifier: Apache-2.0\n")
        self.finds("spdx", "tests/run.sh:1", "licence")

    def test_length(self):
        self.plant("keyspace/torus.c", SPDX + "\n" * 599)
        self.sound("length")
        self.plant("keyspace/torus.c", SPDX + "\n" * 600)
        self.finds("length", "keyspace/torus.c:601", "601 lines")

    def test_size_of_a_folder(self):
        for number in range(20):
            self.plant(f"services/ping/a{number}.c", SPDX)
            self.plant(f"services/ping/a{number}.h", SPDX)
            self.plant(f"services/ping/inner/a{number}.c", SPDX)
            self.plant(f"shim/a{number}.c", SPDX)
            self.plant(f"shim/b{number}.c", SPDX)
        self.plant("shim/c.c", SPDX)
        self.sound("length")
        self.plant("services/ping/ping.c", SPDX)
        self.finds("length", "services/ping/CMakeLists.txt:1", "41 C sources")

    def test_width(self):
        wide = "x" * 119 + "é"
        self.plant("keyspace/torus.c", f"{SPDX}/* {wide[6:]} */\n")
        self.plant("docs/plan.md",
                   f"# The plan\n{wide}\n| {wide} |\n```\n{wide} {wide}\n```\n[a](http://{wide})\n![{wide}](a.png)\n")
        self.plant("CMakeLists.txt", f"# {wide[2:]}\n")
        self.plant("docs/wide.txt", wide * 2)
        self.sound("width")
        for path in ("keyspace/torus.c", "keyspace/torus.h", "tests/a.py", "tests/run.sh", "cmake/a.cmake",
                     "CMakeLists.txt", "docs/plan.md"):
            self.plant(path, f"\n# {wide}\n")
            self.finds("width", f"{path}:2", "122 columns")
            self.plant(path, "\n")
        self.plant("docs/plan.md", f"see [a](http://{wide}) there\n")
        self.finds("width", "docs/plan.md:1", "columns")

    def test_torn_declarations(self):
        for torn in ("    uint8_t\n        priority; /* x */", "    const struct a *\n        b; /* x */",
                     "    MOST =\n        1024, /* x */",
                     "    unsigned\n        bits : 3; /* x */", "    A =\n        1 << 20, /* x"):
            self.plant("keyspace/torus.h", f"{SPDX}struct a {{\n{torn}\n")
            self.finds("width", "keyspace/torus.h:3", "tears this declaration")
        for whole in ("    int a;\n    int b; /* x */", "    f(a,\n      b); /* x */",
                      "    return\n        a + b; /* x */", "static int\nf(void); /* x */"):
            self.plant("keyspace/torus.h", f"{SPDX}struct a {{\n{whole}\n")
            self.sound("width")

    def test_leftovers(self):
        for mark in ("TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK"):
            self.plant("docs/plan.md", f"# The plan\n\n## The plan\n\n{mark}: later\n")
            self.finds("leftovers", "docs/plan.md:5", mark)
        self.plant("docs/plan.md", "mktemp XX" "XXXX, HA" "CKING\n")
        self.sound("leftovers")

    def test_paths(self):
        for path in ("/wo" "rk/main", "/ho" "me/me/x", "/ro" "ot/x", "/tmp/bash" "_jobs.0"):
            self.plant("docs/plan.md", f"see {path}\n")
            self.finds("paths", "docs/plan.md:1", "a path of one machine")
        self.plant("docs/plan.md", "runtime/wo" "rk/x and /wo" "rkers\n")
        self.sound("paths")
        self.plant("tests/fuzz/corpus/a", b"\xff\0 /wo" b"rk/ ")
        self.sound("paths")


class Links(Planted):
    check = "links"

    def test_sound(self):
        self.sound("links")
        self.plant("docs/plan.md", "# A\n\n## The `plan`\n[a](#the-plan)\n")
        self.sound("links")

    def test_faults(self):
        for link, words in (("[a](gone.md)", "leads nowhere"), ("[a](plan.md#gone)", "no heading"),
                            ("[a](#gone)", "no heading"), ("[a](/docs/plan.md)", "absolute"),
                            ("[a]: gone.md", "leads nowhere"),
                            ("![picture](gone.svg)", "leads nowhere"), ('<img src="gone.svg">', "leads nowhere")):
            self.plant("docs/plan.md", f"# A\n\n## The plan\n{link}\n`[a](code.md)`\n")
            self.finds("links", "docs/plan.md:4", words)

    def test_names_of_files(self):
        self.plant("docs/plan.md",
                   "# A\n\n## The plan\n`base/list.h`, pool.c, <stdio.h>, `test_*.c`, $HOME/a.c, https://a.org/b.h\n")
        self.plant("keyspace/torus.c",
                   SPDX + '/* As runtime/base/list.h and frame.c. */\nconst char *torus_name = "gone.c";\n')
        self.sound("links")
        self.plant("docs/plan.md", "# A\n\n## The plan\n\nSee `base/gone.h`.\n")
        self.finds("links", "docs/plan.md:5", "there is no base/gone.h")
        self.plant("docs/plan.md", "# A\n\n## The plan\n")
        self.plant("keyspace/torus.c", SPDX + "/*\n * (gone.c has more)\n */\n")
        self.finds("links", "keyspace/torus.c:3", "there is no gone.c")


class Spans(Planted):
    check = "spans"

    def test_sound(self):
        self.plant("keyspace/torus.c", SPDX + "static const cw_span a = CW_MS(5), b = {0}, c = {1}, d = CW_NS(700);\n"
                   "enum { WAIT_NS = 5 * CW_NS_PER_MS }; static int64_t f_ns = 0;\n"
                   "struct c e = {.fails = {50000, 60000}};\n"
                   "cw_time f(struct timespec t) { return (cw_time){t.tv_sec * INT64_C(1000000000) + t.tv_nsec}; }\n"
                   "/* cw_span a = {5 * 1000}; */ enum { MOST = 10 * 1000 }; struct b d = {.size = 5 * 1000};\n")
        self.plant("tests/unit/keyspace/test_torus.c", SPDX + "static const cw_span a = {5 * 1000};\n")
        self.sound("spans")

    def test_faults(self):
        for value in ("cw_span a = {5 * 1000 * 1000};", "cw_time a = {40 * INT64_C(1000000000)};",
                      "cw_span\n    a = {5000000};",
                      "f((cw_span){1000 * 5});", "struct timers t = {.hold = {60 * 1000 * 1000}};",
                      "f((cw_span){(int64_t)MOST * 1000});", "struct scale s = {.churn = {60000000000}};",
                      "cw_span a = {.ns = 5000000};", "f((cw_span){.ns = 30 * 1000000});",
                      "struct scale s = {\n.s = {60000000000}};",
                      "static const int64_t patience_ns = INT64_C(5) * 1000000000;", "enum { WAIT_NS = 5000000 };",
                      "enum { ONE = 1, WAIT_NS = 5000000L, TWO };", "f(CW_NS(5000000));",
                      "f(CW_NS(INT64_C(5000000)));"):
            self.plant("keyspace/torus.c", f"{SPDX}{value}\n")
            line = 3 if ".s =" in value else 2
            self.finds("spans", f"keyspace/torus.c:{line}", "nanoseconds")


class Ternaries(Planted):
    check = "ternaries"

    def test_sound(self):
        self.plant("keyspace/torus.c", SPDX + "int a = b ? c : d ? e : f, g = h ? i : (j ? k : l);\n"
                   "int m = f(n ? o : p, q ? r : s, t ? u : v); /* a ? b ? c ? d */\n"
                   'const char *w = x ? "??" : y ? "?" : "";\n'
                   "void z(void) { a = b ? c : d; e = f ? g : h ? i : j; if (k ? l : m) { n = o ? p : q; } }\n")
        self.plant("tests/unit/keyspace/test_torus.c", SPDX + "int a = b ? c : d ? e : f ? g : h;\n")
        self.sound("ternaries")

    def test_faults(self):
        for value in ("int a = b ? c : d ? e :\n f ? g : h;", "int a = b ? (c ? d : e)\n : (f ? (g ? h : i) : j);",
                      "int a = b ? c : f(d ?\n e : (f ? g : h));",
                      "int a[] = {b ? c : d,\n b ? c ? d ? 1 : 2 : 3 : 4};"):
            self.plant("keyspace/torus.c", f"{SPDX}{value}\n")
            self.finds("ternaries", "keyspace/torus.c:3", "more than 2 deep")


class Clock(Planted):
    check = "clock"

    def read(self, path, clock):
        self.plant(path, f"{SPDX}/* not CLOCK_MONOTONIC */\nvoid f(struct timespec *t)\n{{\n    "
                         f"clock_gettime({clock}, t);\n}}\n")

    def test_sound(self):
        self.read("keyspace/torus.c", "CLOCK_BOOTTIME")
        self.read("ctl/ask/call.c", "CLOCK_MONOTONIC")
        self.read("tests/unit/keyspace/test_torus.c", "CLOCK_MONOTONIC")
        self.sound("clock")

    def test_faults(self):
        for clock in ("CLOCK_MONOTONIC", "CLOCK_MONOTONIC_COARSE", "CLOCK_MONOTONIC_RAW"):
            self.read("keyspace/torus.c", clock)
            self.finds("clock", "keyspace/torus.c:5", "stands still while the machine is suspended")
        self.read("keyspace/torus.c", "CLOCK_BOOTTIME")
        self.read("ctl/ask/call.c", "CLOCK_REALTIME")
        self.finds("clock", "ctl/ask/call.c:1", "an exception of check_clock.py")


class Shared(Planted):
    check = "shared"

    def say(self, path, line):
        self.plant(path, f"{SPDX}/* shared_bytes, atomic_load, share_lend() */\nvoid f(void)\n{{\n    {line}\n}}\n")

    def test_sound(self):
        self.say("runtime/share/shared.h", "atomic_load_explicit(in->shared_bytes, memory_order_relaxed);")
        self.say("runtime/share/inbox_read.c", "share_lend(in, 0, 1);")
        self.say("runtime/base/pool.c", "atomic_load(&x);")
        self.say("tests/unit/share/test_shared.c", "share_watch_load(in->shared_bytes);")
        self.sound("shared")

    def test_another_place(self):
        self.say("runtime/share/lane.c", "x = in->shared_bytes[0];")
        self.finds("shared", "runtime/share/lane.c:5", "is of runtime/share/shared.h alone")

    def test_another_folder(self):
        self.say("services/attach/take.c", "x = in->shared_bytes[0];")
        self.finds("shared", "services/attach/take.c:5", "is of runtime/share/shared.h alone")

    def test_an_order_of_its_own(self):
        for line in ("volatile int x;", "atomic_store(p, 1);", "__atomic_load_n(p, 0);", "_Atomic int *q;"):
            self.say("runtime/share/lane.c", line)
            self.finds("shared", "runtime/share/lane.c:5", "outside of runtime/share/shared.h")

    def test_lent(self):
        self.say("runtime/share/lane.c", "const void *p = share_lend(in, 0, 8);")
        self.finds("shared", "runtime/share/lane.c:5", "a pointer into memory that another side writes")

    def test_hook(self):
        self.say("daemon/main.c", "share_watch_fence();")
        self.finds("shared", "daemon/main.c:5", "'share_watch_fence' is of")


class Law(Planted):
    check = "law"

    def setUp(self):
        super().setUp()
        self.plant("docs/semantics.md",
                   "# Semantics\n\n## 4 Links\n\n### 4.2 Views, 4.3 rounds\n\n1. one\n\n### 8.1 Invariants\n\n"
                   "| number | what |\n| --- | --- |\n| 4, 5 | a |\n| 7 | b |\n| 28 to 30 | c |\n\n### 8.3 "
                   "Mutants\n\n| 9 | a mutant |\n")
        self.plant("docs/services/ping.md", "# Ping\n\n## The rules\n\n### Rule 1: a\n\n| # | rule |\n| 2 | b |\n\n## "
                                            "Else\n\n| 9 | no rule |\n")

    def say(self, text, path="services/ping/ping.c"):
        self.plant(path, f"{SPDX}/*\n * {text}\n */\n")

    def test_sound(self):
        self.sound("law")
        for text in ("semantics 4.2, 4.3 and 8.1", "(docs/semantics.md, 4.2)", "invariants 4, 7 and 28 to 30",
                     "Invariant\n * 5.", "ping rule 1",
                     "ping\n * rules 1 and 2", "rule 2", "CamCubeOS 3.2, NMU 4.1", "version 2.0 of semantics",
                     "the rule 1.5 of it"):
            self.say(text)
            self.sound("law")
        self.plant("keyspace/torus.h", header("KEYSPACE_TORUS_H", "/*\n *  1. this\n *  2. that\n */"))
        self.say("rule 2", "keyspace/torus.c")
        self.say("as torus.h, rules 1 and 2", "runtime/base/pool.c")
        self.sound("law")
        self.say("1. do this\n * 2. do that; rule 2 comes first", "keyspace/torus.c")
        self.sound("law")
        self.plant("simulator/check.c",
                   SPDX + 'void f(void) { check_violated(w, 7, 1, "x"); check_violated(c->world,\n 29, 0, "y"); }\n')
        self.sound("law")

    def test_faults(self):
        for text, words in (("semantics 4.4", "semantics 4.4 is cited"), ("semantics 4.2, 9.9", "semantics 9.9"),
                            ("invariants 4 and 6", "invariant 6"),
                            ("semantics 8.1, 7", "cited as"), ("ping rule 3", "ping rule 3"),
                            ("ping rules 1 to 3", "ping rule 3"),
                            ("rule 9", "rule 9 is cited"), ("by rule 9.", "rule 9 is cited"),
                            ("by ping rule 3. And", "ping rule 3"), ("CamCubeOS, section 3.2", "CamCubeOS 3.2"),
                            ("NMU § 4", "CamCubeOS 3.2")):
            self.say(text)
            self.finds("law", "services/ping/ping.c:3", words)
        self.say("nothing")
        self.say("see rule 1", "keyspace/torus.c")
        self.finds("law", "keyspace/torus.c:3", "rule 1 is cited")
        self.plant("keyspace/torus.c", SPDX + 'const char *torus_why = "ping rule 7: broken";\n')
        self.finds("law", "keyspace/torus.c:2", "ping rule 7")
        self.plant("keyspace/torus.c", SPDX)
        self.plant("simulator/check.c", SPDX + 'void f(void) { check_violated(w, 9, 1, "x"); }\n')
        self.finds("law", "simulator/check.c:2", "invariant 9 is checked")
        os.remove(os.path.join(self.root, "simulator/check.c"))
        self.plant("docs/plan.md", "# A\n\n## The plan\n\nby [semantics.md](semantics.md), 4.5\n")
        self.finds("law", "docs/plan.md:5", "semantics 4.5")

    def test_lettered(self):
        self.plant("docs/services/multicast.md",
                   "# M\n\n| number | holds |\n| --- | --- |\n| A1 | a |\n| G4, G5 | b |\n")
        self.say("multicast A1, groups G4 and groups G5.")
        self.plant("keyspace/torus.c", SPDX + 'const char *torus_why = "groups G5: broken";\n')
        self.sound("law")
        for text in ("multicast A2", "groups G6.", "multicast G4", "files F1"):
            self.say(text)
            self.finds("law", "services/ping/ping.c:3", text.rstrip("."))
        self.say("nothing")
        self.plant("keyspace/torus.c", SPDX + 'const char *torus_why = "groups G7: broken";\n')
        self.finds("law", "keyspace/torus.c:2", "groups G7")

    def test_mutants(self):
        for path, number in (("runtime/linkstate/mutant.h", 1), ("services/ping/mutant.h", 2)):
            self.plant(path, header("X_MUTANT_H", f"enum {{ X_MUTANT_NONE = 0, X_MUTANT_A = {number} }};"))
        self.say("mutant 2.")
        self.say("mutant 1", "tests/sim/linkstate/ls_oracle.c")
        self.plant("docs/plan.md", "# A\n\n## The plan\n\nmutant 1\n")
        self.sound("law")
        self.say("mutants 1 and 2")
        self.finds("law", "services/ping/ping.c:3", "mutant 1 is cited")
        self.say("nothing")
        self.plant("docs/plan.md", "# A\n\n## The plan\n\nsee mutant 2.\n")
        self.finds("law", "docs/plan.md:5", "mutant 2 is cited")

    def test_functions_of_pages(self):
        self.plant("docs/plan.md", "# A\n\n## The plan\n\n`torus_id()`, `sock_def_readable()` and `torus_of`\n")
        self.sound("law")
        self.say("torus_gone() is in a comment only")
        self.plant("docs/plan.md", "# A\n\n## The plan\n\nas `torus_gone()` says\n")
        self.finds("law", "docs/plan.md:5", "`torus_gone()` is named")


class Shell(Planted):
    check = "shell"

    def test_sound_and_not(self):
        try:
            self.sound("shell")
        except Skip as skip:
            self.skipTest(str(skip))
        self.plant("tests/run.sh", "#!/bin/sh\nread -r name\nrm $name\n")
        self.finds("shell", "tests/run.sh:3", "quote")


class Whole(unittest.TestCase):
    def test_every_check_is_tested(self):
        tested = {name for test in Planted.__subclasses__() for name in test.check.split()}
        self.assertEqual(tested, set(house.CHECKS))

    def test_exit_codes(self):
        with tempfile.TemporaryDirectory(dir=OPTIONS.scratch) as root:
            command = [sys.executable, "-B", house.__file__, "--root", root]
            self.assertEqual(run([*command, "leftovers"]).returncode, 0)
            self.assertEqual(run([*command, "symbols"]).returncode, 77)
            self.assertEqual(run([*command, "no-such-check"]).returncode, 2)
            with open(os.path.join(root, "a.c"), "w", encoding="utf-8") as file:
                file.write("int a;\n")
            done = run([*command, "spdx", "symbols"])
            self.assertEqual(done.returncode, 1)
            self.assertIn("a.c:1: the licence is not named first\n    do: ", done.stdout)


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--cc", default="cc")
    PARSER.add_argument("--scratch", default=None)
    OPTIONS, REST = PARSER.parse_known_args()
    unittest.main(argv=[sys.argv[0], *REST])

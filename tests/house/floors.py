# SPDX-License-Identifier: Apache-2.0
"""The house itself: which folder stands on which floor, and what it may know. docs/architecture.md says why."""

from fnmatch import fnmatch
from typing import NamedTuple

CONTRACTS, KEYSPACE, BASE, WIRE = "include/cubeway", "keyspace", "runtime/base", "runtime/wire"
CORE, BOOT, NMU, SHIM = "runtime/core", "runtime/boot", "runtime/nmu", "shim"
SERVICES, SERVICE_LIST = "services/*", "services"
SERVICE_JOBS, TRANSPORT, REPLY = "services/jobs", "services/transport", "services/reply"
SCENARIO, CAPTURE, CONF, SEAL, JOBFILE = "scenario", "runtime/capture", "runtime/conf", "runtime/seal", "runtime/jobfile"
SIMULATOR, DAEMON, CTL, TESTBED = "simulator", "runtime/daemon", "runtime/ctl", "testbed"


class Folder(NamedTuple):
    path: str    # "*" stands for one name: each services/<name> is a folder of its own and knows no other
    floor: int
    prefix: str  # its headers are included as "<prefix>/x.h"
    sees: tuple  # the folders it may include, itself apart
    pure: bool   # no writable data, no symbol from outside: a function of its inputs

    def holds(self, path):
        """Is the file of this folder?"""
        return fnmatch(path.rpartition("/")[0], self.path) and path.count("/") == self.path.count("/") + 1


FOLDERS = (
    Folder(CONTRACTS, 0, "cubeway", (), True),
    Folder(KEYSPACE, 1, "keyspace", (CONTRACTS,), True),
    Folder(BASE, 1, "base", (CONTRACTS,), True),
    Folder(WIRE, 2, "wire", (CONTRACTS, BASE), True),
    Folder(CORE, 3, "core", (CONTRACTS, KEYSPACE, BASE, WIRE, NMU), True),
    Folder(BOOT, 3, "boot", (CONTRACTS, KEYSPACE, BASE, WIRE), True),
    Folder(NMU, 3, "nmu", (CONTRACTS, BASE, WIRE), True),
    Folder(SHIM, 4, "shim", (CONTRACTS, BASE, WIRE), False),
    Folder(CAPTURE, 4, "capture", (CONTRACTS,), False),
    Folder(CONF, 4, "conf", (CONTRACTS,), False),
    Folder(SEAL, 4, "seal", (CONTRACTS,), False),
    Folder(JOBFILE, 4, "jobfile", (CONTRACTS, BASE, WIRE, NMU, CONF), False),
    Folder(REPLY, 4, "services/reply", (CONTRACTS,), False),  # sentences for operators, the same in all services
    Folder(SERVICE_JOBS, 4, "services/jobs", (CONTRACTS, KEYSPACE, BASE, WIRE, NMU, REPLY), False),  # the one service that governs the NMU
    Folder(TRANSPORT, 4, "services/transport", (CONTRACTS, KEYSPACE, BASE, REPLY), False),  # what other services are built on
    Folder(SERVICES, 4, "services", (CONTRACTS, KEYSPACE, BASE, TRANSPORT, REPLY), False),
    Folder(SERVICE_LIST, 4, "services", (CONTRACTS, BASE, WIRE, NMU, SERVICES, SERVICE_JOBS, TRANSPORT, REPLY), False),
    Folder(SCENARIO, 4, "scenario", (CONTRACTS, KEYSPACE, BASE, WIRE, CORE, NMU), False),
    Folder(SIMULATOR, 5, "simulator", (CONTRACTS, KEYSPACE, BASE, WIRE, CORE, NMU, CAPTURE, SEAL, SERVICES, SERVICE_JOBS, TRANSPORT, REPLY, SERVICE_LIST, SCENARIO), False),
    Folder(DAEMON, 5, "daemon", (CONTRACTS, KEYSPACE, BASE, WIRE, CORE, BOOT, NMU, SHIM, CONF, SEAL, JOBFILE, SERVICES, SERVICE_JOBS, TRANSPORT, REPLY, SERVICE_LIST), False),
    Folder(CTL, 5, "ctl", (CONTRACTS, BASE, WIRE, NMU, CAPTURE, SEAL, JOBFILE), False),
    Folder(TESTBED, 5, "testbed", (CONTRACTS, KEYSPACE, BASE, WIRE, CORE, NMU, SEAL, JOBFILE, SERVICES, SERVICE_JOBS, TRANSPORT, REPLY, SERVICE_LIST, SCENARIO), False),
)

# What services may include of one another.
SHARED_BY_SERVICES = ("services/transport/transport.h", "services/reply/refuse.h")

# Folders of C that are not the product: they may include all of it.
NOT_PRODUCT = ("tests/", "tools/", "examples/")

# What a pure folder may include from the system: words and memory, nothing that reads the world.
PURE_HEADERS = {
    "assert.h", "errno.h", "inttypes.h", "limits.h", "stdalign.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h",
    "stdlib.h", "stdnoreturn.h", "string.h",
}

# A system is met in one place: header pattern -> the files that may include it.
SYSTEM_HOMES = {
    "openssl/*": ("keyspace/key.c", "runtime/seal/seal.c", "runtime/seal/sha256.c"),
    "event2/*": ("runtime/daemon/pump.c", "runtime/daemon/control.c", "runtime/daemon/metrics.c", "services/*/gateway*.c"),
    "jansson.h": ("scenario/report.c", "runtime/daemon/control_json.c", "runtime/ctl/json.c", "testbed/message.c"),
    "libmnl/*": ("shim/carrier.c", "testbed/veth.c"),  # links are watched, links are built
    "cap-ng.h": ("runtime/daemon/privileges.c",),
    "pcap*": ("shim/pcap.c", "shim/replay.c"),  # live, and from a file
    "sanitizer/*": ("runtime/base/poison.h",),
}


def is_product(path):
    return path.endswith((".c", ".h")) and not path.startswith(NOT_PRODUCT)


def folder_of(path):
    """The Folder a product file belongs to, or None."""
    return next((folder for folder in FOLDERS if folder.holds(path)), None)


def include_name(path):
    """The name under which a product header is included: runtime/base/list.h -> base/list.h."""
    folder = folder_of(path)
    return path if "*" in folder.path else f"{folder.prefix}/{path.rpartition('/')[2]}"


def folder_by_prefix(include):
    """The Folder that publishes "prefix/x.h" ("services/name/x.h"), or None."""
    return next((folder for folder in FOLDERS if include.startswith(folder.prefix + "/")), None)


def unit_folder(folder_path):
    """Where the tests of a product folder live: runtime/base -> tests/unit/base; those of all services are together."""
    if folder_path.startswith(SERVICE_LIST + "/"):
        folder_path = SERVICE_LIST
    return "tests/unit/" + folder_path.rpartition("/")[2]

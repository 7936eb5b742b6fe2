# SPDX-License-Identifier: Apache-2.0
"""The house itself: which folder stands on which floor, and what it may know. docs/architecture.md says why."""

from typing import NamedTuple

CONTRACTS, KEYSPACE, BASE, WIRE = "include/cubeway", "keyspace", "runtime/base", "runtime/wire"
SETTING, STORAGE, FIGURES, SHARE = "runtime/setting", "storage", "runtime/figures", "runtime/share"
HASH = "runtime/hash"
LINKSTATE, CORE, BOOT, NMU, SHIM = "runtime/linkstate", "runtime/core", "runtime/boot", "runtime/nmu", "shim"
QUEUE = "runtime/core/queue"
SERVICE_LIST, REPLY, TRANSPORT, SERVICE_JOBS = "services", "services/reply", "services/transport", "services/jobs"
PING, BENCH, TRACE, INQUIRY = "services/ping", "services/bench", "services/trace", "services/inquiry"
KVCACHE, MULTICAST = "services/kvcache", "services/multicast"
AGGREGATE, AGGREGATE_DENSE = "services/aggregate", "services/aggregate/dense"
AGGREGATE_ORDER, AGGREGATE_SORTED = "services/aggregate/order", "services/aggregate/sorted"
AGGREGATE_STREAM, AGGREGATE_QUERY = "services/aggregate/stream", "services/aggregate/query"
MEMCACHED, KVCACHE_DATA = "services/kvcache/memcached", "services/kvcache/data"
TUNNEL, TUNNEL_PACKET = "services/tunnel", "services/tunnel/packet"
STORE, STORE_DISK, STORE_HELD = "services/store", "services/store/disk", "services/store/held"
STORE_ASK, STORE_ENTRY = "services/store/ask", "services/store/entry"
S3_PROTOCOL, S3_BODY, S3_OBJECT = "services/s3/protocol", "services/s3/body", "services/s3/object"
CAST, GROUP, FILE = "services/multicast/cast", "services/multicast/group", "services/multicast/file"
SCENARIO, CAPTURE, CONF, HOSTS = "scenario", "formats/capture", "formats/conf", "formats/hosts"
TAR = "formats/tar"
SEAL, JOBFILE = "formats/seal", "formats/jobfile"
MESSAGE, COMMANDLINE = "formats/message", "formats/commandline"
SIMULATOR, CWSIM, CTL, TESTBED, CWLAB = "simulator", "simulator/cwsim", "ctl", "testbed", "testbed/cwlab"
OUTCOME = "testbed/cwlab/outcome"
ASK, DIAGNOSIS, CTL_JOBS, CTL_STORE, WATCH = "ctl/ask", "ctl/diagnosis", "ctl/jobs", "ctl/store", "ctl/watch"
DAEMON, CONFIG, CONTROL, HOST = "daemon", "daemon/config", "daemon/control", "daemon/host"
MACHINE, DAEMON_FILES = "daemon/machine", "daemon/files"
DOCTOR, DAEMON_COMMANDS, LISTENERS = "daemon/doctor", "daemon/commands", "daemon/listeners"
START = "daemon/start"

GROUND = (CONTRACTS, KEYSPACE, BASE)


class Folder(NamedTuple):
    path: str
    floor: int
    prefix: str  # its headers are included as "<prefix>/x.h"
    sees: tuple  # the folders that it includes, itself and the contracts apart: what is not used is not listed
    pure: bool   # no writable data, no symbol from outside: a function of its inputs

    def holds(self, path):
        """Is the file of this folder?"""
        return path.rpartition("/")[0] == self.path


FOLDERS = (
    Folder(CONTRACTS, 0, "cubeway", (), True),
    Folder(KEYSPACE, 1, KEYSPACE, (CONTRACTS,), True),
    Folder(BASE, 1, "base", (CONTRACTS,), True),
    Folder(FIGURES, 1, "figures", (CONTRACTS, BASE), True),
    Folder(HASH, 1, "hash", (CONTRACTS,), True),
    Folder(STORAGE, 1, STORAGE, (CONTRACTS, BASE), True),
    Folder(SETTING, 2, "setting", (CONTRACTS, BASE), True),
    Folder(WIRE, 2, "wire", (CONTRACTS, BASE), True),
    # Memory of attached processes. Nobody stands on it yet: docs/attach.md says what is there.
    Folder(SHARE, 2, "share", (CONTRACTS, BASE), True),
    Folder(LINKSTATE, 3, "linkstate", (*GROUND, WIRE), True),
    Folder(QUEUE, 3, "core/queue", (CONTRACTS, BASE, WIRE), True),
    Folder(CORE, 3, "core", (*GROUND, FIGURES, WIRE, LINKSTATE, NMU, QUEUE), True),
    Folder(BOOT, 3, "boot", (*GROUND, WIRE), True),
    Folder(NMU, 3, "nmu", (CONTRACTS, BASE, WIRE), True),
    Folder(SHIM, 4, SHIM, (CONTRACTS, BASE, WIRE), False),
    Folder(CAPTURE, 4, "capture", (CONTRACTS,), False),
    Folder(COMMANDLINE, 4, "commandline", (CONTRACTS, BASE, SETTING), False),
    Folder(CONF, 4, "conf", (CONTRACTS,), False),
    Folder(HOSTS, 4, "hosts", (CONTRACTS,), False),
    Folder(TAR, 4, "tar", (CONTRACTS,), False),
    Folder(SEAL, 4, "seal", (CONTRACTS,), False),
    Folder(JOBFILE, 4, "jobfile", (BASE, NMU, CONF), False),
    Folder(MESSAGE, 4, "message", (CONTRACTS,), False),
    Folder(REPLY, 4, REPLY, GROUND, False),
    Folder(TRANSPORT, 4, TRANSPORT, (*GROUND, REPLY), False),
    # A service knows nothing of another one but reliable messages and the services' kit.
    Folder(PING, 4, PING, (CONTRACTS, BASE, REPLY), False),
    Folder(BENCH, 4, BENCH, (CONTRACTS, BASE, REPLY), False),
    Folder(TRACE, 4, TRACE, (*GROUND, REPLY), False),
    Folder(INQUIRY, 4, INQUIRY, (CONTRACTS, BASE, REPLY), False),
    # The one service that governs the NMU.
    Folder(SERVICE_JOBS, 4, SERVICE_JOBS, (CONTRACTS, BASE, NMU, REPLY), False),
    Folder(KVCACHE_DATA, 4, KVCACHE_DATA, (CONTRACTS, BASE), False),
    Folder(KVCACHE, 4, KVCACHE, (CONTRACTS, BASE, SETTING, REPLY, TRANSPORT, KVCACHE_DATA), False),
    Folder(CAST, 4, CAST, (*GROUND, REPLY), False),
    Folder(GROUP, 4, GROUP, (*GROUND, REPLY, CAST), False),
    Folder(FILE, 4, FILE, (*GROUND, REPLY, CAST), False),
    Folder(TUNNEL_PACKET, 4, TUNNEL_PACKET, (CONTRACTS, BASE), False),
    Folder(TUNNEL, 4, TUNNEL, (CONTRACTS, BASE, KEYSPACE, REPLY, TUNNEL_PACKET), False),
    Folder(STORE_DISK, 4, STORE_DISK, (CONTRACTS, BASE, STORAGE), False),
    Folder(STORE_HELD, 4, STORE_HELD, GROUND, True),
    Folder(STORE, 4, STORE, (*GROUND, REPLY, TRANSPORT, STORE_DISK, STORE_HELD), False),
    Folder(STORE_ASK, 4, STORE_ASK, (CONTRACTS, BASE, REPLY, STORE_HELD, STORE), False),
    Folder(STORE_ENTRY, 4, STORE_ENTRY, (CONTRACTS, BASE, REPLY, STORE_DISK, STORE_HELD, STORE, STORE_ASK), False),
    Folder(S3_PROTOCOL, 4, S3_PROTOCOL, (CONTRACTS, BASE, HASH), True),
    Folder(S3_BODY, 4, S3_BODY, (CONTRACTS, S3_PROTOCOL), False),
    Folder(S3_OBJECT, 4, S3_OBJECT, (CONTRACTS, BASE, S3_PROTOCOL), False),
    Folder(MEMCACHED, 4, MEMCACHED, (CONTRACTS, BASE, KVCACHE), False),
    Folder(MULTICAST, 4, MULTICAST, (CONTRACTS, BASE, REPLY, CAST, GROUP, FILE), False),
    Folder(AGGREGATE_DENSE, 4, AGGREGATE_DENSE, (*GROUND, REPLY, TRANSPORT), False),
    Folder(AGGREGATE_ORDER, 4, AGGREGATE_ORDER, (*GROUND, REPLY, TRANSPORT, AGGREGATE_DENSE), False),
    Folder(AGGREGATE_SORTED, 4, AGGREGATE_SORTED, (CONTRACTS, BASE), False),
    Folder(AGGREGATE_STREAM, 4, AGGREGATE_STREAM,
           (*GROUND, REPLY, TRANSPORT, AGGREGATE_DENSE, AGGREGATE_ORDER, AGGREGATE_SORTED, AGGREGATE_QUERY), False),
    Folder(AGGREGATE_QUERY, 4, AGGREGATE_QUERY, (*GROUND, REPLY, TRANSPORT), False),
    Folder(AGGREGATE, 4, AGGREGATE,
           (CONTRACTS, BASE, REPLY, AGGREGATE_DENSE, AGGREGATE_ORDER, AGGREGATE_STREAM, AGGREGATE_QUERY), False),
    Folder(SERVICE_LIST, 4, SERVICE_LIST,
           (*GROUND, NMU, TRANSPORT, PING, BENCH, TRACE, INQUIRY, SERVICE_JOBS, KVCACHE, CAST, MULTICAST,
            AGGREGATE, AGGREGATE_DENSE, TUNNEL_PACKET, TUNNEL, STORE_ENTRY),
           False),
    Folder(SCENARIO, 4, SCENARIO, (*GROUND, SETTING, CORE, COMMANDLINE), False),
    Folder(SIMULATOR, 5, SIMULATOR, (*GROUND, STORAGE, WIRE, CORE, NMU, SCENARIO), False),
    Folder(CWSIM, 5, CWSIM, (*GROUND, WIRE, NMU, CAPTURE, PING, BENCH, SERVICE_LIST, SCENARIO, SIMULATOR), False),
    Folder(CONFIG, 5, CONFIG, (*GROUND, SETTING, CORE, CONF, MESSAGE, SERVICE_LIST), False),
    Folder(CONTROL, 5, CONTROL, (KEYSPACE, BASE, MESSAGE), False),
    Folder(MACHINE, 5, MACHINE, (CONTRACTS, BASE, WIRE, CORE, SHIM, CONFIG), False),
    Folder(DAEMON_FILES, 5, DAEMON_FILES,
           (*GROUND, STORAGE, CORE, SHIM, SEAL, JOBFILE, SERVICE_JOBS, FILE, AGGREGATE_ORDER, AGGREGATE_SORTED,
            SERVICE_LIST, CONFIG, MACHINE),
           False),
    Folder(HOST, 5, HOST,
           (*GROUND, WIRE, CORE, BOOT, NMU, SHIM, INQUIRY, STORE_DISK, AGGREGATE_QUERY, SERVICE_LIST, CONFIG, MACHINE,
            DAEMON_FILES),
           False),
    Folder(DOCTOR, 5, DOCTOR, (*GROUND, WIRE, BOOT, INQUIRY, CONFIG, HOST), False),
    Folder(DAEMON_COMMANDS, 5, DAEMON_COMMANDS,
           (*GROUND, LINKSTATE, BOOT, NMU, INQUIRY, SERVICE_LIST, CONTROL, MACHINE, DAEMON_FILES, HOST, DOCTOR),
           False),
    Folder(LISTENERS, 5, LISTENERS, (CONTRACTS, BASE, TUNNEL_PACKET, TUNNEL, MEMCACHED, CONTROL, MACHINE, HOST), False),
    Folder(START, 5, START, (COMMANDLINE, CONFIG, MACHINE, HOST, LISTENERS), False),
    Folder(DAEMON, 5, DAEMON,
           (CONTRACTS, BOOT, SHIM, SERVICE_LIST, CONFIG, MACHINE, DAEMON_FILES, HOST, DAEMON_COMMANDS, LISTENERS,
            START),
           False),
    Folder(WATCH, 5, WATCH, (CONTRACTS, KEYSPACE, BASE, COMMANDLINE, MESSAGE), False),
    Folder(ASK, 5, ASK, (CONTRACTS, BASE, COMMANDLINE, MESSAGE), False),
    Folder(DIAGNOSIS, 5, DIAGNOSIS, (CONTRACTS, BASE, ASK), False),
    Folder(CTL_STORE, 5, CTL_STORE, (CONTRACTS, BASE, ASK, TAR), False),
    Folder(CTL_JOBS, 5, CTL_JOBS, (CONTRACTS, BASE, ASK, COMMANDLINE, SEAL, JOBFILE), False),
    Folder(CTL, 5, CTL,
           (CONTRACTS, BASE, SETTING, ASK, DIAGNOSIS, CTL_JOBS, CTL_STORE, WATCH, CAPTURE, CONF, COMMANDLINE, HOSTS),
           False),
    Folder(TESTBED, 5, TESTBED,
           (*GROUND, LINKSTATE, NMU, SEAL, JOBFILE, MESSAGE, BENCH, SERVICE_LIST, SCENARIO), False),
    Folder(OUTCOME, 5, OUTCOME, (CONTRACTS, BASE, COMMANDLINE, MESSAGE, SCENARIO, TESTBED), False),
    Folder(CWLAB, 5, CWLAB, (CONTRACTS, BASE, WIRE, COMMANDLINE, HOSTS, MESSAGE, TUNNEL_PACKET, TUNNEL,
            SERVICE_LIST, SCENARIO, TESTBED, OUTCOME),
           False),
)


def reach(folder):
    """The paths of all folders that this one sees, and that those see: what a compiler finds with their targets."""
    found, ask = {CONTRACTS}, list(folder.sees)
    while ask:
        path = ask.pop()
        if path not in found:
            found.add(path)
            ask += next(other.sees for other in FOLDERS if other.path == path)
    return found - {folder.path}


def drawn():
    """The table of docs/architecture.md: each folder, and what its sources include."""
    for floor in range(5, -1, -1):
        for folder in (each for each in FOLDERS if each.floor == floor):
            seen = ", ".join(f"`{path}`" for path in folder.sees if path != CONTRACTS) or "nothing but the contracts"
            yield f"| {floor} | `{folder.path}` | {seen if floor else 'nothing'} |"


# Of a folder that others may see, the headers they may include; of all others, every header.
FACES = {
    TRANSPORT: ("transport.h",),
}

# Folders of C that are not the product: they may include all of it.
NOT_PRODUCT = ("tests/", "tools/", "examples/")

# What a pure folder may include from the system: words and memory, nothing that reads the world.
PURE_HEADERS = {
    "assert.h", "errno.h", "inttypes.h", "limits.h", "stdalign.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h",
    "stdlib.h", "stdnoreturn.h", "string.h",
}

# A system is met in one place: header pattern -> the files that may include it.
SYSTEM_HOMES = {
    "openssl/*": ("keyspace/key.c", "runtime/hash/hash.c", "formats/seal/seal.c", "formats/seal/sha256.c"),
    "event2/*": ("daemon/host/pump.c", "daemon/machine/outside.c", "daemon/control/control.c",
                 "daemon/listeners/metrics.c",
                 "services/kvcache/memcached/connection.c", "services/kvcache/memcached/gateway.c"),
    "expat.h": ("services/s3/body/body.c",),
    "jansson.h": ("scenario/report.c", "formats/message/message.c"),
    # links are watched, links are built, a tun is given its addresses
    "libmnl/*": ("shim/carrier.c", "testbed/veth.c", "daemon/listeners/tun_device.c",
                 "daemon/listeners/tun_routes.c"),
    "cap-ng.h": ("daemon/machine/privileges.c",),
    "pcap*": ("shim/pcap.c", "shim/replay.c"),  # live, and from a file
    "bpf/*": ("shim/relay.c", "shim/relay.bpf.c"),
    "relay.skel.h": ("shim/relay.c",),  # the program for the kernel, made by the build
    "sanitizer/*": ("runtime/base/poison.h",),
}


def is_product(path):
    return path.endswith((".c", ".h")) and not path.startswith(NOT_PRODUCT)


def folder_of(path):
    """The Folder a product file belongs to, or None."""
    return next((folder for folder in FOLDERS if folder.holds(path)), None)


def include_name(path):
    """The name under which a product header is included: runtime/base/list.h -> base/list.h."""
    return f"{folder_of(path).prefix}/{path.rpartition('/')[2]}"


def folder_by_prefix(include):
    """The Folder that publishes "prefix/x.h", or None."""
    return next((folder for folder in FOLDERS if folder.prefix == include.rpartition("/")[0]), None)


def unit_folder(folder_path):
    """Where the tests of a product folder live: runtime/base -> tests/unit/base, services/ping ->
    tests/unit/services/ping."""
    return "tests/unit/" + next(folder.prefix for folder in FOLDERS if folder.path == folder_path)


if __name__ == "__main__":
    print(*drawn(), sep="\n")

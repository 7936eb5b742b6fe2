# SPDX-License-Identifier: Apache-2.0
"""What the benches of the cache on daemons share: which server has a key, and a server that takes writes."""

import ctypes
import hashlib
import os
import socket
import struct
import time

JOB = 6  # of kvcache
PORT = 11211  # of the memcached front end, on loopback of every server
LIMIT_S = 30
CLONE_NEWNET = 0x40000000


def home_of(name, servers):
    """The id of the server that has a key when all are up: memId is the SHA-1 of the service's job, the asking job, and
    the key."""
    digest = hashlib.sha1(struct.pack(">II", JOB, JOB) + name.encode()).digest()
    return int.from_bytes(digest[-8:], "big") * servers >> 64


def keys_at(count, servers, home=None, prefix="load:key:"):
    """So many keys whose root is that server; None: any server."""
    found, number = [], 0
    while len(found) < count:
        name = f"{prefix}{number:07}"
        number += 1
        if home is None or home_of(name, servers) == home:
            found.append(name)
    return found


def connect(pid, port=PORT):
    """A socket in the network namespace of that process, connected to the front end there."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", encoding="ascii") as home, open(f"/proc/{pid}/ns/net", encoding="ascii") as there:
        if libc.setns(there.fileno(), CLONE_NEWNET) < 0:
            raise OSError(ctypes.get_errno(), "setns")
        try:
            made = socket.socket()
        finally:
            if libc.setns(home.fileno(), CLONE_NEWNET) < 0:
                os.abort()
    made.settimeout(LIMIT_S)
    made.connect(("127.0.0.1", port))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def wait_for_writes(pid):
    """Waits until the cache of that process's server takes a write."""
    end = time.monotonic() + LIMIT_S
    said = b""
    with connect(pid) as s:
        while said != b"STORED\r\n":
            if time.monotonic() > end:
                raise RuntimeError(f"the cache takes no writes: {said}")
            s.sendall(b"set ready 0 0 1\r\n1\r\n")
            said = s.recv(200)
            time.sleep(0.01)

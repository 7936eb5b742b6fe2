# SPDX-License-Identifier: Apache-2.0
"""The memcached front end of one server beside Debian's memcached with one thread: the same clients, alternating rounds, medians.

Both hold all values themselves, cubewayd as the one server of its torus: what is compared is sockets, protocol and a look-up. The goal is 0.9 of memcached (performance.md,
P10).
"""

import argparse
import contextlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

SKIP = 77


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(command, port, **options):
    """A server on that port, until it takes writes."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options) as p:
        try:
            for _ in range(200):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as s:
                    s.sendall(b"set ready 0 0 1\r\n1\r\n")
                    if s.recv(100) == b"STORED\r\n":
                        break
                time.sleep(0.05)
            else:
                sys.exit(f"{command[0]} did not take a write")
            yield port
        finally:
            p.terminate()
            p.communicate(timeout=20)


def servers(args, stack, folder):
    """{name: port}"""
    ports = {"memcached": free_port(), "cubewayd": free_port()}
    stack.enter_context(running(["memcached", "-u", "nobody", "-t", "1", "-l", "127.0.0.1", "-p", str(ports["memcached"]), "-U", "0"], ports["memcached"]))
    config = os.path.join(folder, "one.conf")
    with open(config, "w", encoding="utf-8") as f:
        f.write(f'alone = true\ntorus {{ dims = 1x1x1; coordinate = all }} control {{ socket = {folder}/cw.sock }}\n'
                f'service kvcache {{ options {{ listen = "127.0.0.1:{ports["cubewayd"]}" }} }}\n')
    stack.enter_context(running([os.path.join(args.bin, "cubewayd"), "-c", config], ports["cubewayd"]))
    return ports


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ms", type=int, default=300)
    args = parser.parse_args()
    if shutil.which("memcached") is None:
        print("skipped: there is no memcached to compare with (apt-get install memcached)")
        return SKIP
    rounds, ms = (1, 50) if args.smoke else (args.rounds, args.ms)
    print(f"{'':22}{'memcached -t 1':>26}{'cubewayd':>34}\n"
          f"{'':22}{'req/s  p50  p95  p99 us':>26}{'req/s  p50  p95  p99 us  ratio':>34}")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        ports = servers(args, stack, folder)
        for op in ("get", "set"):
            for size in (100, 3550):
                for connections in (1, 16, 150):
                    seen = {name: [] for name in ports}
                    for _ in range(rounds):
                        for name, port in ports.items():
                            words = [os.path.join(args.bin, "mc_load"), "127.0.0.1", str(port), op, str(connections), str(size), str(ms)]
                            seen[name].append([float(x) for x in subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.split()])
                    row = f"{op} {size:5} B {connections:4} conn "
                    base = statistics.median(r[0] for r in seen["memcached"])
                    for name in ports:
                        rate, p50, p95, p99 = (statistics.median(r[i] for r in seen[name]) for i in range(4))
                        row += f"{rate:12.0f} {p50:4.0f} {p95:4.0f} {p99:4.0f}" + ("" if name == "memcached" else f"   {rate / base:5.2f}  ")
                    print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

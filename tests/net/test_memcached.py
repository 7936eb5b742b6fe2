# SPDX-License-Identifier: Apache-2.0
"""The memcached front end beside Debian's memcached: the same bytes in, the same bytes out; whole, in pieces, and all
on one connection."""

import argparse
import contextlib
import random
import re
import shutil
import socket
import subprocess
import sys
import time

import memcached_cases as cases

SKIP = 77


def free_port():
    """A port of loopback that is free at the moment."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def ours(program, *options):
    """The port of the front end in a process of its own."""
    port = free_port()
    with subprocess.Popen([program, f"127.0.0.1:{port}", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as p:
        if p.stdout.readline() != "ready\n":
            sys.exit("mc_host did not start")
        yield port
        p.stdin.close()
        if p.wait(timeout=20) != 0:
            sys.exit("mc_host ended badly")


@contextlib.contextmanager
def theirs(program):
    """The port of a memcached."""
    port = free_port()
    command = [program, "-u", "nobody", "-t", "1", "-p", str(port), "-U", "0", "-l", "127.0.0.1", "-m", "128"]
    with subprocess.Popen(command) as p:
        try:
            for _ in range(200):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield port
        finally:
            p.terminate()


def talk(port, said, pieces=None):
    """Sends what is said, at once or in pieces of so many bytes at most. Returns what comes back until the server hangs
    up."""
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.settimeout(20)
        heard = []
        with contextlib.suppress(OSError):
            if pieces is None:
                s.sendall(said)
            else:
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for i in range(0, len(said), pieces):
                    s.sendall(said[i:i + pieces])
            s.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while chunk := s.recv(1 << 20):
                heard.append(chunk)
        return b"".join(heard)


def short(text):
    """The bytes as a person can read them."""
    return repr(text if len(text) < 300 else text[:200] + b" ... " + text[-60:])


def same(a, b):
    """The same bytes; of two times to live, the clock may have gone on by a second between the one and the other."""
    pattern = rb"(?<= [tl])\d+(?= |\r\n)"
    if re.sub(pattern, b"", a) != re.sub(pattern, b"", b):
        return False
    return all(abs(int(x) - int(y)) <= 1 for x, y in zip(re.findall(pattern, a), re.findall(pattern, b)))


def compare(mine, other, said, pieces=None):
    """Returns 1 when the two servers do not answer the same, else 0."""
    for port in (mine, other):
        talk(port, b"flush_all\r\n")
    a, b = talk(mine, said, pieces), talk(other, said, pieces)
    if same(a, b):
        return 0
    print(f"said     {short(said)}{'' if pieces is None else f' in pieces of {pieces}'}\nours     "
          f"{short(a)}\nmemcached {short(b)}\n")
    return 1


def chat(rng):
    """A random conversation of one client."""
    keys = [b"k%d" % i for i in range(8)]
    # No number here becomes shorter when it is decreased: memcached leaves spaces behind such a number. No value is
    # white space or empty: memcached's incr would read a number from the memory behind it.
    values = [b"7", b"99", b"hello", b"x" * 5000, b"a\r\nb", b"-", b"1844674407370955161"]
    # Whether memcached keeps the marks of a number that is changed depends on earlier answers of the connection which
    # are still in memory.
    counts = rng.random() < 0.5
    said = []
    for _ in range(rng.randrange(2, 40)):
        key, value = rng.choice(keys), rng.choice(values)
        said.append(rng.choice([
            b"get %s\r\n" % b" ".join(rng.choices(keys, k=rng.randrange(1, 6))),
            b"%s %s %d %d %d%s\r\n%s\r\n" % (rng.choice([b"set", b"add", b"replace", b"append", b"prepend"]), key,
                                             rng.randrange(99),
                                             rng.choice([0, 100, -1]), len(value), rng.choice([b"", b" noreply"]),
                                             value),
            b"delete %s\r\n" % key,
            b"incr %s %d\r\n" % (key, rng.randrange(1 << 40)) if counts else b"mn\r\n",
            b"touch %s %d\r\n" % (key, rng.choice([0, 100, -1])),
            b"mg %s v f s k%s\r\n" % (key, rng.choice([b"", b" t", b" h", b" l t", b" T70", b" u h",
                                                       b"" if counts else b" N30", b"" if counts else b" R50 t"])),
            b"ms %s %d T%d%s\r\n%s\r\n" % (key, len(value), rng.choice([0, 100]),
                                           rng.choice([b"", b"" if counts else b" I", b"" if counts else b" I C1",
                                                       b" C1"]), value),
            b"ma %s v D3%s\r\n" % (key, rng.choice([b"", b" t", b" N40 t J7"])) if counts else b"mn\r\n",
            b"md %s q%s\r\n" % (key, b"" if counts else rng.choice([b"", b" I", b" I T50", b" T9"])),
            b"mn\r\n",
            rng.choice([b"\r\n", b"get\r\n", b"set a b c d\r\n", b"nonsense\r\n"]),
        ]))
    return b"".join(said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--chats", type=int, default=300)
    args = parser.parse_args()
    memcached = shutil.which("memcached")
    failed = 0
    with ours(args.host) as mine:
        for said, answer in cases.DIFFERENT:
            talk(mine, b"flush_all\r\n")
            if talk(mine, said) != answer:
                failed += 1
                print(f"said     {short(said)}\nours     {short(talk(mine, said))}\nexpected {short(answer)}\n")
        if memcached is None:
            print("skipped: there is no memcached to compare with (apt-get install memcached)")
            return 1 if failed else SKIP
        with theirs(memcached) as other:
            failed += sum(compare(mine, other, said) for said in cases.CASES)
            failed += sum(compare(mine, other, said, 1) for said in cases.CASES if len(said) < 400)
            # Not of lines that are too long (DIFFERENT), whose end memcached may have seen in time.
            failed += sum(compare(mine, other, said, 1000) for said in cases.CASES
                          if 400 <= len(said) < 20000
                          and (said.startswith(b"get") or max(map(len, said.split(b"\n"))) < 2000))
            rng = random.Random(args.seed)
            for _ in range(args.chats):
                failed += compare(mine, other, chat(rng), rng.choice([None, None, 7, 1400]))
    print(f"{len(cases.CASES)} cases and {args.chats} conversations, {failed} answered otherwise")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Hours of the tunnel: ten pairs of iperf3 in 27 servers, while each minute a server on their ways is killed and comes
back. No connection ends, nothing waits at the end, no packet is left, and neither memory nor descriptors grow.

    test_tunnel_soak.py --bin <folder of programs> [--minutes N]

Without --minutes it runs for 30 minutes where CUBEWAY_SOAK=1 is set (tests/run.sh --soak), and is skipped otherwise.
"""

import json
import os
import random
import shutil
import sys
import time

import lab_kit
from lab_kit import run

MINUTE_S, KILLED_S, PAIRS, MBIT = 60, 20, 10, 4
# What a daemon may have more at the end than after the first minute: a table that grew, a few buffers of packets.
MEMORY_MORE, FILES_MORE = 4 << 20, 0
MINUTES = None


def files_of(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Soak(lab_kit.Case):
    def test_soak(self):
        if shutil.which("iperf3") is None:
            self.skipTest("no iperf3 here")
        if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
            self.skipTest("no /dev/net/tun here")
        chance = random.Random(MINUTES)
        self.up("3x3x3", "--tunnel", "--scale", "10")  # beside other work no server is to take another for dead
        self.wait_all()
        servers = [daemon["server"] for daemon in lab_kit.rows("status")]
        ends = chance.sample(servers, 2 * PAIRS)
        victims = [server for server in servers if server not in ends]
        seconds = int(MINUTES * MINUTE_S) + KILLED_S
        for pair in range(PAIRS):
            self.start(ends[2 * pair], ends[2 * pair + 1], seconds)
        begun, first = time.monotonic(), None
        while time.monotonic() - begun < MINUTES * MINUTE_S:
            victim = chance.choice(victims)
            run("fail", victim)
            time.sleep(KILLED_S)
            run("restore", victim)
            self.wait_all()
            first = first or self.look(ends)
            print(f"{time.monotonic() - begun:.0f} s: {victim} was killed and is back; {self.look(ends)[ends[0]]}",
                  file=sys.stderr)
            time.sleep(max(0.0, min(MINUTE_S, MINUTES * MINUTE_S) - KILLED_S))
        for pair in range(PAIRS):
            self.ended(ends[2 * pair], seconds)
        lab_kit.until("nothing waits", lambda: not any(
            lab_kit.ask("ctl", server, "tunnel", "status")["waiting"] or
            lab_kit.ask("ctl", server, "status")["inside"] for server in servers))
        self.wait_all()
        last = self.look(ends)
        for server, (memory, files) in last.items():
            self.assertLessEqual(memory, first[server][0] + MEMORY_MORE, f"memory of {server}")
            self.assertLessEqual(files, first[server][1] + FILES_MORE, f"descriptors of {server}")
        print(f"ends: memory and descriptors of {ends[0]}: {first[ends[0]]}, and {last[ends[0]]} at the end",
              file=sys.stderr)

    def look(self, servers):
        """Memory of a server's daemon, and how many descriptors it has."""
        return {daemon["server"]: (daemon["memory_bytes"], files_of(daemon["pid"]))
                for daemon in lab_kit.rows("status", code=None) if daemon["server"] in servers}

    def start(self, near, far, seconds):
        """iperf3 between the two, which writes its report into a file of the near one."""
        number = run("ctl", far, "tunnel", "status", "--json").stdout
        address, report = json.loads(number)["ipv4"], os.path.join(self.folder, near + ".json")
        run("exec", far, "/bin/sh", "-c", "setsid iperf3 -s -1 >/dev/null 2>&1 </dev/null &")
        # With -J it may end with exit code 0 when it could not connect: its report says so.
        line = (f"while iperf3 -J -c {address} -t {seconds} -b {MBIT}M >$0.new 2>&1; grep -q 'unable to connect' $0.new"
                "; do sleep 0.1; done; mv $0.new $0").replace("'", '"')
        run("exec", near, "/bin/sh", "-c", f"setsid /bin/sh -c '{line}' \"$0\" >/dev/null 2>&1 </dev/null &", report)

    def ended(self, near, seconds):
        """The connection has lived through all of it, and has carried what it was to."""
        report = os.path.join(self.folder, near + ".json")
        lab_kit.until(f"iperf3 at {near}", lambda: os.path.exists(report), limit=10 * lab_kit.LIMIT_S)
        with open(report, encoding="utf-8") as text:
            said = json.load(text)
        self.assertNotIn("error", said, near)
        bytes_came = said["end"]["sum_received"]["bytes"]
        self.assertGreater(bytes_came, MBIT * 1e6 / 8 * seconds * 0.8, near)


if __name__ == "__main__":
    if "--minutes" in sys.argv:
        at = sys.argv.index("--minutes")
        MINUTES = float(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    elif os.environ.get("CUBEWAY_SOAK") == "1":
        MINUTES = 30
    else:
        print("skipped: it takes half an hour: CUBEWAY_SOAK=1, or --minutes N")
        sys.exit(lab_kit.SKIP)
    lab_kit.main()

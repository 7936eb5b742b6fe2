# SPDX-License-Identifier: Apache-2.0
"""Eight servers on cables, each fault made, and what the doctor says of it: on the server itself, and of all servers
from another one. Then what has happened (cwctl events), and a server that is drained.

The table in docs/operating.md ("Every fault, made once") is what was answered here: each answer that a test shows must
be a row of it, and each row an answer. --table prints the rows as they should be.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import net_kit  # pylint: disable=wrong-import-position
from net_kit import AXES, LINKS, cable, port_name  # pylint: disable=wrong-import-position

MTU = 3000
NOTE = 4
PLACES = [(x, y, z) for x in range(2) for y in range(2) for z in range(2)]
HERE, PATIENT, SICK = (0, 0, 0), (0, 1, 1), (1, 1, 1)
RAW = '"{}" {{ shim = raw; interface = {}; {} }}\n'
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "operating.md")
HEAD = "| fault made | what `cwctl doctor` says | what it says to do |\n| --- | --- | --- |\n"
# A server that had no processor for longer than hold less dead says so for ever: a busy machine is not what is tested.
PATIENT_TIMERS = "timers { hello = 100ms; dead = 500ms; hold = 1500ms; pending_limit = 5s }"
# A cable is called bad after some 500 hellos: 5 s of them.
EAGER = PATIENT_TIMERS.replace("100ms", "10ms")


def name(place):
    return ",".join(map(str, place))


def table_of_page():
    """The rows of the page's table."""
    with open(PAGE, encoding="utf-8") as page:
        text = page.read()
    return text.partition(HEAD)[2].partition("\n\n")[0].splitlines()


def plain(text):
    """As in the page: numbers that chance decides are those of the page, and so are places of files."""
    text = re.sub(r"[0-9.]+ %", "20 %", text)
    text = re.sub(r"went down [0-9]+ times", "went down 7 times", text).replace(", with faults", "")
    text = re.sub(r"\([0-9]+ since it took", "(419 since it took", text)
    text = re.sub(r"\(here: [0-9.]+\)", "(here: 0.1.0)", text)
    text = re.sub(r"[0-9-]{10} [0-9:]{8}", "2026-11-22 20:31:07", text)
    text = re.sub(r"\([0-9a-f]{16}\)", "(396196bad90b4a60)", text)
    text = re.sub(r"/\S+/([0-9],[0-9],[0-9]\.state)", r"/var/lib/cubeway/\1", text)
    text = re.sub(r"answers at \S+,", "answers at /run/cubeway/cubewayd.sock,", text)
    return re.sub(r"/\S+\.conf", "/etc/cubeway/cubewayd.conf", text)


class Doctor(net_kit.Case):
    shown, ended = {}, set()

    @classmethod
    def tearDownClass(cls):
        """Once all tests have run, the page has no row that none of them shows."""
        if net_kit.OPTIONS.table:
            print(HEAD + "\n".join(cls.shown))
        elif cls.ended == {test for test in dir(cls) if test.startswith("test_")}:
            more = [row for row in table_of_page() if row not in cls.shown]
            assert not more, "docs/operating.md has rows that no test shows:\n" + "\n".join(more)
        super().tearDownClass()

    def tearDown(self):
        super().tearDown()
        self.ended.add(self._testMethodName)

    def show(self, fault, row, local=False):
        """Holds that the page has this row; local: the server itself was asked, and no other one would say it."""
        said = f'| {fault} | {"on it: " if local else ""}`{row["cause"]}`: {plain(row["text"])} | {plain(row["do"])} |'
        self.shown[said] = True
        if not net_kit.OPTIONS.table:
            self.assertIn(said, table_of_page(), "docs/operating.md has no such row")

    def setUp(self):
        """Cables first; each server is started as its test wants it."""
        super().setUp()
        self.spaces = {place: self.space() for place in PLACES}
        self.daemons = {}
        for place in PLACES:
            for axis in range(3):
                far = list(place)
                far[axis] = (far[axis] + 1) % 2
                cable(self.spaces[place], "p" + AXES[axis], self.spaces[tuple(far)], "m" + AXES[axis], MTU)

    def cross(self, place, port, other, other_port):
        """Exchanges the near plugs of two cables."""
        ends = []
        for server, device in ((place, port), (other, other_port)):
            far = list(server)
            far["xyz".index(device[1])] ^= 1
            ends.append((self.spaces[tuple(far)], ("m" if device[0] == "p" else "p") + device[1]))
            self.spaces[server].ip("link", "delete", device)
        cable(self.spaces[place], port, *ends[1], MTU)
        cable(self.spaces[other], other_port, *ends[0], MTU)

    def start(self, place, coordinate=None, ports=None, faults=None, more="", links=LINKS, dims="2x2x2"):
        """ports: which interface a link has; faults: what a link does to its frames; links: those configured."""
        ports, faults = ports or {}, faults or {}
        links = "".join(RAW.format(link, ports.get(link, port_name(link)), faults.get(link, "")) for link in links)
        more += "" if "timers" in more else "\n" + PATIENT_TIMERS
        place_of = coordinate if isinstance(coordinate, str) else f'"{name(coordinate or place)}"'
        config = (f'torus {{ dims = {dims}; coordinate = {place_of} }} name = "{name(place)}"\n'
                  f"links {{ {links} }}\n{more}")
        self.daemons[place] = self.daemon("server-" + name(place), config, self.spaces[place],
                                          control=os.path.join(self.folder, name(place)))

    def start_all(self, but=(), more=""):
        for place in PLACES:
            if place not in but:
                self.start(place, more=more)

    def settle(self, count=8, but=()):
        for place, daemon in self.daemons.items():
            daemon.wait_for("msg=ready")
            if place not in but:
                daemon.wait_for(f"count={count} of=8 delivers_keys=yes")

    def cwctl(self, place, line, code=0):
        words = [net_kit.OPTIONS.cwctl, "--socket", os.path.join(self.folder, name(place)), *line.split()]
        done = subprocess.run(words, capture_output=True, text=True, timeout=net_kit.LIMIT_S, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def findings(self, place, line="doctor"):
        done = subprocess.run([net_kit.OPTIONS.cwctl, "--json", "--socket", os.path.join(self.folder, name(place)),
                               *line.split()], capture_output=True, text=True, timeout=net_kit.LIMIT_S, check=False)
        rows = [json.loads(row) for row in done.stdout.splitlines()]
        self.assertEqual(done.returncode, 1 if any(row["severity"] < NOTE for row in rows) else 0, done.stderr)
        return rows

    def caused(self, place, line, causes):
        """The findings without those that a busy machine may add: a server that had no processor for a while."""
        busy = {"waited", "stalled", "stalls", "cut-off", "flapping", "coming-up", "damped",
                "fell-once", "machine"} - causes
        return [row for row in self.findings(place, line) if row["cause"] not in busy]

    def expect(self, place, line, *wanted, show=None):
        """Soon the findings are these, in this order: (server, cause, pattern of the sentence, and of what to do).
        show: which fault the page is to tell of so."""
        end = time.monotonic() + net_kit.LIMIT_S
        while True:
            rows = self.caused(place, line, {cause for _, cause, _, _ in wanted})
            if len(rows) == len(wanted) and all(
                    (row["server"], row["cause"]) == (name(server), cause) and re.search(text, row["text"])
                    and re.search(do, row["do"]) for row, (server, cause, text, do) in zip(rows, wanted)):
                for row in rows if show else []:
                    self.show(show, row, local=line == "doctor")
                return
            if time.monotonic() > end:
                self.fail("\n".join(f'{r["server"]} {r["cause"]}: {r["text"]} -> {r["do"]}' for r in rows))
            time.sleep(0.1)

    def test_sound(self):
        """And what has happened, and how a server leaves."""
        self.start_all()
        self.settle()
        self.assertEqual(self.cwctl(SICK, "doctor"),
                         "nothing is wrong with 1,1,1; cwctl doctor --all asks every server\n")
        self.assertEqual(self.cwctl(SICK, "doctor --all"), "nothing is wrong: all 8 servers answered\n")
        self.events_and_drain()

    def events_and_drain(self):
        rows = [json.loads(row) for row in self.cwctl(HERE, "--json events --all").splitlines()]
        self.assertEqual({row["server"] for row in rows}, {name(place) for place in PLACES})
        self.assertEqual({row["server"] for row in rows if row["text"].startswith("kvcache 1.0 runs")},
                         {name(place) for place in PLACES})
        at = [row["at_us"] for row in rows]
        self.assertEqual(at, sorted(at))
        follower = subprocess.Popen([net_kit.OPTIONS.cwctl, "--socket", os.path.join(self.folder, name(HERE)), "events",
                                     "--follow"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(follower.wait)
        self.addCleanup(follower.kill)
        self.addCleanup(follower.stdout.close)
        said = self.cwctl(SICK, "drain")
        self.assertRegex(said, r"its keys go to 0,1,1 \(\d+ parts\), 1,0,1 \(\d+ parts\), 1,1,0 \(\d+ parts\);")
        self.assertTrue(said.endswith("1,1,1 has left: its heirs deliver its keys, and its daemon has ended\n"), said)
        self.assertEqual(self.daemons.pop(SICK).process.wait(net_kit.LIMIT_S), 0)
        for line in follower.stdout:
            if re.search(r"view +1,1,1 left$", line):
                break
        heir = self.cwctl((1, 1, 0), "events")
        self.assertRegex(heir, r"1,1,0 +keys +of the keys of 1,1,1, \d+ of 48 parts come here now, and 0 before\n")
        left = (SICK, "left", "^1,1,1 left in order at .*; start it again when you like$", "systemctl start cubewayd")
        self.expect(HERE, "doctor --all", left, show="1,1,1 was drained, or ended by systemctl")
        text = self.cwctl(HERE, "doctor --all")
        self.assertRegex(text, r"^note     1,1,1\n    1,1,1 left in order at .*\n    do: on 1,1,1: systemctl start "
                               r"cubewayd\n\nnothing is wrong, 1 note; 7 of 8 servers answered\n$")
        servers = [json.loads(row) for row in self.cwctl(HERE, "--json servers").splitlines()]
        states = {row["server"]: row["state"] for row in servers}
        self.assertEqual(states, {name(place): "left" if place == SICK else "up" for place in PLACES})
        self.assertRegex(self.cwctl(HERE, "key explain 1,1,1"), r"\n +0  1,1,1   left +none\n")
        self.killed()
        self.no_majority()

    def killed(self):
        """It comes back and is killed, three times; its neighbours are never said to have stood still."""
        for times in (1, 2, 3):
            self.start(SICK)
            self.settle()
            if times == 3:
                anew = (SICK, "restarts", "^1,1,1 was lost 2 times lately, and was started again: .* the cables are "
                        "not the cause$", "^on 1,1,1: journalctl -u cubewayd$")
                self.expect(HERE, "doctor --all", anew, show="1,1,1 was killed twice (kill -9), and started again")
                self.assertEqual([row for row in self.findings(PATIENT) if row["cause"] == "stalled"], [])
            self.daemons.pop(SICK).kill()
            self.cwctl_until(HERE, "servers", r"\n1,1,1 +down *\n")
        socket = os.path.join(self.folder, name(SICK))
        done = subprocess.run([net_kit.OPTIONS.cwctl, "--json", "--socket", socket, "doctor"],
                              capture_output=True, text=True, timeout=net_kit.LIMIT_S, check=False)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        self.show("the daemon of 1,1,1 was killed (kill -9)", json.loads(done.stdout), local=True)
        down = (SICK, "server-down", "1,1,1 is down: none of its neighbours hears it", "systemctl status cubewayd")
        self.expect(HERE, "doctor --all", down, show="1,1,1 is switched off")
        text = self.cwctl(HERE, "doctor --all", code=1)
        self.assertRegex(text, r"^broken   1,1,1\n    1,1,1 is down: .*\n    do: on 1,1,1: systemctl status cubewayd\n"
                               r"\n1 finding, worst first; 7 of 8 servers answered\n$")
        self.assertRegex(self.cwctl(HERE, "events"), r"view +1,1,1 is down\n")

    def cwctl_until(self, place, line, pattern):
        end = time.monotonic() + net_kit.LIMIT_S
        while not re.search(pattern, text := self.cwctl(place, line)):
            self.assertLess(time.monotonic(), end, text)
            time.sleep(0.05)

    def no_majority(self):
        """Five of eight are one too few for another one to leave."""
        at = len(self.daemons[HERE].log())
        for place in (PATIENT, (1, 0, 1)):
            self.assertEqual(self.daemons.pop(place).end(), 0)
        self.daemons[HERE].wait_for("count=5 of=8 delivers_keys=yes", at)
        words = [net_kit.OPTIONS.cwctl, "--socket", os.path.join(self.folder, name(HERE)), "drain"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=net_kit.LIMIT_S, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("cwctl: it stays: without it the servers that are left are no majority", done.stderr)
        self.assertIn("0,0,0 has left", self.cwctl(HERE, "drain --force"))

    def test_interfaces(self):
        self.start_all()
        self.settle()
        self.spaces[SICK].ip("link", "set", "px", "down")
        switched_off = ((SICK, "interface-down", "^px, the interface of .x, is switched off$", "ip link set px up"),)
        self.expect(SICK, "doctor", *switched_off)
        there = (*switched_off[0][:3], "^on 1,1,1: ip link set px up$")  # as it can be typed
        self.expect(HERE, "doctor --all", there, show="`ip link set px down` on 1,1,1")
        self.expect(PATIENT, "doctor", there, show="the same; 0,1,1 is asked")
        self.spaces[SICK].ip("link", "set", "px", "mtu", "1500", "up")
        narrow = ((SICK, "mtu", "^px, the interface of .x, has mtu 1500, and frames here have 3000 bytes$",
                   "ip link set px mtu 3000"),)
        self.expect(SICK, "doctor", *narrow)
        self.expect(PATIENT, "doctor", *narrow)  # which asks there, before it blames the cable
        self.assertIn("+x of 1,1,1: px, the interface of +x, has mtu 1500, and frames here have 3000 bytes",
                      self.cwctl(SICK, "wiring", code=1))
        self.expect(HERE, "doctor --all", *narrow, show="`ip link set px mtu 1500` on 1,1,1, which runs")
        self.spaces[SICK].ip("link", "delete", "px")
        missing = (SICK, "interface-missing", "^px, .* does not exist now; the daemon waits for it", "ip link show")
        self.expect(SICK, "doctor", missing, show="the card of px is taken out of 1,1,1")
        self.switched_unseen()

    def switched_unseen(self):
        """An interface is off and on again before the daemon looks: the neighbour heard of it, and no cable is bad."""
        for times in (2, 3):
            self.daemons[SICK].process.send_signal(signal.SIGSTOP)
            self.spaces[SICK].ip("link", "set", "my", "down")
            self.spaces[SICK].ip("link", "set", "my", "up")
            self.daemons[SICK].process.send_signal(signal.SIGCONT)
            self.cwctl_until(SICK, "events", f"(?s)(-y on my: the carrier was lost for a moment .*){{{times - 1}}}"
                                             "-y to 1,0,1 is up")
        self.assertNotIn("-y", [row.get("link") for row in self.findings(SICK)])
        self.assertIn("my (-y)", [row["text"] for row in self.findings(SICK) if row["cause"] == "switched-off"][0])

    def test_no_majority(self):
        """Four of eight have left, the last one against a warning."""
        self.start_all()
        self.settle()
        for place, warned in ((SICK, ""), ((1, 1, 0), ""), ((1, 0, 1), ""), (PATIENT, "no majority, and caches")):
            at = len(self.daemons[HERE].log())
            done = subprocess.run([net_kit.OPTIONS.cwctl, "--socket", os.path.join(self.folder, name(place)), "leave"],
                                  capture_output=True, text=True, timeout=net_kit.LIMIT_S, check=False)
            self.assertEqual((done.returncode, warned in done.stderr, bool(warned)), (0, True, bool(done.stderr)))
            self.assertEqual(self.daemons.pop(place).process.wait(net_kit.LIMIT_S), 0)
            self.daemons[HERE].wait_for(f"count={len(self.daemons)} of=8", at)
        rows = [row for row in self.findings(HERE, "doctor --all") if row["cause"] != "left"]
        self.assertEqual([row["cause"] for row in rows], ["no-majority"])
        self.assertEqual(rows[0]["do"], "on 0,1,1: systemctl start cubewayd")  # 1,1,1 has no neighbour that runs
        self.show("1,1,1, 1,1,0, 1,0,1 and 0,1,1 have left", rows[0])
        left = {row["expected"] for row in self.findings(HERE, "doctor") if row["cause"] == "left"}
        self.assertEqual(left, {"1,1,1", "1,1,0", "1,0,1", "0,1,1"})
        self.assertIn("the cluster", self.cwctl(HERE, "doctor", code=1))
        self.assertIn("no: the caches of kvcache stand still", self.cwctl(HERE, "status"))

    def test_mtu_from_the_start(self):
        narrow = "px of 1,1,1 has mtu 1500 when its daemon starts"
        self.start_all(but=[SICK])
        self.spaces[SICK].ip("link", "set", "px", "mtu", "1500")
        self.start(SICK)
        self.settle(7, but=[SICK])
        self.expect(SICK, "doctor", (SICK, "mtu", r"^px \(.x\) of this server has mtu 1500 where 0,1,1 has 3000: .* "
                                     r"\(6 links, to 0,1,1 1,0,1 1,1,0\)$",
                                     "ip link set px mtu 3000 && systemctl restart cubewayd"),
                    show=narrow)
        self.expect(HERE, "doctor --all", (PATIENT, "mtu", "have 3000 bytes, and those of 1,1,1 have 1500", "on 1,1,1"),
                    show=narrow)

    def six_times(self, sentence):
        """What wiring says of the sick server: that, of each cable, when all of them have been looked at."""
        until = time.monotonic() + 20
        text = self.cwctl(SICK, "wiring", code=1)
        while text.count(sentence) != 6 and time.monotonic() < until:
            time.sleep(0.2)
            text = self.cwctl(SICK, "wiring", code=1)
        self.assertEqual(text.count(sentence), 6, text)
        return text

    def test_twin(self):
        twin = "1,1,1 is configured as 0,1,1"
        self.start_all(but=[SICK])
        self.start(SICK, coordinate=(0, 1, 1))
        self.settle(7, but=[SICK])
        self.expect(SICK, "doctor", (
            (0, 1, 1), "place", "^this server is configured as 0,1,1, and by its cables it is 1,1,1$",
            'set torus.coordinate = "1,1,1" in .*conf, then: systemctl restart cubewayd'),
            show=twin)
        text = self.six_times("this server is configured as 0,1,1, and by its cables it is 1,1,1")
        self.assertNotIn("plug it into", text + self.cwctl(PATIENT, "wiring", code=1))
        self.assertRegex(self.cwctl(HERE, "servers"), "1,1,1 +refused")
        self.assertIn("1,1,1 runs, and its neighbours do not take it in: the server that is cabled as 1,1,1 says that "
                      "it is 0,1,1", self.cwctl(HERE, "wiring --all", code=1))
        self.expect(HERE, "doctor --all", (
            SICK, "twin", "^the server that is cabled as 1,1,1 says that it is 0,1,1: by its cables it is 1,1,1$",
            'on the machine at 1,1,1: set torus.coordinate = "1,1,1"'), show=twin)

    def test_exchanged_plugs(self):
        self.start_all(but=[SICK])
        self.start(SICK, ports={"+x": "my", "-y": "px"})
        self.settle(but=[])
        said = (SICK, "swapped", "^the cables in .x and -y of this server are exchanged: .x leads to .y of 1,0,1, and "
                "-y to -x of 0,1,1$", "on 1,1,1: exchange the plugs in .x and -y, then: cwctl wiring")
        self.expect(SICK, "doctor", said)
        self.expect(HERE, "doctor --all", said, show="two plugs of 1,1,1 are exchanged")

    def test_exchanged_plugs_of_two_servers(self):
        self.cross(SICK, "px", (1, 0, 1), "px")
        self.start_all()
        self.settle()
        self.expect(HERE, "doctor --all", (
            (0, 0, 1), "swapped", "^the cables in -x of 0,0,1 and -x of 0,1,1 are exchanged: each leads where the "
            "other belongs$", "exchange the plugs in -x of 0,0,1 and -x of 0,1,1, then: cwctl wiring"),
            show="the plugs in +x of 1,1,1 and +x of 1,0,1 are exchanged")

    def test_half_a_cable(self):
        self.start_all(but=[SICK])
        self.start(SICK, faults={"+x": "fault { loss = 100% }"})
        self.settle()
        half = (SICK, "half",
                "^-x of 0,1,1 is heard over .x and does not hear us: the cable works in one direction only$",
                "on 0,1,1: cwctl links -x")
        self.expect(SICK, "doctor", half)
        self.expect(HERE, "doctor --all", half, show="the cable of +x of 1,1,1 carries nothing that 1,1,1 sends")
        self.expect(PATIENT, "doctor", (PATIENT, "deaf", "^1,1,1 is alive, and nothing comes from it over -x: ",
                                        "ip -s link show mx"), show="the same; 0,1,1 is asked")

    def test_lossy_cable(self):
        """Each end counts; who hears of both is sent to the end at which the frames do not arrive."""
        fault = "the cable of +x of 1,1,1 loses a fifth of what 1,1,1 sends"
        self.start_all(but=[SICK], more=EAGER)
        self.start(SICK, faults={"+x": "fault { loss = 20% }"}, more=EAGER)
        self.settle()
        lost = (PATIENT, "lossy", "^the cable in -x loses [12][0-9] % of what comes from .x of 1,1,1, and is sound the "
                "other way: look at this end$", "ip -s link show mx: errors are the cable's")
        self.expect(PATIENT, "doctor", lost)
        self.expect(SICK, "doctor", (SICK, "lossy", "^the cable in .x loses [12][0-9] % of what goes to -x of 0,1,1, "
                                     "and is sound the other way: look at that end$", "^on 0,1,1: cwctl doctor"),
                    show=fault)
        self.expect(HERE, "doctor --all", lost, show=fault)
        text = self.cwctl(HERE, "wiring --all", code=1)
        self.assertIn("\n23 of 24 are right\n", text)
        self.assertRegex(text, r"\n\+x of 1,1,1: (0,1,1 says: )?the cable in [+-]x loses [12][0-9] % of what ")

    def test_refusing_device(self):
        """Nothing that 1,1,1 sends over px leaves its own card: not the cable's fault, and not a processor's work."""
        self.start_all()
        self.settle()
        net_kit.run(*self.spaces[SICK].enter("tc", "qdisc", "add", "dev", "px", "root", "bfifo", "limit", "1"))
        refused = (SICK, "refused", "^px, the interface of .x, refuses all frames of this server ",
                   "tc -s qdisc show dev px")
        self.expect(SICK, "doctor", refused)
        self.expect(HERE, "doctor --all", refused, show="`tc qdisc add dev px root bfifo limit 1` on 1,1,1")
        before = self.refusals()
        time.sleep(0.5)
        self.assertLess(self.refusals() - before, 300)  # it was 10,000
        net_kit.run(*self.spaces[SICK].enter("tc", "qdisc", "del", "dev", "px", "root"))
        self.expect(SICK, "doctor", (SICK, "refused", r"^px, the interface of .x, refused [0-9]+ of [0-9]+ frames ",
                                     "tc -s qdisc show dev px"))  # a note, once it takes them again
        self.assertIn("REFUSED", self.cwctl(SICK, "links"))

    def refusals(self):
        return json.loads(self.cwctl(SICK, "--json links +x"))["tx_refused"]

    def test_switched_off_and_on(self):
        """By hand, twice: no cable is bad. Then a restart in order: nobody was killed."""
        self.start_all()
        self.settle()
        for _ in range(2):
            at = len(self.daemons[PATIENT].log())
            self.spaces[SICK].ip("link", "set", "px", "down")
            self.daemons[PATIENT].wait_for("link is down", at)
            at = len(self.daemons[PATIENT].log())
            self.spaces[SICK].ip("link", "set", "px", "up")
            self.daemons[PATIENT].wait_for("link is up", at)
        switched = (SICK, "switched-off", r"^interfaces of this server were switched off, .*: px \(.x\)$",
                    "cwctl events")
        self.expect(SICK, "doctor", switched)
        self.expect(HERE, "doctor --all", switched, show="`ip link set px down` and `up` on 1,1,1, twice")
        self.expect(PATIENT, "doctor", switched)
        at = len(self.daemons[HERE].log())
        self.assertEqual(self.daemons.pop(SICK).end(), 0)
        self.daemons[HERE].wait_for("count=7 of=8", at)
        at = len(self.daemons[HERE].log())
        self.start(SICK)
        self.daemons[HERE].wait_for("count=8 of=8", at)
        lost = (PATIENT, "carrier-lost", "lost its carrier 2 times", "ip -s link")
        self.expect(HERE, "doctor --all", lost)
        self.daemons.pop(SICK).kill()  # which is not the cable's fault either
        self.cwctl_until(HERE, "servers", r"\n1,1,1 +down *\n")
        self.start(SICK)
        self.cwctl_until(HERE, "servers", r"\n1,1,1 +up ")
        self.expect(HERE, "doctor --all", lost)

    def test_flapping_cable(self):
        """It loses so much that the link goes down again and again."""
        self.start_all(but=[SICK])
        self.start(SICK, faults={"+x": "fault { loss = 75% }"})
        self.settle()
        end = time.monotonic() + 2 * net_kit.LIMIT_S
        while not (rows := [row for row in self.findings(SICK) if row["cause"] == "flapping" and re.search(
                "^the link .x to 0,1,1 went down [0-9]+ times lately, and rests now: the cable is bad", row["text"])]):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.2)
        self.show("it loses three quarters of what 1,1,1 sends", rows[0], local=True)

    def test_stalled(self):
        self.start_all()
        self.settle()
        daemon = self.daemons[SICK]
        at, before = len(daemon.log()), len(self.daemons[HERE].log())
        daemon.process.send_signal(signal.SIGSTOP)
        self.daemons[HERE].wait_for("count=7 of=8", before)
        time.sleep(0.5)  # until the last of its neighbours has counted it out
        daemon.process.send_signal(signal.SIGCONT)
        daemon.wait_for("no neighbour has heard us for too long", at)
        for _ in range(6):  # it says so before the last of its links has fallen
            at = daemon.wait_for("link is down", at)
        [row] = [row for row in self.findings(SICK) if row["cause"] == "stalled"]
        self.assertRegex(row["text"], r"^all 6 links of this server went down at the same moment.*: not its cables, "
                                      r"but the server itself stood still for longer than timers.dead \(500ms\)$")
        self.show("1,1,1 stands still for a second (SIGSTOP)",
                  {**row, "text": row["text"].replace(" and rest now", " lately")}, local=True)

    def test_another_cluster(self):
        self.start_all(but=[SICK])
        self.start(SICK, more="cluster = 9")
        self.settle(7, but=[SICK])
        theirs = r"says that it is 0,1,1 \(port .x\) of cluster 1, and this one belongs to cluster 9"
        ours = (r"says that it is 1,1,1 \(port .x\) of cluster 9, and this one belongs to cluster 1 "
                r"\(so say 0,1,1 1,0,1 1,1,0\)$")
        self.expect(SICK, "doctor --all", (SICK, "cluster", theirs,
                                           "^on 1,1,1: set cluster = 1 in .*conf, then: systemctl restart"))
        self.expect(HERE, "doctor --all", (PATIENT, "cluster", ours, "set cluster = 1 there"),
                    show="1,1,1 has `cluster = 9`")
        self.assertRegex(self.cwctl(HERE, "servers"), "1,1,1 +refused")
        self.assertRegex(self.cwctl(PATIENT, "wiring", code=1), "SHOULD GO TO(.*\n)+.*of 1,1,1 .* refused")

    def test_other_timers(self):
        self.start_all(but=[SICK])
        self.start(SICK, more="timers { profile = fast }")
        self.settle(7, but=[SICK])
        compare = "cubewayd --show-config -c .*conf "
        self.expect(SICK, "doctor", *[(SICK, "settings", "^[0-9,]+ has another configuration than 1,1,1: "
                                       r"torus.dims, timers or mtu differ \(6 links, to 0,1,1 1,0,1 1,1,0\)$",
                                       compare)])
        self.expect(HERE, "doctor --all", (SICK, "settings", "^1,1,1 has timers { profile = fast }, and 0,1,1 "
                                           r"has others \(so say 0,1,1 1,0,1 1,1,0\)$", compare),
                    show="1,1,1 has `timers { profile = fast }`")

    def test_other_dims(self):
        """With other dims a right cable seems to lead elsewhere: only the dims are told."""
        self.start_all(but=[SICK])
        self.start(SICK, dims="2x2x3")
        self.settle(7, but=[SICK])
        self.expect(SICK, "doctor", (SICK, "settings", "^.* has torus.dims = 2x2x2, and 1,1,1 has 2x2x3"
                                     r"( \(\d links.*\))?$", "^set torus.dims = 2x2x2 in .*conf, then: systemctl"))
        text = self.six_times("has torus.dims = 2x2x2, and 1,1,1 has 2x2x3")
        self.assertNotIn("plug it into", text)
        self.expect(HERE, "doctor --all", (SICK, "settings", "^1,1,1 has torus.dims = 2x2x3, and 0,1,1 has "
                                           r"2x2x2 \(so say 0,1,1 1,0,1 1,1,0\)$",
                                           "^on the machine at 1,1,1: set torus.dims = 2x2x2 in its daemon's file"),
                    show="1,1,1 has `dims = 2x2x3`")

    def test_exchanged_at_the_first_start(self):
        """All look for their places, and the plugs of one are wrong: one finding, which names it."""
        self.cross(SICK, "px", SICK, "my")
        for place in PLACES:
            self.start(place, coordinate="auto")
        for place in PLACES:  # before that there is no socket, and so no daemon to ask
            self.daemons[place].wait_for("msg=ready")
        exchanged = ("-", "swapped", r"^the cables in \+x and -y of 1,1,1 are exchanged: as long as they are, no "
                     "server finds its place$", r"^exchange the plugs in \+x and -y of 1,1,1, then: cwctl wiring$")
        self.expect(HERE, "doctor --all", exchanged,
                    show="all have `coordinate = auto`, and at the first start px and my of 1,1,1 are exchanged")
        said = self.cwctl(HERE, "doctor --all", code=1)
        self.assertRegex(said, r"(?m)^grave +the cluster$")  # and not "this server", whose plugs are right
        self.assertIn("\nthe cables in +x and -y of 1,1,1 are exchanged\n", self.cwctl(HERE, "wiring", code=1))

    def test_unconfigured_link(self):
        self.start_all(but=[SICK])
        self.start(SICK, links=[link for link in LINKS if link != "+x"])
        self.settle()
        left_out = (SICK, "unconfigured", "^no interface is configured for .x, whose cable goes to -x of 0,1,1$",
                    "name it in links { } of /.*conf$")
        self.expect(SICK, "doctor", left_out)
        self.expect(HERE, "doctor --all", left_out, show="1,1,1 has no `\"+x\"` in `links { }`")

    def test_no_place(self):
        """It is to find its place by itself, and nobody is there to find it with."""
        self.start(SICK, coordinate="auto")
        self.daemons[SICK].wait_for("msg=ready")
        self.expect(SICK, "doctor", ("-", "no-place", "^this server still looks for its place in the torus", "wiring"),
                    show="1,1,1 has `coordinate = auto`, and no other server runs")
        self.speak_old(PATIENT, ports="mx")
        rows = self.wait_for_cause("version")
        self.assertRegex(rows[0]["text"], r"^what comes over \+x is version 1 of the wire, and this server speaks "
                         "version 2: its neighbour there runs another release, and neither understands the other$")

    def wait_for_cause(self, cause):
        end = time.monotonic() + net_kit.LIMIT_S
        while not (rows := [row for row in self.findings(SICK) if row["cause"] == cause]):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        return rows

    def speak_old(self, place, ports="px mx py my pz mz"):
        """Sends what a release would send that speaks version 1 of the wire."""
        send = (f"import socket, time; names = '{ports}'.split()\n"
                "port = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW) for _ in names]\n"
                "for s, name in zip(port, names): s.bind((name, 0x88b5))\n"
                "while True:\n for s in port: s.send(b'\\xff' * 6 + b'\\x02' * 6 + b'\\x88\\xb5' + b'\\x10' * 64)\n"
                " time.sleep(0.1)")
        sender = subprocess.Popen(self.spaces[place].enter("python3", "-c", send))
        self.addCleanup(sender.wait)
        self.addCleanup(sender.kill)

    def state_file(self, place):
        return os.path.join(self.folder, "state", name(place) + ".state")

    def test_a_copied_state_file(self):
        """Two servers with one id: all cables are right, and both are named, by both."""
        self.start_all()
        self.settle()
        state = {place: self.state_file(place) for place in ((1, 1, 0), SICK)}
        for place in state:
            at = len(self.daemons[HERE].log())
            self.assertEqual(self.daemons.pop(place).end(), 0)
            self.daemons[HERE].wait_for(" of=8", at)
        shutil.copy(state[(1, 1, 0)], state[SICK])
        at = len(self.daemons[HERE].log())
        for place in state:
            self.start(place)
        self.daemons[HERE].wait_for("count=8 of=8", at)
        for place, far in ((SICK, "1,1,0"), ((1, 1, 0), "1,1,1")):
            self.expect(place, "doctor", (place, "same-id", f"^this server and {far} have the same id .*: the state "
                                          "file of one is a copy of the other's", "^on the one with the copy, "))
        self.expect(HERE, "doctor --all", ((1, 1, 0), "same-id", "^this server and 1,1,1 have the same id ", "rm its"),
                    show="the state file of 1,1,0 was copied over that of 1,1,1")
        self.assertIn("6 of 6 are right, and yet:", self.cwctl(SICK, "wiring", code=1))

    def test_another_version(self):
        """Frames of our EtherType, whose first half byte is another version of the wire than ours."""
        self.start_all(but=[SICK])
        self.settle(7)
        self.speak_old(SICK)
        said = ("^what comes over .x is version 1 of the wire, and this server speaks version 2: 1,1,1 runs another "
                "release, and neither understands the other")
        what_to_do = r"^on 1,1,1: cubewayd --version \(here: [0-9.]+\), then install the same release on both$"
        self.expect(PATIENT, "doctor", (PATIENT, "version", said, what_to_do))
        self.expect(HERE, "doctor --all", (PATIENT, "version", said + r" \(so say 0,1,1 1,0,1 1,1,0\)$", what_to_do),
                    show="1,1,1 runs a release with another version of the wire")


if __name__ == "__main__":
    net_kit.main(network=True)

# SPDX-License-Identifier: Apache-2.0
"""What holds for every command of every program: --json prints an object a line and nothing else, --help has the exit
codes and says the same as the man page, and a name that is nearly right is named."""

import json
import os
import shlex
import subprocess
import sys

import lab_kit
from lab_kit import run

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "tools"))
import man_options  # pylint: disable=wrong-import-position

# What each command is tried with: %F is a folder, %M a module, %S a scenario.
CWCTL = """
status
links
servers
routes
key explain x
ping all
trace 1,0,0
services
services weight bench
services times bench
service bench stats
service bench start mode=keys rate=10
service bench stop
kv set a 1
kv get a
kv delete a
kv flush
kv stats
kv hot
store create memory
store put a 1
store get a
store head a
store cas a 1 2
store insert a 3
store list
store watch a --most 1
store txn 'if {a}x absent' 'put {a}x 1' 'get {a}y'
store export --file %F/store.tar
store import %F/store.tar --if-absent
store delete a
store status
store scrub
store explain a
tunnel status
tunnel flows
tunnel explain 10.64.0.1
tunnel nat
tunnel cni
tunnel networkd
hosts
aggregate reduce sum float32 --from grad.f32 --to 0,0,0:sum.f32
aggregate check --bytes 8k
aggregate words --from text --to 0,0,0:words.txt --top 10
aggregate run --map kv --combine max --from peaks --to 0,0,0:peaks
aggregate status
aggregate cancel 3
query sum node.sent
query list
query feed clients
counters
drops
top --rounds 1
watch --every 100ms
capture +x %F/c.pcapng --count 3
wiring
doctor
events
plan 2x2x1
job keygen %F/own.key
job create %F/web.jobs
job list
job show web
job grant web kvcache
job explain web:0 kvcache:0:1
job audit
job revoke web kvcache
job destroy web
job sign %F/web.jobs --cluster 7 --dims 2x1x1
file send /etc/hostname --to 1,0,0
file status
file stop 99
config show
log level
daemon relay off
services load %M
services reload %M
services unload hitcount
cut +x
mend +x
fail
restore
"""
CWLAB = """
list
status
status 0,0,0
pingall
pause 0,0,0 1ms
link 0,0,0 +x up
loss 0,0,0 +x none
judge
watch --every 100ms
rescale
logs --last 3
logs --merge --last 3
churn --for 10ms
fail 1,0,0
restore 1,0,0 --wait
leave 1,0,0
"""
CWSIM = """
run %S --check
run %S
throughput --dims 2x1x1 --measure 1ms
churn --dims 2x2x1 --seconds 1
latency --dims 2x1x1 --loads 10% --measure 1ms --out %F
fairness --measure 1ms
converge --dims 2x2x2
swarm --seeds 1..1
replay 1
"""
# What runs another program, or is tried apart; paper takes half a minute, and its test reads its JSON. Drain and leave
# would end all servers of a lab that is one process, and are refused there: test_cmd_fault.py reads their JSON.
ELSEWHERE = {"cwlab": {"ctl", "exec", "shell", "capture", "run", "up", "down"},
             "cwctl": {"service", "drain", "leave", "aggregate feed"}, "cwsim": {"paper"}}


def program(name):
    return os.path.join(lab_kit.OPTIONS.bin, name)


LISTS = ("aggregate status", "drops", "doctor")


class Programs(lab_kit.Case):
    code = 0  # of what was run last

    def objects(self, words, codes=(0, 1, 4, 5), **more):
        """Runs it with --json; each line must be an object. Gives these."""
        words = [*words, "--json"] if "service" not in words else [*words[:3], "--json", *words[3:]]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=lab_kit.LIMIT_S,
                              stdin=subprocess.DEVNULL, **more)
        self.code = done.returncode
        self.assertIn(done.returncode, codes, f"{words}: {done.stdout}{done.stderr}")
        for line in done.stdout.splitlines():
            self.assertRegex(line, r"^\{.*\}$", words)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def in_one_form(self, words, rows):
        """As docs/control-protocol.md has it: nanoseconds, bytes and ppm; no rows inside of a row."""
        for row in rows:
            for name, value in row.items():
                self.assertNotRegex(name, "_(kb|mb|us|ms|percent|seconds)$" if name != "at_us" else "^$", words)
                inner = isinstance(value, list) and any(isinstance(element, dict) for element in value)
                self.assertFalse(inner and name != "conditions", f"{words}: {name}")

    def fill(self, text):
        """The lines of a table above, as words."""
        values = {"%F": self.folder, "%M": lab_kit.OPTIONS.module,
                  "%S": os.path.join(TOP, "simulator/scenarios/kill-root.txt")}
        for row in text.strip().splitlines():
            words = shlex.split(row)
            for name, value in values.items():
                words = [word.replace(name, value) for word in words]
            yield words

    def covers(self, name, text):
        """Every command of the program stands in the table."""
        rows = [" ".join(words) + " " for words in self.fill(text)]
        for command in man_options.commands_of(lab_kit.OPTIONS.bin, name):
            if command not in ELSEWHERE[name]:
                self.assertTrue(any(row.startswith(command + " ") for row in rows), f"{name} {command} is not tried")

    def test_json_of_cwctl(self):
        self.up("2x1x1", "--driver", "process")
        with open(os.path.join(self.folder, "web.jobs"), "w", encoding="utf-8") as file:
            file.write('job "web" { id = 5001; processes = "0-1"; ports { http = 1 } }\n')
        self.covers("cwctl", CWCTL)
        for words in self.fill(CWCTL):
            rows = self.objects([program("cwlab"), "ctl", "0,0,0", *words])
            self.in_one_form(words, rows)
            # Who has done something says so; only a list may be empty.
            may_be_empty = words[0] == "service" or " ".join(words) in LISTS
            self.assertTrue(rows or self.code != 0 or may_be_empty, words)

    def test_json_of_cwlab(self):
        self.covers("cwlab", CWLAB)
        self.assertEqual(len(self.objects([program("cwlab"), "up", "2x2x1", "--scale", "1"])), 1)
        for words in self.fill(CWLAB):
            rows = self.objects([program("cwlab"), *words])
            self.assertGreater(len(rows), 0, words)
            self.in_one_form(words, rows)
        self.assertEqual([row["lab"] for row in self.objects([program("cwlab"), "down"], codes=(0,))], ["lab"])

    def test_json_of_cwsim(self):
        self.covers("cwsim", CWSIM)
        for words in self.fill(CWSIM):
            self.assertGreater(len(self.objects([program("cwsim"), *words], cwd=self.folder)), 0, words)

    def test_json_of_cubewayd(self):
        file = os.path.join(self.folder, "all.conf")
        with open(file, "w", encoding="utf-8") as config:
            config.write("torus { dims = 2x2x1; coordinate = all } control { socket = x.sock }\n")
        self.assertIn({"key": "torus.dims", "value": "2x2x1"},
                      self.objects([program("cubewayd"), "-c", file, "--show-config"]))
        [said] = self.objects([program("cubewayd"), "--check-config", file])
        self.assertEqual((said["good"], said["mistakes"]), (True, 0))
        with open(file, "a", encoding="utf-8") as config:
            config.write("torsu { }\n")
        mistake, said = self.objects([program("cubewayd"), "--check-config", file], codes=(2,))
        self.assertEqual((mistake["kind"], said["good"], said["mistakes"]), ("mistake", False, 1))

    def test_versions(self):
        for name in "cwctl", "cwlab", "cwsim", "cubewayd":
            [said] = self.objects([program(name), "--version"], codes=(0,))
            self.assertEqual(said["program"], name)
            self.assertRegex(said["version"], r"^\d+\.\d+")

    def test_help_has_exit_codes(self):
        for name in "cwctl", "cwlab", "cwsim":
            for command in man_options.commands_of(lab_kit.OPTIONS.bin, name):
                text = "\n".join(man_options.help_of(lab_kit.OPTIONS.bin, name, *command.split()))
                self.assertIn("\nExit codes: 0 ", text, f"{name} {command}")
                self.assertTrue("--json" in text or command in ELSEWHERE[name], f"{name} {command} has no --json")
        self.assertIn("Exit codes: 0 ", "\n".join(man_options.help_of(lab_kit.OPTIONS.bin, "cubewayd")))

    def test_man_pages_say_what_help_says(self):
        done = subprocess.run([sys.executable, "-B", man_options.__file__, "--bin", lab_kit.OPTIONS.bin, "--check"],
                              capture_output=True, text=True, check=False, timeout=lab_kit.LIMIT_S)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_near_misses(self):
        for words, meant in (("cwctl statsu", "status"), ("cwctl kv gte x", "kv get"), ("cwctl jbo list", "job"),
                             ("cwctl services laod x", "services load"), ("cwctl links --jsno", "--json"),
                             ("cwctl hlep", "help"), ("cwlab hepl", "help"), ("cwsim hlep", "help"),
                             ("cwlab pingal", "pingall"), ("cwlab up 2x2x2 --drivr x", "--driver"),
                             ("cwsim thruput", "throughput"), ("cubewayd --chek-config", "--check-config")):
            name, *rest = words.split()
            done = subprocess.run([program(name), *rest], capture_output=True, text=True, check=False,
                                  timeout=lab_kit.LIMIT_S)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(f"did you mean {meant}?", done.stderr)
        run("help", "nonsense", code=2)
        pages = [subprocess.run([program("cwctl"), *words.split()], capture_output=True, text=True, check=True).stdout
                 for words in ("kv --help", "help kv", "kv help")]
        self.assertEqual(pages[0], pages[1])
        self.assertEqual(pages[0], pages[2])
        self.assertIn("\n\nValues of the cache, and the caches of the whole torus.\n", pages[0])


if __name__ == "__main__":
    lab_kit.main()

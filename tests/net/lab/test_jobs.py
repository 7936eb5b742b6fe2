# SPDX-License-Identifier: Apache-2.0
"""Job protection on a torus of namespaces, as an operator meets it: a service without a grant cannot send; with it, it
can; after revoke it cannot, within the shown time; two who change it at once both get their change; servers that were
away learn on return, and records carry over restarts.
"""

import json
import os
import subprocess

import lab_kit

SERVERS = [f"{x},{y},{z}" for x in range(2) for y in range(2) for z in range(2)]
JOB = "4096"  # hitcount


class Jobs(lab_kit.Case):
    def ctl(self, server, *words, code=0, env=None):
        done = subprocess.run([lab_kit.OPTIONS.cwlab, "ctl", server, *words], capture_output=True, text=True,
                              check=False,
                              timeout=lab_kit.LIMIT_S, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, code, f"{server} {words}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def rows(self, server, *words, code=0):
        return [json.loads(row) for row in self.ctl(server, "--json", *words, code=code).splitlines()]

    def walk(self, code, servers=SERVERS):
        """Every server sends to every other: all packets arrive, or none does."""
        for server in servers:
            for to in SERVERS:
                if to != server:
                    said = self.ctl(server, "service", "hitcount", "walk", to, code=code)
                    if code != 0:
                        self.assertIn("no privilege", said)

    def version(self, server):
        rows = [row for row in self.rows(server, "job", "list") if row["name"] == "hitcount"]
        return rows[0]["version"] if rows else 0

    def hits(self):
        return sum(row["hits"] for server in SERVERS for row in self.rows(server, "service", "hitcount", "show")
                   if "hits" in row)

    def lab(self, *words):
        if lab_kit.OPTIONS.module is None:
            self.skipTest("no module given")
        self.up("2x2x2", "--driver", "netns", "--service", lab_kit.OPTIONS.module, *words)

    def test_grant_and_revoke(self):
        self.lab("--no-grants")
        self.walk(1)
        self.assertEqual(self.hits(), 0)
        [row] = self.rows("1,1,1", "job", "explain", "hitcount:0", "hitcount:7:1", code=1)
        self.assertEqual((row["allowed"], row["asked"], row["refused"]), (0, "0,0,0", 1))
        self.assertEqual(row["missing"], "no signed record of job hitcount is held")
        last = self.rows("0,1,0", "job", "audit")[-1]
        self.assertEqual((last["servers"], last["silent"], last["refused"]), (8, 0, 56))

        rows = self.rows("0,0,0", "job", "grant", "hitcount", "hitcount")
        self.assertEqual((rows[-1]["complete"], rows[-1]["acked"], rows[-1]["unkept"]), (1, 8, 0))
        self.walk(0)
        lab_kit.until("all packets counted", lambda: self.hits() >= 56)

        rows = self.rows("1,0,1", "job", "revoke", "hitcount", "hitcount")
        self.assertEqual((rows[-1]["complete"], rows[-1]["acked"]), (1, 8))
        print(f"revocation complete on 8 servers after {rows[-1]['took_ns'] // 1000} us")
        before = self.hits()
        self.walk(1)  # the very next packets, on every server
        self.assertEqual(self.hits(), before)
        [row] = self.rows("1,1,1", "job", "explain", "hitcount:0", "hitcount:7:1", code=1)
        self.assertEqual((row["missing"], row["refused"]), ("hitcount has no grant to job hitcount", 2))
        self.two_at_once()

    def two_at_once(self):
        """Two operators at two servers, whose daemons write each record to their disks: both changes are made."""
        for port in range(0, 12, 2):
            command = [lab_kit.OPTIONS.cwlab, "ctl"]
            both = [subprocess.Popen([*command, server, "job", "grant", "hitcount", f"hitcount:all:{port + i}"],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    for i, server in enumerate(("0,0,0", "1,1,1"))]
            for one in both:
                out, errors = one.communicate(timeout=lab_kit.LIMIT_S)
                self.assertEqual(one.returncode, 0, out + errors)
            [row] = [row for row in self.rows("0,1,0", "job", "show", "hitcount") if row.get("what") == "grant"]
            self.assertEqual(row["to_ports"], ",".join(str(number) for number in range(port + 2)))

    def test_who_was_away_learns_on_return(self):
        self.lab()  # with a right to its own job
        self.walk(0, SERVERS[:2])
        self.assertEqual(self.version("1,1,1"), 1)
        lab_kit.run("fail", "1,1,1")
        lab_kit.until("it is counted out", lambda: all(
            row["state"] == "down" for row in self.rows("0,0,0", "servers") if row["server"] == "1,1,1"))
        rows = self.rows("0,0,0", "job", "revoke", "hitcount", "hitcount")
        self.assertEqual((rows[-1]["complete"], rows[-1]["acked"], rows[-1]["missing"]), (1, 7, 0))
        self.walk(1, SERVERS[:7])
        lab_kit.run("restore", "1,1,1")
        self.wait_all(8)
        lab_kit.until("it has learnt", lambda: self.version("1,1,1") == 2, limit=20)
        self.walk(1)
        [row] = [row for row in self.rows("1,1,1", "job", "list") if row["name"] == "hitcount"]
        self.assertEqual((row["version"], row["kept"]), (2, 1))

    def test_records_carry_over_restarts(self):
        self.lab("--no-grants")
        self.ctl("0,0,0", "job", "grant", "hitcount", "hitcount")
        self.assertTrue(os.path.exists(os.path.join(self.folder, "lab", "0,1,1.state", "0,1,1.jobs", JOB + ".job")))
        for server in SERVERS:
            lab_kit.run("fail", server)
        for server in SERVERS:
            lab_kit.run("restore", server)
        self.wait_all(8)
        for server in SERVERS:
            self.assertEqual(self.version(server), 1)
        self.walk(0)

    def test_a_wrong_signature_is_refused(self):
        self.lab()
        other = os.path.join(self.folder, "other.key")
        subprocess.run([os.path.join(lab_kit.OPTIONS.bin, "cwctl"), "job", "keygen", other], check=True,
                       capture_output=True)
        said = self.ctl("0,0,0", "job", "revoke", "hitcount", "hitcount", code=1, env={"CUBEWAY_OPERATOR_KEY": other})
        self.assertIn("did not sign these bytes", said)
        for server in SERVERS:
            self.assertEqual(self.version(server), 1)
        self.walk(0, SERVERS[:1])
        [row] = self.rows("0,0,0", "service", "jobs", "status")
        self.assertEqual(row["unsigned"], 1)


if __name__ == "__main__":
    lab_kit.main()

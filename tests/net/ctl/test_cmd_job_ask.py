# SPDX-License-Identifier: Apache-2.0
"""cwctl job explain and audit: may it, by which entry, or which one is missing; and who was refused what."""

import os
import shutil
import subprocess
import tempfile

import ctl_kit


class Ask(ctl_kit.Job):
    def setUp(self):
        if ctl_kit.OPTIONS.module is None:
            self.skipTest("no module given")
        if "hitcount" not in self.cwctl("services"):
            self.cwctl("services load", ctl_kit.OPTIONS.module)

    def test_from_refusal_to_grant_and_back(self):
        self.refused("service hitcount walk 1,1,1",
                     "no privilege to send there: cwctl job grant hitcount hitcount gives it", code=1)
        self.refused("--server 0,0,1 service hitcount walk 1,1,1", "no privilege", code=1)
        [row] = self.rows("job explain hitcount:0 hitcount:13:1", code=1)
        self.assertEqual((row["allowed"], row["refused"], row["asked"]), (False, 1, "0,0,0"))
        self.assertEqual([one["holds"] for one in row["conditions"]], [True] * 2 + [False] + [None] * 6)
        self.assertEqual(row["conditions"][2]["remedy"], row["remedy"])
        self.assertEqual(row["missing"], "no signed record of job hitcount is held")
        self.assertEqual(row["remedy"], "cwctl job grant hitcount hitcount:13:1")
        self.cwctl("job grant hitcount hitcount:13:1")
        self.cwctl("service hitcount walk 1,1,1")
        text = self.cwctl("job explain hitcount:0 hitcount:13:1")
        self.assertRegex(text, r"(?m)^answer +allowed$")
        self.assertNotIn("because", text)
        self.assertEqual([line.split()[0] for line in text.splitlines()[1:10]], ["yes"] * 9)
        self.assertIn("  yes  a grant of job hitcount names port 1 of job hitcount\n", text)
        self.assertRegex(text, r"(?m)^entry +grant 1 of 1: job 4096")
        self.assertRegex(text, r"(?m)^leads to +1,1,1$")
        self.assertRegex(text, r"(?m)^refused there +1$")
        self.refused("service hitcount walk 2,2,2", "no privilege", code=1)
        text = self.cwctl("job explain hitcount:0 hitcount:26:1", code=1)
        self.assertIn("  no   the grant covers process 26\n       remedy: cwctl job grant hitcount hitcount:26:1\n"
                      "  -    job hitcount is known, and was not destroyed\n", text)
        self.assertEqual([line.split()[0] for line in text.splitlines()[1:7]], ["yes"] * 6)
        self.assertRegex(text, r"(?m)^missing +hitcount may use port 1 of job hitcount, but not for process 26$")
        text = self.cwctl("job explain hitcount:0 hitcount:*:1", code=1)
        self.assertIn("not for packets to keys, which need it on all processes", text)
        text = self.cwctl("job explain hitcount:0 hitcount:13:2", code=1)
        self.assertIn("may use other ports of job hitcount, but not port 2", text)
        text = self.cwctl("job explain hitcount:0 ping:13:2", code=1)
        self.assertIn("hitcount has no grant to job ping", text)
        self.cwctl("job revoke hitcount hitcount")
        self.refused("service hitcount walk 1,1,1", "no privilege", code=1)
        titles, rows = self.table("job audit")
        self.assertEqual(titles[:4], ["SERVER", "FROM", "TO", "REFUSED"])
        self.assertIn(["0,0,0", "hitcount:0", "hitcount:13:1", "2"], [row[:4] for row in rows])
        self.assertIn(["0,0,1", "hitcount:1", "hitcount:13:1", "1"], [row[:4] for row in rows])
        self.assertEqual(rows[-1][:5], ["4", "refused", "on", "27", "servers"])
        last = self.rows("job audit")[-1]
        self.assertEqual((last["servers"], last["silent"], last["refused"]), (27, 0, 4))

    def test_names_are_completed_once(self):
        self.cwctl("job create --replace", self.file("h.jobs", 'job "hitcount" { id = 4096; processes = "0-26" }\n'))
        names = self.cwctl("complete job explain", "").split()
        self.assertEqual((names.count("hitcount"), names.count("bench")), (1, 1))

    def test_remedies_that_are_no_grants(self):
        jobs = ('job "web" { id = 5001; processes = "0-8"; grant 5009 { processes = all; ports = all } }\n'
                'job "gone" { id = 5003; processes = "0" }\n')
        self.cwctl("job create --replace", self.file("web.jobs", jobs))
        [row] = self.rows("job explain web:3 5009:1:1", code=1)
        self.assertEqual((row["because"], row["cause"]), ("no process of that job runs on that server", "no-speaker"))
        self.assertEqual(row["missing"], "process 3 of job web does not run on 0,1,0")
        self.assertIn("entry", row)
        self.assertNotIn("entry", self.cwctl("job explain web:3 5009:1:1", code=1))  # it did not come to the grants
        self.assertIn("load the service there (cwctl --server 0,1,0 services load FILE)", row["remedy"])

    def test_no_room_for_two(self):
        """Each of two jobs fits the NMU, but not both: the later one is shut (exit code 5), and open again when there
        is room."""
        one = ('job "{}" {{ id = {}; processes = "0-26"; ports {{ a = 1 }}; '
               'grant 7000 {{ processes = all; ports = "0-{}" }} }}\n')
        [number] = [row["job"] for row in self.rows("services") if row["service"] == "trace"]
        self.cwctl("job create --replace", self.file("first", one.format("trace", number, 9999)))
        second = self.file("second", one.format("hitcount", 4096, 9999))
        text = self.cwctl("job create --replace", second, code=5)
        self.assertIn("so that this one may do NOTHING there: 0,0,0 0,0,1", text)
        self.assertIn("take grants away from it, or from others that live there", text)
        [row] = self.rows("job explain hitcount:0 7000:1:1", code=1)
        self.assertEqual(row["cause"], "no-record")
        self.assertIn("take grants away", row["remedy"])
        self.cwctl("job create --replace", self.file("first", one.format("trace", number, 9)))
        [row] = self.rows("job explain hitcount:0 7000:1:1", code=1)
        self.assertEqual(row["cause"], "no-job")
        self.cwctl("job create --replace", self.file("second", one.format("hitcount", 4096, 0)))
        self.cwctl("job revoke hitcount 7000")

    def test_what_is_no_question(self):
        self.refused("job explain hitcount ping:1:1", "expected JOB:PROCESS, the one that sends", code=2)
        self.refused("job explain hitcount:0 ping:1", "expected JOB:PROCESS:PORT", code=2)
        self.refused("job show hitcuont", "no job has this name, and no service here; did you mean hitcount?", code=2)
        self.refused("job explain hitcount:0 ping:1:echo", "ports of job ping", code=2)
        self.refused("job explain hitcount:0 ping:1:1-2", "expected one port", code=2)

    def test_nobody_to_ask(self):
        """A process that there is not, and jobs that were destroyed: no server can be asked, and the list is whole."""
        text = self.cwctl("job explain bench:999 ping:1:1", code=1)
        self.assertEqual(text.splitlines()[:4],
                         ["bench:999 to ping:1:1", "  yes  the job exists: bench",
                          "  no   process 999 of job bench runs on a server",
                          "       remedy: name a process that there is (a service has one on each server: 0 to 26)"])
        self.assertRegex(text, r"(?m)^missing +job bench has no process 999$")
        jobs = ('job "front" { id = 5011; processes = "0-8"; grant "back" { processes = all; ports = 7 } }\n'
                'job "back" { id = 5012; processes = "0-8"; ports { get = 7 } }\n')
        self.cwctl("job create --replace", self.file("front.jobs", jobs))
        [row] = self.rows("job explain front:9 back:7:get", code=1)
        self.assertEqual((row["cause"], row["remedy"]),
                         ("no-speaker", "name a process that there is (cwctl job show front says which)"))
        self.cwctl("job destroy back")
        [row] = self.rows("job explain front:3 back:7:get", code=1)
        self.assertEqual((row["cause"], row["missing"]), ("no-job", "job back was destroyed"))
        self.cwctl("job destroy front")
        text = self.cwctl("job explain front:3 ping:7:1", code=1)
        self.assertEqual([line.split()[0] for line in text.splitlines()[1:11]],
                         ["yes", "no", "yes", "no", "remedy:", "-", "no", "no", "yes", "yes"])
        self.assertIn("  no   job front was not destroyed\n"
                      "       remedy: cwctl job create FILE, which begins its next generation\n", text)

    def test_a_job_that_nobody_knows(self):
        text = self.cwctl("job explain web1:3 hitcuont:1:get", code=1)
        self.assertEqual(text.splitlines()[:3],
                         ["web1:3 to hitcuont:1:get", "  no   the job exists: web1",
                          "       remedy: cwctl job list; cwctl services: say which there are, and a number will do"])
        [row] = self.rows("job explain ping:0 hitcuont:1:get", code=1)
        self.assertEqual((row["allowed"], row["cause"]), (False, "no-such-job"))
        self.assertEqual(row["remedy"], "did you mean hitcount?")
        self.assertEqual([one["holds"] for one in row["conditions"]], [False] + [None] * 8)
        self.assertEqual(row["conditions"][0]["condition"], "the job exists: hitcuont")


class Local(ctl_kit.Case):
    """Without an operator's key a job file is taken as it is."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="cubeway-test-")
        cls.addClassCleanup(shutil.rmtree, cls.place)
        file = os.path.join(cls.place, "jobs.conf")
        with open(file, "w", encoding="utf-8") as out:
            out.write('job "hitcount" { id = 4096; processes = "0-26"\n grant hitcount { processes = "0-13"; ports = 1 '
                      '} }\n')
        cls.config = f'job_file = "{file}"\n' + ctl_kit.Case.config
        super().setUpClass()

    def test_a_job_file(self):
        if ctl_kit.OPTIONS.module is None:
            self.skipTest("no module given")
        self.cwctl("services load", ctl_kit.OPTIONS.module)
        self.cwctl("service hitcount walk 1,1,1")
        self.refused("service hitcount walk 2,2,2", "no privilege", code=1)
        [row] = self.rows("job explain hitcount:0 hitcount:13:1")
        self.assertEqual((row["allowed"], row["leads_to"], row["version"]), (1, "1,1,1", 1))
        self.assertIn("no signed records", self.cwctl("job list"))
        done = subprocess.run([ctl_kit.OPTIONS.cubewayd, "--check-config", os.path.join(self.folder, "all.conf")],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.place, "jobs.conf"), "a", encoding="utf-8") as out:
            out.write("job b { }\n")
        done = subprocess.run([ctl_kit.OPTIONS.cubewayd, "--check-config", os.path.join(self.folder, "all.conf")],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("jobs.conf:3: job b: expected id, the number of the job: id = 5001", done.stderr)


if __name__ == "__main__":
    ctl_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwctl job list, show, keygen, sign: jobs to look at, and what an operator does without a daemon."""

import os
import stat

import ctl_kit

FILE = """
job "web" { id = 5001; processes = "0-8"; ports { http = 1 } grant "store" { processes = all; ports = "get" } }
job "store" { id = 5002; processes { 0-1 = 13 } ports { get = 7; put = 8 } }
"""


class Job(ctl_kit.Job):
    def test_keygen(self):
        key = os.path.join(self.folder, "new.key")
        text = self.cwctl("job keygen", key)
        self.assertRegex(text, r"(?m)^operator_key = [0-9a-f]{64};$")
        self.assertEqual(stat.S_IMODE(os.stat(key).st_mode), 0o600)
        self.refused(f"job keygen {key}", "is there already", code=1)
        other = os.path.join(self.folder, "other.key")
        [row] = self.rows("job keygen", other)
        self.assertEqual((row["file"], len(row["operator_key"])), (other, 64))
        self.refused("job keygen /nowhere/at/all", "No such file", code=1)

    def test_list_and_show(self):
        self.assertIn("no signed records", self.cwctl("job list"))
        self.refused("job show nobody", "no job has this name", code=2)
        self.refused("job show ping", "it is a service of this server", code=1)
        self.refused("job show 77", "no signed record of job 77", code=1)
        self.cwctl("job create", self.file("web.jobs", FILE))
        titles, rows = self.table("job list")
        self.assertEqual(titles[:5], ["JOB", "NAME", "VERSION", "GENERATION", "IS"])
        self.assertEqual([row[:5] for row in rows],
                         [["5001", "web", "1", "1", "alive"], ["5002", "store", "1", "1", "alive"]])
        text = self.cwctl("job show web")
        self.assertIn("# job 5002 is store\njob \"web\" {\n    id = 5001;\n", text)
        self.assertIn("    grant 5002 {\n        processes = \"all\";\n        ports = \"7\";\n", text)
        self.assertRegex(text, r'signature = "[A-Za-z0-9+/]{86}=="')
        rows = self.rows("job show 5002")
        self.assertEqual((rows[0]["name"], rows[0]["version"]), ("store", 1))
        self.assertIn({"what": "port", "port": 8, "name": "put"}, rows)
        self.assertEqual([row["name"] for row in self.rows("job list")], ["web", "store"])

    def test_sign(self):
        file = self.file("signed.jobs", 'job "batch" { id = 6001; version = 3; processes = "0" }\n')
        text = self.cwctl("job sign", file, "--cluster", "7")
        self.assertRegex(text, r'(?s)id = 6001;\n    version = 3;.*signature = "')
        signed = self.file("signed", text)
        bare = self.raw("job", "create", signed, env={"CUBEWAY_OPERATOR_KEY": ""})  # no key is needed to put it
        self.assertEqual(bare.returncode, 0, bare.stderr)
        self.assertEqual(self.rows("job show batch")[0]["version"], 3)
        self.cwctl("job create", signed)  # putting it once more does no harm
        changed = self.file("changed",
                            text.replace('processes = "0"', 'processes = "0-1"').replace("version = 3", "version = 4"))
        self.refused(f"job create {changed}", "did not sign these bytes", code=1)
        other = self.file("other", self.cwctl("job sign", self.file("v", 'job "batch" { id = 6001; version = 5 }'),
                                              "--cluster", "8"))
        self.refused(f"job create {other}", "another cluster", code=1)
        old = self.file("old", self.cwctl("job sign", self.file("v", 'job "batch" { id = 6001; version = 2 }'),
                                          "--cluster", "7"))
        self.refused(f"job create {old}", "version 2 or a later one is held", code=1)
        path = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "jobs.md")
        with open(path, encoding="utf-8") as page:
            example = self.file("page", page.read().split("## Job files")[1].split("```")[1])
        self.refused(f"job sign {example} --cluster 7", "x,y,z only where the torus is known: --dims", code=2)
        self.refused(f"job sign {example} --cluster 7 --dims 3x3", "expected the torus as XxYxZ", code=2)
        self.assertIn("4 = 21;", self.cwctl("job sign", example, "--cluster", "7", "--dims", "4x4x4"))
        self.refused(f"job sign {file}", "--cluster N is needed", code=2)
        none = self.raw("job", "sign", file, "--cluster", "7", env={"CUBEWAY_OPERATOR_KEY": ""})
        self.assertEqual(none.returncode, 2)
        self.assertIn("--key FILE is needed", none.stderr)
        self.refused(f"job sign {self.file('bad', 'job a { }')} --cluster 7", "bad:1: job a: expected id", code=2)


if __name__ == "__main__":
    ctl_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwctl job create, grant, revoke, destroy: what is changed, what is refused, and two operators at one time."""

import os
import subprocess
import threading
import time

import ctl_kit

STORE = 'job "store" { id = 5002; processes = "0-26"; ports { get = 7; put = 8 } }\n'
WEB = 'job "web" { id = 5001; processes = "0-8"; ports { http = 1 } }\n'


class Change(ctl_kit.Job):
    def setUp(self):
        self.cwctl("job create --replace", self.file("both.jobs", WEB + STORE))

    def grants(self, job="web"):
        return [(row["to"], row["to_processes"], row["to_ports"]) for row in self.rows("job show " + job)
                if row.get("what") == "grant"]

    def version(self, job="web"):
        return self.rows("job show " + job)[0]["version"]

    def test_grant_and_revoke(self):
        before = self.version()
        text = self.cwctl("job grant web store:0-3,7:get,9 web")
        self.assertRegex(text, rf"^job web, version {before + 1}: complete after [0-9.]+ .?s: 27 servers have it\n")
        self.assertEqual(self.grants(), [(5001, "all", "all"), (5002, "0-3,7", "7,9")])
        self.assertRegex(self.cwctl("job grant web store:2:get"), "it is so already")
        self.assertEqual(self.rows("job grant web store:2:get"),
                         [{"job": 5001, "name": "web", "version": before + 1, "already": True}])
        self.assertEqual(self.version(), before + 1)
        rows = self.rows("job revoke web store:2-3:get")
        self.assertEqual({row["state"] for row in rows[:-1]}, {"acked"})
        self.assertEqual((len(rows), rows[-1]["complete"], rows[-1]["acked"], rows[-1]["missing"]), (28, 1, 27, 0))
        self.assertEqual(self.grants()[1:], [(5002, "0-1,7", "7"), (5002, "0-3,7", "9")])
        self.cwctl("job revoke web store")
        self.assertEqual(self.grants(), [(5001, "all", "all")])
        self.assertRegex(self.cwctl("job grant web store:1:put --no-wait"), "on its way")
        self.assertEqual(len(self.grants()), 2)

    def test_what_is_refused(self):
        self.refused("job grant nobody store", "'nobody': no job has this name", code=2)
        self.refused("job grant web nobody", "'nobody': no job has this name", code=2)
        self.refused("job grant web store:x", "'x': expected processes", code=2)
        self.refused("job grant web store:all:gat", "ports of job store: 'gat': expected all", code=2)
        self.refused("job grant web store:1:2:3", "expected JOB, JOB:PROCESSES or JOB:PROCESSES:PORTS", code=2)
        self.refused("job grant ping store", "job ping is built in, and has no record", code=1)
        self.refused("job revoke ping store", "has no record: there is nothing to take away", code=1)
        self.refused("job grant 77 store", "job 77 has no record, and is no service here", code=1)
        self.refused(f"job create {self.file('w', WEB)}", "job web is there, in version", "--replace", code=1)
        self.refused(f"job create {self.file('w', 'job a { id = 1; colour = 3 }')}", "w:1: job a: colour: no such key",
                     code=2)
        self.cwctl("job grant web store")
        self.refused("job revoke web store:1:get", "may use all ports of job 5002", code=1)
        other = os.path.join(self.folder, "wrong.key")
        if not os.path.exists(other):
            self.cwctl("job keygen", other)
        self.refused(f"job revoke web store --key {other}", "was refused: the operator of this cluster did not sign",
                     code=1)
        os.chmod(other, 0o644)
        self.refused(f"job revoke web store --key {other}", "others may read this key", code=1)
        none = self.raw("job", "revoke", "web", "store", env={"CUBEWAY_OPERATOR_KEY": ""})
        self.assertEqual(none.returncode, 2)
        self.assertIn("--key FILE is needed", none.stderr)
        self.assertEqual(len(self.grants()), 1)

    def test_destroyed_and_begun_again(self):
        self.assertRegex(self.cwctl("job destroy web"), "^job web, version [0-9]+, destroyed: complete")
        [row] = [row for row in self.rows("job list") if row["name"] == "web"]
        self.assertIs(row["destroyed"], True)
        self.assertIs(row["kept"], False)  # it has no folder to keep it in
        self.assertEqual(row["processes"], 0)
        self.refused("job grant web store", "was destroyed; cwctl job create FILE begins its next generation", code=1)
        self.assertRegex(self.cwctl("job destroy web"), "it is so already")
        generation = row["generation"]
        self.cwctl("job create", self.file("w", WEB))
        [row] = [row for row in self.rows("job list") if row["name"] == "web"]
        self.assertIs(row["destroyed"], False)
        self.assertEqual(row["generation"], generation + 1)

    def at_once(self, *changes):
        """Runs `cwctl --server <server> job <words> --timeout 5s` all at one time; each must end well, and soon."""
        failed = []

        def change(server, words):
            begun = time.monotonic()
            done = self.raw("--server", server, "job", *words.split(), "--timeout", "5s")
            if done.returncode != 0 or "did not answer" in done.stdout or time.monotonic() - begun > 5:
                failed.append((server, words, done.returncode, done.stdout, done.stderr))

        threads = [threading.Thread(target=change, args=one) for one in changes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    def test_several_operators_lose_nothing(self):
        self.at_once(*(("0,0,0", f"grant web store:all:{port}") for port in range(100, 104)))
        self.assertEqual(self.grants(), [(5002, "all", "100,101,102,103")])

    def test_two_operators_at_two_servers(self):
        for i in range(8):
            self.at_once(("0,0,0", f"grant web store:all:{2 * i}"), ("2,1,1", f"grant web store:all:{2 * i + 1}"))
            self.assertEqual(self.grants(), [(5002, "all", ",".join(str(port) for port in range(2 * i + 2)))])
        for i in range(8):
            self.at_once(("0,0,0", f"revoke web store:all:{2 * i}"), ("1,1,1", f"grant web store:all:{100 + i}"))
        left = [2 * i + 1 for i in range(8)] + [100 + i for i in range(8)]
        self.assertEqual(self.grants(), [(5002, "all", ",".join(str(port) for port in left))])

    def test_eight_operators_at_eight_servers(self):
        servers = ctl_kit.SERVERS[::3][:8]
        self.at_once(*((server, f"grant web store:all:{i}") for i, server in enumerate(servers)))
        self.assertEqual(self.grants(), [(5002, "all", "0,1,2,3,4,5,6,7")])

    def test_a_large_record(self):
        lines = "".join(f"grant {10000 + i} {{ processes = \"{i}-{i + 5},{i + 9}\"; ports = \"1-9\" }}\n"
                        for i in range(1000))
        file = self.file("large", f'job "large" {{ id = 7000; processes = "0-26"\n{lines}}}\n')
        self.assertRegex(self.cwctl("job create --replace", file), "^job large, version [0-9]+: complete")
        self.assertEqual(self.rows("job list")[-1]["grants"], 1000)
        text = self.cwctl("job show large")
        self.assertEqual(text.count("grant "), 1000)
        self.cwctl("job destroy large")
        file = self.file("larger", 'job "larger" { id = 7001; processes = "0-26"; ports { a = 1 }; grant 7000 { '
                                   'processes = all; ports = "0-16384" } }\n')
        self.refused(f"job create {file}", "the record is larger than a server's tables", code=1)

    def test_to_a_job_that_nobody_knows(self):
        done = self.raw("job", "grant", "web", "77777")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nobody knows a job 77777 yet", done.stderr)
        self.assertIn("# job 77777 is known to nobody\n", self.cwctl("job show web"))
        self.cwctl("job grant web store")
        names = [row.get("to_name") for row in self.rows("job show web") if row.get("what") == "grant"]
        self.assertEqual(names, ["store", None])

    def test_processes_that_are_not_there(self):
        done = self.raw("job", "grant", "web", "web:2,8-11:http")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("job web has no process 9-11: what is granted of it counts when there is one", done.stderr)
        self.cwctl("job grant web store:0-26")
        done = self.raw("job", "grant", "web", "store:99:get")
        self.assertIn("job store has no process 99:", done.stderr)
        done = self.raw("job", "grant", "web", "ping:26-27:1")  # a service has a process on each server
        self.assertIn("job ping has no process 27:", done.stderr)
        done = self.raw("job", "grant", "web", "web:8")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_not_complete(self):
        self.cwctl("--server 2,2,2 fail")
        try:
            done = self.raw("job", "grant", "web", "store:3:get", "--timeout", "100ms")
            self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
            self.assertIn("not complete after", done.stdout)
            self.assertIn("did not answer, and may still go by what was before: 2,2,2", done.stdout)
        finally:
            self.cwctl("--server 2,2,2 restore")
            self.settle()
        self.assertRegex(self.cwctl("job grant web store:4:get"), "complete after .*: 27 servers have it")


class NoKey(ctl_kit.Case):
    def test_no_operator_key(self):
        key = os.path.join(self.folder, "k")
        subprocess.run([ctl_kit.OPTIONS.cwctl, "job", "keygen", key], check=True, capture_output=True)
        file = os.path.join(self.folder, "w")
        with open(file, "w", encoding="utf-8") as out:
            out.write(WEB)
        self.refused(f"job create {file} --key {key}", "no operator's key is configured", code=1)


if __name__ == "__main__":
    ctl_kit.main()

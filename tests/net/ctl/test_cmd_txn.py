# SPDX-License-Identifier: Apache-2.0
"""cwctl store txn: clauses of the command line and of files, and what is told of them."""

import json
import os

import ctl_kit


class Transactions(ctl_kit.Case):
    config = 'torus { dims = "3x3x1"; coordinate = all }\nservice "store" { options { memory_mib = 8 } }\n'

    def txn(self, *clauses, code=0):
        """Standard output; or of another exit code what was said."""
        done = self.raw("store", "txn", *clauses)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_transactions(self):
        self.cwctl("store create memory")
        first = int(self.cwctl("store put {b}a 100").split()[1])
        said = self.txn(f"if {{b}}a = {first}", "if {b}b absent", "put {b}a 70", "put {b}b thirty and more", "get {b}a")
        self.assertRegex(said, rf"^{{b}}a version \d+\n{{b}}b version \d+\n{{b}}a version {first}: 100\n$")
        self.assertEqual(self.cwctl("--server 2,1,0 store get {b}b"), "thirty and more")
        second = self.rows("store head {b}a")[0]["version"]
        self.assertEqual(self.txn(f"if {{b}}a = {first}", "put {b}a 0", code=2),
                         f"cwctl: 'if {{b}}a = {first}': the version there is another: {second}\n")
        self.assertEqual(self.txn("if {b}c exists", "put {b}a 0", code=2),
                         "cwctl: 'if {b}c exists': there is no value\n")
        path = os.path.join(self.folder, "clauses")
        with open(path, "w", encoding="utf-8") as out:
            out.write("# both go\n\ndelete {b}a\ndelete {b}b\ndelete {b}c\nget {b}c\n")
        said = self.txn("--file", path)
        self.assertRegex(said, r"^{b}a version \d+ deleted\n{b}b version \d+ deleted\n({b}c not found\n){2}$")
        [row, last] = [json.loads(line) for line in self.txn("get {b}a", "--json").splitlines()]
        self.assertEqual((row["step"], row["name"], row["code"], last["code"]), ("get", "{b}a", 1, 0))
        self.assertIn("the same whole {tag}", self.txn("put {b}a 1", "put {c}a 1", code=2))
        self.assertIn("begins with if, put, delete or get", self.txn("drop {b}a", code=2))
        self.assertIn("at most 4096 bytes", self.txn("put {b}a " + "x" * 4097, code=2))
        self.assertIn("a value behind its name", self.txn("put {b}e", code=2))
        self.assertIn("{b}e version", self.txn("put {b}e "))
        self.assertIn("44 KB together", self.txn(*[f"put {{b}}{i} {'x' * 4096}" for i in range(16)], code=2))
        self.assertIn("clauses, or --file", self.txn(code=2))


if __name__ == "__main__":
    ctl_kit.main()

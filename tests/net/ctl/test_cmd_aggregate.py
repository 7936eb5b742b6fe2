# SPDX-License-Identifier: Apache-2.0
"""cwctl aggregate: a file of each server becomes one, known sums are right, and each mistake is told by name."""

import os
import shutil
import struct
import tempfile

import ctl_kit


class Aggregate(ctl_kit.Case):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix="cubeway-vectors-")
        cls.addClassCleanup(shutil.rmtree, cls.top)
        cls.config = f'service aggregate {{ options {{ data = "{cls.top}" }} }}\n' + ctl_kit.Case.config
        for server in ctl_kit.SERVERS:
            os.mkdir(os.path.join(cls.top, server))
        super().setUpClass()

    def path(self, server, name):
        return os.path.join(self.top, server, name)

    def vectors(self, name, count):
        """Each server's file: float32, element i is its number plus i."""
        for number, server in enumerate(ctl_kit.SERVERS):
            with open(self.path(server, name), "wb") as out:
                out.write(struct.pack(f"<{count}f", *(number + i for i in range(count))))

    def result(self, server, name, kind, count):
        with open(self.path(server, name), "rb") as done:
            return struct.unpack(f"<{count}{kind}", done.read())

    def test_reduce(self):
        self.vectors("v", 5000)
        text = self.cwctl("aggregate reduce sum float32 --from v --to 1,1,1:all")
        self.assertRegex(text, r"^sum of float32: 20.0 kB from each of 27 of 27 servers in .*, at 1,1,1 in all\n$")
        self.assertEqual(self.result("1,1,1", "all", "f", 5000), tuple(351.0 + 27 * i for i in range(5000)))
        [row] = self.rows("--server 0,2,1 aggregate reduce max float32 --from v --to 0,0,0:sub --of",
                          "0,0,1 0,0,2")
        self.assertEqual((row["counted"], row["members"], row["bytes"], row["attempts"]), (2, 2, 20000, 1))
        self.assertEqual(self.result("0,0,0", "sub", "f", 5000), tuple(2.0 + i for i in range(5000)))
        text = self.cwctl("aggregate reduce sum float32 --from v --to all:every")
        self.assertIn("at all in every", text)
        for server in ctl_kit.SERVERS:
            self.assertEqual(self.result(server, "every", "f", 5000), tuple(351.0 + 27 * i for i in range(5000)))
        self.assertEqual([f for f in os.listdir(self.path("1,1,1", "")) if f.startswith(".")], [])

    def test_some_cannot_write(self):
        """A result for all that one server cannot write is there at the others; exit 5, and that server is named."""
        self.vectors("v", 100)
        os.mkdir(self.path("0,0,0", "mine"))  # the root: the server that is asked
        text = self.cwctl("aggregate reduce sum float32 --from v --to all:mine", code=5)
        self.assertIn("26 of 27 servers have it", text)
        self.assertRegex(text, r"(?m)^0,0,0 +no result +a folder has that name")
        self.assertEqual(len(text.splitlines()), 1 + 1 + 27)
        self.assertEqual(self.result("2,2,2", "mine", "f", 100)[0], 351.0)
        self.refused("aggregate reduce sum float32 --from v --to 1,1,1:no/such",
                     "the result cannot be written to no/such on 1,1,1: there is no such folder", code=1)

    def test_check(self):
        self.assertIn("27 of 27 servers", self.cwctl("aggregate check --bytes 100k"))
        [row] = self.rows("aggregate check --bytes 8 --to 2,2,2")
        self.assertEqual((row["root"], row["elements"], row["wrong_elements"]), ("2,2,2", 1, 0))
        self.assertIn("at all; every element", self.cwctl("aggregate check --bytes 300k --to all"))
        self.assertIn("at all; every element", self.cwctl("aggregate check --bytes 1000 --to all"))
        self.assertIn("no reduction is under way", self.cwctl("aggregate status"))
        self.assertEqual(self.rows("aggregate status"), [])
        self.refused("aggregate cancel 77", "no order 77", code=1)

    def test_mistakes(self):
        self.vectors("odd", 10)
        done = self.raw("aggregate", "reduce", "sum", "float32", "--from", "nobody", "--to", "0,0,0:x")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("server 0,0,0: there is no such file", done.stderr)
        self.assertIn("2,2,2", done.stderr)
        with open(self.path("2,0,1", "odd"), "ab") as out:
            out.write(b"x")
        self.refused("aggregate reduce sum float32 --from odd --to 0,0,0:x", "differ in length", "41", code=2)
        os.symlink("/etc/passwd", self.path("0,0,1", "link"))
        for name in ("link", "../0,0,2/odd"):
            self.refused(f"aggregate reduce sum uint8 --from {name} --to 0,0,0:x --of 0,0,1", "leads out of", code=1)
        self.refused("aggregate reduce sum float32 --from odd --to 0,0,0:../x --of 0,0,0", "leads out of", code=1)
        self.refused("aggregate reduce sum float32 --from odd", "to where?", code=2)
        self.refused("aggregate reduce sum float32 --to 0,0,0:x", "from which file?", code=2)
        self.refused("aggregate reduce sum floats --from odd --to 0,0,0:x", "'floats' is no type", code=2)
        self.assertFalse(os.path.exists(self.path("0,0,0", "x")))


if __name__ == "__main__":
    ctl_kit.main()

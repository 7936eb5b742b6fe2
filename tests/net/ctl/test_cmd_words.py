# SPDX-License-Identifier: Apache-2.0
"""cwctl aggregate words and run: files of all servers become one, as `sort` makes it; one server dies in the middle;
each mistake is told by name."""

import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter

import ctl_kit

TEXT = ("In the beginning was the word; and the word was: torus. Each server counts its own words, and what it counts "
        "is added on the way. \u00dcberall the same.\n")


class Words(ctl_kit.Case):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix="cubeway-words-")
        cls.addClassCleanup(shutil.rmtree, cls.top)
        cls.config = (f'service aggregate {{ options {{ data = "{cls.top}"; spool = "{cls.top}/spool" }} }}\n'
                      + ctl_kit.Case.config)
        for server in ctl_kit.SERVERS:
            os.mkdir(os.path.join(cls.top, server))
        os.mkdir(os.path.join(cls.top, "spool"))
        super().setUpClass()

    def path(self, server, name):
        return os.path.join(self.top, server, name)

    def write(self, server, name, text):
        with open(self.path(server, name), "w", encoding="utf-8") as out:
            out.write(text)

    def result(self, server, name):
        with open(self.path(server, name), encoding="utf-8") as done:
            return dict(line.rstrip("\n").split("\t") for line in done)

    def test_words(self):
        count = Counter()
        for number, server in enumerate(ctl_kit.SERVERS):
            text = TEXT * number + f"only {server.replace(',', '')}"
            self.write(server, "text", text)
            count.update(re.findall(r"[a-z0-9\u0080-\uffff]+", re.sub("[A-Z]", lambda m: m[0].lower(), text)))
        text = self.cwctl("aggregate words --from text --to 1,1,1:words")
        self.assertRegex(text, r"^sum of words: \d+ records of 27 of 27 servers became \d+ lines \(.*\) in .*, at "
                               r"1,1,1 in words\n$")
        found = self.result("1,1,1", "words")
        self.assertEqual(found, {word: str(n) for word, n in count.items()})
        self.assertEqual(list(found), sorted(found, key=str.encode))
        [row] = self.rows("--server 0,2,1 aggregate words --from text --to 0,0,0:top --top 3 --of", "0,0,1 2,2,2")
        self.assertEqual((row["counted"], row["members"], row["attempts"], row["keys"]), (2, 2, 1, 3))
        self.assertEqual(self.result("0,0,0", "top"), {"the": "135", "and": "54", "counts": "54"})
        self.assertEqual(os.listdir(os.path.join(self.top, "spool")), [])

    def test_maximum(self):
        for number, server in enumerate(ctl_kit.SERVERS):
            self.write(server, "peaks", f"cpu\t{number}\nhost{number}\t-1.5\n")
        self.cwctl("aggregate run --map kv --combine max --from peaks --to 0,0,2:sub/peaks", code=1)
        self.cwctl("aggregate run --map kv --combine max --from peaks --to 0,0,2:peaks2")
        found = self.result("0,0,2", "peaks2")
        self.assertEqual((found["cpu"], found["host3"], len(found)), ("26", "-1.5", 28))

    def test_several(self):
        """A part on two servers and on each, the whole on all, and on standard output."""
        count = Counter()
        for number, server in enumerate(ctl_kit.SERVERS):
            text = TEXT * (number % 3) + f"only{number}"
            self.write(server, "some", text)
            count.update(re.findall(r"[a-z0-9\u0080-\uffff]+", re.sub("[A-Z]", lambda m: m[0].lower(), text)))
        must = {word: str(n) for word, n in count.items()}
        text = self.cwctl("aggregate words --from some --to 0,0,0:half --to 2,2,2:half")
        self.assertIn("; 2 of 2 parts", text)
        self.assertEqual({**self.result("0,0,0", "half"), **self.result("2,2,2", "half")}, must)
        [row] = self.rows("aggregate run --from some --to each:part")
        self.assertEqual((row["parts"], row["with_result"], row["keys"]), (27, 27, len(must)))
        found = [line for server in ctl_kit.SERVERS for line in self.result(server, "part").items()]
        self.assertEqual((dict(found), len(found)), (must, len(must)))
        self.assertIn("; 27 servers have it", self.cwctl("aggregate words --from some --to all:whole"))
        for server in ctl_kit.SERVERS:
            self.assertEqual(self.result(server, "whole"), must)
        text = self.cwctl("aggregate words --from some --to -")
        self.assertEqual(dict(line.split("\t") for line in text.splitlines()), must)

    def test_one_dies(self):
        """While the run is under way a server loses its power: the result is that of the others.
        Many partitions make it last."""
        dies, random_words = "2,0,1", random.Random(4)
        lines = {}
        for server in ctl_kit.SERVERS:
            lines[server] = [f"{random_words.getrandbits(40):x}\t1\n" for _ in range(3000)]
            self.write(server, "many", "".join(lines[server]))
        words = [ctl_kit.OPTIONS.cwctl, *("aggregate run --map kv --from many --to 1,1,1:many2 "
                                          "--without --partitions 1000").split()]
        environment = {"PATH": os.environ["PATH"], "CUBEWAY_SOCKET": self.socket}
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as run:
            self.wait_until_it_runs()
            self.cwctl(f"--server {dies} fail")
            out, err = run.communicate(timeout=ctl_kit.LIMIT_S)
        self.assertEqual(run.returncode, 5, out + err)
        self.assertRegex(out, rf"(?m)^{dies} +not counted +it has died")
        self.assertIn("2 attempts", out)
        count = Counter(line for server in ctl_kit.SERVERS if server != dies for line in lines[server])
        found = self.result("1,1,1", "many2")
        self.assertEqual(found, {key.split("\t")[0]: str(n) for key, n in count.items()})
        self.cwctl(f"--server {dies} restore")
        self.settle()
        self.assertIn("no reduction is under way", self.cwctl("aggregate status"))

    def wait_until_it_runs(self):
        end = time.monotonic() + ctl_kit.LIMIT_S
        while time.monotonic() < end:
            for row in self.rows("--server 1,1,1 aggregate status"):
                if row["role"] == "root" and row["state"] == "runs" and row["settled_partitions"] > 0:
                    self.assertEqual((row["name"], row["members"], row["partitions"]), ("many2", 27, 1000))
                    return
        self.fail("it does not run")

    def test_a_run_in_a_file(self):
        for number, server in enumerate(ctl_kit.SERVERS):
            self.write(server, "loads", f"a,{number}\nb,1\n")
        file = os.path.join(self.top, "loads.run")

        def put(text):
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
        put('# who has most\nfrom = "loads"; map = "field:1:,"\nto = "0,0,0:loads2"\nof = "0,0,0 1,0,0"\n'
            'of = "2,2,2"\ntop = 1; limit = 10s; without = no;\n')
        self.assertEqual(self.cwctl("aggregate check", file), file + ": no mistake\n")
        [row] = self.rows("aggregate run", file)
        self.assertEqual((row["members"], row["counted"], row["keys"]), (3, 3, 1))
        self.assertEqual(self.result("0,0,0", "loads2"), {"a": "3"})
        [row] = self.rows("aggregate run --to 1,1,1:loads3 --top 5", file)
        self.assertEqual(self.result("1,1,1", "loads3"), {"a": "3", "b": "3"})
        put('frm = "loads"\nmap = "wrds"\ncombine = "mean"\n\nto = "0,0,0"\nto = "9,0,0:x"\n'
            'limit = 5\nlimit = 5s\ntop = { a = 1 }\nwithout = perhaps\npath = tree\n')
        must = ('1: unknown "frm"; did you mean "from"?', "2: 'wrds' is no mapper; did you mean words? There are",
                "3: 'mean' is no combination", "5: to: expected SERVER:FILE", "6: '9,0,0' is not a server of this",
                '7: limit = "5": expected a time with its unit', '8: "limit" stands in line 7 already',
                '9: "top" is no section', '10: without = "perhaps": expected ', "11: path: records go over trees, ")
        for words in ("aggregate check", "aggregate run"):
            done = self.raw(*words.split(), file)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            said = done.stderr.splitlines()
            self.assertEqual(said[0], f'cwctl: {file}: "from" is missing: the file of each server, below the data '
                                      'folder there, or feed:FEED')
            self.assertEqual(len(said), 1 + len(must), done.stderr)
            for line, says in zip(said[1:], must):
                self.assertTrue(line.startswith(f"cwctl: {file}:{says}"), line)
        put('from = "loads"\nto = "each:x"\ntop = 3\n')
        self.refused(f"aggregate check {file}", "top is of one result", code=2)
        self.refused("aggregate check /nowhere", "/nowhere: No such file", code=1)

    def test_mistakes(self):
        for server in ctl_kit.SERVERS:
            self.write(server, "kv", "key\t1\n")
        done = self.raw("aggregate", "words", "--from", "nobody", "--to", "0,0,0:x")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"server [0-2],[0-2],[0-2], nobody: there is no such file")
        self.assertIn("2,2,2", done.stderr)
        self.write("2,0,1", "kv", "key\t1\nkey and no value\n")
        done = self.raw(*"aggregate run --map kv --from kv --to 0,0,0:x".split())
        self.assertIn("server 2,0,1, kv: line 2: ", done.stderr)
        self.assertNotEqual(done.returncode, 0)
        os.symlink("/etc/passwd", self.path("0,0,1", "link"))
        done = self.raw(*"aggregate words --from link --to 0,0,0:x --of 0,0,1".split())
        self.assertIn("leads out of", done.stderr)
        self.refused("aggregate run --map wrds --from kv --to 0,0,0:x", "'wrds' is no mapper", code=2)
        self.refused("aggregate run --combine topk --from kv --to 0,0,0:x", "'topk' is no combination", code=2)
        self.refused("aggregate words --from kv --to 0,0,0", "to where?", code=2)
        self.refused("aggregate words --from kv --to each:x --top 3", "top is of one result", code=2)
        self.refused("aggregate words --to 0,0,0:x", "from which file?", code=2)
        self.refused("aggregate cancel 77", "no order 77", code=1)
        self.assertFalse(os.path.exists(self.path("0,0,0", "x")))


if __name__ == "__main__":
    ctl_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwctl store export and import: values of any name and bytes as an archive that tar reads, and back."""

import base64
import io
import os
import signal
import stat
import subprocess
import tarfile
import time

import ctl_kit

ANY = b"any\xff\n\x01 name"


class Archive(ctl_kit.Case):
    config = 'torus { dims = "3x3x3"; coordinate = all }\nservice "store" { options { memory_mib = 32 } }\n'

    def bytes_of(self, *words, given=None, code=0):
        """Standard output and standard error of cwctl store."""
        environment = {"PATH": os.environ["PATH"], "CUBEWAY_SOCKET": self.socket}
        done = subprocess.run([ctl_kit.OPTIONS.cwctl, "store", *words], input=given, capture_output=True,
                              timeout=ctl_kit.LIMIT_S, check=False, env=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr.decode()

    def archive(self, *words):
        """What tar's own reader finds: (name, bytes) of each file."""
        with tarfile.open(fileobj=io.BytesIO(self.bytes_of("export", *words)[0])) as tar:
            return [(member.name, tar.extractfile(member).read()) for member in tar.getmembers()]

    def made(self, files):
        """An archive as tar makes it."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for name, data in files:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        return out.getvalue()

    def test_archive(self):
        self.cwctl("store create memory --r 3")
        self.assertEqual(self.archive(), [])
        self.there_and_back()
        self.of_tar()
        self.mistakes()
        self.interrupted()

    def there_and_back(self):
        large = os.urandom(300000)
        values = {"config/a": b"one", "config/b": b"", "large": large}
        for name, data in values.items():
            self.bytes_of("put", name, "-", "--flags", "7", given=data)
        key = base64.b64encode(ANY).decode()
        self.cwctl(f"service store put {key} bytes key=base64")
        self.assertEqual(dict(self.archive()), {**values, ANY.decode("utf-8", "surrogateescape"): b"bytes"})
        self.assertEqual(self.archive("config/"), [("config/a", b"one"), ("config/b", b"")])
        path = os.path.join(self.folder, "all.tar")
        [row] = self.rows(f"store export --file {path}")
        self.assertEqual((row["values"], row["bytes"]), (4, 300008))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("all.tar.")], [])
        said = self.cwctl(f"store import {path} --if-absent")
        self.assertEqual(said, "0 values, 0 bytes put; 4 there already\n")
        for name in values:
            self.cwctl(f"store delete {name}")
        self.cwctl(f"service store delete {key} key=base64")
        self.bytes_of("put", "config/a", "newer")
        self.assertEqual(self.rows(f"store import {path} --if-absent")[0],
                         {"values": 3, "bytes": 300005, "kept": 1})
        self.assertEqual(self.cwctl("store get config/a"), "newer")
        self.assertEqual(self.bytes_of("get", "large")[0], large)
        self.assertEqual(self.rows("store get large")[0]["flags"], 7)
        self.assertEqual(self.rows(f"service store get {key} key=base64 form=base64")[0]["bytes"], 5)
        self.cwctl(f"store import {path}")
        self.assertEqual(self.cwctl("store get config/a"), "one")

    def of_tar(self):
        given = self.made([("./tree/x", b"1"), ("tree/" + "y" * 200, b"22")])
        self.assertEqual(self.bytes_of("import", "-", given=given)[0], b"2 values, 3 bytes put\n")
        self.assertEqual(self.cwctl("store get tree/x"), "1")
        self.assertEqual(self.cwctl(f"store get tree/{'y' * 200}"), "22")

    def mistakes(self):
        path = os.path.join(self.folder, "bad.tar")
        whole = self.made([("first", b"1"), ("second", b"2")])
        for data, sentence in (
                (b"no archive " * 100, "it is no tar archive"), (b"", "it is empty"),
                (whole[:1100], "it breaks off at byte 1100"),
                (whole[:1024], "it breaks off at byte 1024"),  # behind a whole file
                (self.made([("first", b"1"), ("large", b"x" * (4 << 20) + b"x")]), "'large' has 4194305 bytes"),
                (self.made([("x" * 1025, b"1")]), "names have 1 to 1024 bytes")):
            with open(path, "wb") as out:
                out.write(data)
            self.assertIn(f"{path}: ", self.bytes_of("import", path, code=1)[1])
            self.assertIn(sentence, self.bytes_of("import", path, code=1)[1])
        self.assertIn("1 value was put in the store", self.bytes_of("import", "-", given=whole[:1024], code=1)[1])
        self.refused("store import nowhere.tar", "nowhere.tar: No such file or directory", code=1)
        self.refused("store export --json", "give it a file", code=2)
        self.refused("store export --file /nowhere/x.tar", "/nowhere/x.tar: No such file", code=1)

    def interrupted(self):
        """Neither a part of the values nor an error is taken for all of them."""
        path = os.path.join(self.folder, "kept.tar")
        with open(path, "wb") as out:
            out.write(b"the one before")
        environment = {"PATH": os.environ["PATH"], "CUBEWAY_SOCKET": self.socket}
        for wait in (0.01, 0.02, 0.03, 0.05):
            with subprocess.Popen([ctl_kit.OPTIONS.cwctl, "store", "export", "--file", path], env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
                time.sleep(wait)
                running.send_signal(signal.SIGINT)
                said = running.communicate(timeout=ctl_kit.LIMIT_S)[1]
            with open(path, "rb") as written:
                whole = written.read() != b"the one before"
            if not whole:  # else it was done before
                self.assertNotEqual(running.returncode, 0, said)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("kept.tar.")], [])
        until = time.monotonic() + ctl_kit.LIMIT_S
        while self.raw("store", "list").returncode != 0:  # lists that nobody waits for any more
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as reader:
            self.cwctl(f"store export config/ --file {fifo}")
            self.assertIn(b"config/a", reader.communicate(timeout=ctl_kit.LIMIT_S)[0])
        self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))
        bad = io.BytesIO()
        with tarfile.open(fileobj=bad, mode="w", format=tarfile.PAX_FORMAT) as tar:
            info = tarfile.TarInfo("config/new")
            info.pax_headers = {"SCHILY.xattr.user.cubeway.flags": "nonsense"}
            tar.addfile(info)
        self.assertNotEqual(self.raw_bytes("import", "-", "--if-absent", given=bad.getvalue()), 0)
        self.assertNotEqual(self.raw_bytes("import", "-", "--if-absent", "--job", "nosuch",
                                           given=self.made([("x", b"1")])), 0)

    def raw_bytes(self, *words, given):
        """The exit code of cwctl store."""
        environment = {"PATH": os.environ["PATH"], "CUBEWAY_SOCKET": self.socket}
        return subprocess.run([ctl_kit.OPTIONS.cwctl, "store", *words], input=given, capture_output=True,
                              timeout=ctl_kit.LIMIT_S, check=False, env=environment).returncode


if __name__ == "__main__":
    ctl_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwctl file send, status, stop: bytes and rights arrive, what cannot be is named, and a second time only what is
missing goes."""

import hashlib
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import termios
import threading
import time

import ctl_kit

MEMBERS = ctl_kit.SERVERS[1:]


class Files(ctl_kit.Case):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix="cubeway-files-")
        cls.addClassCleanup(shutil.rmtree, cls.top)
        cls.config = f'service multicast {{ options {{ folder = "{cls.top}/in" }} }}\n' + ctl_kit.Case.config
        os.mkdir(cls.top + "/in")
        super().setUpClass()

    def setUp(self):
        while os.path.exists(self.top + "/in"):  # the transfer that was stopped before is still being put away
            shutil.rmtree(self.top + "/in", ignore_errors=True)
        os.mkdir(self.top + "/in")

    def file(self, name, size, mode=0o640, seed=1):
        path = os.path.join(self.top, name)
        with open(path, "wb") as out:
            out.write(self.bytes(size, seed))
        os.chmod(path, mode)
        return path

    @staticmethod
    def bytes(size, seed=1):
        block = b"".join(hashlib.sha256(b"%d %d" % (seed, i)).digest() for i in range(1024))
        return (block * (size // len(block) + 1))[:size]

    def there(self, server, name):
        return os.path.join(self.top, "in", server, name)

    def check(self, servers, name, data, mode=0o640):
        for server in servers:
            with open(self.there(server, name), "rb") as got:
                self.assertEqual(got.read(), data, server)
            self.assertEqual(stat.S_IMODE(os.stat(self.there(server, name)).st_mode), mode)
            self.assertEqual([f for f in os.listdir(os.path.dirname(self.there(server, name))) if f.startswith(".")],
                             [])

    def hidden(self):
        """Parts and maps of all members."""
        return [f for _, _, files in os.walk(self.top + "/in") for f in files if f.startswith(".")]

    def marks(self):
        """True when files here can bear the extended attribute by which a member knows what it has."""
        path = self.file("mark", 1)
        try:
            os.setxattr(path, "user.cubeway.sha256", b"x")
            return True
        except OSError:
            return False

    def test_to_all_and_again(self):
        size = 3_000_001
        path = self.file("image", size)
        text = self.cwctl("file send", path, "--to", "all")
        said = [row["text"] for row in self.rows("events") if row["kind"] == "multicast" and "from here" in row["text"]]
        name = os.path.basename(path)
        self.assertEqual(said[-2:], [f"file {name} goes from here to 26 servers",
                                     f"file {name} was sent from here: 26 of 26 servers have it"])
        self.assertRegex(text, r"^image, 3.00 MB: 26 of 26 servers have it after [0-9.]+ .*, the slowest at .*; "
                               r"3.00 MB sent\n$")
        self.check(MEMBERS, "image", self.bytes(size))
        came = next(row for row in self.rows("--server 2,2,2 file status") if row["what"] == "came")
        self.assertEqual((came["what"], came["name"], came["from"], came["state"], came["there_bytes"]),
                         ("came", name, "0,0,0", "here", size))
        self.assertLess(came["ended_ns"], 60e9)
        self.assertFalse(os.path.exists(self.there("0,0,0", "image")))  # the source has it anyway
        rows = self.rows("file send", path, "--to", "all")
        self.assertEqual((rows[0]["what"], rows[0]["complete"], rows[0]["failed"]), ("sum", 26, 0))
        self.assertEqual(rows[0]["sha256"], hashlib.sha256(self.bytes(size)).hexdigest())
        self.assertEqual(sorted(row["server"] for row in rows[1:]), MEMBERS)
        if self.marks():
            self.assertEqual((rows[0]["sent_bytes"], rows[0]["had_already"], rows[0]["before_bytes"]), (0, 26, size))
            self.assertEqual({(row["before_bytes"], row["bits_per_s"]) for row in rows[1:]}, {(size, 0)})
            text = self.cwctl("file send", path, "--to", "all")
            self.assertRegex(text, "^image, 3.00 MB: 26 of 26 servers have it after .*, and all of them had it "
                                   "already; 0 B sent\n$")
            os.unlink(self.there("2,2,2", "image"))
            text = self.cwctl("file send", path, "--to", "2,2,2", "1,1,1 1,0,0")
            self.assertRegex(text, "; 2 had it already, the other one got it at .*; 3.00 MB sent\n$")
        self.check(MEMBERS, "image", self.bytes(size))

    def on_terminal(self, *words, **environment):
        """What file send writes to a terminal of 90 columns."""
        main, side = pty.openpty()
        termios.tcsetwinsize(side, (24, 90))
        done = subprocess.Popen([ctl_kit.OPTIONS.cwctl, "--socket", self.socket, "file", "send", *words], stdout=side,
                                stderr=side, env={**os.environ, "TERM": "xterm", **environment})
        os.close(side)
        text = b""
        try:
            while more := os.read(main, 65536):
                text += more
        except OSError:  # the other side is closed
            pass
        os.close(main)
        self.assertEqual(done.wait(), 0)
        return text.decode()

    def test_bars(self):
        size, text = 50_000_000, ""
        while " %" not in text and size < 1_000_000_000:  # a file that takes longer than the first half second
            size *= 2
            text = self.on_terminal(self.file("large", size), "--to", "1,1,1")
        self.assertRegex(text, r"\r\x1b\[Klarge \[\x1b\[32m=*>? *\x1b\[0m\] +[0-9]+ %")
        self.assertRegex(text, r"\r\x1b\[Klarge, [0-9.]+ [MG]B: 1 of 1 server has it")
        for line in re.split(r"[\r\n]", re.sub(r"\x1b\[[0-9]*[mKA]", "", text.split("large, ")[0])):
            self.assertLess(len(line), 90)
        text = self.on_terminal(self.file("large", 60_000_000, seed=2), "--to", "1,1,1", NO_COLOR="1")
        self.assertNotIn("\x1b[32m", text)
        text = self.on_terminal(self.file("large", 60_000_000, seed=3), "--to", "1,1,1", TERM="dumb")
        self.assertNotIn("\x1b", text)
        self.assertNotIn("large [", text)
        self.assertIn("large: begins", text)

    def test_names_rights_and_some_servers(self):
        path = self.file("image", 70_000)
        self.cwctl("file send", path, "--to", "1,0,0", "--to", "2,2,2 1,1,1", "--as", "other name", "--mode", "755")
        self.check(["1,0,0", "2,2,2", "1,1,1"], "other name", self.bytes(70_000), 0o755)
        self.assertFalse(os.path.exists(self.there("1,0,1", "other name")))
        other = self.file("newer", 50_000, seed=2)
        self.cwctl("file send", other, "--to", "1,0,0", "--as", "other name")
        self.check(["1,0,0"], "other name", self.bytes(50_000, 2))
        text = self.cwctl("file send", path, "--to", "1,0,0 1,0,1", "--as", "other name", "--keep", code=5)
        self.assertIn("1 of 2 servers has it", text)
        self.assertIn("1,0,0 has not: a file of that name is there", text)
        self.check(["1,0,0"], "other name", self.bytes(50_000, 2))

    def test_several_files(self):
        """They stand before --to, and servers behind it."""
        one, other = self.file("one", 10_000), self.file("other", 20_000, seed=2)
        text = self.cwctl("file send", one, other, "--to", "1,0,0", "2,2,2")
        self.assertRegex(text, r"^one, 10.0 kB: 2 of 2 servers have it after .*\nother, 20.0 kB: 2 of 2 servers have "
                               r"it after .*\n$")
        self.check(["1,0,0", "2,2,2"], "other", self.bytes(20_000, 2))
        done = self.raw("file", "send", self.top + "/none", one, "--to", "1,0,0")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("none: No such file", done.stderr)
        self.assertIn("one, 10.0 kB: 1 of 1 server has it", done.stdout)
        self.refused(f"file send {one} {other} --to all --as a", "--as gives one file another name", code=2)
        self.refused(f"file send {one} {other}", "to whom?", code=2)

    def test_sizes(self):
        for size in (0, 1, 8000, 9000, 100_000):
            path = self.file(f"size{size}", size)
            self.cwctl("--server 1,2,1 file send", path, "--to", "0,0,0 2,0,1")
            self.check(["0,0,0", "2,0,1"], f"size{size}", self.bytes(size))

    def test_who_cannot_is_named_and_stops_nobody(self):
        path = self.file("image", 500_000)
        with open(os.path.join(self.top, "in", "1,1,1"), "w", encoding="utf-8"):
            pass  # a file is where its folder should be
        os.mkdir(os.path.join(self.top, "in", "2,0,0"))
        os.chmod(os.path.join(self.top, "in", "2,0,0"), 0o777)  # other users could put something else into it
        os.makedirs(self.there("0,1,2", "image") + "/full")
        rows = self.rows("file send", path, "--to", "all", code=5)
        self.assertEqual((rows[0]["complete"], rows[0]["failed"]), (23, 3))
        reasons = {row["server"]: row["reason"] for row in rows[1:] if row["state"] == "failed"}
        self.assertEqual(sorted(reasons), ["0,1,2", "1,1,1", "2,0,0"])
        self.assertIn("is no folder", reasons["1,1,1"])
        self.assertIn("is not the daemon's or root's alone", reasons["2,0,0"])
        self.assertIn("a folder of that name is there", reasons["0,1,2"])
        self.check([s for s in MEMBERS if s not in reasons], "image", self.bytes(500_000))
        text = self.cwctl("file send", path, "--to", "1,1,1", code=1)
        self.assertIn("0 of 1 server has it", text)

    def test_what_is_refused(self):
        path = self.file("image", 10)
        self.refused(f"file send {self.top}/nothing --to all", "nothing: No such file", code=1)
        self.refused(f"file send {self.top} --to all", "it is a folder", code=1)
        os.mkfifo(self.top + "/pipe")
        self.refused(f"file send {self.top}/pipe --to all", "it is no regular file", code=1)
        os.unlink(self.top + "/pipe")
        self.refused("file send /proc/self/maps --to all", "its length is said to be 0", code=1)
        self.refused(f"file send {path}", "to whom?", code=2)
        self.refused(f"file send {path} --to 3,3,3", "3,3,3", code=2)
        self.refused(f"file send {path} --to 0,0,0", "no member but this server itself", code=2)
        self.refused(f"file send {path} --to all --as a/b", "has a slash", code=2)
        self.refused(f"file send {path} --to all --as .a", "begins with a dot", code=2)
        self.refused(f"file send {path} --to all --mode 999", "in octal", code=2)
        self.refused("file stop 77", "nothing is sent from here under the id 77", code=1)
        self.refused("service multicast file-send ticket=1 name=a to all", "no file was passed under ticket 1", code=1)

    def test_an_empty_file(self):
        """Whether a member had it cannot be told from what is sent, and is not said."""
        for _ in range(2):
            self.assertRegex(self.cwctl("file send", self.file("hollow", 0), "--to", "all"),
                             r"^hollow, 0 B: 26 of 26 servers have it after [0-9.]+ \w+; 0 B sent\n$")
        self.check(MEMBERS, "hollow", b"")

    def test_names_that_turn_the_line_around(self):
        path = os.path.join(self.top, "a\u202etxt.exe")
        shutil.copy(self.file("image", 10), path)
        done = self.raw("file", "send", path, "--to", "1,0,0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith(r"a\xe2\x80\xaetxt.exe, 10 B: 1 of 1 server has it"), done.stdout)
        self.assertIn(r"a\xe2\x80\xaetxt.exe", self.cwctl("file status"))
        self.check(["1,0,0"], "a\u202etxt.exe", self.bytes(10))  # the name is what it is

    def test_names_that_no_terminal_should_obey(self):
        for name, shown, why in ((b"caf\xe9", r"caf\xe9", "is not UTF-8"),
                                 (b"a\x1b[31m", r"a\x1b[31m", "has a control character"),
                                 (b"a\xc2\x9b31m", r"a\xc2\x9b31m", "has a control character")):
            path = os.fsencode(self.top) + b"/" + name
            shutil.copy(self.file("image", 10), path)
            words = [ctl_kit.OPTIONS.cwctl, "--socket", self.socket, "file", "send", path, "--to", "1,0,0"]
            done = subprocess.run(words, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertEqual(done.stderr.decode(), f"cwctl: {shown}: this name {why}: --as NAME gives it another\n")
            done = subprocess.run([*words, "--as", "named"], capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check(["1,0,0"], "named", self.bytes(10))
            os.unlink(path)
        self.refused("service multicast file-send ticket=1 name=a\x7fb to all", r"the name 'a\x7fb' has a control",
                     code=2)

    def no_part_is_left(self):
        """What was stopped for good leaves no part behind, at no member."""
        end = time.monotonic() + 20
        while self.hidden() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(self.hidden(), [])

    def test_stopped_while_parts_are_opened(self):
        """The first member has a part, and the others are still making theirs, on a busy machine for a while."""
        for seed in range(3):
            path = self.file("early", 20_000_000, seed=seed)
            number = self.cwctl("file send", path, "--to", "all", "--no-wait").split("id ")[1].split(":")[0]
            end = time.monotonic() + ctl_kit.LIMIT_S
            while not self.hidden() and time.monotonic() < end:
                time.sleep(0.001)
            done = self.raw("file", "stop", number)
            self.assertTrue(done.returncode == 0 or "nothing is sent from here" in done.stderr, done.stderr)
            self.no_part_is_left()

    def test_status_progress_and_stop(self):
        path = self.file("large", 60_000_000)
        done = self.raw("file", "send", path, "--to", "all", "--no-wait")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^it is on its way, id [0-9]+: cwctl file status\n$")
        number = done.stdout.split("id ")[1].split(":")[0]
        [row] = [row for row in self.rows("file status") if row.get("id") == int(number)]
        self.assertEqual((row["what"], row["name"], row["members"]), ("going", "large", 26))
        self.cwctl("file stop", number)
        [row] = [row for row in self.rows("file status") if row.get("id") == int(number)]
        self.assertEqual((row["state"], row["reason"]), ("ended", "stopped"))
        self.no_part_is_left()
        members = [row for row in self.rows("file status --members") if row.get("what") == "member"
                   and row["id"] == int(number)]
        self.assertLessEqual(len(members), 26)
        done = self.raw("file", "send", path, "--to", "1,1,1", "--progress")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("large: ", done.stderr)
        self.check(["1,1,1"], "large", self.bytes(60_000_000))
        titles, _ = self.table("file status")
        self.assertEqual([title for title in titles if title != "FROM"][:3], ["ID", "NAME", "STATE"])

    def test_who_stops_waiting(self):
        path = self.file("large", 100_000_000)
        words = [ctl_kit.OPTIONS.cwctl, "--socket", self.socket, "file", "send", path, "--as", "awaited", "--to",
                 "1,0,0 0,1,0 0,0,1"]
        waiting = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + ctl_kit.LIMIT_S
        while not any(row["name"] == "awaited" for row in self.rows("file status") if row["what"] == "going"):
            self.assertLess(time.monotonic(), end)
        waiting.send_signal(signal.SIGINT)
        out, errors = waiting.communicate(timeout=ctl_kit.LIMIT_S)
        if waiting.returncode == 0:
            self.assertIn("3 of 3", out)  # the transfer had ended before the signal came
        else:
            self.assertEqual((waiting.returncode, out), (1, ""))
            self.assertIn("nobody waits for it now, and it goes on", errors)
        while not os.path.exists(self.there("1,0,0", "awaited")):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_from_two_at_the_same_time(self):
        path = self.file("image", 5_000_000)
        codes = []

        def send(server):
            codes.append(self.raw("--server", server, "file", "send", path, "--to", "all").returncode)

        threads = [threading.Thread(target=send, args=(server,)) for server in ("0,0,0", "1,1,1")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(codes, [0, 0])
        self.check(ctl_kit.SERVERS, "image", self.bytes(5_000_000))

    def test_to_a_group(self):
        path = self.file("image", 100_000)
        for server in ("1,0,0", "2,2,2", "0,0,0"):
            self.cwctl(f"--server {server} service multicast group join web")
        rows = self.rows("file send", path, "--to", "web")
        self.assertEqual([row["server"] for row in rows[1:]], ["1,0,0", "2,2,2"])
        self.check(["1,0,0", "2,2,2"], "image", self.bytes(100_000))
        self.assertFalse(any(os.path.exists(self.there(server, "image")) for server in MEMBERS
                             if server not in ("1,0,0", "2,2,2")))
        self.refused(f"file send {path} --to nobodys", "nobody is in a group 'nobodys'; a server is written", code=1)
        self.refused(f"file send {path} --to al", "nobody is in a group 'al'; did you mean all?", code=1)

    def test_a_file_that_changes(self):
        path = self.file("log", 30_000_000)
        done = threading.Event()

        def change():
            while not done.is_set():
                with open(path, "r+b") as out:
                    out.seek(29_000_000)
                    out.write(os.urandom(1000))
                time.sleep(0.002)

        thread = threading.Thread(target=change)
        thread.start()
        rows = self.rows("file send", path, "--to", "1,0,0 0,1,0", code=1)
        done.set()
        thread.join()
        self.assertIn("another digest", rows[1]["reason"])
        end = time.monotonic() + ctl_kit.LIMIT_S  # the part goes behind the member's word
        while os.listdir(os.path.dirname(self.there("1,0,0", "log"))) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(os.listdir(os.path.dirname(self.there("1,0,0", "log"))), [])


class NoFolder(ctl_kit.Case):
    config = 'torus { dims = "3x1x1"; coordinate = all }\n'

    def test_before_there_is_one(self):
        self.assertEqual(self.cwctl("file status"), "no file is on its way from this server or to it, and none was in "
                         "the last 10 minutes\n")
        self.assertEqual(self.rows("file status"), [])

    def test_it_is_said(self):
        text = self.cwctl("file send", OWN, "--to", "all", code=1)
        self.assertEqual(text.count("it takes no files: service multicast { options { folder = "), 2)
        self.assertIn("0 of 2 servers have it", text)
        titles, rows = self.table("file status")
        self.assertEqual([row[titles.index("STATE")] for row in rows], ["failed"])


OWN = os.path.abspath(__file__)

if __name__ == "__main__":
    ctl_kit.main()

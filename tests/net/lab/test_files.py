# SPDX-License-Identifier: Apache-2.0
"""Files on a torus of namespaces, each server a daemon of its own: whole everywhere; one that dies midway goes on where
it was; a full disk and a limit are named and stop nobody.
"""

import hashlib
import json
import os
import resource
import subprocess

import lab_kit


def content(size):
    block = b"".join(hashlib.sha256(b"%d" % i).digest() for i in range(4096))
    return (block * (size // len(block) + 1))[:size]


class Files(lab_kit.Case):
    def ctl(self, server, *words, code=0):
        done = subprocess.run([lab_kit.OPTIONS.cwlab, "ctl", server, *words], capture_output=True, text=True,
                              check=False,
                              timeout=lab_kit.LIMIT_S)
        self.assertEqual(done.returncode, code, f"{server} {words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def rows(self, server, *words, code=0):
        return [json.loads(row) for row in self.ctl(server, "--json", *words, code=code).splitlines()]

    def lab(self, dims, *words):
        # timers so long that a busy machine makes no server count as dead
        said = self.up(dims, "--driver", "netns", "--scale", "8", *words)
        self.place = os.path.join(self.folder, said["name"]) if "name" in said else next(
            os.path.join(self.folder, name) for name in os.listdir(self.folder)
            if os.path.isdir(os.path.join(self.folder, name)))

    def file(self, size):
        path = os.path.join(self.folder, "image")
        with open(path, "wb") as out:
            out.write(content(size))
        return path

    def there(self, server):
        return os.path.join(self.place, server + ".files")

    def check(self, servers, size):
        for server in servers:
            with open(os.path.join(self.there(server), "image"), "rb") as got:
                self.assertEqual(got.read(), content(size), server)
            self.assertEqual(os.listdir(self.there(server)), ["image"])

    def daemon(self, server):
        [pid] = [d["pid"] for d in lab_kit.rows("status", code=None)
                 if d.get("server", d.get("name")) == server]
        return pid

    def test_whole_everywhere(self):
        self.lab("2x2x2")
        servers = [f"{x},{y},{z}" for x in range(2) for y in range(2) for z in range(2)]
        size = 20_000_003
        rows = self.rows("0,1,0", "file", "send", self.file(size), "--to", "all")
        self.assertEqual((rows[0]["members"], rows[0]["complete"]), (7, 7))
        self.check([s for s in servers if s != "0,1,0"], size)
        print(f"20 MB to 7 servers: {rows[0]['least_bits_per_s'] / 1e6:.0f} Mb/s at least, {rows[0]['repeated']} sent "
              f"again")

    def test_a_member_that_dies_goes_on_where_it_was(self):
        size = 30_000_000
        self.lab("3x1x1", "--rate", "20mbit")
        path = self.file(size)
        send = subprocess.Popen([lab_kit.OPTIONS.cwlab, "ctl", "0,0,0", "--json", "file", "send", path, "--to", "all"],
                                stdout=subprocess.PIPE, text=True)
        self.addCleanup(send.kill)

        def far():
            parts = [row for row in self.rows("2,0,0", "file", "status") if row.get("what") == "coming"]
            return bool(parts) and parts[0]["there_bytes"] > size // 2

        lab_kit.until("half of it is there", far)
        lab_kit.run("fail", "2,0,0")
        out, _ = send.communicate(timeout=lab_kit.LIMIT_S)
        rows = [json.loads(row) for row in out.splitlines()]
        self.assertEqual((send.returncode, rows[0]["complete"], rows[0]["failed"]), (5, 1, 1))
        self.check(["1,0,0"], size)
        self.assertEqual(len(os.listdir(self.there("2,0,0"))), 2)  # the unfinished part, and the record of what it has
        lab_kit.run("restore", "2,0,0")
        self.wait_all(3)
        seen = self.rows("0,0,0", "file", "send", path, "--to", "all", "--progress")
        rows = seen[[row.get("what") for row in seen].index("sum"):]
        self.assertEqual((rows[0]["complete"], rows[0]["failed"]), (2, 0))
        self.check(["1,0,0", "2,0,0"], size)
        # 1,0,0 had it already. 2,0,0 goes on at a pace in which what it had before does not count, so that it is not
        # said to be done before the links can have brought the rest; and it has a row while it is waited for.
        self.assertEqual((rows[0]["had_already"], rows[1]["bits_per_s"]), (1, 0))
        before = rows[2]["before_bytes"]
        self.assertTrue(0 < before < size and rows[0]["before_bytes"] == (before + size) // 2)
        slow = [row for row in seen if row.get("what") == "slow"]
        self.assertEqual({row["server"] for row in slow}, {"2,0,0"})
        left = [row for row in slow if "left_ns" in row]
        self.assertTrue(left)
        for row in left[3:]:  # twice the rate of both links: disks take what comes in large parts
            self.assertGreater(row["left_ns"] * 80e6, (size - row["there_bytes"]) * 8 * 1e9)
        self.assertLessEqual(rows[0]["sent_bytes"], size - before + sum(rows[0][field] for field in (
            "lost_bytes", "missed_bytes", "mended_bytes")) + 10_000)
        text = self.ctl("0,0,0", "file", "send", path, "--to", "2,0,0")
        self.assertIn("1 of 1 server has it after", text)
        self.assertIn(", and had it already; 0 B sent", text)
        print(f"resumed after a death: {rows[0]['sent_bytes']} of {size} bytes sent")
        self.assertLess(rows[0]["sent_bytes"], size * 3 // 4)

    def flap(self, size, ends):
        """A file for all, while these ends of cables go down and up, one by one. Gives how often, and what was sent."""
        send = subprocess.Popen([lab_kit.OPTIONS.cwlab, "ctl", "0,0,0", "--json", "file", "send", self.file(size),
                                 "--to", "all"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(send.kill)
        flaps = 0
        while send.poll() is None and flaps < 400:
            server, link = ends[flaps % len(ends)]
            lab_kit.run("link", server, link, "down")
            lab_kit.run("link", server, link, "up")
            flaps += 1
        out, _ = send.communicate(timeout=lab_kit.LIMIT_S)
        total = json.loads(out.splitlines()[0])
        print(f"{flaps} cables cut while {size // 1_000_000} MB went to 8 servers: {total['sent_bytes']} bytes sent; "
              f"again: {total['lost_bytes']} lost, {total['missed_bytes']} missed, {total['mended_bytes']} by a second "
              f"way")
        self.assertEqual((send.returncode, total["complete"]), (0, 8))
        return flaps, total

    def test_cables_that_flap(self):
        """What a source sends again stays within what docs/services/multicast.md, "Nothing goes back", says."""
        size, made = 20_000_000, 0
        self.lab("3x3x1", "--rate", "20mbit")
        ends = [("0,0,0", "+x"), ("1,1,0", "+y"), ("0,0,0", "-y"), ("2,1,0", "-x"), ("0,2,0", "+x"), ("0,0,0", "-x")]
        while made <= 5:  # a busy machine cuts two cables while a file goes, a quiet one more than six
            size += made * 1000  # another file
            flaps, total = self.flap(size, ends)
            made += flaps
            # Lost: of each of two trees that use the cable what is under way, 16 pieces and 5 ms of its rate; five runs
            # on a busy machine lost at most 27 kB a flap. By a second way: an eighth of the file and 16 pieces. Both
            # together are less than a quarter. Missed is what a disk could not take in time: the file once more.
            self.assertGreater(flaps, 0)
            self.assertLessEqual(total["lost_bytes"], flaps * 2 * (16 * 9000 + 12_500))
            self.assertLessEqual(total["mended_bytes"], size // 8 + 16 * 9000)
            self.assertLessEqual(total["lost_bytes"] + total["mended_bytes"], size // 4)
            self.assertLessEqual(total["sent_bytes"], 2 * size)
            self.assertLessEqual(total["sent_bytes"], size + 10_000 + sum(total[field] for field in (
                "lost_bytes", "missed_bytes", "mended_bytes")))

    def test_disks_that_are_full(self):
        size = 8_000_000
        self.lab("3x1x1")
        path = self.file(size)
        inside = ["nsenter", "-t", str(self.daemon("1,0,0")), "-U", "--preserve-credentials", "-m"]
        if os.geteuid() == 0:
            inside = ["nsenter", "-t", str(self.daemon("1,0,0")), "-m"]
        os.makedirs(self.there("1,0,0"), 0o755, exist_ok=True)
        full = subprocess.run([*inside, "mount", "-t", "tmpfs", "-o", "size=4m,mode=755", "tmpfs", self.there("1,0,0")],
                              check=False)
        if full.returncode == 0:
            self.addCleanup(subprocess.run, [*inside, "umount", self.there("1,0,0")], check=False,
                            stderr=subprocess.DEVNULL)
        resource.prlimit(self.daemon("2,0,0"), resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
        rows = self.rows("0,0,0", "file", "send", path, "--to", "all", code=1 if full.returncode == 0 else 5)
        reasons = {row["server"]: row["reason"] for row in rows[1:] if row["state"] == "failed"}
        self.assertIn("larger than the daemon may write", reasons["2,0,0"])
        if full.returncode == 0:
            self.assertEqual(reasons["1,0,0"], "its disk is full (cwctl events there names the folder)")
            told = self.ctl("1,0,0", "events")
            self.assertIn(f"file image cannot be put into {self.there('1,0,0')}: its disk is full", told)
            left = subprocess.run([*inside, "ls", "-A", self.there("1,0,0")], capture_output=True, text=True,
                                  check=True)
            self.assertEqual(left.stdout, "")  # neither a part nor the record of one
            subprocess.run([*inside, "umount", self.there("1,0,0")], check=True)
        resource.prlimit(self.daemon("2,0,0"), resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        rows = self.rows("0,0,0", "file", "send", path, "--to", "all")
        self.assertEqual(rows[0]["complete"], 2)
        self.check(["1,0,0", "2,0,0"], size)


if __name__ == "__main__":
    lab_kit.main()

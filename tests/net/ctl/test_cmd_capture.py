# SPDX-License-Identifier: Apache-2.0
"""cwctl capture: frames of a link, in a file that Wireshark opens and our dissector understands."""

import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import time

import ctl_kit


class Capture(ctl_kit.Case):
    def capture(self, *words):
        path = os.path.join(self.folder, "out.pcapng")
        return path, self.cwctl("capture", *words[:1], path, *words[1:])

    def test_so_many_frames(self):
        path, text = self.capture("+x", "--count", "20")
        self.assertEqual(text, f"20 frames in {path}\n")
        with open(path, "rb") as file:
            head = file.read()
        self.assertEqual(head[:4], b"\x0a\x0d\x0d\x0a")
        self.assertIn(b"0,0,0 +x", head)
        self.assertIn(b"1,0,0 -x", head)

    def test_until_stopped(self):
        path = os.path.join(self.folder, "stopped.pcapng")
        words = [ctl_kit.OPTIONS.cwctl, "--socket", self.socket, "--json", "capture", "-y", path]
        running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        self.refused(f"capture -y {path}.second", "being captured by somebody else", code=1)
        running.send_signal(signal.SIGINT)
        out, errors = running.communicate(timeout=ctl_kit.LIMIT_S)
        self.assertEqual((running.returncode, errors), (0, ""))
        self.assertGreater(json.loads(out)["frames"], 2)
        self.capture("-y", "--count", "2")  # it is free again

    def test_until_q(self):
        """At a terminal, where the first line says so; the terminal is afterwards as it was."""
        path = os.path.join(self.folder, "q.pcapng")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(ctl_kit.OPTIONS.cwctl, ["cwctl", "--socket", self.socket, "capture", "-z", path])
        seen, asked = b"", False
        with contextlib.suppress(OSError):  # the end of a terminal
            while chunk := os.read(terminal, 4096):
                seen += chunk
                if b"q ends it" in seen and not asked:
                    asked = True
                    time.sleep(0.3)
                    os.write(terminal, b"xq")
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        os.close(terminal)
        self.assertRegex(seen.decode(), f"frames of -z are captured; q ends it\r\n[0-9]+ frames in {path}\r\n$")
        self.capture("-z", "--count", "2")  # it is free again

    def test_a_client_that_is_killed(self):
        words = [ctl_kit.OPTIONS.cwctl, "--socket", self.socket, "capture", "+z", os.path.join(self.folder, "k.pcapng")]
        running = subprocess.Popen(words)
        time.sleep(0.5)
        running.kill()
        running.wait()
        time.sleep(0.2)
        self.capture("+z", "--count", "2")

    def test_mistakes(self):
        self.refused("capture +q file", "is no link", code=2)
        self.refused("capture +x /nonexistent/file", "No such file or directory", code=1)

    def test_in_wiresharks_eyes(self):
        if shutil.which("tshark") is None or not ctl_kit.OPTIONS.lua:
            self.skipTest("no tshark")
        path, _ = self.capture("+x", "--count", "40")
        shown = subprocess.run(["tshark", "-X", f"lua_script:{ctl_kit.OPTIONS.lua}", "-r", path, "-Y", "cubeway",
                                "-T", "fields", "-e", "cubeway.hello.port", "-e", "frame.interface_name"],
                               capture_output=True, text=True, check=False,
                               env={**os.environ, "WIRESHARK_CONFIG_DIR": self.folder, "LC_ALL": "C"})
        lines = shown.stdout.splitlines()
        if "Lua" in shown.stderr and not lines:
            self.skipTest("this tshark is built without Lua")
        self.assertEqual(len(lines), 40, shown.stderr)
        self.assertIn("0\t0,0,0 +x", lines)  # what 0,0,0 says from its port +x
        self.assertIn("1\t1,0,0 -x", lines)


if __name__ == "__main__":
    ctl_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""cwctl capture: frames of a link, in a file that Wireshark opens and our dissector understands."""

import json
import os
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

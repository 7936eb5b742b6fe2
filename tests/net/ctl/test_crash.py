# SPDX-License-Identifier: Apache-2.0
"""A service that crashes, or holds the thread: the daemon says which, where and when."""

import signal
import time

import ctl_kit


class Crash(ctl_kit.Case):
    @classmethod
    def setUpClass(cls):  # the section has another name than the service: it runs under its own
        cls.config = ('torus { dims = "2x1x1"; coordinate = all }\n'
                      f'service "a-heading" {{ file = "{ctl_kit.OPTIONS.module}" }}\n')
        super().setUpClass()

    def said(self, words):
        """The log, once it has these words."""
        end = time.monotonic() + ctl_kit.LIMIT_S
        while True:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                text = log.read()
            if words in text:
                return text
            self.assertLess(time.monotonic(), end, f"no '{words}' in\n{text[-3000:]}")
            time.sleep(0.02)

    def test(self):
        self.assertEqual(self.rows("services")[-1]["service"], "careless")
        self.cwctl("service careless free-twice")
        self.assertEqual(self.rows("services")[-1]["misuses"], 1)
        self.assertNotIn("cw_packet_free", self.said("ready"))  # it is not strict
        done = self.raw("--timeout", "300ms", "service", "careless", "keep")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr, r"no answer in time: service careless has had the command 'keep' in hand for "
                                      r"[0-9.]+ s and has not ended it, which cw_request_done\(\) does; --timeout")
        self.assertRegex(self.cwctl("services"), r"(?m)COMMANDS +SINCE +OLDEST[^\n]*\n(.*\n)*careless .* 1 +[0-9.]+ "
                                                 r"m?s +keep\b")
        self.cwctl("--server 1,0,0 service careless hold 2000")  # `dead` is 2 s
        self.assertRegex(self.said("held the thread"), r'level=warn msg="a service held the thread for too long" '
                         r"server=1,0,0 service=careless upcall=on_command for=2[0-9]*m?s what_to_do=")
        done = self.raw("--server", "1,0,0", "service", "careless", "crash")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(self.process.wait(ctl_kit.LIMIT_S), -signal.SIGSEGV)
        text = self.said("crashed:")
        self.assertRegex(text, r'level=error msg="crashed: SIGSEGV at address 0x10 in service careless, in on_command, '
                         r'on server 1,0,0, at [0-9]+\.[0-9]{9} s"')
        self.assertRegex(text, r"(?m)^\S*careless\.so\S*\[0x[0-9a-f]+\]$")


if __name__ == "__main__":
    ctl_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""The daemon's command picture: what a picture of the torus shows, as the line protocol has it."""

import json
import socket

import ctl_kit


class Picture(ctl_kit.Case):
    def ask(self, **request):
        """The rows of one request, and its end."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(ctl_kit.LIMIT_S)
            line.connect(self.socket)
            line.sendall(json.dumps({"id": 1, "command": "picture", **request}).encode() + b"\n")
            answers = []
            with line.makefile("rb") as lines:
                for text in lines:
                    answers.append(json.loads(text))
                    if "done" in answers[-1]:
                        break
        return [answer["row"] for answer in answers[:-1]], answers[-1]

    def test_one_server(self):
        rows, end = self.ask(server="1,2,0")
        self.assertEqual(end["rc"], 0)
        self.assertEqual(list(rows[0]), "server now_ns state inside made delivered forwarded dropped".split())
        self.assertEqual((rows[0]["server"], rows[0]["state"]), ("1,2,0", "serving"))
        self.assertEqual([row["link"] for row in rows[1:]], ctl_kit.LINKS)
        for row in rows[1:]:
            self.assertEqual(list(row), "server link state sent_bytes bits_per_second".split())
            self.assertEqual(row["state"], "up")
            self.assertGreater(row["sent_bytes"], 0)  # hellos

    def test_all_servers(self):
        rows, end = self.ask(options={"all": True})
        self.assertEqual(end["rc"], 0)
        self.assertEqual({row["server"] for row in rows}, set(ctl_kit.SERVERS))
        self.assertEqual(len(rows), 27 * 7)

    def test_what_makes_no_sense(self):
        for request in {"server": "9,9,9"}, {"options": {"every": 1}}, {"options": {"all": "yes"}}, {"args": ["x"]}:
            rows, end = self.ask(**request)
            self.assertEqual(rows, [])
            self.assertLess(end["rc"], 0)
            self.assertIn("error", end)


if __name__ == "__main__":
    ctl_kit.main()

# SPDX-License-Identifier: Apache-2.0
"""The dashboard and the alert rules of the package: every metric, label and value that they name is one that a daemon
gives, in OpenMetrics and in Prometheus' text format."""

import json
import os
import re
import socket
import unittest
import urllib.request

import net_kit

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../packaging/monitoring")
PLAIN = "text/plain;version=0.0.4"
OPEN = "application/openmetrics-text;version=1.0.0"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def expressions():
    """(where, PromQL) of every panel and of every rule."""
    with open(os.path.join(FOLDER, "dashboard.json"), encoding="utf-8") as file:
        for panel in json.load(file)["panels"]:
            for target in panel["targets"]:
                yield panel["title"], target["expr"]
    with open(os.path.join(FOLDER, "alerts.yml"), encoding="utf-8") as file:
        text = file.read()
    for rule in re.split(r"\n      - alert: ", text)[1:]:
        expr = re.search(r"\n        expr: (?:>-\n)?((?:.|\n {10})*)\n", rule).group(1)
        yield rule.split("\n")[0], re.sub(r"\s+", " ", expr).strip()


class Monitoring(net_kit.Case):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        daemon = self.daemon("all", f'torus {{ dims = "2x1x1"; coordinate = all }} '
                                    f'metrics {{ listen = "127.0.0.1:{self.port}" }}')
        daemon.wait_for("every server reaches all others")

    def numbers(self, accept):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics", headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=net_kit.LIMIT_S) as answer:
            return answer.headers["Content-Type"], answer.read().decode()

    def samples(self):
        """{sample: {label: values}}"""
        samples = {}
        for line in self.numbers(OPEN)[1].splitlines():
            found = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? [0-9.]+", line)
            if found:
                labels = samples.setdefault(found.group(1), {})
                for name, value in re.findall(r'(\w+)="([^"]*)"', found.group(2) or ""):
                    labels.setdefault(name, set()).add(value)
        return samples

    def test_the_dashboard_fits_together(self):
        """Its variables are those that it uses, its legends name labels, and no panel lies on another."""
        samples = self.samples()
        with open(os.path.join(FOLDER, "dashboard.json"), encoding="utf-8") as file:
            text = file.read()
        board = json.loads(text)
        variables = {one["name"] for one in board["templating"]["list"]}
        self.assertEqual(set(re.findall(r"\$\{?([a-z]\w*)", text)), variables)
        for metric, label in re.findall(r"label_values\((\w+), (\w+)\)", text):
            self.assertIn(label, samples[metric])
        self.assertEqual(len({panel["id"] for panel in board["panels"]}), len(board["panels"]))
        cells = set()
        for panel in board["panels"]:
            at = panel["gridPos"]
            mine = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
            self.assertLessEqual(at["x"] + at["w"], 24, panel["title"])
            self.assertFalse(cells & mine, panel["title"])
            cells |= mine
            for target in panel["targets"]:
                [grouped] = re.findall(r"\bby \(([^)]*)\)", target["expr"]) or [None]
                metric = re.search(r"\bcubeway_\w+", target["expr"]).group()
                labels = grouped.split(", ") if grouped is not None else samples[metric]
                for label in re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")):
                    self.assertIn(label, labels, panel["title"])

    def test_every_name_exists(self):
        samples = self.samples()
        count = 0
        for where, expr in expressions():
            names = re.findall(r"\bcubeway_\w+", expr)
            self.assertTrue(names or "up{" in expr, where)
            for name, matchers in re.findall(r"\b(cubeway_\w+)(?:\{([^}]*)\})?", expr):
                self.assertIn(name, samples, where)
                count += 1
                for label, value in re.findall(r'(\w+)(?:=~|!~|!=|=)"([^"]*)"', matchers):
                    self.assertIn(label, samples[name], where)
                    for one in value.split("|"):
                        if one != "$server":
                            self.assertIn(one, samples[name][label], where)
            for label in re.findall(r"\bby \(([^)]*)\)", expr):
                for one in label.split(", "):
                    self.assertTrue(one == "le" or any(one in samples[name] for name in names), (where, one))
        self.assertGreater(count, 30)

    def test_braces_close(self):
        for where, expr in expressions():
            for pair in ("()", "{}", "[]"):
                self.assertEqual(expr.count(pair[0]), expr.count(pair[1]), where)

    def test_both_formats_tell_the_same(self):
        kind, text = self.numbers(PLAIN)
        self.assertEqual(kind, "text/plain; version=0.0.4; charset=utf-8")
        other, open_text = self.numbers(OPEN)
        self.assertTrue(other.startswith("application/openmetrics-text"))

        def names(lines):
            return {re.match(r"[a-z_]+(\{[^ ]*\})?", line).group() for line in lines.splitlines() if line[0] != "#"}
        self.assertEqual(names(text), names(open_text))
        typed = set(re.findall(r"# TYPE (\w+)", text))
        for line in text.splitlines():
            name = re.match(r"(?:# \w+ )?(\w+)", line).group(1)
            self.assertTrue(name in typed or re.sub("_(bucket|sum|count)$", "", name) in typed, line)


if __name__ == "__main__":
    net_kit.main(network=False)

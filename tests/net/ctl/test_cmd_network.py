# SPDX-License-Identifier: Apache-2.0
"""cwctl tunnel nat, cni and networkd: what other programs are told of a network, and a network beside the built-in
one."""

import json
import re
import shutil
import subprocess

import ctl_kit


class Network(ctl_kit.InNamespace):
    config = ctl_kit.InNamespace.config + """cluster = 7
network ip { gateway { servers = 0; device = up0 } }
network blue { job = 5003; subnet = 10.80.0.0/12; mtu = 1500 }
network red { job = 5004; subnet = 10.96.0.0/12; ethernet = yes }
"""

    def test_nat(self):
        rules = self.cwctl("tunnel nat")
        self.assertRegex(rules, r'oifname "up0" ip saddr 10\.64\.0\.0/12 masquerade')
        self.assertRegex(rules, r'oifname "up0" ip6 saddr fd\S+/48 masquerade')
        self.assertEqual(rules.count("tcp option maxseg size set rt mtu"), 2)
        self.assertIn('oifname "eth1" ip', self.cwctl("tunnel nat --device eth1"))
        self.assertEqual(self.rows("tunnel nat"), [{"network": "ip", "text": rules}])
        self.refused("tunnel nat --device a/b", "which device leads outside?", code=2)
        self.refused("tunnel nat --network blue", "is no gateway", code=1)
        # Where the daemon's devices are not, nothing is changed.
        self.refused("tunnel nat --apply", "there is no device cw0 here", code=1)
        if shutil.which("nft") is not None:
            subprocess.run([*self.enter, "nft", "-c", "-f", "-"], input=rules.encode(), check=True)

    def test_cni(self):
        plugin = json.loads(self.cwctl("tunnel cni --network blue"))
        self.assertEqual(plugin["name"], "cubeway-blue")
        [ptp] = plugin["plugins"]
        self.assertEqual((ptp["type"], ptp["mtu"]), ("ptp", 1500))
        [four], [six] = ptp["ipam"]["ranges"]
        self.assertEqual(four, {"subnet": "10.80.0.0/24", "rangeStart": "10.80.0.2", "rangeEnd": "10.80.0.254",
                                "gateway": "10.80.0.1"})
        self.assertRegex(six["subnet"], "^fd.*::/64$")

    def test_networkd(self):
        units = self.cwctl("tunnel networkd --network blue")
        self.assertEqual(re.findall(r"^# (/\S+)", units, re.M),
                         ["/etc/systemd/network/30-cw-blue.netdev", "/etc/systemd/network/30-cw-blue.network"])
        for line in ("Kind=tun", "[Tun]", "VNetHeader=yes", "MTUBytes=1500", "Address=10.80.0.1/32",
                     "Destination=10.80.0.0/12"):
            self.assertIn(line + "\n", units)
        # The daemon takes a tap for no tun, and a tun for no tap.
        units = self.cwctl("tunnel networkd --network red")
        for line in "Name=cw-red", "Kind=tap", "[Tap]", "VNetHeader=yes", "Address=10.96.0.1/32":
            self.assertIn(line + "\n", units)

    def test_explain_says_which_grant(self):
        # Nobody has made a job 5003, so no grant lets its packets out.
        [said] = self.rows("tunnel explain 10.80.0.1 --network blue", code=1)
        self.assertEqual((said["reachable"], said["allowed"]), (True, False))
        self.assertRegex(said["grant"], "^none: ")
        self.assertEqual(said["ask"], "cwctl job explain 5003:0 5003:0:0")
        self.assertIn(said["grant"] + "\n", self.cwctl("tunnel explain 10.80.0.1 --network blue", code=1))

    def test_status(self):
        [said] = self.rows("tunnel status")
        self.assertEqual((said["gateway"], said["gateway_device"], said["gateways_near"]), ("yes", "up0", 0))
        [said] = self.rows("tunnel status --network blue")
        self.assertEqual((said["device"], said["mtu"]), ("cw-blue", 1500))
        self.assertNotIn("gateway", said)
        self.refused("tunnel explain 8.8.8.8", "this server is a gateway", code=2)
        self.assertIn("10.80.0.1 0-0-0.blue s0.blue\n", self.cwctl("hosts --network blue"))


if __name__ == "__main__":
    ctl_kit.need_device()
    ctl_kit.main()

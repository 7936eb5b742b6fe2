# SPDX-License-Identifier: Apache-2.0
"""cwctl drain where it cannot be: a torus inside one process. test_cmd_doctor.py drains a server of eight on cables."""

import ctl_kit


class Drain(ctl_kit.Case):
    config = 'torus { dims = "2x1x1"; coordinate = all }\n'

    def test_a_torus_in_one_process_is_not_drained(self):
        self.refused("drain", "a torus inside one process has nobody to hand over to", code=1)
        self.assertEqual(self.cwctl("status --json").count("\n"), 1)


if __name__ == "__main__":
    ctl_kit.main()

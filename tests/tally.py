# SPDX-License-Identifier: Apache-2.0
"""Counts one CTest run.

    tally.py <junit file of ctest --output-junit> <name of the configuration>
    tally.py --slowest <count> <junit file>...

Prints "<passed> <failed> <skipped>", then a line "failed <configuration>: <test>" or "skipped <configuration>: <test>:
<reason>" for each test that did not pass; what the failed ones said goes to standard error. A file that is missing,
broken or without tests is an error (exit 1): silence is no pass.

--slowest names the tests that took longest, in all configurations: files are named after theirs.
"""

import os
import sys
import xml.etree.ElementTree as ElementTree

LINES_SHOWN = 200  # of one failed test


def main(path, configuration):
    cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    if not cases:
        sys.exit(f"{path} has no test")
    count, lines = {"run": 0, "fail": 0, "skip": 0}, []
    for case in cases:
        skipped = case.get("status") == "notrun" and _message(case) == "SKIP_RETURN_CODE=77"
        outcome = "run" if case.get("status") == "run" else "skip" if skipped else "fail"
        count[outcome] += 1
        if outcome == "fail":
            lines.append(f"failed {configuration}: {case.get('name')}")
            said = (case.findtext("system-out") or "").splitlines()[-LINES_SHOWN:]
            why = _message(case) or case.get("status")
            print(f"--- {configuration}: {case.get('name')}: {why}", *said, sep="\n", file=sys.stderr)
        elif outcome == "skip":
            lines.append(f"skipped {configuration}: {case.get('name')}: {_reason(case)}")
    print(count["run"], count["fail"], count["skip"])
    print("\n".join(lines))


def slowest(count, paths):
    times = []
    for path in paths:
        configuration = os.path.basename(path).removesuffix(".xml")
        times += [(float(case.get("time") or 0), f"{configuration}: {case.get('name')}")
                  for case in ElementTree.parse(path).getroot().iter("testcase")]
    for seconds, name in sorted(times, reverse=True)[:int(count)]:
        print(f"slow {seconds:5.1f} s {name}")


def _message(case):
    """What CTest says of a test that did not run to a good end."""
    why = case.find("skipped") if case.find("failure") is None else case.find("failure")
    return None if why is None else why.get("message")


def _reason(case):
    """The last words of a skipped test: by custom its reason."""
    said = [line.strip() for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
    return said[-1] if said else "gave no reason"


if __name__ == "__main__":
    try:
        if sys.argv[1:2] == ["--slowest"]:
            slowest(sys.argv[2], sys.argv[3:])
        else:
            main(*sys.argv[1:])
    except (OSError, ElementTree.ParseError) as error:
        sys.exit(f"no tally: {error}")

# SPDX-License-Identifier: Apache-2.0
"""Counts one CTest run.

    tally.py <junit file of ctest --output-junit> <name of the configuration>

Prints "<passed> <failed> <skipped>", then a line "failed <configuration>: <test>" or "skipped <configuration>: <test>: <reason>"
for each test that did not pass; what the failed ones said goes to standard error. A file that is missing, broken or without tests is an error (exit 1): silence is no pass.
"""

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
            print(f"--- {configuration}: {case.get('name')}: {_message(case) or case.get('status')}", *said, sep="\n", file=sys.stderr)
        elif outcome == "skip":
            lines.append(f"skipped {configuration}: {case.get('name')}: {_reason(case)}")
    print(count["run"], count["fail"], count["skip"])
    print("\n".join(lines))


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
        main(*sys.argv[1:])
    except (OSError, ElementTree.ParseError) as error:
        sys.exit(f"no tally: {error}")

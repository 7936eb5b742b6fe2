#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the options of all commands into the man pages, from what --help says.

    tools/man_options.py --bin build/bin [--check]

The section OPTIONS OF EACH COMMAND of docs/man/{cwctl,cwlab,cwsim}.1 is made here; everything else in the pages is
written by hand. With --check nothing is written, and exit code 1 says that a page is not what --help says
(net.lab.programs runs it so).
"""

import argparse
import os
import re
import subprocess
import sys

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../docs/man")
TITLE = ".SH OPTIONS OF EACH COMMAND\n"
ROW = re.compile(r"  (--?[a-z-]+)(?: ([A-Z\[]\S*|\S*\|\S*))? +(\S.*)")


def help_of(bin_folder, program, *words):
    done = subprocess.run([os.path.join(bin_folder, program), *words, "--help"], capture_output=True, text=True,
                          check=True, timeout=60)
    return done.stdout.splitlines()


def block(lines, *titles):
    """The lines below a title, up to an empty one."""
    at = next((i for i, line in enumerate(lines) if line in titles), None)
    if at is None:
        return []
    end = next(i for i in range(at, len(lines) + 1) if i == len(lines) or lines[i] == "")
    return lines[at + 1:end]


def commands_of(bin_folder, program):
    return [re.split(r"  +", line.strip())[0] for line in block(help_of(bin_folder, program), "Commands:")]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in ".'" else text


def section(bin_folder, program):
    out = [TITLE, "What every command takes is in its\n", ".BR \\-\\-help ;\n", "so is an example of each.\n"]
    common = block(help_of(bin_folder, program), "Options of all commands:")
    if common:
        out.append(".SS All commands\n")
        out += rows(common)
    for command in commands_of(bin_folder, program):
        found = rows(line for line in block(help_of(bin_folder, program, *command.split()), "Options:",
                                            "Options (with their defaults):") if not line.startswith("  --help "))
        if found:
            out.append(f".SS {roff(command)}\n")
            out += found
    return "".join(out)


def rows(lines):
    out = []
    for line in lines:
        name, argument, text = ROW.fullmatch(line).groups()
        out.append(".TP\n.B " + roff(name) + (f" \\fI{roff(argument)}\\fR" if argument else "") + "\n")
        text = roff(text)
        while len(text) > 110:
            cut = text.rindex(" ", 0, 110)
            out.append(text[:cut] + "\n")
            text = roff(text[cut + 1:]) if text[cut + 1] in ".'" else text[cut + 1:]
        out.append(text + "\n")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", required=True, help="folder of the programs")
    parser.add_argument("--check", action="store_true", help="only say whether the pages are right")
    options = parser.parse_args()
    wrong = 0
    for program in "cwctl", "cwlab", "cwsim":
        path = os.path.join(PAGES, program + ".1")
        with open(path, encoding="utf-8") as file:
            before = file.read()
        hand, _, tail = before.partition(TITLE)
        if not tail:  # it stands before the exit codes
            hand, mark, tail = before.partition(".SH EXIT STATUS\n")
            tail = mark + tail
        else:
            tail = tail[tail.index(".SH "):]
        after = hand + section(options.bin, program) + tail
        if after != before and options.check:
            print(f"docs/man/{program}.1 does not say what --help says: run tools/man_options.py --bin BIN")
            wrong = 1
        elif after != before:
            with open(path, "w", encoding="utf-8") as file:
                file.write(after)
    return wrong


if __name__ == "__main__":
    sys.exit(main())

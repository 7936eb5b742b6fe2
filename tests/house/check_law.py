# SPDX-License-Identifier: Apache-2.0
"""house.law: what code and pages cite is there, so that anybody can check a rule against its code.

    semantics 4.2          a heading "4.2 ..." of docs/semantics.md
    invariant 7            a row of a table in docs/semantics.md, 8.1; so for check_violated(w, 7, ..) in simulator/
    kvcache rule 3         a heading "Rule 3 ...", or under a heading that says "rules" a row or an item "3", of
    kvcache.md rule 3                 in a page: its own; in a source: of its own comments, or of its service's page
    multicast A1           a row "A1" of the table of invariants in docs/services/multicast.md; so groups G1, files F1
    mutant 4               a constant "= 4" of the mutant.h of the page's or the source's part; of the link state's in
                           docs/semantics.md
    `name()`               in a page: an identifier of some source
    CamCubeOS 3.2          that form for sections of papers
"""

import os
import re

from floors import is_product
from tree import Finding, comments, strip_comments

SEMANTICS = "docs/semantics.md"
NUMBERS = r"\d+(?:(?:\s*,\s*|\s+and\s+|\s+or\s+|\s+to\s+|\.\.|-)\d+)*"
SECTIONS = re.compile(r"\bsemantics(?:\.md)?\]?(?:\([^)]*\))?,?\s+"
                      r"(\d\.\d(?:\.\d)?(?:(?:,|\s+and|\s+to)\s+\d\.\d)*)((?:,\s+\d+\b(?!\.\d))?)")
INVARIANTS = re.compile(rf"\b[Ii]nvariants?\s+({NUMBERS})")
VIOLATED = re.compile(r"\bcheck_violated\(\s*[^,()]*(?:\([^()]*\))?[^,()]*,\s*(\d+)\s*,")
RULES = re.compile(r"(?:\b([a-z][a-z_-]*(?:\.h)?)(?:\.md)?\]?(?:\([^)]*\))?,?\s+)?"
                   rf"\b[Rr]ules?\s+({NUMBERS})(?!\d|\.\d)")
LETTERED_PAGE = "docs/services/multicast.md"
LETTERS = {"multicast": "A", "groups": "G", "files": "F"}
LETTERED = re.compile(rf"\b({'|'.join(LETTERS)})\s+([A-Z]\d+)\b")
LETTERED_ROW = re.compile(r"^\|\s*([A-Z]\d+(?:,\s*[A-Z]\d+)*)\s*\|")
MUTANTS = re.compile(rf"\b[Mm]utants?\s+({NUMBERS})(?!\d|\.\d)")
MUTANT = re.compile(r"MUTANT_\w+\s*=\s*(\d+)")
FUNCTION = re.compile(r"`([A-Za-z_]\w*)\(\)`")
# Functions that pages name and no source of ours calls, each with whose it is.
OF_OTHERS = {
    "sock_def_readable": "the kernel's: a profile of a server shows it",
}
PAPER = re.compile(r"\b(?:CamCubeOS|NMU|QNIX|BCL|LibRIPC)\b[,']?s?\s*\(?(?:[Ss]ections?|[Ss]ect?\.|§)\s*\d|§\s*\d")

HEADING = re.compile(r"^#+\s+(.*)")
RULE_HEADING = re.compile(r"^(?:#+\s+|[*-]?\s*\*\*)[Rr]ule\s+(\d+)\b")
RULE_COLUMN = re.compile(r"^\|.*\|\s*[Rr]ule\s*\|")
ROW = re.compile(r"^\|\s*([\d, ]+|\d+\s*(?:to|-)\s*\d+)\s*\|")
ITEM = re.compile(r"^\s*(?:[*-]\s+\*\*)?\(?(\d+)[.)]\s")


def check(tree, _build):
    law = Law(tree)
    findings = []
    for path in tree.sources(".md", ".c", ".h"):
        text = tree.text(path) or ""
        said = text if path.endswith(".md") else comments(text)
        for line, wrong in sorted(set(law.faults(path, said, text))):
            findings.append(Finding(path, line, wrong, "cite what is there, or write the law where it belongs"))
    return findings


class Law:
    def __init__(self, tree):
        self.tree = tree
        self.pages = {os.path.basename(page)[:-3]: page for page in tree.sources(".md") if page.startswith("docs/")}
        self.sections, self.invariants = set(), set()
        section = ""
        for _, line in tree.lines(SEMANTICS) if SEMANTICS in tree.files else ():
            if heading := HEADING.match(line):
                self.sections.update(re.findall(r"\b\d+(?:\.\d+)*\b", heading[1]))
                section = heading[1].split(" ")[0]
            elif (row := ROW.match(line)) and section == "8.1":
                self.invariants.update(expand(row[1]))
            elif section == "8.1" and line.startswith("Number 0 "):
                self.invariants.add(0)
        self.rules = {}
        self.lettered = {name for _, line in tree.lines(LETTERED_PAGE) if (row := LETTERED_ROW.match(line))
                         for name in row[1].replace(",", " ").split()} if LETTERED_PAGE in tree.files else set()
        self.words = set(OF_OTHERS)
        for path in tree.sources(".c", ".h", ".py"):
            text = tree.text(path) or ""
            self.words.update(re.findall(r"[A-Za-z_]\w*", text if path.endswith(".py") else strip_comments(text)))

    def faults(self, path, said, text):
        at = lambda match: said.count("\n", 0, match.start()) + 1
        for match in SECTIONS.finditer(said):
            for number in re.findall(r"\d+(?:\.\d+)+", match[1]):
                if number not in self.sections:
                    yield at(match), f"semantics {number} is cited, and {SEMANTICS} has no heading of that number"
            if match[2] and match[1].endswith("8.1"):
                yield at(match), f"'{one_line(match[0])}': an invariant is cited as \"invariant N\""
        for match in INVARIANTS.finditer(said):
            for number in sorted(expand(match[1]) - self.invariants):
                yield at(match), f"invariant {number} is cited, and {SEMANTICS} 8.1 does not list it"
        for match in VIOLATED.finditer(text if path.startswith("simulator/") else ""):
            if int(match[1]) not in self.invariants:
                line = text.count("\n", 0, match.start()) + 1
                yield line, f"invariant {match[1]} is checked, and {SEMANTICS} 8.1 does not list it"
        for match in LETTERED.finditer(text):  # in strings too, as with rules
            if match[2] not in self.lettered or match[2][0] != LETTERS[match[1]]:
                line = text.count("\n", 0, match.start()) + 1
                yield line, f"'{one_line(match[0])}' is cited, and {LETTERED_PAGE} does not list it"
        for match in MUTANTS.finditer(said):
            for number in sorted(expand(match[1]) - self._mutants_of(path)):
                yield at(match), f"mutant {number} is cited, and no mutant.h of this part has it"
        for match in FUNCTION.finditer(said if path.endswith(".md") else ""):
            if match[1] not in self.words:
                yield at(match), f"`{match[1]}()` is named, and no source has it"
        for match in PAPER.finditer(said):
            yield at(match), f"'{one_line(match[0])}': sections of papers are cited as \"CamCubeOS 3.2\""
        for match in RULES.finditer(text):  # in strings too: they name the rule that a check found broken
            if match[1] in self.pages:
                page = self.pages[match[1]]
                for number in sorted(expand(match[2]) - self._rules_of(page)):
                    line = text.count("\n", 0, match.start()) + 1
                    yield line, f"{match[1]} rule {number} is cited, and {page} has no such rule"
        if path.endswith(".md") or is_product(path):
            own = self._own_rules(path, said)
            for match in RULES.finditer(said):
                known = own | self._of_header(match[1]) if match[1] else own
                for number in sorted(expand(match[2]) - known) if match[1] not in self.pages else ():
                    yield at(match), (f"rule {number} is cited, and neither this file nor its service's page has it: "
                                      "name the page")

    def _own_rules(self, path, said):
        """The rules that a bare "rule N" may mean: the text's own, and those of the page of a source's service."""
        folders = [] if path.endswith(".md") else path.split("/")[1:-1]
        pages = [self.pages[folder] for folder in folders if folder in self.pages]
        return own_numbers(said).union(self._of_header(path[:-2] + ".h"), *map(self._rules_of, pages))

    def _mutants_of(self, path):
        """The numbers of the mutant.h that a page or a source means: of the service, or the part, that its path names;
        of the link state where the path names neither."""
        parts = set(re.split(r"[/.]", path))
        headers = [header for header in self.tree.sources(".h") if header.endswith("/mutant.h")]
        own = [header for header in headers if parts & set(header.split("/")[1:-1])]
        own = own or [header for header in headers if header.startswith("runtime/linkstate/")]
        return {int(number) for header in own for number in MUTANT.findall(self.tree.text(header))}

    def _of_header(self, name):
        """What the comments of headers of that name, or path, number."""
        headers = [path for path in self.tree.sources(".h") if path == name or path.endswith("/" + name)]
        return set().union(*(own_numbers(comments(self.tree.text(path))) for path in headers))

    def _rules_of(self, page):
        if page not in self.rules:
            found, of_rules = set(), False
            for _, line in self.tree.lines(page):
                if heading := HEADING.match(line):
                    of_rules = "rule" in heading[1].lower()
                elif RULE_COLUMN.match(line):
                    of_rules = True
                if match := RULE_HEADING.match(line):
                    found.add(int(match[1]))
                elif of_rules and (match := ROW.match(line) or ITEM.match(line)):
                    found |= expand(match[1])
            self.rules[page] = found
        return self.rules[page]


def own_numbers(said):
    """What a text numbers itself: "1. ..." or "(1) ..." at the beginning of a line, rows of tables, headings of
    rules."""
    found = set()
    for line in said.split("\n"):
        for match in (RULE_HEADING.match(line), ROW.match(line), ITEM.match(line)):
            found |= expand(match[1]) if match else set()
    return found


def expand(text):
    """"1, 3 and 5 to 7" -> {1, 3, 5, 6, 7}"""
    text = re.sub(r"\s*(?:\bto\b|\.\.|-)\s*", "-", text)
    found = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        found |= set(range(int(first), int(last or first) + 1))
    return found


def one_line(text):
    return " ".join(text.split())

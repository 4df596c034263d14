"""Compares real output with the output that a document shows.

Ids, times and measurements differ between runs. In the text of a document

- an id (`e0ak6smv4m00007f`, `d0...`) matches an id of its kind, and different complete ids match different
  ids, each the same one everywhere
- a time, a duration, a digest (`9f86...`), the time of a signature (`t=1795123875`) and the documentation
  address 198.51.100.7 match any other
- `...` matches any text, and a line `...` any lines
- spaces match any number of spaces.

All other text must be equal. A JSON object must have exactly the members that are shown; a member "..."
permits more. Its strings are compared as above. Numbers match any number, except `status`. A list must
contain each element that is shown, and be empty if it is shown empty.
"""
import json
import re

IDS = {kind: f"{kind}0[0-9a-z]{{14,16}}" for kind in "edr"} | {"p": "p[0-9a-f]{16}"}
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"
DURATION = r"\b\d+(?:\.\d+)? ?(?:us|ms|s|min|h)\b"
TOKENS = re.compile(rf"(?P<time>{TIME})"
                    rf"|\b(?P<id>{'|'.join(IDS.values())})\b"
                    r"|\b(?P<kind>[edrp])0\.\.\."
                    r"|(?P<digest>\b(?:[0-9a-f]{64}\b|9f86\.\.\.))"
                    r"|(?P<address>\b198\.51\.100\.\d+\b)"
                    r"|(?P<signed_at>(?<=\bt=)\d{10}\b)"
                    rf"|(?P<duration>{DURATION})"
                    r"|(?P<lines>^\.\.\.\n)"
                    r"|(?P<any>\.\.\.)"
                    r"|(?P<space>[ \t]+)", re.M)
PATTERNS = {"time": TIME, "digest": "[0-9a-f]{64}", "address": "[0-9a-f.:]+", "signed_at": r"\d{10}",
            "duration": DURATION, "lines": r"(?:.*\n)*", "any": ".*", "space": r"[ \t]+"}


class Matcher:
    """Compares the outputs of one document, and remembers the real id of each id in it."""

    def __init__(self):
        self.real_ids = {}

    def matches(self, shown, real):
        pattern, ids = pattern_of(shown)
        match = re.fullmatch(pattern, real)
        if not match:
            return False
        found = dict(zip(ids, match.groups()))
        known = found | self.real_ids
        if any(known[each] != value for each, value in zip(ids, match.groups())):
            return False
        if len(set(known.values())) < len(known):  # two ids of the document are one real id
            return False
        self.real_ids = known
        return True

    def output_finding(self, shown, real):
        """How the output of a command differs; empty if it does not."""
        shown_json, real_json = json_or_none(shown), json_or_none(real)
        if shown_json is not None and real_json is not None:
            return "\n".join(self.json_findings(shown_json, real_json))
        if self.matches(without_trailing_space(shown), without_trailing_space(real)):
            return ""
        return f"shows\n{indented(shown)}and the real output is\n{indented(real)}"

    def json_findings(self, shown, real, path=""):
        if isinstance(shown, dict) and isinstance(real, dict):
            return self.object_findings(shown, real, path)
        if isinstance(shown, list) and isinstance(real, list):
            return self.list_findings(shown, real, path)
        if isinstance(shown, str) and isinstance(real, str):
            same = self.matches(shown, real)
        elif is_number(shown) and is_number(real):
            same = shown == real or not path.endswith(".status")
        else:
            same = shown is real
        if same:
            return []
        return [f"{path} is shown as {json.dumps(shown)}, and the real value is {json.dumps(real)[:300]}"]

    def object_findings(self, shown, real, path):
        findings = [f"{path}.{name} is shown, but the response does not have it" for name in shown
                    if name not in real and name != "..."]
        findings += [f"{path}.{name} is in the response, but is not shown" for name in real
                     if name not in shown and "..." not in shown]
        for name in shown:
            if name in real:
                findings += self.json_findings(shown[name], real[name], f"{path}.{name}")
        return findings

    def list_findings(self, shown, real, path):
        if not shown and real:
            return [f"{path} is shown empty and has {len(real)} elements"]
        findings = []
        for index, element in enumerate(shown):
            place = f"{path}[{index}]"
            tried = [self.element_findings(element, each, place) for each in real]
            if [] not in tried:
                findings += min(tried, key=len, default=[f"{place} is shown, but the list is empty"])
        return findings

    def element_findings(self, shown, real, path):
        """Remembers the ids of an element only if it matches."""
        before = self.real_ids
        findings = self.json_findings(shown, real, path)
        if findings:
            self.real_ids = before
        return findings


def pattern_of(shown):
    """A regular expression with one group for each complete id, and these ids."""
    pattern, ids, at = "", [], 0
    for token in TOKENS.finditer(shown):
        pattern += re.escape(shown[at:token.start()])
        at = token.end()
        if token.lastgroup == "id":
            ids.append(token[0])
            pattern += f"({IDS[token[0][0]]})"
        else:
            pattern += PATTERNS.get(token.lastgroup) or IDS[token[0][0]]
    return pattern + re.escape(shown[at:]), ids


def json_or_none(text):
    """A JSON object or list."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, (dict, list)) else None


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def without_trailing_space(text):
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def indented(text):
    return "".join(f"    {line}\n" for line in text.splitlines())

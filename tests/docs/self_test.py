"""Documents with a defect that must be found, and documents without one."""
import compare
import languages
from scene import Scene

ID = "e0ak6smv4m00007f"
OTHER_ID = "e0ak6smv4m00008g"
DELIVERY = "d0ak6smv4m000001xe"

# Shown output, real output, and whether they match.
OUTPUTS = [
    ("new\n", "new\n", True),
    ("new\n", "old\n", False),
    ("new\n", "new\nmore\n", False),
    ("new\n...\n", "new\nmore\nand more\n", True),
    ("in 3 ms at 2026-11-19T21:31:15.621000Z\n", "in 12.5  s at 2027-01-01T00:00:00Z\n", False),
    ("in 3 ms at 2026-11-19T21:31:15.621000Z\n", "in 12.5 s  at 2027-01-01T00:00:00Z\n", True),
    ("t=1795123875,v1=9f86...\n", f"t=1795129999,v1={'a' * 64}\n", True),
    (f"{ID} {ID}\n", f"{OTHER_ID} {OTHER_ID}\n", True),
    (f"{ID} {ID}\n", f"{ID} {OTHER_ID}\n", False),
    (f"{ID} {OTHER_ID}\n", f"{ID} {ID}\n", False),
    (f"{ID}\n", f"{DELIVERY}\n", False),
    ("event e0...\n", f"event {ID}\n", True),
    ("event e0...\n", f"event {DELIVERY}\n", False),
    ('{"a":1,"b":"x"}', '{"b":"x","a":2}', True),
    ('{"a":1,"b":"x"}', '{"a":1,"b":"y"}', False),
    ('{"a":1,"b":"..."}', '{"a":1,"b":"y"}', True),
    ('{"a":1}', '{"a":1,"b":"x"}', False),
    ('{"a":1,"...":"..."}', '{"a":1,"b":"x"}', True),
    ('{"a":1,"b":"x"}', '{"a":1}', False),
    ('{"a":1}', '{"a":"1"}', False),
    ('{"a":1}', '{"a":null}', False),
    ('{"a":[]}', '{"a":[1]}', False),
    ('{"a":[{"b":"x"}]}', '{"a":[{"b":"y"},{"b":"x"}]}', True),
    ('{"a":[{"b":"x"}]}', '{"a":[]}', False),
    ('{"status":401}', '{"status":404}', False),
]

PROGRAM = """```cpp
#include <hapax/hapax.hpp>
#include <iostream>

int main() {
  auto store = hapax::open("sqlite:a.db");
  auto seen = store->dedup({.scope = "s", .id = "1"});
  std::cout << seen->duplicate << '\\n';  // 0, then 1
}
```
"""

# The text of a document, and a part of its finding: empty if it has no defect.
PAGES = [
    ("```sh\nhapax version    # a comment\n```", ""),
    ("```sh\nexport X=1\n```\n\n```sh\ntest $X = 1\n```", ""),
    ("```sh\nfalse\ntrue\n```", "exit code 1"),
    ("```sh\nhapax chek\n```", "exit code 2"),
    ("```sh\ncurl -d ok http://localhost:3000/\n```", ""),
    ("```sh\ncurl -d fail http://localhost:3000/\n```", "exit code 22"),
    ("```console\n$ echo new\nnew\n$ echo \\\n    old\nold\n```", ""),
    ("```console\n$ echo new\nold\n```", "the real output is\n    new"),
    ("```json\n{\"name\":\"x\",\"count\":7}\n```", ""),
    ("```json\n{\"name\":\"x\",\"number\":7}\n```", ".number is shown, but the response does not have it"),
    ("```json\n{\"name\":\"x\"}\n```", ".count is in the response, but is not shown"),
    ("```json\n{\"other\":1}\n```", "names no request with this response"),
    ("```toml\n[store]\nurl = \"memory:\"\n```\n\n```toml\nretry = []\n```", ""),
    ("```toml\n[[source]]\nnam = \"x\"\n```", "hapax check: source[1].nam"),
    ("```toml\nretry = [\"5\"]\n```", "hapax check: destination[1].retry"),
    ("```toml\nretry = [\n```", "hapax check: "),
    (PROGRAM, ""),
    (PROGRAM.replace("0, then 1", "0, then 0"), "the real output is\n    1"),
    (PROGRAM.replace("  // 0, then 1", ""), "does not show what the program prints"),
    (PROGRAM.replace("dedup(", "deduplicate("), "deduplicate"),
    ("```cpp\nif (!seen) return seen.error();\n```\n\n```cpp\nint twice(int x) { return 2 * x; }\n```", ""),
    ("text\n\n```cpp\nint x = 0;\nreturn undefined;\n```", "docs/page.md:5:"),
    ("From [01_dedup.cpp](x):\n\n```cpp\nif (!store) return failed(store.error());\n```", "not declared"),
    ("From [01_dedup.cpp](x):\n\n```cpp\nreturn 7;\n```", "does not have this line"),
    (PROGRAM + "\n```cmake\nfind_package(hapax REQUIRED)\n"
     "target_link_libraries(app PRIVATE hapax::hapax)\n```", ""),
    (PROGRAM + "\n```cmake\nfind_package(hapaxx REQUIRED)\n```", "hapaxx"),
    ("```sql\nSELECT $1;\n```", ""),
    ("```sql\nSELEKT 1;\n```", "ERROR:  syntax error"),
    ("```sh\ncurl -d ok http://localhost:3000/x\n```\n\n```http\nPOST /x\nAccept: */*\n\nok\n```", ""),
    ("```sh\ncurl -d ok http://localhost:3000/x\n```\n\n```http\nPOST /x\nAccept: y\n```",
     "shows the header Accept: y"),
    ("```text\na -> b\n```", ""),
    ("```text\n$ hapax serve\n```", "commands in a text block"),
    ("```\na\n```", "docs/page.md:1: a block with no language"),
    ("```bash\na\n```", "the unknown language bash"),
    ("```sh\na", "has no end"),
    ("text\n\n    hapax serve\n", "docs/page.md:3: an indented block"),
    ("- item\n\n  more of it\n\n  ```text\n  a\n  ```", ""),
]


class Complete(Scene):
    """The scene of PAGES."""

    def prepare(self):
        languages.use_installation(self)
        self.handler.answer = lambda request: 500 if "fail" in request.body else 200
        if '"name"' in self.blocks[0].text:
            self.responses['"name"'] = lambda: {"name": "x", "count": 1}


class Outdated(Scene):
    """Names a command and a placeholder that the page no longer has."""

    def prepare(self):
        self.before["hapax gone"] = self.finish
        self.placeholders["GONE"] = self.finish


ELSEWHERE = {"./elsewhere --all": "suite x"}
# The same, with a scene and the commands that run elsewhere.
TABLES = [
    ("```sh\n./elsewhere --all    # a comment\n```", Scene, ELSEWHERE, ""),
    ("```sh\n./elsewhere\n```", Scene, ELSEWHERE, "exit code 127"),
    ("```sh\ntrue\n```", Scene, ELSEWHERE, "names './elsewhere --all', which is in no block"),
    ("```sh\ntrue\n```", Outdated, {}, "names 'hapax gone', which is in no block"),
    ("```sh\ntrue\n```", Outdated, {}, "names 'GONE', which is in no block"),
]


def run(tools, page_class):
    """The number of failed cases."""
    failures = [f"{shown!r} and {real!r}: matches is not {expected}" for shown, real, expected in OUTPUTS
                if (compare.Matcher().output_finding(shown, real) == "") != expected]
    pages = [(text, Complete, {}, expected) for text, expected in PAGES] + TABLES
    for text, scene_class, run_elsewhere, expected in pages:
        found = page_class("docs/page.md", text, scene_class, run_elsewhere).run(tools)
        if not (any(expected in each for each in found) if expected else not found):
            failures.append(f"{text!r}\n  expected {expected!r}\n  found    {found}")
    for each in failures:
        print(each)
    print(f"{len(OUTPUTS) + len(pages)} cases, {len(failures)} failed")
    return len(failures)

"""The code blocks of a document, and their commands."""
import dataclasses
import re

LANGUAGES = ("sh", "console", "toml", "json", "cpp", "cmake", "sql", "http", "text")

FENCE = re.compile(r" *(```+|~~~+) *(.*?) *$")
LIST_ITEM = re.compile(r" *(?:[-*+]|\d+[.)]) ")
COMMAND = re.compile(r" *(?:\$ |\./|(?:hapax|curl|cmake|g\+\+) )")
COMMENT = re.compile(r"(?:^|\s+)# .*$")


@dataclasses.dataclass
class Block:
    document: str
    line: int  # of the opening fence
    language: str
    text: str
    above: str  # the preceding paragraph, on one line

    @property
    def where(self):
        return f"{self.document}:{self.line}"

    def is_program(self):
        return self.language == "cpp" and re.search(r"\bint main\(", self.text) is not None


@dataclasses.dataclass
class Command:
    text: str
    output: str = ""


def read_blocks(document, text):
    """The blocks of a document, and findings about their form."""
    lines = text.split("\n")
    blocks, findings, paragraph, at = [], [], [], 0
    in_list = False
    while at < len(lines):
        line = lines[at]
        if FENCE.match(line):
            block, end = read_fence(document, lines, at, " ".join(paragraph))
            blocks.append(block)
            findings += form_findings(block, end > len(lines))
            at = end
            continue
        after_blank = at == 0 or not lines[at - 1].strip()
        if after_blank and line.strip() and indent_of(line) >= (6 if in_list else 4):
            findings.append(f"{document}:{at + 1}: an indented block; use a fence with a language")
            at = end_of_indented(lines, at)
            continue
        if line.strip():
            in_list = bool(LIST_ITEM.match(line)) or (in_list and indent_of(line) > 0)
            paragraph = [line] if after_blank else paragraph + [line]
        at += 1
    return blocks, findings


def read_fence(document, lines, start, above):
    """The block that starts at a line, and the line after its end: beyond the last line if it is open."""
    mark, language = FENCE.match(lines[start]).groups()
    closing = re.compile(rf" *{mark[0]}{{{len(mark)},}} *$")
    end = start + 1
    while end < len(lines) and not closing.match(lines[end]):
        end += 1
    indent = indent_of(lines[start])
    body = [line[min(indent, indent_of(line)):] + "\n" for line in lines[start + 1:end]]
    return Block(document, start + 1, language, "".join(body), above), end + 1


def indent_of(line):
    return len(line) - len(line.lstrip())


def end_of_indented(lines, at):
    while at < len(lines) and (not lines[at].strip() or indent_of(lines[at]) >= 4):
        at += 1
    return at


def form_findings(block, is_open):
    if is_open:
        return [f"{block.where}: this fence has no end"]
    if block.language not in LANGUAGES:
        what = f"the unknown language {block.language}" if block.language else "no language"
        return [f"{block.where}: a block with {what}; use one of {' '.join(LANGUAGES)}"]
    if block.language == "text" and any(map(COMMAND.match, block.text.splitlines())):
        return [f"{block.where}: commands in a text block do not run; use sh or console"]
    return []


def logical_lines(text):
    """The lines of sh, each joined with its continuation lines."""
    held = ""
    for line in text.splitlines():
        held += line + "\n"
        if not line.endswith("\\"):
            yield held
            held = ""
    if held:
        yield held


def command_of(line):
    """A logical line without its comment."""
    return COMMENT.sub("", line.rstrip("\n")).strip()


def console_commands(block):
    """The commands of a console block, each with the output below it."""
    found = []
    for line in logical_lines(block.text):
        if line.startswith("$ "):
            found.append(Command(line[2:]))
        elif found:
            found[-1].output += line
        else:
            found.append(Command("false", line))  # output without a command
    return found

"""Checks of the blocks that no shell runs: C++, CMake, TOML and SQL."""
import base64
import json
import os
import pathlib
import re
import secrets
import subprocess

from scene import Failure

FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror"]
INCLUDE = re.compile(r"^#include .*\n", re.M)
STATEMENT = re.compile(r"(?:auto|const|return|if|for|while|switch)\b")
EXAMPLE = re.compile(r"\bFrom \[(\w+\.cpp)\]")
SPAN = re.compile(r"`([^`]+)`")
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES CXX)
add_executable(app app.cpp)
"""
DESTINATION = """[[destination]]
name = "example"
url = "http://127.0.0.1:3000/"
"""


# ---- C++

def use_installation(scene):
    """Sets the variables that an installation outside /usr/local needs."""
    found = list(scene.tools.prefix.glob("**/pkgconfig"))
    if not found:
        raise Failure(f"hapax is not installed in {scene.tools.prefix}: run ctest with `package: install`")
    scene.environment |= {"PKG_CONFIG_PATH": str(found[0]), "LD_LIBRARY_PATH": str(found[0].parent),
                          "CMAKE_PREFIX_PATH": str(scene.tools.prefix)}


def check_program(scene, block):
    """A complete program compiles and prints what the page shows."""
    check_excerpt(scene, block)
    place = scene.new_directory()
    (place / "app.cpp").write_text(block.text)
    flags = scene.must("pkg-config", "--cflags", "--libs", "hapax").split()
    scene.must(scene.tools.compiler, *FLAGS, "app.cpp", "-o", "app", *flags, cwd=place)
    run_program(scene, block, place / "app")


def run_program(scene, block, program):
    """Runs it in an empty directory, once for each output that the page shows."""
    place = scene.new_directory()
    for shown in documented_outputs(block):
        finding = scene.matcher.output_finding(shown, scene.must(program, cwd=place))
        if finding:
            raise Failure(finding)


def documented_outputs(block):
    """The output of the first run, of the second run and so on: in a comment next to std::cout, separated
    by ", then ", or as code in the paragraph above, after "prints"."""
    comment = re.search(r"std::cout.*// (.*)", block.text)
    if comment:
        return [each + "\n" for each in comment[1].split(", then ")]
    lines = SPAN.findall(block.above.partition("prints ")[2])
    if not lines:
        raise Failure("the page does not show what the program prints")
    return ["".join(f"{line}\n" for line in lines)]


def check_excerpt(scene, block):
    """The lines of a block "From [NN.cpp]" are lines of that example, in the same order. An excerpt may
    leave out lines, and its indentation may differ."""
    example = EXAMPLE.search(block.above)
    if not example:
        return
    lines = (scene.tools.source / "examples" / example[1]).read_text().splitlines()
    rest = iter([line.strip() for line in lines])
    for line in filter(None, map(str.strip, block.text.splitlines())):
        if line not in rest:  # which advances it behind the line
            raise Failure(f"examples/{example[1]} does not have this line, or not here:\n    {line}")


def check_fragments(scene, blocks):
    """Compiles all fragments of a page at once. Compiler messages have the line numbers of the page."""
    includes = {each for block in blocks for each in INCLUDE.findall(block.text)}
    frame = pathlib.Path(__file__).parent / "fragments.hpp"
    text = "".join(sorted(includes)) + f'#include "{frame}"\n' + "".join(map(compilable, blocks))
    scene.write("fragments.cpp", text)
    flags = scene.must("pkg-config", "--cflags", "hapax").split()
    scene.must(scene.tools.compiler, *FLAGS, "-c", "fragments.cpp", "-o", os.devnull, *flags)


def compilable(block):
    """Definitions in a namespace of their own, statements in a function."""
    text = INCLUDE.sub("\n", block.text)
    located = f'#line {block.line + 1} "{block.document}"\n{text}'
    name = f"on_line_{block.line}"
    if STATEMENT.match(text.strip()):
        return f"struct {name} : Given {{\nReturned run() {{\n{located}return 0;\n}}\n}};\n"
    return f"namespace {name} {{\n{located}}}\n"


# ---- CMake

def check_cmake(scene, block):
    """A project with the text of the block builds the first program of the page."""
    program = next((each for each in scene.blocks if each.is_program()), None)
    if not program:
        raise Failure("the page has no program to build")
    place = scene.new_directory()
    (place / "CMakeLists.txt").write_text(PROJECT + block.text)
    (place / "app.cpp").write_text(program.text)
    scene.must("cmake", "-S", place, "-B", place / "build", "-G", "Ninja",
               f"-DCMAKE_CXX_COMPILER={scene.tools.compiler}", "-DCMAKE_CXX_FLAGS=" + " ".join(FLAGS))
    scene.must("cmake", "--build", place / "build")
    run_program(scene, program, place / "build/app")


# ---- TOML

def is_complete(text):
    """Whether it is a complete hapax.toml. Other blocks are fragments."""
    return re.search(r"^\[(server|store)\]", text, re.M) is not None


def complete_configuration(scene, text):
    """A fragment is added to the complete file of its page, or to an empty file. Keys without a table
    belong to a destination."""
    if is_complete(text):
        return text
    if not text.lstrip().startswith(("[", "#")):
        text = DESTINATION + text
    complete = (each.text for each in scene.blocks if each.language == "toml" and is_complete(each.text))
    return next(complete, "") + text


def check_toml(scene, block):
    """`hapax check` reports neither a problem nor a warning."""
    text = complete_configuration(scene, block.text)
    place = scene.new_directory()
    variables = provide_secrets(place, text)
    (place / "hapax.toml").write_text(text)
    (place / "hapax.toml").chmod(0o600)
    done = subprocess.run([scene.tools.hapax, "check"], cwd=place, env=scene.environment | variables,
                          check=False, capture_output=True, text=True)
    try:
        result = json.loads(done.stdout)
    except ValueError:
        raise Failure(f"hapax check: {done.stdout}{done.stderr}") from None
    problems = result["problems"] + result["warnings"]
    if problems or done.returncode != 0:
        raise Failure("hapax check: " + "; ".join(f"{each['field']}: {each['text']}" for each in problems))


def provide_secrets(place, text):
    """Writes the secret files that the configuration names. Returns its environment variables."""
    for name in re.findall(r'\{ file = "([\w.]+)"', text):
        (place / name).write_text(new_secret())
        (place / name).chmod(0o600)
    return {name: new_secret() for name in re.findall(r'\{ env = "(\w+)"', text)}


def new_secret():
    return "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()


# ---- SQL

class Database:
    """A database on the server of tools/with_postgres."""

    def __init__(self, scene):
        server = os.environ.get("HAPAX_TEST_POSTGRES")
        if not server:
            raise Failure("this needs PostgreSQL: use tools/with_postgres")
        self.scene = scene
        self.name = f"docs_{os.getpid()}"
        self.psql = [pathlib.Path(os.environ["HAPAX_TEST_POSTGRES_BIN"], "psql"), "--no-psqlrc",
                     "--host", server, "--username", "hapax", "--set", "ON_ERROR_STOP=1"]
        self.scene.must(*self.psql, "--command", f"CREATE DATABASE {self.name}", "postgres")

    def run(self, text):
        """The output of psql. $1, a parameter that a driver binds, is a delivery id."""
        self.scene.write("block.sql", text.replace("$1", "'d0ak6smv4m000001xe'"))
        return self.scene.must(*self.psql, "--file", "block.sql", self.name)

    def drop(self):
        self.scene.must(*self.psql, "--command", f"DROP DATABASE {self.name}", "postgres")

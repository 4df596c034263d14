"""The environment in which the blocks of a page run: a directory, free ports, a handler, and hapax."""
import contextlib
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import compare
import terminal
from handler import LIMIT_SECONDS, Handler

PORTS = re.compile(r"(?<=:)(8420|8421|3000)\b")
# $0 is a block, $1 a file for the environment variables that the next block inherits.
RUN_BLOCK = 'source "$0"; env -0 >"$1"'
# The configuration file that `hapax init` writes gets the ports of the scene.
HAPAX = """#!/usr/bin/env bash
[ "$1" = init ] || exec {hapax} "$@"
file=hapax.toml
for word in "$@"; do [ "${{last:-}}" != -c ] || file=$word; last=$word; done
{hapax} "$@" && sed -i {edits} "$file"
"""
# For blocks of sh an HTTP error is a failure; console blocks may show one.
CURL_FOR_SH = "silent\nshow-error\nfail-with-body\n"
CURL_FOR_CONSOLE = "silent\n"
HTTP = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Failure(Exception):
    """A block does not do what its page shows."""


class Scene:
    """The default scene. Subclasses in scenes.py prepare more, and register functions for commands that
    contain a text: `before` and `after` the command, or `while_running` for a command that runs until it
    is interrupted. A registered text that occurs in no command is a finding."""

    hapax_on_path = True

    def __init__(self, tools, directory, blocks):
        self.tools = tools
        self.directory = pathlib.Path(directory)
        self.blocks = blocks
        self.matcher = compare.Matcher()
        self.handler = Handler()
        self.database = None
        self.reserved = []
        self.ports = {"8420": self.reserve_port(), "8421": self.reserve_port(),
                      "3000": self.handler.port}
        self.placeholders = {}  # text of the page: function that returns the real value
        self.before, self.after, self.while_running = {}, {}, {}
        self.responses = {}  # text of a json block: function that returns the real response
        self.used = set()
        self.outputs = 0
        self.environment = self.clean_environment()
        self.install_commands()

    def prepare(self):
        """Sets up what the page presumes, before its first block runs."""

    def finish(self):
        if self.database:
            self.database.drop()
        self.handler.close()
        for each in self.reserved:
            each.close()

    # ---- ports, commands and files

    def reserve_port(self):
        """A free port. The commands of a page read it from the configuration file, so port 0 is not an
        option. It is below the range that the system assigns from, and other tests skip it: its twin on
        127.0.0.2 is bound until the end."""
        for port in random.sample(range(20_000, 32_000), 1_000):
            twin = socket.socket()
            with contextlib.suppress(OSError), socket.socket() as probe:
                twin.bind(("127.0.0.2", port))
                probe.bind(("127.0.0.1", port))
                self.reserved.append(twin)
                return port
            twin.close()
        raise Failure("no port is free")

    def clean_environment(self):
        own = {name: value for name, value in os.environ.items() if not name.startswith("HAPAX_")}
        return own | {"LC_ALL": "C.UTF-8", "no_proxy": "127.0.0.1,localhost",
                      "CURL_HOME": str(self.directory)}

    def install_commands(self):
        edits = " ".join(rf"-e 's/:{page}\b/:{real}/'" for page, real in self.ports.items())
        self.write_script("build/release/hapax",
                          HAPAX.format(hapax=shlex.quote(str(self.tools.hapax)), edits=edits))
        if self.hapax_on_path:
            self.put_on_path("build/release")

    def put_on_path(self, folder):
        self.environment["PATH"] = f"{self.directory / folder}:{self.environment['PATH']}"

    def write_script(self, name, text):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def write(self, name, text):
        """Writes a file with the ports of the scene, readable by its owner only."""
        path = self.directory / name
        path.write_text(self.with_real_ports(text))
        path.chmod(0o600)

    def copy(self, source, name):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, path)

    def new_directory(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.directory))

    # ---- substitutions

    def with_real_ports(self, text):
        return PORTS.sub(lambda match: str(self.ports[match[0]]), text)

    def with_page_ports(self, text):
        for page, real in self.ports.items():
            text = re.sub(rf"(?<=[\w\]]):{real}\b", f":{page}", text)
        return text

    def real_command(self, text):
        """A command of the page with real ports, ids and fences."""
        for shown, value in self.placeholders.items():
            pattern = rf"(?<!\w){re.escape(shown)}(?!\w)"
            if re.search(pattern, text):
                self.used.add(shown)
                text = re.sub(pattern, str(value()), text)
        return self.with_real_ports(text)

    def functions(self, registered, text):
        """Those registered for a text."""
        found = [key for key in registered if key in text]
        self.used.update(found)
        return [registered[key] for key in found]

    def unused(self):
        every = [*self.before, *self.after, *self.while_running, *self.placeholders, *self.responses]
        return [each for each in every if each not in self.used]

    # ---- running commands

    def run(self, text):
        """Runs a block of sh, which must succeed."""
        for function in self.functions(self.before, text):
            function()
        self.outputs += 1  # background processes keep writing to the file of their block
        with open(self.output_file(), "wb") as output:
            process = subprocess.Popen(self.shell(text, CURL_FOR_SH), cwd=self.directory,
                                       env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        self.interrupt(process, self.functions(self.while_running, text))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LIMIT_SECONDS)
        if process.returncode != 0:
            raise Failure(f"exit code {process.returncode}\n{compare.indented(self.output())}")
        self.inherit_environment()
        for function in self.functions(self.after, text):
            function(self.output())

    def interrupt(self, process, functions):
        """Like Ctrl-C, after the functions."""
        for function in functions:
            function()
        if functions:
            os.killpg(process.pid, signal.SIGINT)

    def output_file(self):
        return self.directory / f"output.{self.outputs}"

    def output(self):
        """The output so far of the block that runs now."""
        return self.with_page_ports(self.output_file().read_text(errors="replace"))

    def run_on_terminal(self, text):
        """Runs a command of a console block. Its output; the exit code is not checked."""
        for function in self.functions(self.before, text):
            function()
        printed = terminal.run(self.shell(text, CURL_FOR_CONSOLE), LIMIT_SECONDS,
                               cwd=self.directory, env=self.environment)
        printed = self.with_page_ports(printed)
        for function in self.functions(self.after, text):
            function(printed)
        return printed

    def shell(self, text, curl_options):
        (self.directory / ".curlrc").write_text(curl_options)
        (self.directory / "block.sh").write_text(self.real_command(text))
        return ["bash", "-e", "-c", RUN_BLOCK, str(self.directory / "block.sh"),
                str(self.directory / "environment")]

    def inherit_environment(self):
        entries = (self.directory / "environment").read_text().split("\0")
        self.environment = dict(each.split("=", 1) for each in entries if each)

    def must(self, *command, cwd=None):
        """Runs a command of the scene itself, which must succeed. Its output."""
        done = subprocess.run([str(each) for each in command], cwd=cwd or self.directory,
                              env=self.environment, stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=LIMIT_SECONDS)
        if done.returncode != 0:
            raise Failure(f"{' '.join(map(str, command))}: exit code {done.returncode}\n"
                          + compare.indented(done.stdout))
        return done.stdout

    # ---- the server

    def start_server(self):
        """Starts `hapax serve` with the file hapax.toml, and sets $TOKEN to the admin token."""
        with open(self.directory / "log", "wb") as log:
            subprocess.Popen([self.tools.hapax, "serve"], cwd=self.directory, env=self.environment,
                             stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait_for_server()
        self.environment["TOKEN"] = self.admin_token()

    def admin_token(self):
        return (self.directory / "admin.token").read_text().strip()

    def wait_for_server(self):
        def is_ready():
            with contextlib.suppress(OSError):
                return self.request("GET", "http://127.0.0.1:8421/readyz")[0] == 200
            return False

        self.wait_until(is_ready, "the server is ready")

    def wait_until(self, condition, what):
        """Polls a condition that nothing signals."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise Failure(f"not within {LIMIT_SECONDS} s: {what}")
            time.sleep(0.02)

    def request(self, method, url, body=None, headers=None):
        """The status and the body of a response."""
        request = urllib.request.Request(self.with_real_ports(url), body and body.encode(),
                                         headers or {}, method=method)
        try:
            with HTTP.open(request, timeout=LIMIT_SECONDS) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def admin(self, path):
        """The JSON of a GET request to the admin API."""
        status, body = self.request("GET", "http://127.0.0.1:8421" + path,
                                    headers={"Authorization": f"Bearer {self.admin_token()}"})
        if status != 200:
            raise Failure(f"GET {path}: {status} {body}")
        return json.loads(body)

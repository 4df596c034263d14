#!/usr/bin/env python3
"""Measures request latency under disturbances with wrk, and counts responses other than 200.

    bench/stalls.py strangers                            on SQLite: expensive requests without a valid signature
    tools/with_postgres bench/stalls.py analyze          the lock of ANALYZE on hapax.event, held for 40 s
    tools/with_postgres bench/stalls.py drop             a day with a million dead deliveries is removed
    tools/with_postgres bench/stalls.py migrate --older BINARY
                                                         hapax migrate beside an open reader, while a server
                                                         of an older version runs

--hapax is the path of the binary (build/release/hapax). Needs wrk and psql: run tools/install bench and test."""
import argparse
import base64
import gzip
import hashlib
import hmac
import json
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import time

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = 1024
MANY_SECRETS = json.dumps([f"secret number {n}" for n in range(16)])
SCRIPT = """
function init(args)
  local file, size = io.open(args[1], "rb"), tonumber(args[2])
  requests, at = {}, 0
  while true do
    local one = file:read(size)
    if not one then break end
    requests[#requests + 1] = one
  end
end
function request()
  at = at + 1
  if at > #requests then at = #requests; wrk.thread:stop() end
  return requests[at]
end
function done(summary, latency)
  local e = summary.errors
  print(string.format("result %d %d %d %.1f %.1f %.1f", summary.requests, e.status,
    e.connect + e.read + e.write + e.timeout, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, latency.max / 1000))
end
"""


def signed_request(key):
    name = "msg_" + secrets.token_hex(14)
    body = json.dumps({"type": "order.paid", "id": name, "note": ""})
    body = (body[:-2] + "x" * (BODY - len(body)) + body[-2:]).encode()
    now = str(int(time.time()))
    digest = hmac.new(key, f"{name}.{now}.".encode() + body, hashlib.sha256).digest()
    return (f"POST /in/demo HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nwebhook-id: {name}\r\n"
            f"webhook-timestamp: {now}\r\nwebhook-signature: v1,{base64.b64encode(digest).decode()}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


class Place:
    """A directory with a configuration, servers and their requests."""

    def __init__(self, arguments, store):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="hapax-stalls-", dir=arguments.dir))
        self.hapax = os.path.abspath(arguments.hapax)
        self.connections = arguments.connections
        self.servers = []
        (self.dir / "wrk.lua").write_text(SCRIPT)
        (self.dir / "hapax.toml").write_text(f"""
[server]
listen = "127.0.0.1:0"
admin = "127.0.0.1:0"
[store]
url = "{store}"
[[source]]
name = "demo"
preset = "standard-webhooks"
secrets = ["{SECRET}"]
order_key = "json:/type"
deliver_to = ["work"]
[[source]]
name = "chat"
preset = "stream-chat"
secrets = {MANY_SECRETS}
[[source]]
name = "star"
verify = {{ scheme = "hmac", header = "X-Sig-*" }}
secrets = {MANY_SECRETS}
id = "json:/id"
[[destination]]
name = "work"
kind = "pull"
""")

    def serve(self, binary=None):
        server = subprocess.Popen([binary or self.hapax, "serve", "-c", self.dir / "hapax.toml"],
                                  stdout=subprocess.PIPE, stderr=open(self.dir / "log", "ab"))
        self.servers.append(server)
        ready = json.loads(server.stdout.readline())
        return ready["listen_port"]

    def write_requests(self, count):
        key = base64.b64decode(SECRET.removeprefix("whsec_"))
        with open(self.dir / "requests", "wb") as file:
            for _ in range(count):
                one = signed_request(key)
                file.write(one)
        return len(one)

    def load(self, what, port, seconds, per_second):
        size = self.write_requests(seconds * per_second)
        output = subprocess.run(
            ["wrk", "-t1", f"-c{self.connections}", f"-d{seconds}s", "--timeout", "20s", "-s",
             self.dir / "wrk.lua", f"http://127.0.0.1:{port}", "--", self.dir / "requests", str(size)],
            check=True, capture_output=True, text=True).stdout
        result = next(line for line in output.splitlines() if line.startswith("result")).split()
        requests, bad, errors, p50, p99, most = (float(each) for each in result[1:])
        if requests >= seconds * per_second:
            raise SystemExit("the requests ran out")
        print(f"{what:34} {requests:8.0f} requests  {bad:3.0f} not 200  {errors:3.0f} without an answer  "
              f"p50 {p50:7.1f} ms  p99 {p99:7.1f} ms  longest {most:7.1f} ms", flush=True)
        return p99

    def stop(self):
        for server in self.servers:
            server.terminate()
            server.wait()
        shutil.rmtree(self.dir)


# ---- strangers

def stranger(port, requests, until, counts, name):
    while time.monotonic() < until:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.settimeout(20)
            while time.monotonic() < until:
                try:
                    connection.sendall(requests)
                    if not connection.recv(65536):
                        break
                except OSError:
                    break
                counts[name] = counts.get(name, 0) + 1


def strangers(arguments):
    bomb = gzip.compress(b"\0" * (60 << 20), 9)
    junk = os.urandom(1 << 20)
    signatures = "".join(f"X-Sig-{n}: {secrets.token_hex(32)}\r\n" for n in range(16))

    def post(path, headers, body):
        return (f"POST {path} HTTP/1.1\r\nHost: h\r\n{headers}Content-Length: {len(body)}\r\n\r\n").encode() + body
    kinds = {
        "bomb": post("/in/chat", f"X-Signature: {secrets.token_hex(32)}\r\nContent-Encoding: gzip\r\n", bomb),
        "star": post("/in/star", signatures, junk),
        "junk": post("/in/demo", f"webhook-id: a\r\nwebhook-timestamp: {int(time.time())}\r\n"
                     f"webhook-signature: v1,{base64.b64encode(os.urandom(32)).decode()}\r\n", junk),
    }
    place = Place(arguments, "sqlite:hapax.db")
    port = place.serve()
    place.load("warm-up", port, 2, 40000)
    alone = []
    for _ in range(arguments.rounds):
        alone.append(place.load("alone", port, 5, 60000))
        for name, request in kinds.items():
            counts = {}
            until = time.monotonic() + 14  # longer than signing and sending the requests takes
            threads = [threading.Thread(target=stranger, args=(port, request, until, counts, name))
                       for _ in range(4)]
            for each in threads:
                each.start()
            beside = place.load(f"beside four connections: {name}", port, 5, 40000)
            for each in threads:
                each.join()
            print(f"    {counts.get(name, 0)} of theirs; {beside / alone[-1]:.1f} times alone", flush=True)
    place.stop()


# ---- PostgreSQL

class Database:
    def __init__(self, name):
        self.dir = os.environ["HAPAX_TEST_POSTGRES"]
        self.name = name
        self.run("CREATE DATABASE " + name, "postgres")

    def url(self):
        return f"postgres://hapax@/{self.name}?host={self.dir}"

    def command(self, database=None):
        return ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.dir, "-U", "hapax",
                database or self.name]

    def run(self, sql, database=None):
        return subprocess.run(self.command(database) + ["-c", sql], check=True, capture_output=True,
                              text=True).stdout.strip()

    def session(self, sql):
        process = subprocess.Popen(self.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.stdin.write(sql + "\n\\echo done\n")
        process.stdin.flush()
        while process.stdout.readline() != "done\n":
            pass
        return process

    def backends(self):
        return int(self.run("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                            " AND pid <> pg_backend_pid()"))


def analyze(arguments):
    database = Database("stalls_analyze")
    place = Place(arguments, database.url())
    port = place.serve()
    place.load("alone", port, 10, 15000)
    print(f"    {database.backends()} backends", flush=True)
    lock = database.session("BEGIN; LOCK TABLE hapax.event IN SHARE UPDATE EXCLUSIVE MODE;")
    place.load("the lock of ANALYZE held", port, 40, 15000)
    lock.communicate("COMMIT;\n")
    place.load("after it", port, 5, 15000)
    print(f"    {database.backends()} backends", flush=True)
    place.stop()
    print(f"    {database.backends()} backends at the end", flush=True)


def drop(arguments):
    database = Database("stalls_drop")
    place = Place(arguments, database.url())
    port = place.serve()
    place.load("alone", port, 10, 15000)
    place.servers.pop().terminate()
    day = "(extract(epoch FROM now() - interval '40 days' - timestamptz '2024-01-01 00:00:00+00') / 86400)::bigint"
    for sql in (
        f"SELECT hapax._need_days(ARRAY[{day}])",
        f"INSERT INTO hapax.event (no, source, would, received_at, tenant, id, type, order_key, digest, headers,"
        f" body) SELECT ((({day} * 86400000) + n * 80) << 22), 1, 0, now() - interval '40 days', '', int8send(n),"
        f" 'order.paid', '', sha256(int8send(n)), '', '{{}}' FROM generate_series(1, {arguments.rows}::bigint) AS n",
        "INSERT INTO hapax.queue (event, fence, due_at, ended_at, delivery, destination, attempts, state, guard,"
        " reason, listen) SELECT no, 1, received_at, received_at, 1, 1, 12, 3, 2, 1, false FROM hapax.event"
        " WHERE received_at < now() - interval '39 days'",
        "VACUUM (ANALYZE) hapax.event",
        "VACUUM (ANALYZE) hapax.queue",
    ):
        database.run(sql)
    rows = "SELECT count(*) FROM hapax.queue WHERE state = 3"
    print(f"    {database.run(rows)} dead deliveries", flush=True)
    port = place.serve()
    while True:
        place.load("a day is removed", port, 20, 15000)
        left = int(database.run(rows))
        there = database.run(f"SELECT to_regclass('hapax.' || hapax._part_of('event', {day})) IS NOT NULL")
        print(f"    {left} dead deliveries left, the day is {'there' if there == 't' else 'gone'}", flush=True)
        if there == "f":
            break
    print(f"    {database.backends()} backends", flush=True)
    place.stop()
    print(f"    {database.backends()} backends at the end", flush=True)


def migrate(arguments):
    database = Database("stalls_migrate")
    place = Place(arguments, database.url())
    port = place.serve(os.path.abspath(arguments.older))
    place.load("alone", port, 10, 15000)
    reader = database.session("BEGIN; SELECT count(*) FROM hapax.event, hapax.queue WHERE false;")
    done = {}

    def run():
        began = time.monotonic()
        done["code"] = subprocess.run([place.hapax, "migrate", "--store", database.url()],
                                      stdout=subprocess.DEVNULL).returncode
        done["seconds"] = time.monotonic() - began
    thread = threading.Thread(target=run)
    thread.start()
    place.load("migrate beside an open reader", port, 20, 15000)
    print(f"    migrate {'is done' if done else 'waits'}", flush=True)
    reader.communicate("COMMIT;\n")
    thread.join()
    print(f"    migrate: exit code {done['code']}, {done['seconds']:.1f} s", flush=True)
    place.load("after it", port, 5, 15000)
    place.stop()
    print(f"    {database.backends()} backends at the end", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["strangers", "analyze", "drop", "migrate"])
    parser.add_argument("--hapax", default="build/release/hapax")
    parser.add_argument("--older", help="a binary of an older version")
    parser.add_argument("--dir", default="build", help="on the disk that is measured")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    {"strangers": strangers, "analyze": analyze, "drop": drop, "migrate": migrate}[arguments.what](arguments)


if __name__ == "__main__":
    main()

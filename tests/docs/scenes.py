"""What each page presumes, and its commands that cannot run inside a test."""
import json
import re
import threading

import languages
from scene import Failure, Scene

STRIPE = """[server]
listen = "127.0.0.1:8420"
admin = "127.0.0.1:8421"

[[source]]
name = "stripe"
preset = "stripe"
secrets = [{ env = "STRIPE_WEBHOOK_SECRET" }]
deliver_to = ["orders", "audit"]
"""

HTTP_TABLES = """
[[source]]
name = "asana"
preset = "asana"

[[destination]]
name = "orders"
url = "http://127.0.0.1:3000/webhooks"
timeout = "1h"
concurrency = 1
rate = "100/s"

[[destination]]
name = "audit"
kind = "pull"
"""


class Readme(Scene):
    """A checkout that is built: `cmake` and `tools/install` do nothing. The handler answers 500 first."""

    hapax_on_path = False

    def prepare(self):
        languages.use_installation(self)
        self.handler.answer = lambda request: 500 if len(self.handler.requests) == 1 else 200
        self.while_running["./run"] = self.run_suggested_commands
        self.after["hapax serve &"] = lambda printed: self.wait_for_server()
        self.before["hapax events"] = self.wait_for_second_attempt
        self.copy(self.tools.source / "run", "run")
        for name in ("tools/install", "bin/cmake"):
            self.write_script(name, "#!/bin/sh\n")
        self.put_on_path("bin")

    def run_suggested_commands(self):
        """Runs the four commands that ./run prints."""
        self.wait_until(lambda: "admin.token" in self.output(), "./run prints what to try next")
        commands = re.findall(r"^  (\S.*?)(?:   .*)?$", self.with_real_ports(self.output()), re.M)
        if len(commands) != 4:
            raise Failure(f"./run suggests {commands}")
        for each in commands:
            self.must("bash", "-e", "-c", each)

    def wait_for_second_attempt(self):
        self.handler.wait_for(2)
        self.wait_until(lambda: self.admin("/v1/events")["events"][0]["status"] == "completed",
                        "the delivery is completed")


class Library(Scene):
    """app.cpp is the first program of the page; captured-request is a signed request."""

    def prepare(self):
        languages.use_installation(self)
        self.environment["STRIPE_WEBHOOK_SECRET"] = languages.new_secret()
        self.after["g++ -std=c++20 app.cpp"] = lambda printed: self.must("./a.out")
        self.after["hapax dedup"] = self.check_exit_codes
        program = next((each for each in self.blocks if each.is_program()), None)
        self.write("app.cpp", program.text if program else "")
        self.capture_request()

    def check_exit_codes(self, printed):
        """Those of the sentence below the command."""
        if "first time" not in printed:
            raise Failure(f"prints {printed}")
        for expected, arguments in ((3, "--id evt_1"), (0, "--id evt_2"), (2, "")):
            self.must("bash", "-c", f"hapax dedup --store sqlite:app.db --scope stripe {arguments}; "
                                    f"test $? = {expected}")

    def capture_request(self):
        body = '{"id":"evt_1"}'
        self.write("body", body)
        headers = self.must("hapax", "sign", "--preset", "stripe", "--secret-env",
                            "STRIPE_WEBHOOK_SECRET", "--body", "body").splitlines()
        head = ["POST /in/stripe HTTP/1.1", "Host: localhost", *headers, f"Content-Length: {len(body)}"]
        self.write("captured-request", "\r\n".join([*head, "", body]))


class Delivery(Scene):
    """A server with the destinations of the page, and three dead letters."""

    def prepare(self):
        self.handler.answer = lambda request: 410
        self.placeholders = {"EVENT": lambda: self.dead_event()["event"],
                             "DELIVERY": self.dead_delivery}
        self.while_running["hapax listen"] = self.deliver_to_laptop
        self.after["INSERT INTO processed"] = self.process_again
        self.environment["STRIPE_WEBHOOK_SECRET"] = languages.new_secret()
        destinations = [each.text for each in self.blocks
                        if each.language == "toml" and "[[destination]]" in each.text]
        self.write("hapax.toml", STRIPE + "".join(destinations))
        self.start_server()
        self.must("hapax", "send", "--count", "3")
        self.wait_until(lambda: len(self.dead_events()) == 3, "three events are dead")

    def dead_events(self):
        return self.admin("/v1/events?status=dead")["events"]

    def dead_event(self):
        self.wait_until(self.dead_events, "an event is dead")
        return self.dead_events()[0]

    def dead_delivery(self):
        event = self.admin("/v1/events/" + self.dead_event()["event"])
        return next(each["delivery"] for each in event["deliveries"] if each["status"] == "dead")

    def deliver_to_laptop(self):
        self.wait_until(lambda: "laptop" in json.dumps(self.admin("/v1/destinations")),
                        "the listener is registered")
        self.handler.answer = lambda request: 200
        self.must("hapax", "send", "--id", "evt_laptop")
        self.handler.wait_for(1, lambda request: request.line == "POST /"
                              and "evt_laptop" in request.body)

    def process_again(self, printed):
        """A repeated key inserts 0 rows."""
        text = next(each.text for each in self.blocks if each.language == "sql")
        again = self.database.run(text[text.index("BEGIN;"):])
        if "INSERT 0 1" not in printed or "INSERT 0 0" not in again:
            raise Failure(f"psql prints\n{printed}and for a duplicate\n{again}")


class Configuration(Scene):
    def prepare(self):
        self.environment["STRIPE_WEBHOOK_SECRET"] = languages.new_secret()


class Http(Scene):
    """A server with a reject and with events, each also for the pull destination audit: evt_1 is a dead
    letter, the attempt of the next event is in flight, and the others are due."""

    def prepare(self):
        self.environment["STRIPE_WEBHOOK_SECRET"] = languages.new_secret()
        self.leases = []
        self.finished = threading.Event()
        self.handler.answer = self.answer
        self.placeholders = {"e0...": lambda: self.dead_events()[0]["event"],
                             "d0...": lambda: self.leases[0]["delivery"],
                             "1770000000000001": lambda: self.leases[0]["fence"]}
        self.after["/v1/lease"] = lambda printed: self.leases.extend(json.loads(printed)["deliveries"])
        self.after["/v1/settle"] = lambda printed: self.leases.pop(0)
        self.after["/v1/renew"] = self.check_renewed
        self.responses = {"urn:hapax:error:signature-invalid": self.send_forged,
                          '"destinations"': lambda: self.admin("/v1/destinations")}
        self.write("hapax.toml", STRIPE + HTTP_TABLES)
        self.start_server()
        self.send_events()

    def finish(self):
        self.finished.set()
        super().finish()

    def answer(self, request):
        if '"evt_1"' not in request.body:
            self.finished.wait()
        return 410

    def send_events(self):
        send = ("hapax", "send", "--source", "stripe")
        for _ in range(2):
            self.must(*send, "--id", "evt_1", "--type", "invoice.paid")
        self.wait_until(self.dead_events, "evt_1 is dead")
        self.must(*send, "--count", "20")
        self.handler.wait_for(2)
        self.send_forged()
        self.wait_until(lambda: self.admin("/v1/rejects")["rejects"], "the reject is stored")

    def dead_events(self):
        return self.admin("/v1/events?status=dead")["events"]

    def send_forged(self):
        _, body = self.request("POST", "http://127.0.0.1:8420/in/stripe", '{"id":"evt_9"}',
                               {"Stripe-Signature": "t=1,v1=00"})
        return json.loads(body)

    def check_renewed(self, printed):
        if [each["status"] for each in json.loads(printed)["results"]] != ["ok"]:
            raise Failure(f"prints {printed}")


class Reliability(Scene):
    """A running server, and the simulator."""

    def prepare(self):
        self.copy(self.tools.simulator, "build/release/tests/sim/hapax_sim")
        self.environment["STRIPE_WEBHOOK_SECRET"] = languages.new_secret()
        self.must("hapax", "init", "--preset", "stripe")
        self.start_server()


SCENES = {
    "README.md": Readme,
    "docs/configuration.md": Configuration,
    "docs/delivery.md": Delivery,
    "docs/http.md": Http,
    "docs/library.md": Library,
    "docs/reliability.md": Reliability,
}

# Commands that cannot run inside a test, and the suite or step that runs the same.
RUN_ELSEWHERE = {
    "README.md": {"./test": "this suite is part of ./test"},
    "CONTRIBUTING.md": {
        "./test": "this suite is part of ./test",
        "./test --fast": "its suites are part of ./test",
        "./test --long": "the full run; docs/reliability.md records the last one",
        "cmake --preset release && cmake --build --preset release --target store_test":
            "step `build release` of ./test, with other targets",
        "build/release/tests/store_test --gtest_filter='StoreTime*'": "suite store_test",
        "tools/with_postgres build/release/tests/inbox_test --gtest_filter='PostgresInbox*'":
            "suite inbox_test.postgres",
    },
    "docs/library.md": {
        "cmake --preset install": "suite `package: install_preset`",
        "cmake --build --preset install":
            "step `build release` of ./test; `package: install_preset` compares the targets",
        "cmake --install build/install": "suite `package: install`, from build/release",
    },
}

"""The handler on port 3000 of a page: an HTTP server that records its requests."""
import dataclasses
import http.server
import threading

LIMIT_SECONDS = 120  # for every wait; a wait that reaches it is a failure


@dataclasses.dataclass
class Request:
    line: str  # such as POST /webhooks
    headers: list  # of pairs
    body: str


class Handler:
    """Listens on a free port. `answer` maps a request to a status and runs on the thread of the request."""

    def __init__(self):
        self.answer = lambda request: 200
        self.requests = []
        self.arrived = threading.Condition()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), responder_for(self))
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def receive(self, request):
        with self.arrived:
            self.requests.append(request)
            self.arrived.notify_all()
        return self.answer(request)

    def wait_for(self, count, condition=lambda request: True):
        """Waits until `count` requests that meet the condition have arrived."""
        with self.arrived:
            if not self.arrived.wait_for(lambda: sum(map(condition, self.requests)) >= count,
                                         LIMIT_SECONDS):
                raise TimeoutError(f"expected {count} requests; all that arrived: {self.requests}")

    def excerpt_finding(self, matcher, excerpt):
        """Why no recorded request matches the excerpt; empty if one does."""
        findings = [request_finding(matcher, excerpt, each) for each in self.requests]
        return "" if "" in findings else (findings or ["no request arrived"])[-1]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def responder_for(handler):
    class Responder(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status = handler.receive(Request(f"{self.command} {self.path}", self.headers.items(),
                                             body.decode()))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    return Responder


def request_finding(matcher, excerpt, request):
    """How a request differs from an excerpt: its first line, some of its headers, and its body."""
    head, _, body = excerpt.partition("\n\n")
    line, *headers = head.splitlines()
    if not matcher.matches(line, request.line):
        return f"shows {line}, and the request was {request.line}"
    for shown in headers:
        if not any(matcher.matches(shown, f"{name}: {value}") for name, value in request.headers):
            real = "\n".join(f"    {name}: {value}" for name, value in request.headers)
            return f"shows the header {shown}, and the request had\n{real}"
    if body and not matcher.matches(body.rstrip("\n"), request.body):
        return f"shows the body {body.rstrip()}, and the request had {request.body}"
    return ""

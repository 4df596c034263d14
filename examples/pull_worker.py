#!/usr/bin/env python3
# Copyright (c) 2026 the hapax authors
# SPDX-License-Identifier: MIT
"""A worker that leases events from hapax and processes each exactly once. Standard library only.

    HAPAX_TOKEN=... python3 pull_worker.py http://127.0.0.1:8421 work worker.db [lease seconds]

hapax delivers at least once: a worker that is killed after its work and before it settles gets the
same delivery again. So the worker stores the delivery's id in the transaction of the work. It may be
killed at any point: the work is done once.
"""
import base64
import http.client
import json
import os
import sqlite3
import sys
import time
import urllib.error
import urllib.request

URL, DESTINATION, DATABASE = sys.argv[1:4]
LEASE_S = float(sys.argv[4]) if len(sys.argv) > 4 else 30


def ask(path, body):
    """Posts JSON and returns JSON. Repeats the request while hapax is unavailable or too busy: all
    calls may be repeated."""
    request = urllib.request.Request(
        URL + path, json.dumps(body).encode(),
        {"Authorization": "Bearer " + os.environ["HAPAX_TOKEN"]})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 503:  # a wrong token or destination: the response has the detail
                sys.exit(error.read().decode())
        except (OSError, http.client.HTTPException) as error:
            print(error, file=sys.stderr)
        time.sleep(1)


def work(db, delivery, body):
    """Your work, in your database. It must not commit, because the caller does."""
    db.execute("INSERT INTO effects (delivery, id, body) VALUES (?, ?, ?)",
               (delivery["delivery"], delivery["id"], body))


def handle(db, delivery):
    """Claims the delivery and does the work in one transaction."""
    try:
        db.execute("BEGIN IMMEDIATE")
        noted = db.execute("INSERT OR IGNORE INTO done VALUES (?)", (delivery["delivery"],))
        if noted.rowcount == 1:  # otherwise it was done before, and the answer was lost
            work(db, delivery, base64.b64decode(delivery["body_base64"]))
        db.execute("COMMIT")
        return {"outcome": "ack"}
    except Exception as error:  # retried on the schedule of the destination
        if db.in_transaction:
            db.execute("ROLLBACK")
        return {"outcome": "retry", "error": str(error)}


def main():
    db = sqlite3.connect(DATABASE, timeout=30, isolation_level=None)
    db.execute("CREATE TABLE IF NOT EXISTS done (delivery TEXT PRIMARY KEY)")
    db.execute("CREATE TABLE IF NOT EXISTS effects (delivery TEXT, id TEXT, body BLOB)")
    while True:
        leased = ask("/v1/lease", {"destination": DESTINATION, "max": 10, "lease_s": LEASE_S,
                                   "wait_s": 20})
        for delivery in leased["deliveries"]:  # settled one by one, so that a delivery that
            # kills the worker affects no other
            name = {"delivery": delivery["delivery"], "fence": delivery["fence"]}
            ask("/v1/settle", {"results": [{**name, **handle(db, delivery)}]})


if __name__ == "__main__":
    main()
